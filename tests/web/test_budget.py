"""How much the first view costs: in bytes, in requests that wait for one another, and in time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest
from playwright.sync_api import Browser, Page

from tests.web.browsing import looking
from tests.web.modules import WEB, needed

Record: TypeAlias = Callable[[str, object], None]

KILOBYTE = 1000
BUDGET = 200 * KILOBYTE
# A quiet machine needs a third of a second; one that runs other tests at the same time needs more.
PATIENCE_MS = 4000
WRITABLE = """
window.writable = new Promise((tell) => new MutationObserver((_, watching) => {
  const box = document.querySelector("main [data-primary]");
  if (!box || box.disabled) return;
  watching.disconnect();
  requestAnimationFrame(() => setTimeout(() => tell(performance.now())));
}).observe(document, { childList: true, subtree: true }));
"""


class Transfers:
    """What a page has fetched, counted as it came over the wire."""

    def __init__(self, page: Page) -> None:
        self._names: dict[str, str] = {}
        self.bytes: dict[str, int] = {}
        self.status: dict[str, int] = {}
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.responseReceived", self._began)
        session.on("Network.loadingFinished", self._ended)

    def _began(self, event: dict[str, Any]) -> None:
        name = re.sub(r"^https?://[^/]+", "", event["response"]["url"])
        self._names[event["requestId"]] = name
        self.status[name] = event["response"]["status"]

    def _ended(self, event: dict[str, Any]) -> None:
        name = self._names.get(event["requestId"], "?")
        self.bytes[name] = self.bytes.get(name, 0) + int(event["encodedDataLength"])

    @property
    def total(self) -> int:
        return sum(self.bytes.values())


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    with looking(browser, url) as (opened, _):
        opened.add_init_script(WRITABLE)
        yield opened


def visited(page: Page) -> float:
    """Milliseconds until somebody can write a question."""
    page.goto("/", wait_until="networkidle")
    return float(page.evaluate("window.writable"))


def test_the_first_view_costs_less_than_200_kb_and_a_second(page: Page, record_property: Record) -> None:
    transfers = Transfers(page)
    cost = visited(page)
    record_property(
        "first view", f"{transfers.total / KILOBYTE:.0f} kB in {len(transfers.bytes)} requests, {cost:.0f} ms"
    )
    assert transfers.total < BUDGET, sorted(transfers.bytes.items(), key=lambda pair: -pair[1])[:12]
    assert "/static/js/main.js" in transfers.bytes
    assert cost < PATIENCE_MS


def test_the_second_time_almost_nothing_comes_again(page: Page, record_property: Record) -> None:
    visited(page)
    transfers = Transfers(page)
    cost = visited(page)
    record_property("second time", f"{transfers.total / KILOBYTE:.0f} kB, {cost:.0f} ms")
    again = {name for name, status in transfers.status.items() if name.startswith("/static/") and status == 200}
    fetched = {name for name in again if transfers.bytes.get(name, 0) > KILOBYTE}
    assert fetched == set()
    assert transfers.total < 30 * KILOBYTE


def test_what_the_first_view_needs_is_fetched_at_once_and_not_one_after_another() -> None:
    index = (WEB / "index.html").read_text(encoding="utf-8")
    preloaded = set(re.findall(r'<link rel="modulepreload" href="([^"]+)"', index))
    assert preloaded | {"/static/js/main.js"} == needed("js/main.js", "js/views/ask.js")


def test_every_style_comes_with_the_page_or_with_its_view_and_every_link_leads_to_a_file() -> None:
    index = (WEB / "index.html").read_text(encoding="utf-8")
    named = set(re.findall(r'(?:href|src)="/static/([^"]+)"', index))
    table = re.search(r"const STYLES = \{(.*?)\};", (WEB / "js/main.js").read_text(encoding="utf-8"), re.DOTALL)
    assert table is not None
    later = {f"styles/{name}.css" for name in re.findall(r'"(\w+)"', table[1])}
    assert {f"styles/{path.name}" for path in (WEB / "styles").glob("*.css")} == later | {
        name for name in named if name.startswith("styles/")
    }
    assert [name for name in named if not (WEB / name).is_file()] == []


@pytest.mark.parametrize("view", ["search", "library", "paper", "proof", "graph", "health"])
def test_no_view_weighs_more_than_a_picture(view: str) -> None:
    own = needed(f"js/views/{view}.js") - needed("js/main.js")
    size = sum((WEB / name.removeprefix("/static/")).stat().st_size for name in own)
    assert size < 150 * KILOBYTE
