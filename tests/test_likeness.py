"""Papers by the meaning of their abstracts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carrel import Library
from carrel.errors import IndexNotFound, InvalidInput, NoUsableAbstract, PaperNotFound
from carrel.testing import HashedWords

RECORDS = [
    ("graphs", "Shortest paths in weighted graphs are found by relaxing edges in order of their distance."),
    ("trees", "Shortest paths in weighted graphs and trees are found by relaxing edges again and again."),
    ("birds", "Penguins walk over the southern ice for many days and nights to find their nesting places."),
    ("short", "Too short."),
]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    lines = [
        {"id": paper, "title": paper, "authors": [{"first": "Ada", "last": "Yu"}], "abstract": abstract}
        for paper, abstract in RECORDS
    ]
    (tmp_path / "refs.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    made = Library.init(tmp_path / "l", embedder=HashedWords())
    made.add(tmp_path / "refs.jsonl")
    return made


def test_papers_are_found_by_meaning_above_the_threshold(library: Library) -> None:
    found = library.semantic("shortest paths in weighted graphs", threshold=0.3)
    assert [paper.reference.id for paper in found.papers] == ["graphs", "trees"]
    assert all(1 >= paper.similarity >= 0.3 for paper in found.papers)
    assert (found.threshold, found.model) == (0.3, library.embedder.name)
    assert library.semantic("shortest paths in weighted graphs", threshold=1.0).papers == ()
    assert len(library.semantic("shortest paths", threshold=0.0).papers) == 3


def test_the_nearest_papers_leave_the_paper_itself_out(library: Library) -> None:
    found = library.similar("graphs", limit=1)
    assert [paper.reference.id for paper in found.papers] == ["trees"]
    assert found.as_dict()["source"] == {"id": "graphs", "title": "graphs"}
    assert [paper.reference.id for paper in library.similar("graphs").papers] == ["trees", "birds"]


def test_the_shapes_are_those_that_are_documented(library: Library) -> None:
    semantic = library.semantic("penguins", threshold=0.0).as_dict()
    assert list(semantic) == ["query", "results", "total", "threshold", "model", "nearest"]
    assert list(semantic["results"][0]) == ["id", "title", "authors", "year", "similarity", "abstract", "matched"]
    assert semantic["results"][0]["authors"] == [{"first": "Ada", "last": "Yu"}]
    similar = library.similar("graphs").as_dict()
    assert list(similar) == ["source", "similar", "total", "model"]
    assert list(similar["similar"][0]) == ["id", "title", "authors", "year", "similarity"]


@pytest.mark.parametrize(("limit", "threshold"), [(0, 0.5), (101, 0.5), (10, -0.1), (10, 1.1)])
def test_limit_and_threshold_have_their_ranges(library: Library, limit: int, threshold: float) -> None:
    with pytest.raises(InvalidInput, match=r"must be between"):
        library.semantic("penguins", limit=limit, threshold=threshold)


def test_a_paper_must_be_there_and_have_an_abstract(library: Library) -> None:
    with pytest.raises(PaperNotFound, match="Paper 'nobody' not found in database"):
        library.similar("nobody")
    with pytest.raises(
        NoUsableAbstract, match="Paper 'short' has no abstract and cannot be used for similarity"
    ) as caught:
        library.similar("short")
    assert caught.value.exit_code == 4


def test_an_empty_query_and_a_missing_index_are_errors(tmp_path: Path, library: Library) -> None:
    with pytest.raises(InvalidInput, match="Search query cannot be empty"):
        library.semantic(" ")
    with Library.init(tmp_path / "new", embedder=HashedWords()) as new, pytest.raises(IndexNotFound) as caught:
        new.semantic("x")
    assert str(caught.value) == "Semantic index not found. Run 'carrel index build' first"


def test_another_models_index_is_refused(library: Library) -> None:
    library.close()
    other = HashedWords()
    other.name = "other"
    with Library.open(library.layout.root, embedder=other) as opened:
        with pytest.raises(InvalidInput, match="but queries are embedded by 'other'"):
            opened.semantic("penguins")
        # The nearest papers need no query: they are found in the index as it is.
        assert [paper.reference.id for paper in opened.similar("graphs", limit=1).papers] == ["trees"]
