"""Coming, going and coming back: titles, focus, scrolling, a server that goes away, a view that breaks, paper."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from carrel import Library, http
from carrel.http.server import Server, listen
from tests.http.serving import running
from tests.web.conftest import Look
from tests.web.shelf import QUESTION, TITLE

PAPER = "cohan-etal-2020-specter"


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/", "Ask · Carrel"),
        ("/search", "Search · Carrel"),
        ("/search?q=citation+graph", "citation graph · Search · Carrel"),
        ("/library", "Library · Carrel"),
        (f"/ask?q={QUESTION}", f"{QUESTION} · Ask · Carrel"),
        ("/graph?name=citations", "citations · Graph · Carrel"),
        ("/health", "Health · Carrel"),
        ("/paper/stone-lichen", f"{TITLE} · Paper · Carrel"),
    ],
)
def test_a_tab_of_the_browser_says_what_is_in_it(look: Look, path: str, title: str) -> None:
    page = look(path)
    expect(page).to_have_title(title)


def test_a_title_follows_from_paper_to_paper(look: Look) -> None:
    page = look("/paper/stone-lichen")
    expect(page).to_have_title(f"{TITLE} · Paper · Carrel")
    follow(page, f"/paper/{PAPER}")
    expect(page).to_have_title(re.compile("^SPECTER: .* · Paper · Carrel$"))
    page.go_back()
    expect(page).to_have_title(f"{TITLE} · Paper · Carrel")


def follow(page: Page, path: str) -> None:
    """As a link in the page does."""
    page.evaluate(
        "(path) => { const link = Object.assign(document.createElement('a'), { href: path });"
        " document.getElementById('main').append(link); link.click(); link.remove(); }",
        path,
    )


@pytest.mark.parametrize("view", ["Search", "Library", "Graph", "Health"])
def test_after_a_link_reading_goes_on_in_the_view(look: Look, view: str) -> None:
    page = look("/health" if view != "Health" else "/library")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.get_by_role("link", name=view, exact=True).click()
    expect(page).to_have_title(f"{view} · Carrel")
    expect(page.locator("main h1:focus, main [data-primary]:focus")).to_have_count(1)


def test_going_back_goes_to_where_one_was(look: Look) -> None:
    page = look(f"/paper/{PAPER}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("main .loading")).to_have_count(0)
    page.evaluate("scrollTo(0, 600)")
    page.wait_for_timeout(100)
    before = page.evaluate("scrollY")
    assert before > 200
    follow(page, "/health")
    expect(page).to_have_title("Health · Carrel")
    expect(page.locator("html")).to_have_js_property("scrollTop", 0)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_contain_text("SPECTER")
    expect(page.locator("html")).to_have_js_property("scrollTop", before)
    page.reload()
    expect(page.locator("html")).to_have_js_property("scrollTop", before)


@contextmanager
def again(library: Library, port: int) -> Iterator[None]:
    """The same server, at the port it had."""
    server, listening = Server(http.create(library)), listen("127.0.0.1", port)
    thread = threading.Thread(target=server.run_at, args=[listening])
    thread.start()
    try:
        yield
    finally:
        server.stop()
        thread.join()


@pytest.mark.troubled
def test_a_server_that_goes_away_is_missed_and_comes_back_by_itself(library: Library, look: Look) -> None:
    with running(library, requests_per_minute=0) as first:
        page = look("/health", at=first.url)
        port = urlsplit(first.url).port
        expect(page.get_by_role("link", name=re.compile(r"^\d+ papers$"))).to_be_visible()
    page.get_by_role("link", name="Library", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="Carrel does not answer").first).to_be_visible()
    assert port is not None
    with again(library, port):
        expect(page.get_by_role("alert").filter(has_text="Carrel does not answer")).to_have_count(0)
        expect(page.get_by_role("heading", level=1)).to_have_text("Library")
        expect(page.locator("main a[href^='/paper/']").first).to_be_visible()


@pytest.mark.troubled
def test_a_view_that_breaks_says_so_and_the_others_go_on(look: Look) -> None:
    page = look("/health")
    expect(page.get_by_role("heading", level=1)).to_be_visible()

    def wrong(route: Route) -> None:
        route.fulfill(json={"papers": "none of them", "total": {}, "nextCursor": 3})

    page.route("**/api/papers/stone-lichen", wrong)
    follow(page, "/paper/stone-lichen")
    broken = page.get_by_role("alert").filter(has_text="This view broke")
    expect(broken).to_be_visible()
    follow(page, "/search")
    expect(broken).to_have_count(0)
    expect(page).to_have_title("Search · Carrel")


def test_a_paper_prints_without_what_can_only_be_clicked(look: Look) -> None:
    page = look(f"/paper/{PAPER}", color_scheme="dark")
    heading = page.get_by_role("heading", level=1)
    # Not that of a paper still on its way, which gives place to it.
    expect(heading).not_to_have_class("unseen")
    page.emulate_media(media="print")
    expect(heading).to_be_visible()
    for gone in (".bar", "main .button >> nth=0", ".toasts"):
        expect(page.locator(gone)).to_be_hidden()
    expect(heading).to_have_css("color", "rgb(0, 0, 0)")
    expect(page.locator("main")).to_have_css("margin-left", "0px")


def test_an_answer_prints_with_its_references(look: Look) -> None:
    page = look(f"/ask?q={QUESTION}")
    expect(page.get_by_role("heading", name="References")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", name="References")).to_be_visible()
    expect(page.get_by_label("Question", exact=True)).to_be_hidden()
    printed = page.pdf()
    assert printed.startswith(b"%PDF")
    assert len(printed) > 10_000
