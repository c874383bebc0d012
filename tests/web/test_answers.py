"""What readers do with answers on the page: rate them, copy them, save them, and find again what they asked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Page, expect

from carrel import Library
from carrel.testing import HashedWords
from carrel.types.service import Scope
from tests.http.serving import running
from tests.web.asking import answered, ask, asked
from tests.web.conftest import Look
from tests.web.shelf import PROOF, QUESTION, TITLE, UNANSWERABLE


def known(page: Page) -> str:
    """What the server knows the answer by that this tab keeps."""
    kept = page.evaluate("Object.entries(sessionStorage).find(([name]) => name.startsWith('carrel.conversation.'))[1]")
    return str(json.loads(kept)[0]["response"]["queryId"])


def test_an_answer_is_rated_once(look: Look, url: str) -> None:
    page = look("/ask")
    turn = ask(page)
    query_id = known(page)
    turn.get_by_role("button", name="Good answer").click()
    form = page.get_by_role("form", name="Rate this answer")
    form.get_by_role("radio", name="4 of 5").check(force=True)
    form.get_by_role("textbox", name="Comment").fill("<b>Found it.</b>")
    form.get_by_role("button", name="Send").click()
    expect(turn.get_by_text("Rated 4 of 5. Thank you.")).to_be_visible()
    kept = httpx2.get(f"{url}/api/feedback/{query_id}").json()
    assert (kept["rating"], kept["comment"]) == (4, "<b>Found it.</b>")
    page.reload()
    expect(answered(page).get_by_text("Rated 4 of 5. Thank you.")).to_be_visible()


@pytest.mark.troubled
def test_a_rating_that_comes_second_is_told_so(look: Look, url: str) -> None:
    page = look("/ask")
    turn = ask(page)
    query_id = known(page)
    httpx2.post(f"{url}/api/feedback", json={"queryId": query_id, "rating": 2}).raise_for_status()
    turn.get_by_role("button", name="Bad answer").click()
    page.get_by_role("button", name="Send").click()
    expect(turn.get_by_text("This answer was rated before; that rating stands.")).to_be_visible()
    assert httpx2.get(f"{url}/api/feedback/{query_id}").json()["rating"] == 2


def test_an_answer_is_copied_as_markdown_with_its_references(look: Look) -> None:
    page = look("/ask", permissions=["clipboard-read", "clipboard-write"])
    turn = ask(page)
    turn.get_by_role("button", name="Copy").click()
    page.get_by_role("menuitem", name="As Markdown with BibTeX").click()
    expect(page.get_by_text("Copied as Markdown with BibTeX")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"## {QUESTION}\n\n")
    number = re.search(r"0\.61 mm a year.* \[(\d)\]", copied)
    assert number is not None
    source = re.search(rf"^\[{number[1]}\] (.*)\n\n> (.*)$", copied, re.MULTILINE)
    assert source is not None
    assert f"*{TITLE}*" in source[1]
    assert "p. 1" in source[1]
    assert source[2].split() == PROOF.split()
    assert re.search(r"````bibtex\n@\w+\{stone-lichen,", copied)


def test_an_answer_is_saved_as_a_bundle(look: Look) -> None:
    page = look("/ask")
    turn = ask(page)
    turn.get_by_role("button", name="Save").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="As JSON").click()
    assert download.value.suggested_filename == "how-fast-does-the-map-lichen-grow-on-granite-walls.json"
    saved = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert QUESTION in json.dumps(saved)
    assert "0.61 mm a year" in json.dumps(saved)


def test_where_to_look_is_asked_for_shown_and_taken_back(look: Look) -> None:
    page = look("/ask")
    bodies = asked(page)
    page.get_by_role("button", name="Where to look").click()
    expect(page.locator("datalist option").first).to_be_attached()
    page.get_by_label("Paper", exact=True).fill("stone-lichen")
    page.keyboard.press("Enter")
    page.get_by_label("From year").fill("1990")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Remove From 1990")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?paper=stone-lichen&yearMin=1990$"))
    page.get_by_role("button", name="Remove From 1990").click()
    turn = ask(page)
    assert {key: value for key, value in bodies[0].items() if key != "sessionId"} == {
        "query": QUESTION,
        "paper": ["stone-lichen"],
    }
    expect(turn.locator(".turn-restated")).to_contain_text("Paper: stone-lichen")
    expect(turn.locator(".answer-reference")).to_have_count(1)


def test_what_was_asked_before_is_found_and_forgotten(look: Look) -> None:
    page = look("/ask")
    ask(page)
    ask(page, UNANSWERABLE)
    page.goto("/ask")
    expect(page.get_by_role("region", name="Asked before").get_by_role("link")).to_have_text([UNANSWERABLE, QUESTION])
    page.get_by_role("button", name="Asked before").click()
    page.get_by_role("searchbox", name="Find a question").fill("LICHEN")
    expect(page.locator(".past-questions a bdi")).to_have_text([QUESTION])
    page.get_by_role("button", name=f"Forget: {QUESTION}").click()
    page.get_by_role("searchbox", name="Find a question").fill("")
    expect(page.locator(".past-questions a bdi")).to_have_text([UNANSWERABLE])
    page.get_by_role("button", name="Forget all").click()
    expect(page.get_by_text("Nothing yet.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("region", name="Asked before")).to_have_count(0)


def test_questions_are_suggested_that_the_papers_speak_of(look: Look) -> None:
    page = look("/ask")
    suggested = page.get_by_role("region", name="Your papers speak of this").get_by_role("link")
    expect(suggested).to_have_count(3)
    words = suggested.first.inner_text()
    suggested.first.click()
    answered(page, words)


def test_a_library_without_papers_invites_to_add_some(look: Look, tmp_path: Path) -> None:
    with Library.init(tmp_path, embedder=HashedWords()) as library, running(library) as server:
        page = look("/ask", at=server.url)
        expect(page.get_by_role("heading", name="There are no papers here yet")).to_be_visible()
        expect(page.get_by_role("link", name="Add papers")).to_have_attribute("href", "/library")
        page.close()


@pytest.mark.troubled
def test_a_library_that_asks_for_a_token_answers_once_it_is_given(look: Look, library: Library) -> None:
    _, secret = library.create_token("reader", Scope.READ)
    with running(library, require_token=True, requests_per_minute=0) as server:
        page = look(f"/ask?q={QUESTION}", at=server.url)
        page.get_by_role("textbox", name="Token").fill(secret)
        page.get_by_role("button", name="Go on").click()
        turn = answered(page)
        turn.locator(".answer-said a").first.click()
        expect(page.locator(".sheet-picture")).to_have_attribute("src", re.compile("^blob:"))
        expect(page.locator(".sheet-picture")).not_to_have_js_property("naturalWidth", 0)
        page.keyboard.press("Escape")
        turn.get_by_role("button", name="Save").click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name="As Markdown").click()
        assert "0.61 mm a year" in Path(download.value.path()).read_text(encoding="utf-8")
