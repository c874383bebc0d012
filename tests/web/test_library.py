"""The list of papers: however long it is, it is sorted, filtered, walked through by keys and thinned out by choice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Locator, Page, expect

from carrel import Library
from carrel.catalogs import Entry
from carrel.testing import HashedWords
from carrel.types import Author, Document, Part, Published, Reference
from tests.http.serving import running
from tests.web.browsing import PHONE
from tests.web.conftest import Look
from tests.web.test_accessible import grave
from tests.web.weighing import Weights

MANY = 10_000
MEGABYTE = 1_000_000
ODD = (
    '<img src=x onerror=alert(1)> & "quotes" ${1 + 1}',
    "稀疏与密集表示法在文本检索中的应用研究及其在大规模数据集上的实验评估" * 6,
    "مقدمة في استرجاع المعلومات (RAG) 2024",
    "Unbreakable" * 40,
    "",
)


def rows(page: Page) -> Locator:
    return page.locator(".library-row[data-index]")


def titles(page: Page) -> Locator:
    return page.locator(".library-row[data-index] .library-title a")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of ten thousand records, some of which are odd, put where they are listed from."""
    with Library.init(tmp_path_factory.mktemp("many"), embedder=HashedWords()) as library:
        catalog = library.stores.catalog
        catalog.put([_entry(number) for number in range(MANY)])
        catalog.activate([f"p{number:05d}" for number in range(MANY)])
        with running(library) as server:
            yield server.url


def _entry(number: int) -> Entry:
    title = ODD[number] if number < len(ODD) else f"Paper {number:05d} on stones"
    reference = Reference(
        id=f"p{number:05d}",
        title=title,
        authors=(Author("Stone", "Ada"), Author("王", "伟")),
        venue=f"Journal {number % 7}",
        published=Published(1950 + number % 70),
        tags=("rocks" if number % 2 else "moss",),
    )
    return Entry(reference, Document(reference.id, Part.BODY, "text", f"digest {number}"), ())


def test_the_papers_are_listed_with_what_there_is_of_them(look: Look, library: Library) -> None:
    page = look("/library?q=scibert")
    expect(rows(page)).to_have_count(1)
    row = rows(page).first
    expect(row).to_contain_text("SciBERT: A Pretrained Language Model for Scientific Text")
    expect(row).to_contain_text("Iz Beltagy, Kyle Lo, Arman Cohan")
    for words in ("2019", "language models", "Abstract", "Indexed"):
        expect(row).to_contain_text(words)
    page.get_by_role("searchbox", name="Filter by title").fill("")
    expect(page.locator(".library-top [role=status]")).to_have_text(f"{len(library.list())} papers")


def test_headings_sort_either_way_say_so_and_stand_in_the_address(look: Look) -> None:
    page = look("/library")
    heading = page.get_by_role("columnheader", name="Year")
    expect(heading).to_have_attribute("aria-sort", "none")
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    expect(rows(page).first.locator(".library-year")).to_have_text("2021")
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    expect(rows(page).first.locator(".library-year")).to_have_text("2008")
    expect(page).to_have_url(re.compile(r"/library\?sort=year&order=asc$"))
    page.get_by_role("columnheader", name="Paper").get_by_role("button").click()
    expect(titles(page).first).to_have_text(re.compile("^A Corpus with"))
    page.go_back()
    expect(rows(page).first.locator(".library-year")).to_have_text("2008")


def test_words_tags_years_and_venue_narrow_the_list_and_can_be_linked_to(look: Look) -> None:
    page = look("/library")
    page.get_by_role("group", name="Tags").get_by_role("button", name="more").click()
    page.get_by_role("group", name="Tags").get_by_role("button", name="retrieval").click()
    expect(page.locator(".library-top [role=status]")).to_have_text("7 papers")
    page.get_by_label("From year").fill("2020")
    page.get_by_label("To year").fill("2020")
    expect(page.locator(".library-top [role=status]")).to_have_text("2 papers")
    page.get_by_label("Filter by title").fill("karpukhin")
    expect(titles(page)).to_have_text(["Dense Passage Retrieval for Open-Domain Question Answering"])
    page.wait_for_url("**/library?tag=retrieval&from=2020&to=2020&q=karpukhin")
    page.reload()
    expect(titles(page)).to_have_text(["Dense Passage Retrieval for Open-Domain Question Answering"])
    expect(page.get_by_role("button", name="retrieval", pressed=True)).to_be_visible()
    page.get_by_label("Venue", exact=True).fill("PLoS")
    expect(page.get_by_text("No paper fits")).to_be_visible()
    page.get_by_role("button", name="Show all papers").click()
    expect(page.locator(".library-top [role=status]")).not_to_have_text("0 papers")
    expect(page.get_by_label("Venue", exact=True)).to_have_value("")


