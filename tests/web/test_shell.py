"""The shell of the page: every view has an address, the keyboard comes first, nothing comes from elsewhere."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web.browsing import PHONE
from tests.web.conftest import Look

WEB = Path(str(files("carrel") / "web"))
VIEWS = ("ask", "search", "library", "graph", "health")


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_an_address_of_its_own(look: Look, view: str) -> None:
    page = look(f"/{view}")
    expect(page.get_by_role("link", name=view.capitalize(), exact=True)).to_have_attribute("aria-current", "page")


def test_the_first_view_is_for_asking(look: Look) -> None:
    expect(look("/").get_by_role("link", name="Ask", exact=True)).to_have_attribute("aria-current", "page")


def test_the_keyboard_leads_from_view_to_view(look: Look) -> None:
    page = look("/health")
    for key, view in (("s", "search"), ("l", "library"), ("g", "graph"), ("h", "health"), ("a", "ask")):
        page.locator("body").press("g")
        page.locator("body").press(key)
        page.wait_for_url(f"**/{view}")
        if view == "ask":
            break
        page.keyboard.press("Escape")


def test_the_theme_is_the_systems_until_it_is_chosen_and_then_stays(look: Look) -> None:
    page = look("/health", color_scheme="dark")
    shown = page.locator("html")
    expect(shown).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Theme").click()
    expect(shown).to_have_attribute("data-theme", "light")
    page.reload()
    expect(shown).to_have_attribute("data-theme", "light")


def test_on_a_phone_the_views_are_at_the_foot(look: Look) -> None:
    page = look("/library", viewport=PHONE)
    tabs = page.get_by_role("navigation", name="Views").bounding_box()
    assert tabs is not None
    assert tabs["y"] > PHONE["height"] - 90
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_an_address_that_is_none_says_so(look: Look) -> None:
    page = look("/health")
    page.evaluate("history.pushState(null, '', '/nowhere'); dispatchEvent(new PopStateEvent('popstate'))")
    expect(page.get_by_text("There is no such page")).to_be_visible()


@pytest.mark.parametrize("path", sorted(WEB.rglob("*.js")), ids=lambda path: path.name)
def test_no_script_makes_markup_or_code_of_text(path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    if path.parent.name != "vendor":
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", code)
        assert not re.search(r"https?://(?!\$)[a-z]", code)
    for name in re.findall(r"""(?:from|import\()\s*["'](\.[^"']+)["']""", code):
        assert (path.parent / name).is_file(), name
