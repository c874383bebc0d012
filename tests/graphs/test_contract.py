"""What every graph promises."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from carrel.errors import StoreUnavailable
from carrel.graphs import GraphStore
from carrel.graphs.sqlite import SqliteGraph
from carrel.testing import MemoryGraph
from carrel.types import EVERYTHING, Concept, Filter, Hit, Mention, Predicate, Subgraph, Triple
from tests.builders import FILTERS, SINGLE_FILTERS, make_chunk, varied_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VARIED = varied_chunks(60)
EMPTY = Subgraph({}, ())


@dataclass(frozen=True)
class Maker:
    """Opens graphs of one kind; what one opening wrote the next one finds, where the kind has a disk."""

    kind: str
    path: Path

    def open(self) -> GraphStore:
        return MemoryGraph() if self.kind == "memory" else SqliteGraph(self.path)


@pytest.fixture(params=["sqlite", "memory"])
def graph(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GraphStore]:
    graph = Maker(request.param, tmp_path / "graph" / "graph.db").open()
    yield graph
    graph.close()


@pytest.fixture(params=["sqlite"])
def on_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Maker:
    return Maker(request.param, tmp_path / "graph.db")


@pytest.fixture(scope="module", params=["sqlite", "memory"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    """A graph where every varied chunk mentions the concept `retrieval`."""
    graph = Maker(request.param, tmp_path_factory.mktemp("filled") / "graph.db").open()
    for paper_id in sorted({chunk.paper_id for chunk in VARIED}):
        chunks = [chunk for chunk in VARIED if chunk.paper_id == paper_id]
        mentions = [Mention("retrieval", chunk.address) for chunk in chunks]
        graph.put(paper_id, chunks=chunks, concepts=[], mentions=mentions, triples=[])
    yield graph
    graph.close()


def say(graph: GraphStore, paper_id: str, *concepts: Concept) -> None:
    graph.put(paper_id, chunks=[], concepts=concepts, mentions=[], triples=[])


def names(graph: GraphStore, text: str, limit: int = 99) -> list[str]:
    return [concept.name for concept in graph.find(text, limit=limit)]


def relate(subject: str, target: str, predicate: Predicate = Predicate.USES, paper_id: str = "p") -> Triple:
    return Triple(subject, predicate, target, 0.5, f"{paper_id}/ch1/s1/p1", f"{subject} uses {target}.")


def put_triples(graph: GraphStore, *triples: Triple, paper_id: str = "p") -> None:
    graph.put(paper_id, chunks=[], concepts=[], mentions=[], triples=triples)


def put_mentions(graph: GraphStore, mentions: dict[int, dict[str, float]], *triples: Triple) -> None:
    """Chunks of one paper by number, and how relevant each concept is in them."""
    graph.put(
        "p",
        chunks=[make_chunk("p", number) for number in mentions],
        concepts=[],
        mentions=[
            Mention(name, f"p/ch1/s1/p{number}", 1, relevance)
            for number, concepts in mentions.items()
            for name, relevance in concepts.items()
        ],
        triples=triples,
    )


def scores(graph: GraphStore, *asked: str, hops: int = 0) -> dict[int, float]:
    hits = graph.chunks(asked, hops=hops, limit=99, where=EVERYTHING)
    return {int(hit.address.rsplit("p", 1)[1]): hit.score for hit in hits}


def test_it_is_a_graph_and_empty_at_first(graph: GraphStore) -> None:
    assert isinstance(graph, GraphStore)
    assert (graph.count(), graph.find("a", limit=9), graph.neighbours(["a"], hops=2)) == (0, [], EMPTY)
    assert graph.chunks(["a"], hops=2, limit=9, where=EVERYTHING) == []
    graph.delete(["nobody"])
    graph.clear()
    assert graph.count() == 0


def test_a_concept_comes_back_with_all_that_was_said_of_it(graph: GraphStore) -> None:
    concept = Concept("Dense Retrieval", ("DPR", "dense passage retrieval"), "Search by vectors.", "method")
    say(graph, "p", concept)
    assert graph.find("dense retrieval", limit=9) == [concept]


@pytest.mark.parametrize("text", ["graph", "GRAPH", "  Graph ", "gRaPh\n"])
def test_the_exact_name_is_found_in_any_case_before_those_that_contain_it(graph: GraphStore, text: str) -> None:
    say(graph, "p", Concept("knowledge graph"), Concept("Graph"), Concept("graphs"), Concept("tree"))
    assert names(graph, text) == ["Graph", "graphs", "knowledge graph"]


def test_an_exact_alias_counts_as_the_name_and_a_part_of_one_is_found_too(graph: GraphStore) -> None:
    say(graph, "p", Concept("retrieval-augmented generation", ("RAG",)), Concept("fragment"), Concept("x", ("ragged",)))
    assert names(graph, "rag") == ["retrieval-augmented generation", "x", "fragment"]


def test_finding_takes_a_limit(graph: GraphStore) -> None:
    say(graph, "p", *(Concept("graph" + "s" * number) for number in range(5)))
    assert names(graph, "graph", limit=2) == ["graph", "graphs"]


@pytest.mark.parametrize("text", ["", "   ", "unknown", "%", "_", "*", "' OR 1=1 --", "\udcff"])
def test_what_no_name_contains_finds_nothing(graph: GraphStore, text: str) -> None:
    say(graph, "p", Concept("graph"))
    assert names(graph, text) == []


def test_what_several_papers_say_of_a_concept_is_one_concept(graph: GraphStore) -> None:
    say(graph, "a", Concept("graph", ("network",)))
    say(graph, "b", Concept("Graph", ("net",), "Nodes and edges.", "structure"))
    say(graph, "c", Concept("Graph", ("network",), "Another definition."))
    assert graph.find("graph", limit=9) == [Concept("Graph", ("net", "network"), "Nodes and edges.", "structure")]
    assert graph.count() == 1


def test_what_is_only_mentioned_or_related_is_a_concept_too(graph: GraphStore) -> None:
    put_mentions(graph, {1: {"BM25": 1.0}}, relate("Search", "Index"))
    assert graph.count() == 3
    assert graph.find("index", limit=1) == [Concept("Index")]


def chain(graph: GraphStore) -> None:
    put_triples(graph, relate("a", "b"), relate("c", "b"), relate("c", "d"), relate("x", "y"))


@pytest.mark.parametrize(
    ("hops", "reached"),
    [
        (0, {"a": 0}),
        (1, {"a": 0, "b": 1}),
        (2, {"a": 0, "b": 1, "c": 2}),
        (3, {"a": 0, "b": 1, "c": 2, "d": 3}),
        (9, {"a": 0, "b": 1, "c": 2, "d": 3}),
    ],
)
def test_a_walk_goes_both_ways_and_as_far_as_asked(graph: GraphStore, hops: int, reached: dict[str, int]) -> None:
    chain(graph)
    found = graph.neighbours(["A"], hops=hops)
    assert found.depths == reached
    assert {(t.subject, t.object) for t in found.triples} == {
        pair for pair in (("a", "b"), ("c", "b"), ("c", "d")) if set(pair) <= reached.keys()
    }


def test_a_concept_is_as_far_as_its_shortest_way_from_any_start(graph: GraphStore) -> None:
    put_triples(graph, relate("a", "b"), relate("b", "c"), relate("c", "d"), relate("a", "d"))
    assert graph.neighbours(["a"], hops=5).depths == {"a": 0, "b": 1, "c": 2, "d": 1}
    assert graph.neighbours(["a", "c", "nobody"], hops=5).depths == {"a": 0, "b": 1, "c": 0, "d": 1}


def test_cycles_end(graph: GraphStore) -> None:
    put_triples(graph, relate("a", "b"), relate("b", "c"), relate("c", "a"), relate("a", "a"))
    found = graph.neighbours(["a"], hops=200)
    assert found.depths == {"a": 0, "b": 1, "c": 1}
    assert len(found.triples) == 4


def test_only_the_relations_asked_for_are_walked_and_told(graph: GraphStore) -> None:
    put_triples(graph, relate("a", "b"), relate("a", "b", Predicate.PART_OF), relate("b", "c", Predicate.PART_OF))
    found = graph.neighbours(["a"], hops=2, relations=[Predicate.USES])
    assert (found.depths, [t.predicate for t in found.triples]) == ({"a": 0, "b": 1}, [Predicate.USES])
    assert graph.neighbours(["a"], hops=2, relations=[Predicate.PART_OF]).depths == {"a": 0, "b": 1, "c": 2}
    assert graph.neighbours(["a"], hops=2, relations=[]) == Subgraph({"a": 0}, ())


def test_a_triple_comes_back_whole_and_each_papers_own(graph: GraphStore) -> None:
    first = Triple("Search", Predicate.USES, "Index", 0.7, "p/ch1/s1/p1", 'It "uses" an index.')
    second = Triple("search", Predicate.USES, "index", 0.9, "q/ch1/s1/p1", "Uses it.")
    put_triples(graph, first)
    put_triples(graph, second, paper_id="q")
    told = graph.neighbours(["search"], hops=1).triples
    assert [(t.confidence, t.address, t.evidence) for t in told] == [
        (0.7, "p/ch1/s1/p1", 'It "uses" an index.'),
        (0.9, "q/ch1/s1/p1", "Uses it."),
    ]
    assert len({(t.subject, t.object) for t in told}) == 1


def test_unknown_names_have_no_neighbours(graph: GraphStore) -> None:
    chain(graph)
    assert graph.neighbours(["nobody"], hops=3) == graph.neighbours([], hops=3) == EMPTY


def test_a_chunk_scores_the_sum_of_relevance_by_one_plus_distance(graph: GraphStore) -> None:
    mentions = {1: {"a": 0.8}, 2: {"b": 0.8}, 3: {"a": 0.5, "b": 0.6, "c": 0.9}, 4: {"c": 1.0}, 5: {"x": 1.0}}
    put_mentions(graph, mentions, relate("a", "b"), relate("c", "b"))
    assert scores(graph, "A") == pytest.approx({1: 0.8, 3: 0.5})
    assert scores(graph, "a", hops=1) == pytest.approx({3: 0.5 + 0.6 / 2, 1: 0.8, 2: 0.4})
    assert scores(graph, "a", hops=2) == pytest.approx({3: 0.5 + 0.6 / 2 + 0.9 / 3, 1: 0.8, 2: 0.4, 4: 1 / 3}, abs=1e-6)
    assert scores(graph, "nobody", hops=2) == {}


def test_chunks_come_by_falling_score_then_address_and_a_limit_cuts_the_list(graph: GraphStore) -> None:
    put_mentions(graph, {9: {"x": 0.1, "y": 0.2}, 2: {"x": 0.3}, 5: {"x": 0.2, "y": 0.1}, 7: {"y": 0.9}})
    hits = graph.chunks(["x", "y"], hops=0, limit=99, where=EVERYTHING)
    assert [(hit.address[-2:], hit.score) for hit in hits] == [("p7", 0.9), ("p2", 0.3), ("p5", 0.3), ("p9", 0.3)]
    assert graph.chunks(["x", "y"], hops=0, limit=2, where=EVERYTHING) == hits[:2]


@pytest.mark.parametrize("where", SINGLE_FILTERS, ids=str)
def test_each_filter_means_what_filter_matches_says(filled: GraphStore, where: Filter) -> None:
    hits = filled.chunks(["retrieval"], hops=0, limit=99, where=where)
    assert hits == [Hit(address, 1.0) for address in sorted(c.address for c in VARIED if where.matches(c))]


@given(where=FILTERS)
def test_filters_together_mean_what_filter_matches_says(filled: GraphStore, where: Filter) -> None:
    hits = filled.chunks(["retrieval"], hops=0, limit=99, where=where)
    assert hits == [Hit(address, 1.0) for address in sorted(c.address for c in VARIED if where.matches(c))]


def test_a_put_replaces_what_the_paper_said_before(graph: GraphStore) -> None:
    put_mentions(graph, {1: {"old": 1.0}}, relate("old", "older"))
    put_mentions(graph, {2: {"new": 1.0}}, relate("new", "newer"))
    assert names(graph, "old") == []
    assert graph.count() == 2
    assert (scores(graph, "old"), scores(graph, "new")) == ({}, {2: 1.0})


def contribute(graph: GraphStore, paper_id: str) -> None:
    """The same from every paper: a concept, a mention and a relation."""
    chunk = make_chunk(paper_id)
    graph.put(
        paper_id,
        chunks=[chunk],
        concepts=[Concept("graph", (f"alias of {paper_id}",), f"Definition of {paper_id}.")],
        mentions=[Mention("graph", chunk.address)],
        triples=[relate("graph", "node", paper_id=paper_id)],
    )


def test_deleting_a_paper_takes_back_exactly_what_it_contributed(graph: GraphStore) -> None:
    for paper_id in ("a", "b", "aa"):
        contribute(graph, paper_id)
    graph.delete(["a", "aa", "nobody"])
    assert graph.find("graph", limit=9) == [Concept("graph", ("alias of b",), "Definition of b.")]
    assert graph.neighbours(["graph"], hops=1) == Subgraph(
        {"graph": 0, "node": 1}, (relate("graph", "node", paper_id="b"),)
    )
    assert graph.chunks(["graph"], hops=0, limit=9, where=EVERYTHING) == [Hit("b/ch1/s1/p1", 1.0)]
    graph.delete(["b"])
    assert (graph.count(), graph.neighbours(["graph"], hops=1)) == (0, EMPTY)


def test_clearing_forgets_everything_and_leaves_room(graph: GraphStore) -> None:
    contribute(graph, "a")
    graph.clear()
    assert (graph.count(), names(graph, "graph")) == (0, [])
    contribute(graph, "a")
    assert names(graph, "graph") == ["graph"]


@pytest.mark.parametrize(
    "hostile",
    ["o'neil", 'a"b', "'); DROP TABLE names; --", "100%_*?[x]", "naïve 漢字 🙂", "x" * 10_240, '["a", "b"]', "\\", "ẞ"],
    ids=lambda text: text[:20],
)
def test_hostile_names_are_only_names(graph: GraphStore, hostile: str) -> None:
    chunk = make_chunk(hostile, text=hostile)
    graph.put(
        hostile,
        chunks=[chunk],
        concepts=[Concept(hostile, (f"{hostile}2",), hostile)],
        mentions=[Mention(hostile, chunk.address)],
        triples=[relate(hostile, "bystander")],
    )
    say(graph, "other", Concept("bystander"))
    assert graph.find(hostile, limit=1) == [Concept(hostile, (f"{hostile}2",), hostile)]
    assert graph.neighbours([hostile], hops=1).depths == {hostile: 0, "bystander": 1}
    assert graph.chunks([hostile], hops=1, limit=9, where=EVERYTHING) == [Hit(chunk.address, 1.0)]
    graph.delete([hostile])
    assert names(graph, "bystander") == ["bystander"]
    assert graph.count() == 1


def test_a_closed_graph_can_be_opened_again_and_says_the_same(on_disk: Maker) -> None:
    before = on_disk.open()
    contribute(before, "a")
    expected = (before.find("graph", limit=9), before.neighbours(["graph"], hops=1))
    before.close()
    after = on_disk.open()
    assert (after.find("graph", limit=9), after.neighbours(["graph"], hops=1)) == expected
    after.close()


def test_many_that_open_a_new_graph_at_once_all_succeed(on_disk: Maker) -> None:
    graphs = [on_disk.open() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(contribute, graphs, map(str, range(8))))
    assert [graph.find("graph", limit=1)[0].aliases[7] for graph in graphs] == ["alias of 7"] * 8
    for graph in graphs:
        graph.close()


@pytest.mark.parametrize("content", [b"This is no database. " * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_reported_each_time_and_never_an_empty_list(on_disk: Maker, content: bytes) -> None:
    on_disk.path.write_bytes(content)
    graph = on_disk.open()
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="cannot use graph") as caught:
            graph.find("graph", limit=1)
    assert caught.value.hint == "It is derived: delete that file and run 'carrel index build'."


def test_a_graph_of_another_version_is_refused_each_time(on_disk: Maker) -> None:
    written = on_disk.open()
    contribute(written, "a")
    written.close()
    connection = sqlite3.connect(on_disk.path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    graph = on_disk.open()
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="written by a newer Carrel"):
            graph.count()
