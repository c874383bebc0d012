"""The proof of a citation: the words that are marked on the printed page are the words that are quoted."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from playwright.sync_api import Page, Route, expect

from carrel import Library
from carrel.testing import HashedWords
from tests.http.serving import running, wait_until
from tests.web.asking import ask
from tests.web.browsing import PHONE
from tests.web.conftest import Look
from tests.web.facsimiles import letters, marked, shown
from tests.web.shelf import PROOF, QUESTION, TITLE

PAPER = "stone-lichen"
ACL = Path(__file__).parents[3] / "shared/data/fulltext/acl_pdf_tei/N18-3011.pdf"


@pytest.fixture(scope="module")
def pdf(library: Library) -> Path:
    return library.layout.root.parent / "stone-lichen.pdf"


def citation_of(page: Page, text: str) -> str:
    """The number of the citation that quotes this."""
    row = page.locator(".answer-quote", has_text=text[:40])
    return row.first.locator("a").inner_text()


def passage(url: str, paper: str = PAPER, words: str = PROOF) -> dict[str, object]:
    """Where these words of a paper stand, as the server's text has them."""
    text = str(httpx2.get(f"{url}/api/text/{quote(paper)}", params={"limit": 100_000}).json()["text"])
    found = re.search(r"\s+".join(map(re.escape, words.split())), text)
    assert found is not None
    chunks = httpx2.get(f"{url}/api/search", params={"query": words, "paper": paper}).json()["results"]
    return {"address": chunks[0]["address"], "start": found.start(), "end": found.end()}


def view(look: Look, url: str, **options: object) -> Page:
    place = passage(url)
    return look(f"/proof/{place['address']}?start={place['start']}&end={place['end']}", **options)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_words_marked_on_the_rendered_page_are_the_quote(look: Look, pdf: Path, scheme: str) -> None:
    page = look("/ask", color_scheme=scheme)
    ask(page)
    page.get_by_role("link", name=re.compile(f"^Citation {citation_of(page, PROOF)}:")).first.click()
    panel = page.get_by_role("region", name="Proof", exact=True)
    expect(panel.get_by_text("Checked: these words stand in the source, character for character.")).to_be_visible()
    assert letters(marked(page, pdf, 1)) == letters(PROOF)
    wait_until(lambda: _is_in_view(page))


def test_the_marks_stay_on_the_words_when_the_page_is_enlarged(look: Look, url: str, pdf: Path) -> None:
    page = view(look, url)
    before = shown(page)["picture"]["width"]
    for _ in range(3):
        page.keyboard.press("+")
    wait_until(lambda: shown(page)["picture"]["width"] == pytest.approx(2 * before, rel=0.01))
    assert letters(marked(page, pdf, 1)) == letters(PROOF)
    wait_until(lambda: _is_in_view(page))


def test_on_a_phone_the_proof_fills_the_screen_and_the_column_of_the_quote_fills_it(look: Look, pdf: Path) -> None:
    page = look("/ask", viewport=PHONE, has_touch=True)
    ask(page)
    page.locator(f'.answer-said [data-citation="{citation_of(page, PROOF)}"]').click()
    dialog = page.get_by_role("dialog", name="Proof of a citation")
    wait_until(lambda: dialog.bounding_box() == {"x": 0, "y": 0, **PHONE})
    assert letters(marked(page, pdf, 1)) == letters(PROOF)
    first = shown(page)["boxes"][0]
    assert first["x"] >= 0
    assert first["x"] + first["width"] <= PHONE["width"]
    page.go_back()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()


def test_the_words_of_the_page_can_be_selected_where_they_are_printed(look: Look, url: str) -> None:
    page = view(look, url)
    boxes = shown(page)["boxes"]
    page.wait_for_selector(".sheet-words span")
    page.evaluate("getSelection().removeAllRanges()")
    middle = boxes[0]["y"] + boxes[0]["height"] / 2
    page.mouse.move(boxes[0]["x"] + 1, middle)
    page.mouse.down()
    page.mouse.move(boxes[0]["x"] + boxes[0]["width"] - 2, middle, steps=5)
    page.mouse.up()
    selected = page.evaluate("getSelection().toString()")
    assert len(selected) > 10
    assert letters(selected) in letters(PROOF)
    assert " " in selected.strip()


