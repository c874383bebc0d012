"""The view for searching: what it shows is what the API finds, however it is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from playwright.sync_api import Locator, Page, expect

from carrel import Library
from carrel.errors import StoreUnavailable
from tests.http.test_health import Broken
from tests.web.browsing import PHONE
from tests.web.conftest import Look
from tests.web.mossy import CAPTION, FIRST, SCRIPT, SECOND, put_moss
from tests.web.shelf import TITLE

MOSS = "moss on roofs"
GRAPH = "citation graph"


@pytest.fixture(scope="module")
def library(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Library:
    put_moss(library, tmp_path_factory.mktemp("moss") / "papers")
    return library


def found(url: str, path: str = "search", **asked: Any) -> dict[str, Any]:
    answer = httpx2.get(f"{url}/api/{path}", params=asked, timeout=30).raise_for_status()
    told: dict[str, Any] = answer.json()
    return told


def addresses(url: str, path: str = "search", **asked: Any) -> list[str]:
    return [one["address"] for one in found(url, path, **asked)["results"]]


def shows(page: Page, expected: list[str]) -> None:
    """These passages and no others, in this order."""
    assert expected
    hits = page.locator("article.hit")
    expect(hits).to_have_count(len(expected))
    for number, address in enumerate(expected):
        expect(hits.nth(number)).to_have_attribute("data-address", address)


def box(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Search the papers")


def test_what_is_typed_is_searched_for_after_a_pause(look: Look, url: str) -> None:
    page = look("/search")
    expect(box(page)).to_be_focused()
    page.keyboard.type(MOSS)
    shows(page, addresses(url, query=MOSS))
    expect(page).to_have_url(re.compile(r"/search\?q=moss\+on\+roofs$"))
    first = page.locator("article.hit").first
    said = found(url, query=MOSS)["results"][0]
    expect(first.get_by_role("heading")).to_contain_text(said["title"])
    expect(first).to_contain_text("Ada Stone, Bo Rock")
    expect(first.locator("mark").first).to_have_text("Moss")


def test_one_step_back_leads_to_the_search_before(look: Look, url: str) -> None:
    page = look(f"/search?q={GRAPH}")
    shows(page, addresses(url, query=GRAPH))
    box(page).fill(MOSS)
    shows(page, addresses(url, query=MOSS))
    box(page).fill("lichen walls")
    box(page).press("Enter")
    shows(page, addresses(url, query="lichen walls"))
    page.go_back()
    expect(box(page)).to_have_value(GRAPH)
    shows(page, addresses(url, query=GRAPH))


@pytest.mark.parametrize(("name", "mode"), [("Meaning", "vector"), ("Words", "keyword"), ("Graph", "graph")])
def test_the_mode_says_how_to_find(look: Look, url: str, name: str, mode: str) -> None:
    page = look(f"/search?q={GRAPH}")
    shows(page, addresses(url, query=GRAPH))
    page.get_by_role("button", name=name, exact=True).click()
    shows(page, addresses(url, query=GRAPH, mode=mode))
    page.reload()
    shows(page, addresses(url, query=GRAPH, mode=mode))
    assert addresses(url, query=GRAPH, mode=mode) != addresses(url, query=GRAPH)


def test_years_narrow(look: Look, url: str) -> None:
    page = look(f"/search?q={MOSS}")
    page.get_by_label("From year").fill("2020")
    page.get_by_label("From year").press("Enter")
    page.get_by_label("To year").fill("2021")
    page.get_by_label("To year").press("Tab")
    expected = addresses(url, query=MOSS, yearMin=2020, yearMax=2021)
    shows(page, expected)
    assert expected != addresses(url, query=MOSS)
    page.get_by_role("button", name="Drop: to 2021").click()
    shows(page, addresses(url, query=MOSS, yearMin=2020))


def test_tags_narrow_to_papers_with_any_of_them(look: Look, url: str) -> None:
    page = look(f"/search?q={MOSS}")
    page.get_by_role("button", name=re.compile("^all ")).click()
    page.get_by_role("button", name="roofs", exact=True).click()
    shows(page, addresses(url, query=MOSS, tag="roofs"))
    page.get_by_role("button", name="figures", exact=True).click()
    shows(page, addresses(url, query=MOSS, tag=["roofs", "figures"]))


def test_a_venue_is_proposed_and_narrows(look: Look, url: str) -> None:
    page = look(f"/search?q={MOSS}")
    page.get_by_label("Venue").fill("annals")
    expect(page.locator("#search-venues option")).to_have_count(1)
    expect(page.locator("#search-venues option")).to_have_attribute("value", "Annals of Moss")
    page.get_by_label("Venue").press("Enter")
    shows(page, addresses(url, query=MOSS, venue="annals"))


def test_a_paper_is_found_by_typing_and_then_a_section_of_it(look: Look, url: str) -> None:
    page, paper = look("/search?q=papers"), "ammar-etal-2018-construction"
    page.get_by_role("combobox", name="Paper").fill("literature graph")
    page.get_by_role("option", name="Construction of the Literature Graph").wait_for()
    page.keyboard.press("Enter")
    shows(page, addresses(url, query="papers", paper=paper))
    page.get_by_label("Section", exact=True).select_option("4")
    expected = addresses(url, query="papers", paper=paper, chapter=4)
    shows(page, expected)
    assert all(address.startswith(f"{paper}/ch4") for address in expected)
    page.get_by_role("button", name="drop all").click()
    shows(page, addresses(url, query="papers"))


def test_an_address_of_the_view_says_all_of_it(look: Look, url: str) -> None:
    asked: dict[str, Any] = {"tag": ["roofs", "moss"], "yearMin": "2000", "mode": "keyword", "byPaper": "true"}
    page = look("/search?" + urlencode({"q": MOSS, **asked}, doseq=True))
    shows(page, addresses(url, query=MOSS, **asked))
    expect(page.get_by_label("From year")).to_have_value("2000")
    expect(page.get_by_label("One result a paper")).to_be_checked()
    expect(page.get_by_role("group", name="Narrowed by").get_by_role("button")).to_have_count(4)


def test_one_result_a_paper_has_the_others_beneath(look: Look, url: str) -> None:
    page = look(f"/search?q={MOSS}")
    page.get_by_label("One result a paper").check()
    told = found(url, query=MOSS, byPaper="true")["results"]
    shows(page, [one["address"] for one in told])
    others = next(one for one in told if one["passages"])
    card = page.locator(f"article[data-address='{others['address']}']")
    card.get_by_role("button", name="of this paper").click()
    expect(card.locator(".others li")).to_have_count(len(others["passages"]))


def test_a_hit_explains_itself(look: Look, url: str) -> None:
    page = look(f"/search?q={MOSS}")
    told = found(url, query=MOSS, explain="true")["results"][0]
    card = page.locator("article.hit").first
    card.get_by_role("button", name="Explain").click()
    for name, arm in (("Meaning", "vector"), ("Words", "keyword")):
        expect(card.locator(".ledger-arms")).to_contain_text(f"{name} #{told['arms'][arm]['rank']}")
    shares = card.get_by_role("img", name="Shares")
    given = [share for share in told["fusionShares"].values() if share > 0]
    widths = shares.locator(".share").evaluate_all("bars => bars.map(bar => parseFloat(bar.style.width))")
    assert widths == pytest.approx([100 * share / sum(given) for share in given], abs=0.01)
    expect(card).to_contain_text(f"{100 * told['probability']:.0f} % likely")
    expect(card.locator(".signals")).to_contain_text(f"{told['signals']['similarity']:.2f} similar to the query")
    card.get_by_role("button", name="Explain").click()
    expect(card.locator(".ledger")).to_have_count(0)


def test_the_way_through_the_graph_can_be_read(look: Look, url: str) -> None:
    page = look(f"/search?q={GRAPH}&mode=graph")
    told = found(url, query=GRAPH, mode="graph")["results"]
    number, hit = next((number, one) for number, one in enumerate(told) if one["path"]["links"])
    card = page.locator("article.hit").nth(number)
    card.get_by_role("button", name="Explain").click()
    chain = card.locator(".chain")
    expect(chain).to_contain_text(f"The query names {hit['path']['start']}")
    expect(chain).to_contain_text(hit["path"]["links"][0]["concept"])
    expect(chain.get_by_role("link", name="stands beside").first).to_be_visible()


def test_what_stands_around_it_and_what_says_the_same_are_told(look: Look, url: str) -> None:
    page = look(f"/search?q={MOSS}")
    told = found(url, query=MOSS)["results"][0]
    assert told["duplicates"]
    card = page.locator("article.hit").first
    card.get_by_role("button", name="the same").click()
    expect(card.locator(".same a")).to_have_text(told["duplicates"])
    lone = page.locator("article.hit", has_text=TITLE)
    lone.get_by_role("button", name="Around it").click()
    address = lone.get_attribute("data-address")
    around = found(url, f"chunks/{address}")
    expected = [one["preview"] for one in (around["previous"], around["next"]) if one]
    expect(lone.locator(".around dd")).to_have_text(expected)


def test_the_query_as_understood_can_be_taken_back(look: Look) -> None:
    page = look("/search?q=lichen+wals+groth")
    understood = page.locator(".understood")
    expect(understood).to_contain_text("growth")
    page.get_by_role("button", name="Search for exactly what I typed").click()
    expect(box(page)).to_have_value(re.compile('"groth"'))
    expect(understood.get_by_text("growth", exact=True)).to_have_count(0)


def test_papers_are_found_by_the_meaning_of_their_abstracts(look: Look, url: str) -> None:
    query = "pretrained language models for scientific text"
    page = look(f"/search?q={query}")
    page.get_by_role("button", name="Papers").click()
    titles = [one["title"] for one in found(url, "semantic", query=query)["results"]]
    expect(page.locator("article.hit h2")).to_have_text(titles)
    box(page).fill("glacier ice cores")
    expect(page.get_by_text("No paper is near")).to_be_visible()
    page.get_by_role("button", name="Show the nearest all the same").click()
    nearest = [one["title"] for one in found(url, "semantic", query="glacier ice cores", threshold=0)["results"]]
    expect(page.locator("article.hit h2")).to_have_text(nearest)


def test_figures_have_thumbnails_that_open(look: Look, url: str) -> None:
    page = look(f"/search?q={MOSS}")
    page.get_by_role("button", name="Figures", exact=True).click()
    told = found(url, "figures", query=MOSS, limit=24)["results"]
    expect(page.locator(".figure-card")).to_have_count(len(told))
    pictures = page.locator(".thumb img")
    expect(pictures).to_have_count(sum(one["imageUrl"] is not None for one in told))
    for picture in pictures.all():
        expect(picture).to_have_js_property("naturalWidth", 320)
    page.get_by_role("button", name="Open Figure 1 of Moss on roofs & walls: a survey").click()
    dialog = page.get_by_role("dialog", name="Figure 1")
    expect(dialog).to_contain_text(CAPTION)
    expect(dialog.locator(".mentions")).to_contain_text("weighed and soaked again")
    expect(page).to_have_url(re.compile(f"figure={FIRST}%2Ffig1"))
    page.reload()
    expect(dialog).to_contain_text(CAPTION)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_a_table_is_shown_as_one(look: Look, url: str) -> None:
    page = look(f"/search?q={MOSS}&tab=figures")
    page.get_by_role("group", name="Kind").get_by_role("button", name="Tables").click()
    tables = found(url, "figures", query=MOSS, kind="table", limit=24)["results"]
    expect(page.locator(".figure-card")).to_have_count(len(tables))
    expect(page.locator(".thumb table").first.get_by_role("cell")).to_have_text(["thin", "12 g", "thick", "25 g"])


def test_more_is_appended_and_nothing_repeated(look: Look, url: str) -> None:
    page = look("/search?q=papers")
    first = found(url, query="papers")
    second = found(url, query="papers", cursor=first["nextCursor"])
    page.get_by_role("button", name="Show more").click()
    both = [one["address"] for one in (*first["results"], *second["results"])]
    shows(page, both)
    assert len(set(both)) == len(both) == 20
    last = page.locator("article.hit").last
    last.get_by_role("button", name="Explain").click()
    expect(last.locator(".ledger")).to_be_visible()


def test_nothing_found_says_why_and_what_would_loosen_it(look: Look, url: str) -> None:
    page = look(f"/search?q=xqzv&mode=keyword&tag=roofs&paper={SECOND}")
    expect(page.get_by_role("heading", name="No passage for")).to_contain_text("xqzv")
    page.get_by_role("button", name="Drop the filters").click()
    expect(page.get_by_text("No passage has any of these words.")).to_be_visible()
    page.get_by_role("button", name="Search by all means").click()
    shows(page, addresses(url, query="xqzv"))
    box(page).fill("author:Nobody moss")
    expect(page.get_by_text("No paper of the library is author:Nobody.")).to_be_visible()
    page.get_by_role("button", name="Search for moss").click()
    shows(page, addresses(url, query="moss"))


def test_the_keyboard_is_enough(look: Look, url: str) -> None:
    page = look("/search?q=papers")
    expected = addresses(url, query="papers")
    shows(page, expected)
    page.keyboard.press("/")
    expect(box(page)).to_be_focused()
    page.keyboard.press("ArrowDown")
    hits = page.locator("article.hit")
    expect(hits.nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(hits.nth(1)).to_be_focused()
    page.keyboard.press("e")
    expect(hits.nth(1).locator(".ledger")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/proof/{expected[1]}")
    page.go_back()
    shows(page, expected)
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.wait_for_url(f"**/paper/{expected[0].partition('/')[0]}")


def test_a_phone_has_all_of_it_and_nothing_beside(look: Look, url: str) -> None:
    page = look(f"/search?q={MOSS}&tag=roofs", viewport=PHONE, has_touch=True)
    shows(page, addresses(url, query=MOSS, tag="roofs"))
    page.get_by_role("button", name="Filters").tap()
    page.get_by_label("From year").fill("2021")
    page.get_by_label("From year").press("Enter")
    shows(page, addresses(url, query=MOSS, tag="roofs", yearMin=2021))
    page.locator("article.hit").first.get_by_role("button", name="Explain").tap()
    expect(page.locator(".ledger")).to_be_visible()
    page.get_by_role("button", name="Figures", exact=True).tap()
    expect(page.locator(".figure-card").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


CONTRAST = """element => {
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map((one) => one / 255)
      .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let ground = element;
  while (getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
  const shades = [light(getComputedStyle(element).color), light(getComputedStyle(ground).backgroundColor)].sort();
  return (Math.max(...shades) + 0.05) / (Math.min(...shades) + 0.05);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_voice_can_be_read_in_light_and_dark(look: Look, scheme: str) -> None:
    page = look("/search?q=moss+on+rofs&tag=roofs&yearMin=1990", color_scheme=scheme)
    page.locator("article.hit").first.get_by_role("button", name="Explain").click()
    expect(page.locator(".signals").first).to_be_visible()
    voices = (".hit-title a", ".hit-text", ".hit-text mark", ".hit-place", ".tool", ".chosen .chip", ".account-line")
    for voice in (*voices, ".ledger dt", ".signals li", ".understood .chip", ".segment", ".chip.is-danger"):
        assert page.locator(voice).first.evaluate(CONTRAST) >= 4.5, voice


def test_hostile_text_is_text(look: Look, url: str) -> None:
    page = look(f"/search?q=moss+roofers+scraped&paper={SECOND}")
    shows(page, addresses(url, query="moss roofers scraped", paper=SECOND))
    card = page.locator("article.hit").first
    expect(card).to_contain_text("RETRACTED")
    expect(card).to_contain_text("Eve <b>Bold</b>")
    expect(card.locator(".hit-text")).to_contain_text(SCRIPT.partition("<script>")[0])
    expect(card.get_by_role("heading")).to_contain_text("<img src=x onerror='document.title")
    box(page).fill(SCRIPT)
    expect(page.locator("article.hit, .state").first).to_be_visible()
    assert page.locator("main img, main script").count() == 0
    assert page.title() != "owned"


@pytest.fixture
def broken(library: Library) -> Iterator[Broken]:
    reranker, library.reranker = library.reranker, Broken()
    yield library.reranker
    library.reranker = reranker


def test_a_part_that_failed_is_told_and_the_rest_is_there(look: Look, url: str, broken: Broken) -> None:
    page = look(f"/search?q={MOSS}")
    expect(page.get_by_role("note")).to_have_text("Without reranking this time: the reranker is not there.")
    shows(page, addresses(url, query=MOSS))
    page.locator("article.hit").first.get_by_role("button", name="Explain").click()
    expect(page.locator(".ledger")).to_contain_text("Not reranked")


@pytest.mark.troubled
def test_a_search_that_fails_says_why_and_can_be_tried_again(
    look: Look, url: str, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object, **__: object) -> None:
        raise StoreUnavailable("cannot reach the words", hint="Start their server.")

    with monkeypatch.context() as patched:
        patched.setattr(Library, "search", lost)
        page = look(f"/search?q={MOSS}")
        failure = page.get_by_role("alert")
        expect(failure).to_contain_text("cannot reach the words")
        expect(failure).to_contain_text("Start their server.")
        expect(page.locator("article.hit")).to_have_count(0)
    page.get_by_role("button", name="Try again").click()
    shows(page, addresses(url, query=MOSS))


@pytest.mark.troubled
def test_what_was_asked_while_the_server_was_away_is_answered_once_it_is_back(look: Look, url: str) -> None:
    page = look(f"/search?q={GRAPH}")
    shows(page, addresses(url, query=GRAPH))
    page.context.set_offline(True)
    box(page).fill(MOSS)
    expect(page.get_by_role("alert").first).to_contain_text("Carrel does not answer")
    page.context.set_offline(False)
    shows(page, addresses(url, query=MOSS))