def test_venues_are_suggested(look: Look) -> None:
    page = look("/library")
    page.get_by_label("Venue", exact=True).fill("computational biology")
    expect(page.locator("#library-venues option").first).to_have_attribute("value", "PLoS Computational Biology")
    expect(titles(page)).to_have_text([re.compile("Defrosting")])


def test_a_tag_of_a_row_leads_to_its_papers(look: Look) -> None:
    page = look("/library?q=positionrank")
    rows(page).first.get_by_role("link", name="keyphrases").click()
    page.wait_for_url("**/library?tag=keyphrases")
    expect(rows(page)).to_have_count(2)


def test_what_makes_no_sense_in_the_address_is_left_out(look: Look, library: Library) -> None:
    page = look("/library?sort=constructor&order=sideways&from=never&to=1e9")
    expect(page.locator(".library-top [role=status]")).to_have_text(f"{len(library.list())} papers")


def test_the_list_is_walked_and_chosen_from_by_keys_alone(look: Look) -> None:
    page = look("/library?sort=title")
    expect(titles(page).first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(rows(page).nth(1).get_by_role("link").first).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("x")
    expect(page.get_by_role("toolbar", name="Selected papers")).to_contain_text("1 paper selected")
    page.keyboard.press("Escape")
    expect(page.get_by_role("toolbar", name="Selected papers")).to_have_count(0)
    page.keyboard.press("/")
    expect(page.get_by_label("Filter by title")).to_be_focused()
    page.keyboard.type("fever")
    expect(rows(page)).to_have_count(1)
    page.keyboard.press("Enter")
    page.keyboard.press("j")
    expect(rows(page).first.get_by_role("link").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/paper/thorne-etal-2018-fever")
    page.go_back()
    expect(rows(page)).to_have_count(1)


def test_who_comes_back_finds_the_list_where_it_was(look: Look) -> None:
    page = look("/library?sort=title")
    expect(titles(page).first).to_be_visible()
    for _ in range(30):
        page.keyboard.press("j")
    expect(page.locator("[data-index='29'] a").first).to_be_focused()
    top = page.locator(".virtual").evaluate("list => list.scrollTop")
    assert top > 0
    page.keyboard.press("Enter")
    page.wait_for_url("**/paper/**")
    page.go_back()
    expect(page.locator("[data-index='29']")).to_be_visible()
    expect(page.locator(".virtual")).to_have_js_property("scrollTop", top)


def test_chosen_papers_are_exported_for_latex_and_for_citation_processors(look: Look) -> None:
    page = look("/library?tag=keyphrases")
    page.get_by_label("Select all").check()
    expect(page.get_by_role("toolbar")).to_contain_text("2 papers selected")
    page.get_by_label("Select all").press("j")
    expect(rows(page).first.get_by_role("link").first).to_be_focused()
    page.get_by_role("button", name="Export").click()
    text = page.get_by_role("textbox", name="References")
    expect(text).to_have_value(re.compile(r"@\w+\{florescu-caragea-2017-positionrank"))
    assert grave(page) == []
    page.get_by_role("button", name="CSL-JSON").click()
    expect(text).to_have_value(re.compile(r'"id": "luan-etal-2017-scientific"'))
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save").click()
    assert saving.value.suggested_filename == "carrel.json"
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("toolbar")).to_contain_text("2 papers selected")


def test_removing_is_undone_or_confirmed_and_nothing_is_sent_before(look: Look, url: str) -> None:
    page = look("/library?tag=claim+verification&sort=title")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "DELETE" else None)
    expect(rows(page)).to_have_count(3)
    page.get_by_label("Select FEVER").check()
    page.get_by_label("Select Fact or Fiction").check()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(titles(page)).to_have_text([re.compile("^Abstract, Rationale")])
    bar = page.get_by_role("alertdialog", name="Remove papers")
    assert grave(page) == []
    expect(bar).to_contain_text("2 papers will be removed. Nothing is removed before you say so, or if you leave")
    page.get_by_role("button", name="Undo").click()
    expect(rows(page)).to_have_count(3)
    expect(bar).to_have_count(0)
    rows(page).first.get_by_role("link").first.focus()
    page.keyboard.press("Delete")
    expect(rows(page)).to_have_count(2)
    page.reload()
    expect(rows(page)).to_have_count(3)
    assert sent == []
    rows(page).first.get_by_role("link").first.focus()
    page.keyboard.press("Delete")
    page.get_by_role("button", name="Remove for good").click()
    expect(page.get_by_text("1 paper removed")).to_be_visible()
    expect(rows(page)).to_have_count(2)
    assert len(sent) == 1
    assert httpx2.get(f"{url}/api/papers/zhang-etal-2021-abstract").status_code == 404
    assert httpx2.get(f"{url}/api/papers", params={"tag": "claim verification"}).json()["total"] == 2


