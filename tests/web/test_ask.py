"""Asking on the page: answers as they grow, what proves them, and what cannot be answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import expect

from tests.http.asking import QUESTION as ROCKS
from tests.http.asking import TRUE, Halting
from tests.http.serving import running
from tests.saved_answers import opened
from tests.web.asking import answered, ask, asked, box, panel
from tests.web.browsing import PHONE
from tests.web.conftest import Look
from tests.web.shelf import QUESTION, TITLE, UNANSWERABLE


@pytest.fixture
def halting(tmp_path: Path) -> Iterator[tuple[str, Halting]]:
    """Where a library is served whose generator says one true thing and then hangs."""
    generator = Halting(TRUE)
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        library.generator = generator
        with running(library) as server:
            yield server.url, generator
            generator.released.set()


def test_a_question_is_answered_with_its_sources_and_how_sure_it_is(look: Look) -> None:
    page = look("/ask")
    turn = ask(page)
    expect(turn.locator(".answer-said p").first).to_contain_text("0.61 mm a year")
    expect(turn.locator(".answer-confidence .chip")).to_have_text(re.compile("^(Well|Fairly|Weakly) supported$"))
    expect(turn.locator(".answer-confidence")).to_contain_text("The evidence holds an answer with a probability of")
    expect(turn.get_by_role("region", name="References").get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    marks = turn.locator(".answer-said a")
    for mark in marks.all():
        expect(mark).to_have_attribute("href", re.compile(r"^/proof/.+\?start=\d+&end=\d+$"))


def test_statements_appear_as_they_come_and_can_be_stopped(halting: tuple[str, Halting], look: Look) -> None:
    url, generator = halting
    page = look("/ask", at=url)
    box(page).fill(ROCKS)
    page.keyboard.press("Enter")
    expect(page.locator(".answer-said")).to_contain_text("Granite is hard.")
    expect(page.get_by_text("The answer goes on")).to_be_attached()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("You stopped this answer here.")).to_be_visible()
    expect(page.locator(".answer-said")).to_contain_text("Granite is hard.")
    assert generator.closed.wait(30)
    generator.released.set()
    page.get_by_role("button", name="Ask again").click()
    answered(page, ROCKS)
    assert generator.asked == 2


def test_a_citation_can_be_opened_while_the_answer_still_comes(halting: tuple[str, Halting], look: Look) -> None:
    page = look(f"/ask?q={ROCKS}", at=halting[0])
    page.locator(".answer-said a").first.click()
    expect(panel(page).get_by_text("Checked:")).to_be_visible()
    expect(panel(page).locator("mark")).to_have_text("Granite is hard.")
    halting[1].released.set()
    answered(page, ROCKS)
    expect(panel(page).locator("mark")).to_have_text("Granite is hard.")


def test_what_cannot_be_answered_says_so_and_shows_what_came_closest(look: Look, url: str) -> None:
    expected = httpx2.post(f"{url}/api/query", json={"query": UNANSWERABLE}).json()
    page = look("/ask")
    turn = ask(page, UNANSWERABLE)
    expect(turn.get_by_text("Your library does not hold enough evidence to answer this.")).to_be_visible()
    expect(turn.locator(".answer-confidence .chip")).to_have_text("Not enough evidence")
    expect(turn.locator(".answer-missing .chip")).to_have_text(expected["missing"])
    misses = turn.get_by_role("region", name="Nearest passages").get_by_role("link")
    assert expected["nearMisses"]
    expect(misses).to_have_count(len(expected["nearMisses"]))
    misses.first.click()
    expect(panel(page).locator("mark").first).to_be_visible()
    expect(panel(page).get_by_text("Checked:")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(panel(page)).to_have_count(0)


def test_follow_ups_stay_in_the_conversation_and_going_back_goes_through_it(look: Look) -> None:
    page = look("/ask")
    bodies = asked(page)
    ask(page)
    first = page.url
    follow_up = "And on slate?"
    turn = ask(page, follow_up)
    expect(turn.locator(".turn-restated")).to_contain_text("Taken as:")
    expect(page.get_by_role("article")).to_have_count(2)
    assert [one["query"] for one in bodies] == [QUESTION, follow_up]
    assert bodies[0]["sessionId"] == bodies[1]["sessionId"]
    page.go_back()
    expect(page).to_have_url(first)
    expect(page.get_by_role("article")).to_have_count(2)
    page.go_back()
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    page.go_forward()
    expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()
    assert len(bodies) == 2


def test_a_new_conversation_knows_nothing_of_the_last_which_can_be_gone_on_with(look: Look) -> None:
    page = look("/ask")
    bodies = asked(page)
    ask(page)
    page.get_by_role("link", name="New conversation").click()
    expect(page.get_by_role("article")).to_have_count(0)
    ask(page, "What is lichenometry?")
    assert bodies[0]["sessionId"] != bodies[1]["sessionId"]
    page.get_by_role("link", name="New conversation").click()
    page.get_by_role("link", name="Go on with the last conversation").click()
    expect(page.get_by_role("heading", name="What is lichenometry?")).to_be_visible()


def test_a_link_asks_at_once_and_the_page_loaded_anew_asks_nothing(look: Look) -> None:
    page = look("/health")
    bodies = asked(page)
    page.goto(f"/ask?q={QUESTION}&paper=stone-lichen")
    answered(page)
    page.keyboard.press("1")
    expect(panel(page)).to_be_visible()
    page.reload()
    answered(page)
    expect(panel(page).get_by_text("Checked:")).to_be_visible()
    assert [one["query"] for one in bodies] == [QUESTION]
    assert bodies[0]["paper"] == ["stone-lichen"]


def test_hovering_or_focusing_a_citation_shows_what_it_quotes(look: Look) -> None:
    page = look("/ask")
    turn = ask(page)
    mark = turn.locator(".answer-said a").first
    mark.hover()
    card = page.get_by_role("tooltip")
    expect(card).to_contain_text("0.61 mm a year")
    expect(card).to_contain_text(TITLE)
    expect(card).to_contain_text("page 1")
    page.mouse.move(5, 5)
    expect(card).to_have_count(0)
    mark.focus()
    expect(card).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)


def test_all_of_it_works_by_keyboard_alone(look: Look) -> None:
    page = look("/ask")
    expect(box(page)).to_be_focused()
    page.keyboard.type("How fast does the map lichen grow")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("on granite walls?")
    page.keyboard.press("Enter")
    turn = page.get_by_role("article")
    expect(turn.get_by_role("button", name="Save")).to_be_visible()
    expect(turn.get_by_role("heading", level=2)).to_be_focused()
    page.keyboard.press("Tab")
    expect(turn.locator(".answer-said a").first).to_be_focused()
    page.keyboard.press("1")
    expect(panel(page)).to_be_focused()
    expect(turn.locator(".answer-said a").first).to_have_attribute("aria-current", "true")
    page.keyboard.press("j")
    expect(turn.locator(".answer-said a").nth(1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("k")
    expect(turn.locator(".answer-said a").first).to_have_attribute("aria-current", "true")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Open by itself")).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel(page)).to_have_count(0)
    expect(turn.locator(".answer-said a").first).to_be_focused()
    page.keyboard.press("/")
    expect(box(page)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(box(page)).to_have_value(re.compile("^How fast"))
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()


def test_what_was_left_out_and_what_failed_is_told(look: Look, tmp_path: Path) -> None:
    with opened(tmp_path, TRUE, "Cats fly. [1]\n", **{"answer.threshold": 0.0}) as library:
        library.reranker = Broken()
        with running(library) as server:
            page = look(f"/ask?q={ROCKS}", at=server.url)
            turn = answered(page, ROCKS)
            expect(turn.get_by_role("note")).to_contain_text("A part of the search did not do its work")
            turn.get_by_text("1 sentence that nothing proves was left out").click()
            expect(turn.get_by_text("Cats fly.")).to_be_visible()
            expect(turn.locator(".answer-said")).to_have_text(re.compile(r"^Granite is hard\.\s*1$"))
            page.close()


class Broken:
    name = "broken"

    def score(self, *_: object) -> list[float]:
        raise ConnectionError("the reranker is gone")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_wider_than_the_screen_and_everything_can_be_touched(look: Look, scheme: str) -> None:
    page = look("/ask", viewport=PHONE, color_scheme=scheme, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    turn = ask(page)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    for button in turn.get_by_role("button").all():
        size = button.bounding_box()
        assert size is not None
        assert size["height"] >= 36
    expect(page.locator("html")).to_have_attribute("data-theme", scheme)


def test_very_long_questions_and_answers_stay_in_their_place(look: Look, tmp_path: Path) -> None:
    word = "Pneumono" * 200
    statements = [f"Granite is hard. [{1 + index % 3}]\n" for index in range(120)]
    with opened(tmp_path, *statements, **{"answer.threshold": 0.0}) as library, running(library) as server:
        page = look("/ask", at=server.url, viewport=PHONE)
        question = f"How hard is granite {word}"
        box(page).fill(question * 2)
        expect(box(page)).to_have_value((question * 2)[:2000])
        expect(page.get_by_text("2,000 of 2,000")).to_be_visible()
        box(page).fill(question)
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Save")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        composer = page.get_by_role("form", name="Ask").bounding_box()
        assert composer is not None
        assert composer["y"] + composer["height"] <= PHONE["height"]
        page.close()


@pytest.mark.troubled
def test_a_question_that_is_refused_says_why_and_can_be_asked_again(look: Look) -> None:
    page = look(f"/ask?q={'x' * 2001}")
    alarm = page.get_by_role("alert")
    expect(alarm).to_contain_text("Query exceeds maximum length")
    expect(alarm.get_by_role("button", name="Ask again")).to_be_visible()
