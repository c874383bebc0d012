"""No answer to the page has a megabyte, whatever papers say of themselves; what is left out is counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import Library
from carrel.catalogs import Entry
from carrel.http import bounds
from carrel.testing import HashedWords
from carrel.types import Author, Chunk, Cited, Document, Part, Published, Reference
from tests.builders import make_chunk
from tests.http.reading import written_into
from tests.http.serving import visited

MEGABYTE = 1_000_000
LONG = "\x01<b>“漢字🙂\\" * 1000
ABSTRACT = "An abstract that goes on and on. " * 60_000
PROGRAM = "granite = hard\n" * 50_000


def huge(number: int) -> Entry:
    """A paper that says too much of everything, in characters that JSON needs much room for."""
    reference = Reference(
        id=f"{'i' * 400}{number}",
        title=f"granite {number} {LONG}",
        doi=f"10.1000/{LONG}",
        authors=tuple(Author(f"Last{n}{LONG[:40]}", "First") for n in range(200)),
        abstract=ABSTRACT if number == 0 else "",
        venue=LONG,
        published=Published(2020),
        tags=tuple(f"tag {n} {LONG[:30]}" for n in range(300)),
    )
    document = Document(reference.id, Part.ABSTRACT, reference.abstract, f"digest {number}")
    return Entry(reference, document, (), listed=True)


def book(paper_id: str, sections: int) -> Entry:
    """So many sections with titles of some length, and a bibliography that has too much to say."""
    reference = Reference(id=paper_id, title=f"A book {LONG}")
    chunks = tuple(section(reference, number) for number in range(sections))
    cited = tuple(Cited(f"[{n}] granite 0 {LONG}", f"granite 0 {LONG}", LONG) for n in range(150))
    return Entry(reference, Document(paper_id, Part.BODY, "x" * 99, "digest"), chunks, cited=cited)


def section(reference: Reference, number: int) -> Chunk:
    chapter, rest = divmod(number, 100)
    path = (f"Chapter {chapter}", f"Section {number} {LONG[:500]}")
    return make_chunk(
        reference.id,
        0,
        f"Sentence {number}. " * 9,
        address=f"{reference.id}/ch{chapter}/s{rest}/p0",
        position=number,
        chapter=chapter,
        section=rest,
        section_path=path,
    ).with_facts(reference)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("huge")
    with Library.init(folder, embedder=HashedWords()) as made:
        (folder / "program.md").write_text(f"# Rocks\n\nGranite is hard.\n\n```\n{PROGRAM}```\n", encoding="utf-8")
        made.add(folder / "program.md")
        made.stores.catalog.put([*map(huge, range(100)), book("book", 2000), book("other", 0)])
        written = written_into(made)
        for n in range(60):
            said = [f"Rock {n} {'a' * 60} | uses | Rock {m} {'b' * 60} {'c ' * 400}" for m in range(n + 1, n + 12)]
            written.paper(f"p{n}", *said, title=LONG[:9000])
        yield made


@pytest.fixture(scope="module")
def client(library: Library) -> Iterator[httpx2.Client]:
    with visited(library) as client:
        yield client


def got(client: httpx2.Client, path: str, **asked: Any) -> Any:
    answer = client.get(path, params=asked)
    assert answer.status_code == 200, answer.text[:300]
    assert len(answer.content) < MEGABYTE
    return answer.json()


def test_a_page_of_papers(client: httpx2.Client) -> None:
    page = got(client, "/api/papers", limit=100, sort="id", query="granite")
    assert (len(page["papers"]), page["total"]) == (100, 100)
    first = page["papers"][0]
    assert (first["authorCount"], first["tagCount"]) == (200, 300)
    assert 0 < len(first["authors"]) < 200
    assert first["authors"][0].startswith("First Last0")
    assert first["title"].startswith("granite 0")
    assert first["title"].endswith("…")


def test_a_paper_alone_and_its_abstract_whole_elsewhere(client: httpx2.Client) -> None:
    paper = "i" * 400 + "0"
    told = got(client, f"/api/papers/{paper}")
    assert (told["abstract"][:-1], told["abstract"][-1]) == (ABSTRACT[: len(told["abstract"]) - 1], "…")
    assert len(told["abstract"]) > 100_000
    assert (len(told["authors"]), told["authorCount"]) == (200, 200)
    assert got(client, f"/api/text/{paper}", limit=1)["length"] == len(ABSTRACT)


def test_a_very_long_outline_says_how_much_of_it_is_missing(client: httpx2.Client) -> None:
    told = got(client, "/api/papers/book")
    shown = sum(len(chapter["sections"]) for chapter in told["chapters"])
    assert 100 < shown < 2000
    assert shown + told["sectionsLeftOut"] == 2000


def test_citations(client: httpx2.Client) -> None:
    told = got(client, "/api/citations/book")
    assert (len(told["cites"]), told["cited"], told["nextCursor"] is None) == (100, 150, False)
    back = got(client, f"/api/citations/{'i' * 400}0")
    assert ([one["paperId"] for one in back["citedBy"]], back["citing"]) == (["book", "other"], 2)


@pytest.mark.parametrize("asked", [{}, {"name": f"rock 5 {'a' * 60}", "hops": 2}])
def test_the_graph_loses_sentences_before_it_loses_edges(client: httpx2.Client, asked: dict[str, Any]) -> None:
    told = got(client, "/api/graph", limit=200, **asked)
    names = {node["name"] for node in told["nodes"]}
    assert {edge[end] for edge in told["edges"] for end in ("subject", "object")} <= names
    without = [edge for edge in told["edges"] if not edge["evidence"]]
    assert len(told["edges"]) > 100
    assert all(edge["statements"] for edge in without)
    assert without == told["edges"][len(told["edges"]) - len(without) :]


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/api/tags", {}),
        ("/api/venues", {}),
        ("/api/concepts", {"limit": 100}),
        ("/api/search", {"query": "granite hard", "limit": 100, "context": True, "explain": True}),
        ("/api/search", {"query": "granite hard", "byPaper": True}),
        ("/api/chunks/program/ch1", {}),
        ("/api/chunks/program/ch1/s0", {}),
        ("/api/chunks/book/ch3", {}),
        ("/api/figures", {"query": "granite hard"}),
        ("/api/status", {}),
        ("/api/path", {"name": f"rock 5 {'a' * 60}", "limit": 100}),
        ("/api/export", {"paper": ["i" * 400 + "0", "book"]}),
    ],
)
def test_everything_else_that_the_page_asks_for(client: httpx2.Client, path: str, asked: dict[str, Any]) -> None:
    answer = client.get(path, params=asked)
    assert answer.status_code == 200, answer.text[:300]
    assert len(answer.content) < MEGABYTE


def test_a_program_that_is_never_split_is_found_and_cut(client: httpx2.Client) -> None:
    found = got(client, "/api/search", query="granite hard", limit=1)["results"][0]
    assert found["text"].endswith("…")
    chunk = got(client, f"/api/chunks/{found['address']}")
    assert chunk["text"][:100_000] == found["text"][:100_000]
    assert chunk["end"] - chunk["start"] > len(chunk["text"]) > 500_000


def test_an_answer_from_it(client: httpx2.Client) -> None:
    told = client.post("/api/query", json={"query": "Is granite hard?"})
    assert told.status_code == 200
    assert len(told.content) < MEGABYTE


@given(st.text(max_size=300), st.integers(10, 400))
def test_what_is_cut_is_a_beginning_that_fits(text: str, most: int) -> None:
    kept = bounds.cut(text, most)
    if bounds.size(text) <= most:
        assert kept == text
    else:
        assert bounds.size(kept) <= most
        assert text.startswith(kept.removesuffix("…"))
        assert kept.endswith("…")


@given(st.lists(st.text(max_size=40), max_size=30), st.integers(0, 300))
def test_what_is_taken_are_the_first_that_fit_and_the_next_would_not(texts: list[str], most: int) -> None:
    taken = bounds.first(texts, most)
    assert taken == texts[: len(taken)]
    assert len(json.dumps(taken, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")) <= most + 2
    if len(taken) < len(texts):
        assert sum(bounds.size(one) + 1 for one in texts[: len(taken) + 1]) > most