@pytest.fixture(scope="module")
def acl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a library of one real paper is served, eight pages in two columns."""
    if not ACL.is_file():
        pytest.skip("the paper is not here: shared/data/fulltext/acl_pdf_tei beside the repository")
    folder = tmp_path_factory.mktemp("acl")
    with Library.init(folder, embedder=HashedWords()) as library:
        library.add(Path(shutil.copy(ACL, folder)))
        with running(library) as server:
            yield server.url


def sentences(url: str, number: int) -> list[dict[str, Any]]:
    """Sentences from all over the paper that the server can place, each as the proof of it."""
    text = httpx2.get(f"{url}/api/text/{ACL.stem}", params={"limit": 100_000}).json()["text"]
    address = httpx2.get(f"{url}/api/search", params={"query": "literature graph"}).json()["results"][0]["address"]
    found = [match.span() for match in re.finditer(r"(?<=[.?!] )[A-Z][^.?!\n]{60,300}[.?](?= )", text)]
    spans = [{"start": start, "end": end} for start, end in found[:: max(1, len(found) // number)]]
    proofs = [httpx2.get(f"{url}/api/proof/{address}", params=span).json() for span in spans]
    return [one for one in proofs if len({box["page"] for box in one["boxes"]}) == 1]


def test_on_a_real_paper_every_quote_is_marked_where_it_is_printed(look: Look, acl: str) -> None:
    proofs = sentences(acl, 7)
    assert len(proofs) >= 5
    assert len({one["page"] for one in proofs}) >= 4
    page = look("/ask", at=acl)
    for one in proofs:
        page.goto(f"/proof/{one['address']}?start={one['start']}&end={one['end']}")
        assert letters(marked(page, ACL, one["page"])) == letters(one["quote"])
        wait_until(lambda: _is_in_view(page))


def test_the_pages_can_be_turned_by_keys_and_the_quote_found_again(look: Look, acl: str) -> None:
    proof = next(one for one in sentences(acl, 9) if one["page"] == 3)
    page = look(f"/proof/{proof['address']}?start={proof['start']}&end={proof['end']}", at=acl)
    expect(page.get_by_text("Page 3 of 8")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("img", name="Page 4 of")).to_be_visible()
    expect(page.locator(".sheet-box")).to_have_count(0)
    page.get_by_role("button", name="The quote is on page 3").click()
    assert letters(marked(page, ACL, 3)) == letters(proof["quote"])


def test_the_same_words_can_be_read_as_text(look: Look, url: str) -> None:
    page = view(look, url)
    page.get_by_role("button", name="Text", exact=True).click()
    expect(page.locator("mark")).to_have_text(re.compile(r"\s+".join(map(re.escape, PROOF.split()))))
    expect(page.locator(".proof-source")).to_contain_text("On limestone no map lichen was found.")
    expect(page.get_by_role("link", name=TITLE)).to_have_attribute("href", re.compile(rf"^/paper/{PAPER}#ch\d+$"))
    # The passage begins in another section, and covers both.
    expect(page.get_by_role("list", name="Section").get_by_role("listitem")).to_have_text(["3 Results"])


def test_a_text_without_pages_is_shown_with_the_quote_marked_and_says_why(look: Look, url: str) -> None:
    papers = httpx2.get(f"{url}/api/papers", params={"limit": 100}).json()["papers"]
    markdown = next(one for one in papers if one["parts"] == ["body"] and one["id"] != PAPER)
    found = httpx2.get(f"{url}/api/search", params={"query": markdown["title"], "paper": markdown["id"]}).json()
    proof = httpx2.get(f"{url}/api/proof/{found['results'][0]['address']}").json()
    start = proof["start"] + 5
    page = look(f"/proof/{proof['address']}?start={start}&end={start + 40}")
    expect(page.locator("mark")).to_have_text(proof["quote"][5:45])
    expect(page.locator(".proof-source-note")).to_have_text(proof["noPages"])
    wait_until(lambda: _mark_is_in_view(page))


def test_the_neighbours_lead_on_and_back(look: Look, url: str) -> None:
    first = next(
        one
        for one in httpx2.get(f"{url}/api/search", params={"query": "language", "limit": 50}).json()["results"]
        if httpx2.get(f"{url}/api/proof/{one['address']}").json()["next"]
    )
    following = httpx2.get(f"{url}/api/proof/{first['address']}").json()["next"]["address"]
    page = look(f"/proof/{first['address']}")
    page.get_by_role("link", name=re.compile("^After this")).click()
    page.wait_for_url(f"**/proof/{following}")
    page.go_back()
    page.wait_for_url(f"**/proof/{first['address']}")


def test_an_answer_that_quotes_other_words_than_the_source_has_is_called_out(look: Look) -> None:
    page = look("/ask")
    ask(page)
    number = citation_of(page, PROOF)
    page.evaluate(
        """() => {
          const name = Object.keys(sessionStorage).find((one) => one.startsWith("carrel.conversation."));
          sessionStorage.setItem(name, sessionStorage.getItem(name).replaceAll("0.61 mm", "6.10 mm"));
        }"""
    )
    page.reload()
    page.locator(f'.answer-said [data-citation="{number}"]').click()
    alarm = page.get_by_role("alert")
    expect(alarm).to_contain_text("These are not the words of the answer")
    expect(alarm).to_contain_text("6.10 mm a year")
    expect(page.get_by_text("Checked:")).to_have_count(0)


def test_a_quote_that_is_copied_is_the_quote(look: Look, url: str) -> None:
    page = view(look, url, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy quote").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").split() == PROOF.split()


@pytest.mark.troubled
@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/proof/no-such-paper/ch1/p1", "not found"),
        (f"/proof/{PAPER}", "proves nothing"),
        (f"/proof/{PAPER}/ch2/s0/p0?start=5&end=99999999", "there is no quote from 5"),
        ("/proof/", "Nothing is named"),
    ],
)
def test_an_address_that_proves_nothing_says_so(look: Look, path: str, told: str) -> None:
    expect(look(path).locator("main")).to_contain_text(told)


@pytest.mark.troubled
def test_where_a_page_cannot_be_drawn_the_text_is_shown_with_the_reason(look: Look, url: str, pdf: Path) -> None:
    hidden = pdf.with_suffix(".away")
    pdf.rename(hidden)
    try:
        page = view(look, url)
        expect(page.locator("mark")).to_contain_text("0.61 mm a year")
        expect(page.locator(".proof-source-note")).to_contain_text(PAPER)
    finally:
        hidden.rename(pdf)


def late(route: Route) -> None:
    time.sleep(0.5)
    route.continue_()


def test_a_page_that_comes_slowly_is_waited_for(look: Look, url: str) -> None:
    page = look("/ask")
    page.route("**/api/proof/**", late)
    ask(page)
    page.locator(f'.answer-said [data-citation="{citation_of(page, PROOF)}"]').click()
    expect(page.get_by_role("status", name="Loading")).to_be_visible()
    expect(page.get_by_text("Checked:")).to_be_visible()


def _is_in_view(page: Page) -> bool:
    """The first marked line is to be seen in the place where the page is looked at."""
    return bool(
        page.evaluate(
            """() => {
              const view = document.querySelector(".proof-scroll").getBoundingClientRect();
              const box = document.querySelector(".sheet-box").getBoundingClientRect();
              return box.top >= view.top && box.bottom <= view.bottom && box.left < view.right && box.right > view.left;
            }"""
        )
    )


def _mark_is_in_view(page: Page) -> bool:
    return bool(
        page.evaluate(
            """() => {
              const view = document.querySelector(".proof-scroll").getBoundingClientRect();
              const mark = document.querySelector("mark").getBoundingClientRect();
              return mark.top >= view.top && mark.bottom <= view.bottom;
            }"""
        )
    )
