"""Everybody can use the page: axe-core finds nothing serious, and what it cannot see is asked here."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Literal
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import PHONE
from tests.web.conftest import Look
from tests.web.shelf import QUESTION, UNANSWERABLE

PAPER = "cohan-etal-2020-specter"
VIEWS = {
    "ask": "/ask",
    "answered": f"/ask?q={quote(QUESTION)}",
    "refused": f"/ask?q={quote(UNANSWERABLE)}",
    "search": "/search",
    "found": "/search?q=citation+graph",
    "nothing found": "/search?q=zzzzqqq+xyzzy&mode=keyword",
    "figures": "/search?q=results&tab=figures",
    "library": "/library",
    "nothing in the library": "/library?q=zzzzqqq",
    "paper": f"/paper/{PAPER}",
    "proof": "/proof/stone-lichen/ch2/s0/p0",
    "graph": "/graph",
    "neighbourhood": "/graph?name=citation",
    "health": "/health",
    "missing paper": "/paper/no-such-paper",
}
COLOURS = "color-contrast"
GRAVE = ("serious", "critical")
# A paper that is not there is not found, and the browser says so in its console.
pytestmark = pytest.mark.troubled
BEYOND = """
(() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return [];
  return [...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > wide + 1 && one.getBoundingClientRect().width)
    .map((one) => `${one.tagName} ${one.className} ${Math.round(one.getBoundingClientRect().right)}`).slice(0, 8)
    .concat(`scroll width ${document.documentElement.scrollWidth}`);
})()
"""
FOCUSED = """
(() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const box = one.getBoundingClientRect();
  const around = [one, one.parentElement, one.parentElement.parentElement].map((part) => getComputedStyle(part));
  around.push(getComputedStyle(one, "::after"));
  const drawn = around.some((style) => style.outlineStyle !== "none" || style.boxShadow !== "none");
  const inside = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0;
  const words = (one.ariaLabel ?? one.textContent.trim() ?? "").slice(0, 60);
  const name = `${one.tagName} ${words} ${Math.round(box.left)} ${Math.round(box.top + scrollY)}`;
  return { name, seen: drawn && inside };
})()
"""
# Links within running text are as high as it is.
SMALL = """
[...document.querySelectorAll("button, select, input:not([type=checkbox], [type=range]), [role=tab], nav a")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .filter((one) => !one.closest(".unseen, p, blockquote"))
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([one, box]) => box.width > 2 && Math.min(box.width, box.height) < 23.5)
  .map(([one, box]) => `${one.className} "${(one.ariaLabel ?? one.textContent).slice(0, 30)}" ${box.height}`)
"""


@cache
def axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def settled(page: Page) -> Page:
    page.wait_for_load_state("networkidle")
    expect(page.locator("main .loading")).to_have_count(0)
    expect(page.locator("main [aria-busy=true]")).to_have_count(0)
    return page


def grave(page: Page, *rules: str) -> list[str]:
    """What axe-core calls serious or critical, by all its rules or by these, each with where it is."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(axe())
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found = page.evaluate("(options) => axe.run(document, options)", options)
    return [
        f"{one['id']}: {node['html'][:160]} ({(node['failureSummary'] or '').splitlines()[-1].strip()[:160]})"
        for one in found["violations"]
        if one["impact"] in GRAVE
        for node in one["nodes"][:5]
    ]


def shown_in(page: Page, scheme: Literal["light", "dark"]) -> Page:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    expect(page.locator("html")).to_have_attribute("data-theme", scheme)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return page


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_serious_in_light_and_dark_on_a_desk_and_on_a_phone(look: Look, view: str) -> None:
    page = settled(look(VIEWS[view]))
    check_headings(page)
    found = {"light": grave(page), "dark": grave(shown_in(page, "dark"), COLOURS)}
    page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    found |= {"dark phone": grave(settled(page), COLOURS), "phone": grave(shown_in(page, "light"))}
    assert {how: troubles for how, troubles in found.items() if troubles} == {}


def check_headings(page: Page) -> None:
    """One of the first rank, and none skipped on the way down."""
    ranks = page.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].map((one) => Number(one.tagName[1]))")
    assert ranks.count(1) == 1
    assert [(before, rank) for before, rank in pairwise([0, *ranks]) if rank > before + 1] == []
    assert page.locator("main").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize("view", ["answered", "found", "library", "paper", "graph", "health"])
def test_nothing_is_lost_when_text_is_twice_as_large(look: Look, view: str) -> None:
    page = look(VIEWS[view])
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert beyond(settled(page)) == []


@pytest.mark.parametrize(
    "view", ["ask", "answered", "refused", "found", "figures", "library", "paper", "graph", "health"]
)
def test_on_a_phone_nothing_stands_out_at_the_side_and_fingers_find_what_they_aim_at(look: Look, view: str) -> None:
    page = settled(look(VIEWS[view], viewport=PHONE, has_touch=True))
    assert beyond(page) == []
    assert page.evaluate(SMALL) == []
    page.set_viewport_size({"width": 320, "height": 700})
    assert beyond(settled(page)) == []


def beyond(page: Page) -> list[str]:
    """What makes the page wider than the window."""
    found: list[str] = page.evaluate(BEYOND)
    return found


@pytest.mark.parametrize("view", ["ask", "answered", "found", "library", "paper", "graph"])
def test_whoever_goes_by_the_tab_key_sees_where_they_are(look: Look, view: str) -> None:
    page = settled(look(VIEWS[view]))
    page.locator(".skip").focus()
    seen, hidden = [page.evaluate(FOCUSED)["name"]], []
    for _ in range(30):
        page.keyboard.press("Tab")
        told = page.evaluate(FOCUSED)
        if told is None or told["name"] in seen:
            break
        seen.append(told["name"])
        if not told["seen"]:
            hidden.append(told["name"])
    assert len(seen) > 6
    assert seen[0].startswith("A To the content")
    assert hidden == []


def test_a_dialog_holds_the_focus_and_gives_it_back(look: Look) -> None:
    page = settled(look("/health"))
    opener = page.get_by_role("button", name="Keyboard shortcuts")
    opener.click()
    dialog = page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()
    assert grave(page) == []
    for _ in range(4):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('dialog')")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(opener).to_be_focused()


def test_nothing_moves_for_whom_motion_is_too_much(look: Look) -> None:
    page = look("/health", reduced_motion="reduce")
    moving = "document.getAnimations().filter((one) => one.effect.getComputedTiming().duration > 1).length"
    assert page.evaluate(moving) == 0


def test_more_contrast_is_given_to_whom_asks_for_it(look: Look) -> None:
    page = look("/health")
    page.emulate_media(contrast="more")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert grave(settled(page)) == []
