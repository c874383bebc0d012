"""However a library came to what it holds, its graph is the one that a fresh library of the same papers would have."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.graphs.sqlite import SqliteGraph
from carrel.library import Library
from carrel.testing import HashedWords
from carrel.types import Predicate, Role
from tests.graphs.contributions import told

FILES = ("heaps", "paths", "trees", "flows")
TITLES = {
    "heaps": "Binary heaps and their uses",
    "paths": "Shortest paths in sparse graphs",
    "trees": "Segment trees for range queries",
    "flows": "Maximum flows by augmenting paths",
}
SENTENCES = (
    "A binary heap is a complete tree that keeps the smallest key at its root.",
    "Dijkstra's algorithm uses a priority queue.",
    "The depth-first search (DFS) visits every vertex once.",
    "DFS is used for topological sorting.",
    "A segment tree is a data structure that answers range queries.",
    "Segment trees are compared with Fenwick trees.",
    "The residual network is part of the maximum flow problem.",
    "Colour coding finds long paths; color codings are random.",
    "We call a shortest augmenting path (SAP) the one with the fewest edges.",
    "Data structures such as heaps and segment trees are taught early.",
)
PAPERS = st.tuples(
    st.just("write"), st.sampled_from(FILES), st.lists(st.sampled_from(range(len(SENTENCES))), min_size=1, max_size=5)
)
CHANGES: st.SearchStrategy[tuple[str, str, list[int]]] = st.one_of(
    PAPERS,
    PAPERS,
    st.tuples(st.just("delete"), st.sampled_from(FILES), st.just([])),
    st.tuples(st.just("sync"), st.just(""), st.just([])),
    st.tuples(st.just("curate"), st.sampled_from(["heap", "dfs", "tree"]), st.just([])),
)


def write(path: Path, sentences: list[int]) -> None:
    """A paper that cites the others, whether they are there or not."""
    text = " ".join(SENTENCES[number] for number in sentences)
    cited = "\n".join(f"- A. Reader. {title}. 2020." for name, title in TITLES.items() if name != path.stem)
    path.write_text(f"# {TITLES[path.stem]}\n\n## {text.split('.')[0]}\n\n{text}\n\n## References\n\n{cited}\n")


def change(library: Library, folder: Path, verb: str, name: str, sentences: list[int]) -> None:
    path = folder / f"{name}.md"
    if verb == "write":
        write(path, sentences)
    elif verb == "delete":
        path.unlink(missing_ok=True)
    elif verb == "sync":
        library.sync(prune=True)
    elif not any(one.id == name for one in library.curated().concepts.values()):
        library.add_concept(name, {"heap": "Heap", "dfs": "Depth-first traversal", "tree": "Segment tree"}[name],
                            aliases=["DFS"] if name == "dfs" else [])  # fmt: skip


def truth(library: Library) -> dict[str, object]:
    return told(library.stores.graph, names=("DFS", "colour coding", "Segment trees"), papers=FILES)


@settings(max_examples=20, deadline=None)
@given(st.lists(CHANGES, min_size=2, max_size=8))
def test_adding_changing_and_deleting_leave_the_graph_of_a_fresh_library(
    changes: list[tuple[str, str, list[int]]],
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "papers")
        folder.mkdir()
        with Library.init(Path(place, "changed"), embedder=HashedWords()) as changed:
            changed.add(folder)
            for verb, name, sentences in changes:
                change(changed, folder, verb, name, sentences)
            changed.sync(prune=True)
            with Library.init(Path(place, "fresh"), embedder=HashedWords()) as fresh:
                for file in changed.layout.root.glob("[ce]*.jsonl"):
                    (fresh.layout.root / file.name).write_bytes(file.read_bytes())
                fresh.add(folder)
                assert truth(changed) == truth(fresh)
            assert not changed.list() or changed.check_index().healthy


@pytest.fixture
def library(tmp_path: Path) -> Library:
    (tmp_path / "papers").mkdir()
    for name in FILES:
        write(tmp_path / "papers" / f"{name}.md", [*range(len(SENTENCES))])
    library = Library.init(tmp_path / "library", embedder=HashedWords())
    library.add(tmp_path / "papers")
    return library


def test_the_papers_reach_the_graph_with_what_they_define_relate_and_cite(library: Library) -> None:
    graph = library.stores.graph
    assert graph.papers() == set(FILES)
    known = graph.concepts([graph.resolve(["segment trees"])["segment trees"]])
    assert [row.concept.definition for row in known.values()] == [SENTENCES[4]]
    keys = graph.resolve(["Dijkstra's algorithm", "priority queue"])
    stated = graph.triples([*keys.values()], predicates=[Predicate.USES])
    assert {one.evidence for one in stated} == {SENTENCES[1]}
    assert graph.citations() == {(one, other) for one in FILES for other in FILES if one != other}


def test_evidence_stands_in_the_papers_text_where_it_is_said_to(library: Library) -> None:
    graph, catalog = library.stores.graph, library.stores.catalog
    stated = graph.triples([row.key for row in graph.find("", limit=999)])
    assert stated
    for one in stated:
        chunk = catalog.chunks([one.address])[0]
        assert chunk.text[one.start - chunk.start : one.end - chunk.start] == one.evidence


def test_every_chunk_that_is_discussed_is_one_of_the_library(library: Library) -> None:
    graph = library.stores.graph
    spoken = graph.spoken(library.stores.catalog.addresses())
    assert {spot.role for spot in spoken} >= {Role.DISCUSSES, Role.MENTIONS}
    assert {spot.address for spot in spoken} <= library.stores.catalog.addresses()


def test_a_paper_that_leaves_takes_its_evidence_along_and_nothing_else(library: Library) -> None:
    before = library.stores.graph.size()
    library.remove("heaps")
    graph = library.stores.graph
    assert graph.papers() == set(FILES) - {"heaps"}
    assert graph.size().triples == before.triples * 3 // 4
    assert all(
        not one.address.startswith("heaps/") for one in graph.triples([r.key for r in graph.find("", limit=999)])
    )


def test_a_lost_graph_is_told_of_and_built_again(library: Library) -> None:
    expected = truth(library)
    library.stores.graph.clear()
    assert set(library.check_index().missing) == set(FILES)
    library.build_index()
    assert truth(library) == expected


def test_without_an_extractor_there_is_no_graph_and_nothing_is_missing(tmp_path: Path) -> None:
    write(tmp_path / "heaps.md", [0, 1])
    with Library.init(
        tmp_path / "library", embedder=HashedWords(), overrides={"concepts.extractor": "none"}
    ) as library:
        library.add(tmp_path / "heaps.md")
        assert library.stores.graph.size().concepts == 0
        assert library.check_index().healthy


def test_a_graph_that_cannot_be_written_keeps_the_paper_pending(library: Library, tmp_path: Path) -> None:
    assert isinstance(library.stores.graph, SqliteGraph)
    library.close()
    database = library.layout.cache / "graph" / "graph.db"
    database.write_bytes(b"no database" * 1000)
    write(tmp_path / "papers" / "heaps.md", [0])
    with pytest.raises(Exception, match="graph"):
        library.sync()
    assert not next(row for row in library.list() if row.reference.id == "heaps").indexed
    library.close()
    for file in database.parent.iterdir():
        file.unlink()
    library.build_index()
    assert library.check_index().healthy
