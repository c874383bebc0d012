"""A paper: its record, outline, text, figures and neighbours, each with an address of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import expect

from carrel import Library
from tests.http.reading import shelf
from tests.http.serving import running
from tests.saved_answers import put_records, record
from tests.web.browsing import PHONE
from tests.web.conftest import Look
from tests.web.shelf import PROOF, TITLE
from tests.web.test_accessible import grave
from tests.web.weighing import Weights

SECTIONS = 300
QUARRIES = "The quarries of the northern valleys and their granite"
CITING = f"""---
title: Who cut the granite of the valleys
---

# Stones

Granite was cut in three valleys [1], and shipped from two harbours [2] that are no more than villages today.

# References

[1] Ada Stone. 2020. {QUARRIES}. Journal of Rocks. doi:10.1000/quarry

[2] Bo Rock. 2019. The harbours of the northern coast. Journal of Boats. doi:10.1000/boats
"""
ODD = "مقدمة 稀疏表示 <b onclick=alert(1)>bold</b> " + "unbreakable" * 30


@pytest.fixture(scope="module")
def rocks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Papers with figures, without end, retracted, with an odd name, and one that is a record alone."""
    folder = tmp_path_factory.mktemp("rocks")
    with shelf(folder) as library:
        kept = [json.loads(line) for line in library.layout.refs.read_text(encoding="utf-8").splitlines()]
        put_records(
            library,
            *kept,
            record(
                "gone",
                "Granite floats on water, or so it was said by people who had never tried it themselves.",
                tags=["retracted"],
            ),
            record("odd", f"{ODD}. " * 3, title=ODD, doi="javascript:alert(1)", venue=ODD, tags=[ODD[:60]]),
            record("bare", "", doi=""),
            record(
                "quarry",
                "Where granite was cut, by whom and for what, told from the books of three families.",
                title=QUARRIES,
                doi="10.1000/quarry",
            ),
        )
        (folder / "long.md").write_text(_long(), encoding="utf-8")
        (folder / "citing.md").write_text(CITING, encoding="utf-8")
        (folder / "endless.txt").write_text("\n\n".join(_paragraphs(160)), encoding="utf-8")
        library.add(folder / "long.md", paper_id="long")
        library.add(folder / "endless.txt", paper_id="endless")
        library.add(folder / "citing.md", paper_id="citing")
        with running(library) as server:
            yield server.url


def _long() -> str:
    parts = (
        f"## Section {number}\n\nSample {number} was cut in quarry {number} and weighed by hand number {number}.\n\n"
        for number in range(SECTIONS)
    )
    return "---\ntitle: On quarries\n---\n\n# Without end\n\n" + "".join(parts) + "# Ends\n\nNothing more.\n"


def _paragraphs(number: int) -> Iterator[str]:
    yield "Endless"
    for n in range(number):
        yield (
            f"Stone {n} was found at place {n} and kept in drawer {n}, where nobody has looked at it for {n} years. "
            * 3
        )


def test_a_paper_shows_its_record_and_where_to_go_on(look: Look) -> None:
    page = look("/paper/beltagy-etal-2019-scibert")
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "SciBERT: A Pretrained Language Model for Scientific Text"
    )
    expect(page.locator(".paper-authors")).to_have_text("Iz Beltagy, Kyle Lo, Arman Cohan")
    doi = page.get_by_role("link", name="10.18653/v1/D19-1371")
    expect(doi).to_have_attribute("href", "https://doi.org/10.18653/v1/D19-1371")
    expect(doi).to_have_attribute("rel", "noopener noreferrer")
    expect(page.get_by_role("region", name="Abstract")).to_contain_text("Obtaining large-scale annotated data")
    for name, target in (
        ("Ask about this paper", "/ask?paper=beltagy-etal-2019-scibert"),
        ("Search in it", "/search?paper=beltagy-etal-2019-scibert"),
        ("scientific text", "/library?tag=scientific+text"),
        ("SciBERT", "/graph?name=SciBERT"),
    ):
        expect(page.get_by_role("link", name=name, exact=True).first).to_have_attribute("href", target)
    near = page.get_by_role("region", name="Similar papers").get_by_role("link")
    expect(near).to_have_count(6)


