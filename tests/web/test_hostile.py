"""Whatever papers, questions, links, files and answers say: it is shown as text, nothing runs, and nothing is asked for
elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any, TypeAlias
from urllib.parse import quote

import httpx2
import pytest
from playwright.sync_api import Browser, Dialog, Error, FilePayload, Page, Route, expect

from carrel import Library
from carrel.testing import HashedWords
from tests.http.serving import wait_until
from tests.web import browsing, poison
from tests.web.browsing import Trouble
from tests.web.poison import PAYLOADS, QUESTION, Parrot, identity

Visit: TypeAlias = Callable[..., Page]

CANARY = """
window.runs = [];
window.ran = (...what) => { window.runs.push(String(what)); };
window.alert = window.confirm = window.prompt = window.ran;
addEventListener("securitypolicyviolation", (event) => {
  window.runs.push(`${event.violatedDirective}: ${event.sample || event.blockedURI}`);
});
"""
# Everything that can be touched is: passed over, focused, opened. What would take something away is not.
POKE = """
async () => {
  const taking = /remove|delete|forget|cancel|theme/i;
  const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
  const begun = location.pathname;
  for (const element of [...document.querySelectorAll("main *")].slice(0, 1500)) {
    for (const type of ["pointerenter", "pointerover", "mouseenter", "mouseover"]) {
      element.dispatchEvent(new MouseEvent(type, { bubbles: true }));
    }
  }
  const touched = [...document.querySelectorAll("main button, main summary, main [tabindex], main [role=tab]")];
  for (const element of touched.slice(0, 60)) {
    const name = `${element.ariaLabel ?? ""} ${element.textContent} ${element.title}`;
    if (!element.isConnected || taking.test(name) || location.pathname !== begun) continue;
    element.focus();
    if (element.matches("button, summary")) element.click();
    await pause(15);
  }
  await pause(150);
}
"""
NOT_THERE = "Failed to load resource"
SOME = tuple(sorted(PAYLOADS))[::10]
VIEWS = ("/paper/{}", "/proof/{}", "/graph?name={}", "/search?q={}", "/ask?q={}", "/library?q={}", "/paper/x#{}")
WORDS = frozenset(
    "title authors text quote abstract venue name caption label description message hint answer sectionPath before "
    "after tag tags summary definition sectionTitle chapterTitle reason preview concepts aliases filename detail "
    "remarks".split()
)
POISON = "<script>ran(1)</script><img src=x onerror=ran(2)><svg onload=ran(3)>"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("poison")
    poison.fill(folder)
    options: dict[str, Any] = {"embedder": HashedWords(), "generator": Parrot()}
    with Library.open(folder, overrides={"answer.threshold": 0.0}, **options) as opened:
        yield opened


@pytest.fixture
def visit(browser: Browser, url: str) -> Iterator[Visit]:
    """`visit("/ask?q=…")` opens a view with something that notices what runs; in the end nothing may have.

    It may ask nobody but its own server, and nothing may go wrong in it but that something is not found.
    """
    with ExitStack() as stack:
        opened: list[tuple[Page, Trouble]] = []
        asked: list[str] = []

        def noted(dialog: Dialog) -> None:
            asked.append(dialog.message)
            dialog.dismiss()

        def open_view(path: str, *scripts: str) -> Page:
            page, trouble = stack.enter_context(browsing.looking(browser, url))
            page.on("dialog", noted)
            for script in (CANARY, *scripts):
                page.add_init_script(script)
            page.goto(path)
            opened.append((page, trouble))
            return page

        yield open_view
        assert asked == []
        for page, trouble in opened:
            assert page.evaluate("window.runs") == []
            assert trouble.requests == []
            assert [error for error in trouble.errors if not error.startswith(NOT_THERE)] == []


def settled(page: Page) -> Page:
    page.wait_for_load_state("networkidle")
    expect(page.locator("main .loading")).to_have_count(0)
    return page


def poked(page: Page) -> Page:
    settled(page).evaluate(POKE)
    return page


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def test_a_hostile_paper_is_shown_as_the_text_it_is(visit: Visit, url: str) -> None:
    page = visit("/library")
    for name in PAYLOADS:
        moved(page, f"/paper/{identity(name)}")
        title = httpx2.get(f"{url}/api/papers/{identity(name)}").json()["title"]
        expect(page.get_by_role("heading", level=1)).to_have_text(plain(title))


def moved(page: Page, address: str) -> None:
    """As by a link, without loading everything anew."""
    page.evaluate("(to) => { history.pushState(null, '', to); dispatchEvent(new PopStateEvent('popstate')); }", address)


@pytest.mark.parametrize("name", SOME)
def test_everything_on_a_hostile_paper_can_be_touched(visit: Visit, name: str) -> None:
    known = f"full-{name}" if name not in {"crlf", "control", "long", "mutation-template"} else identity(name)
    page = poked(visit(f"/paper/{known}"))
    assert page.evaluate("document.querySelectorAll('main script, main iframe, main object, main base').length") == 0


def test_a_list_of_hostile_papers_is_a_list(visit: Visit) -> None:
    page = poked(visit("/library"))
    assert page.evaluate("document.querySelectorAll('main script, main iframe, main style').length") == 0


@pytest.mark.parametrize("kind", ["", "&tab=figures", "&mode=keyword", "&tab=papers"])
def test_hostile_passages_are_found_and_explained(visit: Visit, kind: str) -> None:
    page = settled(visit(f"/search?q=poisonium{kind}"))
    expect(page.locator("main")).to_contain_text(re.compile("ran|evil"))
    poked(page)


def test_an_answer_made_of_hostile_sentences_is_text(visit: Visit) -> None:
    page = visit(f"/ask?q={quote(QUESTION)}")
    expect(page.locator("main")).to_contain_text(re.compile(r"melts at \d+ degrees"), timeout=20_000)
    poked(page)
    assert page.evaluate("document.querySelectorAll('main script, main iframe, main img[src=x]').length") == 0


@pytest.mark.parametrize("name", SOME)
def test_a_graph_of_hostile_concepts_shows_their_names(visit: Visit, name: str) -> None:
    poked(visit(f"/graph?name={quote(PAYLOADS[name])}"))


def test_the_map_of_hostile_concepts_can_be_touched(visit: Visit) -> None:
    poked(visit("/graph"))


def test_proofs_of_hostile_passages_show_the_quote(visit: Visit, url: str) -> None:
    found = httpx2.get(f"{url}/api/search", params={"query": "poisonium", "limit": 4}).json()["results"]
    page = visit("/library")
    for hit in found:
        page.goto(f"/proof/{quote(hit['address'])}")
        poked(page)
        assert page.evaluate("window.runs") == []


@pytest.mark.parametrize("view", VIEWS)
def test_an_address_may_say_what_it_will(visit: Visit, view: str) -> None:
    page = visit(view.format(quote(PAYLOADS["broken-out"], safe="")))
    settled(page)
    for payload in [*PAYLOADS.values()][VIEWS.index(view) % 2 :: 2]:
        moved(page, view.format(quote(payload[:1500], safe="")))
        page.wait_for_timeout(25)
        assert page.evaluate("document.querySelectorAll('main script, main iframe, main img[src=x]').length") == 0
    settled(page)
    assert page.evaluate("location.host") in page.url


@pytest.mark.parametrize(
    "path", ["/paper//evil.example/x", "/proof/%2F%2Fevil.example", "/paper/..%2f..", "/paper/%00%ff"]
)
def test_an_address_that_looks_like_another_server_is_none(visit: Visit, path: str) -> None:
    page = settled(visit(path))
    assert page.evaluate("[...document.querySelectorAll('a[href]')].every((link) => link.host === location.host)")


@pytest.mark.parametrize("value", ['"<img src=x onerror=ran(1)>"', "[1, null]", '{"question": 1}', "not json"])
def test_what_the_browser_keeps_may_be_anything(visit: Visit, library: Library, value: str) -> None:
    named = "history theme token sessions conversation columns sort filters pinned recent".split()
    fill = f"for (const name of {json.dumps(named)}) localStorage.setItem(`carrel.${{name}}`, {json.dumps(value)});"
    page = visit("/ask", fill)
    for view in ("library", "search?q=poisonium", "graph", "health", "ask"):
        moved(page, f"/{view}")
        settled(page)
        expect(page.locator("main .is-failure")).to_have_count(0)


@pytest.mark.parametrize(
    "path",
    [
        f"/api/figures/full-{SOME[0]}/fig1/image",
        f"/api/text/{identity('script')}",
        f"/api/papers?query={quote(PAYLOADS['script'])}",
        f"/api/search?query={quote(PAYLOADS['image-error'])}",
        f"/api/papers/{quote(PAYLOADS['svg'], safe='')}",
        f"/api/export?paper={identity('broken-out')}&style=bibtex",
        "/static/icon.svg",
    ],
)
def test_an_answer_of_the_server_opened_by_itself_runs_nothing(browser: Browser, url: str, path: str) -> None:
    with browsing.looking(browser, url) as (page, trouble):
        refused: list[str] = []
        page.on("requestfailed", lambda request: refused.append(request.url) if request.failure == "csp" else None)
        page.add_init_script("window.runs = []; window.ran = (what) => { window.runs.push(String(what)); };")
        answer = page.goto(path, wait_until="networkidle")
        assert answer is not None
        assert "sandbox" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "text/html" not in answer.headers["content-type"]
        assert page.evaluate("window.runs") == []
        assert trouble.requests == refused


def test_a_picture_that_is_a_program_is_a_picture(visit: Visit, url: str) -> None:
    figure = httpx2.get(f"{url}/api/figures", params={"query": "picture", "limit": 1}).json()["results"][0]
    assert figure["imageUrl"]
    page = settled(visit("/search?q=picture&tab=figures"))
    expect(page.locator("main img").first).to_have_js_property("naturalWidth", 200)


def test_a_file_with_a_hostile_name_is_taken_in_under_it(visit: Visit, url: str) -> None:
    page = settled(visit("/library"))
    name = "<img src=x onerror=ran('file')> \u202e.md"
    text = f"# Late {PAYLOADS['image-error']}\n\nPoisonium came late.\n".encode()
    broken = "<svg onload=ran('broken')>.pdf"
    page.locator("input[type=file]").first.set_input_files(
        [
            FilePayload(name=name, mimeType="text/markdown", buffer=text),
            FilePayload(name=broken, mimeType="application/pdf", buffer=b"%PDF-1.7 no such thing"),
        ]
    )
    expect(page.get_by_text("onload=ran('broken')").first).to_be_visible(timeout=20_000)
    wait_until(lambda: "late" in httpx2.get(f"{url}/api/papers", params={"query": "Late"}).text.lower(), 20)
    poked(page)


def test_a_comment_on_an_answer_stays_a_comment(visit: Visit, url: str) -> None:
    given = httpx2.post(f"{url}/api/query", json={"query": QUESTION}, timeout=30).json()
    body = {"queryId": given["queryId"], "rating": 2, "comment": PAYLOADS["script"] + PAYLOADS["crlf"]}
    assert httpx2.post(f"{url}/api/feedback", json=body).status_code < 300
    poked(visit("/health"))


@pytest.mark.parametrize(
    "path", ["/library", "/paper/poison-script", "/search?q=poisonium", "/graph", "/health", "/ask?q=poisonium"]
)
def test_a_page_whose_server_lies_shows_lies_as_text(visit: Visit, path: str) -> None:
    """As if nothing had been cleaned on its way in: markup is put into every text that the server sends."""
    page = visit("/health")
    page.route("**/api/**", poisoned)
    page.goto(path)
    if path != "/health":
        expect(page.locator("main")).to_contain_text("<script>ran(1)</script>")
    poked(page)
    assert page.evaluate("document.querySelectorAll('main script, main img[src=x]').length") == 0


def poisoned(route: Route) -> None:
    # What was still asked for when the page was closed is of no interest to anybody.
    with suppress(Error):
        try:
            _poison(route)
        except Error:
            route.abort()


def _poison(route: Route) -> None:
    answer = route.fetch()
    kind = answer.headers.get("content-type", "")
    if "json" in kind:
        route.fulfill(response=answer, body=json.dumps(worse(answer.json())))
    elif "event-stream" in kind:
        route.fulfill(response=answer, body=re.sub(r"^data: (.*)$", _worse_event, answer.text(), flags=re.MULTILINE))
    else:
        route.fulfill(response=answer)


def _worse_event(line: re.Match[str]) -> str:
    return f"data: {json.dumps(worse(json.loads(line[1])))}"


def worse(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: worse(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [worse(one, name) for one in value]
    return f"{value} {POISON}" if isinstance(value, str) and name in WORDS else value


def test_the_corpus_reaches_what_it_is_meant_for(library: Library) -> None:
    """A corpus that the library had thrown away would prove nothing."""
    titles = " ".join(row.reference.title for row in library.list())
    assert len(PAYLOADS) >= 36
    for part in (
        "onerror=ran('error')",
        "onload=ran('svg')",
        "dangerouslySetInnerHTML",
        "javascript:ran",
        "\u2066",
        "+ADw-",
    ):
        assert part in titles