@pytest.mark.troubled
def test_what_cannot_be_removed_comes_back_with_the_reason(look: Look) -> None:
    page = look("/library?tag=surveys")
    refusal = {"error": "BUSY", "message": "another process writes"}
    page.route("**/api/papers/*", lambda route: route.fulfill(status=503, json=refusal))
    expect(rows(page)).to_have_count(1)
    page.get_by_label("Select A Primer").check()
    page.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("button", name="Remove for good").click()
    expect(page.get_by_text("could not be removed: another process writes")).to_be_visible()
    expect(rows(page)).to_have_count(1)


@pytest.mark.troubled
def test_a_list_that_cannot_be_had_says_why_and_is_asked_for_again(look: Look) -> None:
    page = look("/health")
    page.route("**/api/papers?*", lambda route: route.fulfill(status=500, json={"error": "X", "message": "no catalog"}))
    page.get_by_role("link", name="Library", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("no catalog")
    page.unroute("**/api/papers?*")
    page.get_by_role("button", name="Try again").click()
    expect(titles(page).first).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_a_row_has_two_lines_and_the_filters_are_behind_a_button(look: Look, scheme: str) -> None:
    page = look("/library", viewport=PHONE, color_scheme=scheme)
    expect(titles(page).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    expect(page.get_by_label("Venue", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Filters").click()
    page.get_by_label("Sort by").select_option("year asc")
    expect(rows(page).first.locator(".library-shortly")).to_have_text("Hull et al.2008Full text")
    small = """() => [...document.querySelectorAll("main button, main select, main input:not([type=checkbox])")]
      .filter((one) => one.offsetParent && one.getBoundingClientRect().height < 35.5).map((one) => one.outerHTML)"""
    assert page.evaluate(small) == []
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def scroll_to(page: Page, part: float) -> None:
    page.locator(".virtual").evaluate("(list, part) => { list.scrollTop = list.scrollHeight * part }", part)


def test_ten_thousand_papers_scroll_to_the_end_with_few_rows_and_small_answers(look: Look, many: str) -> None:
    page = look("/health", at=many)
    weights = Weights(page)
    page.evaluate("window.begun = performance.now()")
    page.get_by_role("link", name="Library", exact=True).click()
    expect(titles(page).first).to_have_text("Paper 09999 on stones")
    assert page.evaluate("performance.now() - window.begun") < 15_000
    seen = []
    for part in (0.25, 0.5, 0.75):
        scroll_to(page, part)
        expect(page.get_by_text(f"Paper {MANY * (1 - part) - 10:05.0f} on stones")).to_be_visible()
        seen.append(page.locator(".library-row").count())
    scroll_to(page, 1)
    expect(titles(page).last).to_have_text(ODD[0])
    expect(page.locator(".is-awaited")).to_have_count(0)
    seen.append(page.locator(".library-row").count())
    assert max(seen) < 60
    assert 4 < len(weights.asked("offset=")) < 12
    assert weights.heaviest < MEGABYTE
    page.keyboard.press("g")
    page.keyboard.press("l")
    page.get_by_label("Filter by title").fill("09876")
    expect(titles(page)).to_have_text(["Paper 09876 on stones"])


def test_a_list_that_flies_by_is_not_asked_for(look: Look, many: str) -> None:
    page = look("/library", at=many)
    expect(titles(page).first).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator(".virtual").evaluate(
        """async (list) => {
          for (let part = 0; part <= 40; part += 1) {
            list.scrollTop = (list.scrollHeight * part) / 40;
            await new Promise((next) => requestAnimationFrame(next));
          }
        }"""
    )
    expect(titles(page).last).to_have_text(ODD[0])
    assert len(asked) < 20


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1440, "height": 900}])
def test_odd_titles_are_text_and_keep_their_place(look: Look, many: str, viewport: Any) -> None:
    page = look("/library?order=asc", at=many, viewport=viewport)
    shown = [title or "p00004" for title in ODD]
    for number, title in enumerate(shown):
        expect(titles(page).nth(number)).to_have_text(title)
    heights = {box["height"] for one in rows(page).all()[:8] if (box := one.bounding_box())}
    assert len(heights) == 1
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    assert page.evaluate(
        "[...document.querySelectorAll('.library-title')].every((one) => one.scrollWidth <= one.clientWidth + 1)"
    )


def test_too_many_to_select_at_once_says_what_to_do(look: Look, many: str) -> None:
    page = look("/library", at=many)
    expect(page.get_by_label("Filter first: at most 1,000 can be selected at once")).to_be_disabled()