def test_citations_lead_both_ways(look: Look, rocks: str) -> None:
    page = look("/paper/quarry", at=rocks)
    page.get_by_role("region", name="Cited by").get_by_role("link", name="Who cut the granite").click()
    page.wait_for_url("**/paper/citing")
    cited = page.get_by_role("region", name="Cites")
    expect(cited).to_contain_text("Cites 2 works, 1 of them here")
    expect(cited.get_by_role("link", name=QUARRIES)).to_have_attribute("href", "/paper/quarry")
    expect(cited.get_by_role("listitem").nth(1)).to_contain_text("The harbours of the northern coast")
    elsewhere = cited.get_by_role("link", name="10.1000/boats")
    expect(elsewhere).to_have_attribute("href", "https://doi.org/10.1000/boats")
    expect(page.get_by_role("region", name="Similar papers")).to_contain_text("where this one is not listed")


def test_a_chapter_is_read_with_its_pages_and_has_an_address(look: Look) -> None:
    page = look("/paper/stone-lichen")
    expect(page.get_by_role("heading", level=1)).to_have_text(TITLE)
    expect(page.get_by_role("link", name="Pages")).to_have_attribute("href", "/proof/stone-lichen/ch2/s0/p0")
    page.get_by_role("region", name="Contents").get_by_role("link").first.click()
    page.wait_for_url("**/paper/stone-lichen#ch2")
    expect(page.get_by_text(PROOF)).to_be_visible()
    mark = page.get_by_role("link", name="Page 1, to the proof")
    expect(mark).to_have_attribute("href", "/proof/stone-lichen/ch2/s0/p0")
    page.go_back()
    expect(page.get_by_role("link", name="Ask about this paper")).to_be_visible()


def test_a_place_in_a_paper_is_linked_to_and_keys_turn_the_pages(look: Look) -> None:
    page = look("/paper/cohan-etal-2020-specter#ch3/s3")
    section = page.locator("[id='ch3/s3']")
    expect(section).to_be_in_viewport()
    current = page.get_by_role("navigation", name="Contents").locator("[aria-current]")
    title = section.get_by_role("heading").inner_text()
    expect(current).to_have_text(title)
    page.keyboard.press("j")
    page.wait_for_url("**#ch4")
    page.keyboard.press("k")
    page.wait_for_url("**#ch3")
    page.keyboard.press("Escape")
    page.wait_for_url("**/paper/cohan-etal-2020-specter")
    expect(page.get_by_role("region", name="Contents")).to_contain_text("Our goal is to learn task-independent")


def test_sections_are_shown_with_their_first_sentences_on_demand(look: Look, rocks: str) -> None:
    page = look("/paper/slash/sediment", at=rocks)
    contents = page.get_by_role("region", name="Contents")
    expect(contents.get_by_role("link", name="Age")).to_have_count(0)
    contents.get_by_role("button", name="Sections of Beds").click()
    expect(contents).to_contain_text("A lower bed is older than an upper bed.")
    contents.get_by_role("link", name="Age").click()
    page.wait_for_url("**/paper/slash/sediment#ch1/s2")
    expect(page.get_by_text("Stratigraphy is the study of beds.")).to_be_visible()


def test_figures_open_large_with_what_is_said_of_them(look: Look, rocks: str) -> None:
    page = look("/paper/slash/sediment", at=rocks)
    figures = page.get_by_role("region", name="Figures and tables")
    picture = figures.get_by_role("img").first
    expect(picture).to_have_attribute("src", "/api/figures/slash/sediment/fig1/image")
    figures.get_by_role("link").first.click()
    page.wait_for_url("**#fig1")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("How a bed grows, layer by layer.")
    expect(dialog).to_contain_text("1 of 2")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**#fig2")
    expect(dialog.get_by_role("cell")).to_have_text(["upper", "10", "lower", "20"])
    page.keyboard.press("ArrowLeft")
    dialog.get_by_role("link", name="shows how a bed grows").click()
    page.wait_for_url(re.compile(r"#ch1/s1/p\d$"))
    expect(dialog).to_have_count(0)
    page.goto(f"{rocks}/paper/slash/sediment#fig2")
    expect(dialog).to_contain_text("Table 1")
    page.keyboard.press("Escape")
    page.wait_for_url("**/paper/slash/sediment")


