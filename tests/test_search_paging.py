"""Pages of a ranking: nothing twice, nothing passed over, whatever comes and goes between them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import Library
from carrel.errors import InvalidInput
from carrel.search import paging
from carrel.selecting import Criteria
from carrel.testing import HashedWords
from carrel.types import Author, Filter, Reference, SearchResult
from tests.builders import make_chunk
from tests.searching import Shelf, addresses

PAPERS = [f"p{number}" for number in range(20)]


def shelf_of(papers: list[str], passages: int = 3) -> Shelf:
    shelf = Shelf()
    for paper_id in papers:
        put(shelf, paper_id, passages)
    return shelf


def put(shelf: Shelf, paper_id: str, passages: int = 3) -> None:
    number = PAPERS.index(paper_id)
    scores = {make_chunk(paper_id, n): float((number * 7 + n * 13) % 41) for n in range(1, passages + 1)}
    shelf.put(Reference(id=paper_id, title=f"The title of {paper_id}"), scores)


def pages(shelf: Shelf, limit: int = 4, **options: Any) -> list[SearchResult]:
    found = [shelf.search(limit=limit, **options)]
    while found[-1].next_cursor:
        found.append(shelf.search(limit=limit, cursor=found[-1].next_cursor, **options))
    return found


@pytest.mark.parametrize("options", [{}, {"by_paper": True}, {"diversity": 0.5}, {"candidates": 5}])
def test_pages_together_are_the_whole_list(options: dict[str, Any]) -> None:
    shelf = shelf_of(PAPERS)
    together = [one.chunk.address for page in pages(shelf, **options) for one in page.passages]
    assert together == addresses(shelf.search(limit=60, **options).passages)
    assert len(together) == 20 if options.get("by_paper") else 60


def test_ranks_begin_anew_on_each_page_and_the_last_page_leads_nowhere() -> None:
    first, second, third = pages(shelf_of(PAPERS[:3]))
    assert [one.rank for one in second.passages] == [1, 2, 3, 4]
    assert (len(first.passages), len(third.passages), third.next_cursor) == (4, 1, None)


def test_a_page_is_as_long_as_the_one_before_unless_told_otherwise() -> None:
    shelf = shelf_of(PAPERS)
    first = shelf.search(limit=7)
    assert len(shelf.search(limit=None, cursor=first.next_cursor).passages) == 7
    assert len(shelf.search(limit=2, cursor=first.next_cursor).passages) == 2


def test_what_a_shown_passage_stood_for_does_not_come_later() -> None:
    text = " ".join(f"word{number}" for number in range(60))
    shelf = shelf_of(PAPERS[:2])
    shelf.put(Reference(id="t", title="T"), {make_chunk("t", 1, text): 90.0, make_chunk("t", 2, text): 80.0})
    shown = [one.chunk.address for page in pages(shelf) for one in page.passages]
    assert "t/ch1/s1/p1" in shown
    assert "t/ch1/s1/p2" not in shown


def test_a_duplicate_that_is_new_is_shown_with_what_it_is_the_same_as() -> None:
    text = " ".join(f"word{number}" for number in range(60))
    shelf = shelf_of(PAPERS[:2])
    shelf.put(Reference(id="t", title="T"), {make_chunk("t", 1, text): 90.0})
    first = shelf.search(limit=2)
    shelf.put(Reference(id="u", title="U"), {make_chunk("u", 1, text): 0.5})
    rest = shelf.search(limit=20, cursor=first.next_cursor).passages
    assert (rest[-1].chunk.paper_id, rest[-1].duplicates) == ("u", ("t/ch1/s1/p1",))
    assert {one.duplicates for one in rest[:-1]} == {()}


def test_a_version_of_a_paper_that_was_shown_does_not_come_as_another_paper() -> None:
    text = " ".join(f"word{number}" for number in range(60))
    shelf, title = shelf_of(PAPERS[:3]), "The title of both versions"
    for paper_id, score in (("pre", 90.0), ("pub", 89.0)):
        facts = Reference(id=paper_id, title=title, authors=(Author("Yu"),), venue="ACL" if paper_id == "pub" else "")
        shelf.put(facts, {make_chunk(paper_id, 1, text): score})
    shown = [one.chunk.paper_id for page in pages(shelf, limit=1, by_paper=True) for one in page.passages]
    assert shown[0] == "pub"
    assert sorted(shown) == ["p0", "p1", "p2", "pub"]


CHANGES = st.lists(
    st.lists(st.tuples(st.sampled_from(["add", "remove"]), st.sampled_from(PAPERS)), max_size=4), max_size=15
)


@given(
    start=st.sets(st.sampled_from(PAPERS), min_size=1),
    changes=CHANGES,
    limit=st.integers(1, 9),
    candidates=st.sampled_from([1, 3, 100]),
    by_paper=st.booleans(),
    diversity=st.sampled_from([0.0, 0.4]),
)
def test_nothing_comes_twice_and_nothing_that_stays_is_passed_over(
    start: set[str], changes: list[list[tuple[str, str]]], limit: int, candidates: int, by_paper: bool, diversity: float
) -> None:
    options: dict[str, Any] = {"candidates": candidates, "by_paper": by_paper, "diversity": diversity}
    shelf, waiting = shelf_of(sorted(start)), iter(changes)
    stayed, shown = set(start), list[str]()
    cursor: str | None = ""
    while cursor is not None:
        result = shelf.search(limit=limit, cursor=cursor, **options)
        shown += [one.chunk.paper_id if by_paper else one.chunk.address for one in result.passages]
        cursor = result.next_cursor
        for change, paper_id in next(waiting, ()) if cursor else ():
            if change == "add":
                put(shelf, paper_id)
            else:
                stayed.discard(paper_id)
                shelf.remove(paper_id)
    assert len(shown) == len(set(shown))
    assert stayed <= set(shown) if by_paper else {f"{p}/ch1/s1/p{n}" for p in stayed for n in (1, 2, 3)} <= set(shown)


# Cursors


def cursor_of(count: int) -> str:
    return paging.open_page("", b"12345678").cursor([f"p/ch1/s1/p{number}" for number in range(count)], 10)


def test_a_cursor_remembers_what_was_shown_and_is_safe_in_an_address() -> None:
    cursor = cursor_of(1000)
    page = paging.open_page(f" {cursor}\n", b"12345678")
    assert (page.size, len(page.shown)) == (10, 1000)
    assert page.has_shown("p/ch1/s1/p999")
    assert not page.has_shown("p/ch1/s1/p1000")
    assert len(cursor) < 7000
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_after_a_thousand_results_the_query_is_to_be_narrowed() -> None:
    cursor = cursor_of(1001)
    assert len(cursor) < 50
    with pytest.raises(InvalidInput, match="1,000 results, and they have been shown") as refused:
        paging.open_page(cursor, b"12345678")
    assert "Narrow the query" in refused.value.hint


@given(st.text(max_size=80).filter(str.strip))
def test_what_is_no_cursor_is_said_to_be_none(text: str) -> None:
    with pytest.raises(InvalidInput, match="not a cursor, or not a whole one"):
        paging.open_page(text, b"12345678")


@given(place=st.integers(0, 10_000), other=st.sampled_from("AZaz09-_!/+= é"), cut=st.booleans())
def test_a_changed_or_cut_cursor_is_refused(place: int, other: str, cut: bool) -> None:
    cursor = cursor_of(5)
    at = place % len(cursor)
    changed = cursor[:at] if cut else cursor[:at] + other + cursor[at + 1 :]
    if changed.strip() not in (cursor, ""):
        with pytest.raises(InvalidInput, match="not a cursor, or not a whole one"):
            paging.open_page(changed, b"12345678")


# On a real library


@pytest.fixture
def library(tmp_path: Path) -> Library:
    made = Library.init(tmp_path / "library", embedder=HashedWords())
    add(made, *range(12))
    return made


def add(library: Library, *numbers: int) -> None:
    source = library.layout.root.parent / "in.jsonl"
    records = [
        {
            "id": f"paper{number}",
            "title": f"Graphs and subject{number}",
            "authors": [{"first": "Ada", "last": "Yu" if number % 2 else "Ng"}],
            "abstract": f"This abstract speaks of graphs and of subject{number} at some length, to be found by it.",
        }
        for number in numbers
    ]
    source.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    library.add(source)


def test_papers_that_are_added_and_removed_between_pages_do_no_harm(library: Library) -> None:
    first = library.search("graphs", limit=5)
    add(library, 20, 21)
    library.remove(first.passages[0].chunk.paper_id, "paper11")
    second = library.search("graphs", limit=20, cursor=first.next_cursor or "")
    seen = [one.chunk.paper_id for one in (*first.passages, *second.passages)]
    assert len(seen) == len(set(seen))
    assert {f"paper{number}" for number in (*range(11), 20, 21)} <= set(seen)
    assert second.next_cursor is None


def test_a_cursor_belongs_to_its_search(library: Library) -> None:
    cursor = library.search("graphs", limit=2).next_cursor or ""
    others: list[tuple[str, dict[str, Any]]] = [
        ("graph", {}),
        ("graphs", {"mode": "keyword"}),
        ("graphs", {"where": Filter(year_min=2000)}),
        ("graphs", {"by_paper": True}),
        ("graphs", {"criteria": Criteria(("Yu",))}),
    ]
    for query, options in others:
        with pytest.raises(InvalidInput, match="this cursor belongs to another search"):
            library.search(query, cursor=cursor, **options)


def test_a_cursor_of_an_authors_papers_holds_when_there_are_more_of_them(library: Library) -> None:
    asked: dict[str, Any] = {"criteria": Criteria(("Yu",)), "limit": 3}
    first = library.search("graphs", **asked)
    add(library, 31, 33)
    second = library.search("graphs", **asked, cursor=first.next_cursor or "")
    third = library.search("graphs", **asked, cursor=second.next_cursor or "")
    seen = {one.chunk.paper_id for page in (first, second, third) for one in page.passages}
    assert seen == {f"paper{number}" for number in (1, 3, 5, 7, 9, 11, 31, 33)}
