"""Bibliographies: what a paper cites, who cites it, and what is missing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import Library, cited
from carrel.catalogs import Entry
from carrel.errors import InvalidInput, PaperNotFound
from carrel.testing import HashedWords, MemoryCatalog
from carrel.types import Cited, Document, Part
from tests.full_papers import paper, put, reference


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.init(tmp_path / "library", embedder=HashedWords()) as made:
        yield made


def entry(paper_id: str, *entries: Cited, title: str = "", doi: str = "") -> Entry:
    """A paper of which only the bibliography counts."""
    record = reference(paper_id, title or f"The paper called {paper_id}", doi=doi)
    return Entry(record, Document(paper_id, Part.BODY, "text", f"digest of {paper_id}"), (), cited=tuple(entries))


def catalog_of(entries: Sequence[Entry]) -> MemoryCatalog:
    catalog = MemoryCatalog()
    catalog.put(entries)
    return catalog


def test_a_bibliography_marks_what_the_library_has(library: Library) -> None:
    put(library, paper(reference()), paper(reference("great", "A great work on graphs", doi="10.1000/great"), cited=()))
    found = library.bibliography("segment trees in practice")
    assert [(one.position, one.known_as) for one in found.entries] == [(0, "great"), (1, ""), (2, "")]
    shown = found.as_dict()
    assert (shown["paper"]["id"], shown["total"], shown["in_library"]) == ("trees", 3, 1)
    assert shown["entries"][1] == {
        "position": 1,
        "text": "Jones. Another matter entirely. 2018.",
        "title": "Another matter entirely",
        "year": 2018,
        "doi": "",
        "known_as": None,
    }
    assert library.show("trees").as_dict()["bibliography"] == {"cited": 3, "in_library": 1}


def test_who_cites_a_paper_is_told_with_the_entry_that_does(library: Library) -> None:
    great = paper(reference("great", "A great work on graphs", doi="10.1000/great"))
    put(library, paper(reference()), paper(reference("b", "Other trees")), great)
    shown = library.cited_by("great").as_dict()
    # The paper's own bibliography names it, too; that is no citation.
    assert [(one["id"], one["entry"]) for one in shown["papers"]] == [
        ("b", "Smith. A great work on graphs. 2019."),
        ("trees", "Smith. A great work on graphs. 2019."),
    ]
    assert (shown["paper"], shown["total"]) == ({"id": "great", "title": "A great work on graphs"}, 2)
    assert library.cited_by("b").papers == ()
    with pytest.raises(PaperNotFound):
        library.cited_by("nobody")
    with pytest.raises(PaperNotFound):
        library.bibliography("")


def test_a_paper_without_a_text_cites_nothing(library: Library, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "a", "title": "Only a record"}\n')
    library.add(tmp_path / "in.jsonl")
    assert library.bibliography("a").as_dict() == {
        "paper": {"id": "a", "title": "Only a record"},
        "entries": [],
        "total": 0,
        "in_library": 0,
    }
    assert library.missing().as_dict() == {"works": [], "total": 0, "unread": 0}


def test_what_several_papers_cite_and_the_library_lacks_is_told_most_cited_first() -> None:
    attention = Cited("Vaswani. Attention is all you need.", "Attention is all you need", "10.5555/ATT", 2017)
    same_by_title = Cited("Vaswani, A. ATTENTION IS ALL YOU NEED", "ATTENTION IS ALL YOU NEED.", "", 2017)
    bert = Cited("Devlin. Pre-training of deep transformers", "Pre-training of deep transformers", "", 2019)
    known = Cited("B.", "The paper called b which all know", "")
    once = Cited("Once.", "Cited by a single paper only", "10.1/once")
    unread = Cited("Personal communication.")
    catalog = catalog_of(
        [
            entry("a", attention, bert, known, once, once, unread),
            entry("b", same_by_title, bert, unread, title="The paper called b which all know"),
            entry("c", Cited("V.", "", "https://doi.org/10.5555/att"), known),
        ]
    )
    found = cited.missing(catalog, limit=0)
    assert [(one.cited.title, one.cited.doi, one.cited.year, one.cited_by) for one in found.works] == [
        ("Attention is all you need", "10.5555/att", 2017, ("a", "b", "c")),
        ("Pre-training of deep transformers", "", 2019, ("a", "b")),
    ]
    assert (found.total, found.unread) == (2, 2)
    first = cited.missing(catalog, limit=1)
    assert (len(first.works), first.total) == (1, 2)
    assert first.as_dict()["works"][0]["count"] == 3
    with pytest.raises(InvalidInput, match="limit must not be negative, got -1"):
        cited.missing(catalog, limit=-1)


TITLES = ("", "short", "A title that is long enough", "Another one of sufficient length", "漢字" * 8)
ENTRIES = st.builds(
    Cited,
    st.just("text"),
    st.sampled_from(TITLES),
    st.sampled_from(["", "10.1000/a", "10.1000/B"]),
    st.sampled_from([0, 1]),
)


@given(st.lists(st.lists(ENTRIES, max_size=6), max_size=5))
def test_each_entry_counts_for_one_work_at_most_and_each_paper_once(bibliographies: list[list[Cited]]) -> None:
    papers = [entry(f"p{number}", *entries) for number, entries in enumerate(bibliographies)]
    found = cited.missing(catalog_of(papers), limit=0)
    counts = [len(work.cited_by) for work in found.works]
    assert counts == sorted(counts, reverse=True)
    assert all(len(set(work.cited_by)) == len(work.cited_by) >= 2 for work in found.works)
    assert sum(counts) + found.unread <= sum(map(len, bibliographies))
    keys = [work.cited.doi or work.cited.title for work in found.works]
    assert len(set(keys)) == len(keys)


def test_four_hundred_bibliographies_are_gone_through_in_a_moment(library: Library) -> None:
    def one(number: int) -> Cited:
        doi = f"10.1000/{number}" if number % 2 else ""
        return Cited(f"Entry {number}", f"The title of the cited work number {number}", doi, 2000)

    papers = [entry(f"p{paper}", *(one((paper * 7 + n) % 3000) for n in range(60))) for paper in range(400)]
    library.stores.catalog.put(papers)
    start = time.perf_counter()
    found = library.missing(limit=10)
    assert time.perf_counter() - start < 5
    assert (len(found.works), len(found.works[0].cited_by)) == (10, 9)