def test_a_retracted_paper_says_so_first(look: Look, rocks: str) -> None:
    page = look("/paper/gone", at=rocks)
    expect(page.get_by_role("note")).to_contain_text("Retracted, says the tag 'retracted'")
    page = look("/library?q=gone", at=rocks)
    expect(page.locator(".library-row[data-index]")).to_contain_text("RETRACTED")


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1440, "height": 900}])
def test_an_odd_paper_is_text_and_stays_in_its_place(look: Look, rocks: str, viewport: dict[str, int]) -> None:
    page = look("/paper/odd", at=rocks, viewport=viewport, color_scheme="dark")
    expect(page.get_by_role("heading", level=1)).to_contain_text("<b onclick=alert(1)>bold</b>")
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    assert page.locator("a[href^='javascript']").count() == 0


def test_a_record_alone_says_what_is_missing(look: Look, rocks: str) -> None:
    page = look("/paper/bare", at=rocks)
    expect(page.get_by_text("Only the record of this paper is here.")).to_be_visible()
    expect(page.get_by_text("Record only")).to_be_visible()


def test_three_hundred_sections_and_a_text_without_any_stay_readable(look: Look, rocks: str) -> None:
    page = look("/paper/long", at=rocks)
    weights = Weights(page)
    page.get_by_role("button", name="Sections of Without end").click()
    page.get_by_role("link", name="Section 250", exact=True).click()
    expect(page.get_by_text("Sample 250 was cut in quarry 250")).to_be_in_viewport()
    expect(page.get_by_role("navigation", name="Contents").locator("[aria-current]")).to_be_in_viewport()
    assert page.locator(".passage").count() < 60
    page.goto(f"{rocks}/paper/endless#ch0")
    expect(page.get_by_text("Stone 0 was found").first).to_be_visible()
    first = page.locator(".passage").count()
    page.get_by_role("button", name="Read on").click()
    expect(page.locator(".passage")).to_have_count(first * 2)
    assert weights.asked("/api/chunks/endless/ch0/s0/p39")
    assert weights.heaviest < 1_000_000


def test_a_paper_is_cited_from_its_own_page(look: Look) -> None:
    page = look("/paper/gao-etal-2021-simcse")
    page.get_by_role("button", name="Cite").click()
    expect(page.get_by_role("textbox", name="References")).to_have_value(re.compile("@.*gao-etal-2021-simcse"))
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_paper_is_removed_from_its_own_page_once_that_is_confirmed(look: Look, url: str, library: Library) -> None:
    page = look("/paper/rogers-etal-2020-primer")
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Remove").click()
    bar = page.get_by_role("alertdialog")
    expect(bar).to_contain_text("“A Primer in BERTology: What We Know About How BERT Works” will be removed.")
    assert httpx2.get(f"{url}/api/papers/rogers-etal-2020-primer").status_code == 200
    page.get_by_role("button", name="Remove for good").click()
    page.wait_for_url("**/library")
    assert "rogers-etal-2020-primer" not in {row.reference.id for row in library.list()}


@pytest.mark.troubled
def test_a_paper_that_is_not_there_says_so(look: Look) -> None:
    page = look("/paper/nobody2000")
    expect(page.get_by_role("alert")).to_contain_text("nobody2000")


def test_a_chapter_that_is_not_there_says_so(look: Look) -> None:
    page = look("/paper/cohan-etal-2020-specter#ch99")
    expect(page.get_by_text("There is no such chapter")).to_be_visible()


@pytest.mark.parametrize("place", ["", "#ch3"])
def test_on_a_phone_all_is_in_one_column(look: Look, place: str) -> None:
    page = look(f"/paper/cohan-etal-2020-specter{place}", viewport=PHONE)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".paper-columns")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    if place:
        page.get_by_text("Contents", exact=True).click()
        page.get_by_role("navigation", name="Contents").get_by_role("link", name="1 Introduction").click()
        page.wait_for_url("**#ch2")


@pytest.mark.parametrize("place", ["#ch1", "#fig1", "#fig2"])
def test_reading_and_figures_are_accessible(look: Look, rocks: str, place: str) -> None:
    page = look(f"/paper/slash/sediment{place}", at=rocks)
    expect(page.locator(".passage, .plate-large").first).to_be_visible()
    assert grave(page) == []
