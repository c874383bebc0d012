"""From a question to the passages that the graph of concepts leads to."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.errors import IndexNotFound, StoreUnavailable
from carrel.graphs import GraphStore
from carrel.graphs.sqlite import SqliteGraph
from carrel.search import walking
from carrel.search.concepts import Concepts
from carrel.search.specificity import Specificity
from carrel.search.spotting import said, spot
from carrel.testing import MemoryGraph
from carrel.types import (
    EVERYTHING,
    Chunk,
    Concept,
    ConceptPath,
    Contribution,
    Filter,
    Match,
    Mention,
    Predicate,
    Role,
    Triple,
)
from tests.builders import FILTERS, make_chunk, varied_chunks

USES, PART_OF, RELATED = Predicate.USES, Predicate.PART_OF, Predicate.RELATED_TO
MANY = 50
"""Passages that speak of nothing else, so that a concept of a few is rare."""


def paper(paper_id: str, *spoken: Mapping[str, float], concepts: Sequence[Concept] = (), **more: Any) -> Contribution:
    """A chunk for each mapping of what it speaks of, and how centrally; what it is about from 0.9 on."""
    chunks = tuple(make_chunk(paper_id, number) for number in range(1, len(spoken) + 1))
    mentions = tuple(
        Mention(name, chunk.address, 1, relevance, Role.DISCUSSES if relevance >= 0.9 else Role.MENTIONS)
        for chunk, names in zip(chunks, spoken, strict=True)
        for name, relevance in names.items()
    )
    return Contribution(paper_id, chunks, tuple(concepts), mentions, **more)


def triple(subject: str, predicate: Predicate, target: str, confidence: float = 1.0) -> Triple:
    return Triple(subject, predicate, target, confidence, "facts/ch1/s1/p1", f"{subject} {predicate} {target}.")


def graph_of(*papers: Contribution, facts: Sequence[Triple] = ()) -> MemoryGraph:
    graph = MemoryGraph()
    crowd = paper("crowd", *({"algorithm": 0.5} for _ in range(MANY)))
    graph.put([*papers, crowd, Contribution("facts", (make_chunk("facts"),), triples=tuple(facts))])
    return graph


def found(graph: GraphStore, query: str, *, hops: int = 2, limit: int = 100, where: Filter = EVERYTHING) -> list[str]:
    return [hit.address for hit in Concepts(graph, hops=hops).hits(query, limit, where)]


def scores(graph: GraphStore, query: str, hops: int = 2) -> dict[str, float]:
    return {hit.address: hit.score for hit in Concepts(graph, hops=hops).hits(query, 100, EVERYTHING)}


@pytest.fixture(scope="module")
def trees() -> MemoryGraph:
    known = (
        Concept("Segment tree", aliases=("interval tree",)),
        Concept("Breadth-first search", aliases=("BFS",)),
        Concept("Colour coding"),
        Concept("A*"),
        Concept("线段树"),
        Concept("tree"),
    )
    return graph_of(paper("p", {one.name: 0.5 for one in known}, concepts=known))


def named(graph: MemoryGraph, query: str) -> list[tuple[str, str, Match]]:
    seeds = spot(query, graph, Specificity(graph.size().chunks))
    return [(seed.said, seed.row.concept.name, seed.match) for seed in seeds]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("how is a segment tree built?", [("segment tree", "Segment tree", Match.NAME)]),
        ("Segment Trees, please", [("Segment Trees", "Segment tree", Match.NAME)]),
        ("the segment-tree's nodes", [("segment-tree's", "Segment tree", Match.NAME)]),
        ("an interval tree", [("interval tree", "Segment tree", Match.ALIAS)]),
        ("BFS or (breadth first search)", [("BFS", "Breadth-first search", Match.ALIAS)]),
        ("color coding", [("color coding", "Colour coding", Match.NAME)]),
        ("why is A* fast", [("A*", "A*", Match.NAME)]),
        ("什么是线段树？", [("线段树", "线段树", Match.NAME)]),
        ("a segmant tree", [("segmant tree", "Segment tree", Match.SPELLING)]),
        ("bredth-frist search", [("bredth-frist search", "Breadth-first search", Match.SPELLING)]),
        ("which tree", [("tree", "tree", Match.NAME)]),
        ("the of and", []),
        ("how are you", []),
        ("?! — …", []),
    ],
)
def test_concepts_are_known_by_name_alias_other_spellings_and_slips(
    trees: MemoryGraph, query: str, expected: list[tuple[str, str, Match]]
) -> None:
    assert named(trees, query) == expected


def test_slips_are_forgiven_by_the_length_of_the_name_alone() -> None:
    graph = graph_of(paper("p", {"heap": 0.5, "queue": 0.5, "adjacency": 0.5}))
    assert named(graph, "haep") == []
    assert named(graph, "quene") == [("quene", "queue", Match.SPELLING)]
    assert named(graph, "qeuue") == [("qeuue", "queue", Match.SPELLING)]
    assert named(graph, "quuune") == []
    assert named(graph, "adjacnecyy") == [("adjacnecyy", "adjacency", Match.SPELLING)]
    assert named(graph, "adjcnyyx") == []


def test_the_longest_name_is_meant_but_all_within_it_are_known_to_be_said(trees: MemoryGraph) -> None:
    seeds = spot("segment tree", trees, Specificity(MANY))
    assert [seed.row.concept.name for seed in seeds] == ["Segment tree"]
    assert said("segment tree", trees, ["segment tree", "tree", "heap"]) == {"segment tree", "tree"}


def test_what_everything_speaks_of_is_worth_next_to_nothing() -> None:
    graph = graph_of(paper("p", {"splay tree": 0.5, "treap": 0.5}))
    rare, single, common = spot("splay tree treap algorithm", graph, Specificity(graph.size().chunks))
    assert rare.weight == 1.0
    assert single.weight == pytest.approx(0.7)
    assert common.weight < 0.02


def test_passages_come_by_evidence_and_equals_by_address() -> None:
    graph = graph_of(
        paper("z", {"treap": 0.9, "heap": 0.9}),
        paper("b", {"treap": 0.5}, {"treap": 0.5}, {"treap": 0.95}),
        paper("a", {"treap": 0.5}),
    )
    addresses = ["z/ch1/s1/p1", "b/ch1/s1/p3", "a/ch1/s1/p1", "b/ch1/s1/p1", "b/ch1/s1/p2"]
    assert found(graph, "treap and heap") == addresses
    assert found(graph, "treap and heap", limit=2) == addresses[:2]
    assert all(0 < score <= 1 for score in scores(graph, "treap and heap").values())


def test_every_hop_counts_less_and_none_is_gone_without_leave() -> None:
    names = ("alpha", "beta", "gamma", "delta")
    graph = graph_of(
        *(paper(name, {name: 0.95}) for name in names),
        facts=[triple(one, USES, other) for one, other in pairwise(names)],
    )
    order = [make_chunk(name).address for name in names]
    for hops in range(4):
        assert found(graph, "alpha", hops=hops) == order[: hops + 1]
    values = list(scores(graph, "alpha", hops=3).values())
    assert values[0] / values[1] == pytest.approx(1 / (0.7 * walking.DECAY), rel=0.6)
    assert all(more > 2 * less for more, less in pairwise(values))


def test_relations_weigh_by_kind_and_by_how_sure_they_are() -> None:
    graph = graph_of(
        *(paper(name, {name: 0.95}) for name in ("alpha", "part", "related", "doubted")),
        facts=[
            triple("alpha", PART_OF, "part"),
            triple("alpha", RELATED, "related"),
            triple("doubted", PART_OF, "alpha", 0.4),
        ],
    )
    assert found(graph, "alpha") == [make_chunk(name).address for name in ("alpha", "part", "related", "doubted")]
    assert walking.WEIGHTS.keys() == set(Predicate)


def test_cycles_end_and_add_nothing() -> None:
    pair = [paper("a", {"alpha": 0.95}), paper("b", {"beta": 0.95})]
    once = graph_of(*pair, facts=[triple("alpha", USES, "beta")])
    cycle = graph_of(*pair, facts=[triple("alpha", USES, "beta"), triple("beta", USES, "alpha")])
    assert found(cycle, "alpha", hops=3) == found(once, "alpha", hops=1)
    assert scores(cycle, "alpha")["a/ch1/s1/p1"] == scores(once, "alpha")["a/ch1/s1/p1"]


def test_a_hub_passes_little_on_to_each() -> None:
    hub = [triple("hub", USES, f"spoke {number}") for number in range(50)]
    graph = graph_of(
        paper("a", {"few": 0.95}),
        paper("b", {"target": 0.95}),
        paper("c", {"spoke 7": 0.95}),
        facts=[*hub, triple("few", USES, "target")],
    )
    reached = scores(graph, "hub few")
    assert reached["b/ch1/s1/p1"] > 5 * reached["c/ch1/s1/p1"]


def test_no_more_than_a_beam_goes_on() -> None:
    facts = [triple("hub", USES, f"spoke{number:03}", 0.5 + number / 1000) for number in range(100)]
    graph = graph_of(facts=facts)
    start = {"hub": walking.Reached(1.0, (walking.Hop("hub"),))}
    near = walking.related(start, graph.concepts(start), graph, hops=2)
    assert sorted(near.reached) == [f"spoke{number:03}" for number in range(100 - walking.BEAM, 100)]


def test_a_passage_that_names_two_concepts_leads_from_one_to_the_other() -> None:
    graph = graph_of(
        paper("journal", {"Journal of Rest": 0.95, "Sleep Society": 0.3}),
        paper("society", {"Sleep Society": 0.95}),
    )
    assert found(graph, "who leads the society behind the Journal of Rest?") == [
        "journal/ch1/s1/p1",
        "society/ch1/s1/p1",
    ]
    assert found(graph, "Journal of Rest", hops=0) == ["journal/ch1/s1/p1"]


def test_paths_are_told() -> None:
    graph = graph_of(
        paper("tree", {"Segment tree": 0.95, "sum query": 0.3}),
        paper("search", {"Binary search": 0.95}),
        paper("sparse", {"Sparse table": 0.5}),
        paper("sums", {"sum query": 0.95}),
        facts=[triple("Segment tree", USES, "Binary search"), triple("Sparse table", RELATED, "Binary search")],
    )
    concepts = Concepts(graph)
    concepts.hits("segment trees", 10, EVERYTHING)
    told = {name: str(concepts.path(f"{name}/ch1/s1/p1")) for name in ("tree", "search", "sparse", "sums")}
    assert told == {
        "tree": "Segment tree — discussed here",
        "search": "Segment tree —USES→ Binary search — discussed here",
        "sparse": "Segment tree —USES→ Binary search ←RELATED_TO— Sparse table — mentioned here",
        "sums": "Segment tree — in tree/ch1/s1/p1 — sum query — discussed here",
    }
    assert concepts.path("sparse/ch1/s1/p1").as_dict() == {
        "source": None,
        "start": "Segment tree",
        "links": [
            {"concept": "Binary search", "predicate": "USES", "forward": True},
            {"concept": "Sparse table", "predicate": "RELATED_TO", "forward": False},
        ],
        "role": "MENTIONS",
    }


NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
EDGES = st.lists(
    st.builds(
        triple,
        st.sampled_from(NAMES),
        st.sampled_from(Predicate),
        st.sampled_from(NAMES),
        st.sampled_from((0.5, 0.75, 1.0)),
    ),
    max_size=12,
)
SPOKEN = st.lists(
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from((0.25, 0.5, 0.95)), max_size=3), min_size=1, max_size=6
)


@settings(max_examples=60, deadline=None)
@given(spoken=SPOKEN, edges=EDGES, asked=st.lists(st.sampled_from(NAMES), min_size=1, max_size=2))
def test_every_path_is_one_of_the_graph(spoken: list[dict[str, float]], edges: list[Triple], asked: list[str]) -> None:
    graph = graph_of(paper("p", *spoken), facts=edges)
    concepts, query = Concepts(graph, hops=3), " ".join(asked)
    hits = concepts.hits(query, 1000, EVERYTHING)
    assert [(-hit.score, hit.address) for hit in hits] == sorted((-hit.score, hit.address) for hit in hits)
    for hit in hits:
        check_path(concepts.path(hit.address), hit.address, asked, graph)


def check_path(path: ConceptPath, address: str, asked: Sequence[str], graph: MemoryGraph) -> None:
    assert path.start in asked
    at = path.start
    for link in path.links:
        if link.predicate is None:
            assert {at, link.concept} <= {spot.key for spot in graph.spoken([link.address])}
        else:
            ends = (at, link.concept) if link.is_forward else (link.concept, at)
            stated = {(one.subject, one.predicate, one.object) for one in graph.relations([at])}
            assert (ends[0], link.predicate, ends[1]) in stated
        at = link.concept
    assert (at, path.role) in {(spot.key, spot.role) for spot in graph.spoken([address])}


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SqliteGraph, dict[str, Chunk]]]:
    chunks = varied_chunks(120)
    graph = SqliteGraph(tmp_path_factory.mktemp("graph") / "graph.db")
    by_paper: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        by_paper.setdefault(chunk.paper_id, []).append(chunk)
    graph.put([_speaking(paper_id, own) for paper_id, own in by_paper.items()])
    yield graph, {chunk.address: chunk for chunk in chunks}
    graph.close()


def _speaking(paper_id: str, chunks: Sequence[Chunk]) -> Contribution:
    mentions = tuple(
        Mention(NAMES[(number * step) % 6], chunk.address, 1, (1 + number % 4) / 4)
        for number, chunk in enumerate(chunks)
        for step in (1, 2)
    )
    facts = tuple(Triple("alpha", USES, name, 0.9, chunks[0].address, "") for name in ("beta", "gamma"))
    return Contribution(paper_id, tuple(chunks), mentions=mentions, triples=facts)


@settings(max_examples=150, deadline=None)
@given(where=FILTERS, query=st.sampled_from(("alpha", "beta delta", "zeta and gamma")), hops=st.integers(0, 3))
def test_nothing_comes_that_a_filter_does_not_allow_and_nothing_that_is_named_is_lost(
    varied: tuple[SqliteGraph, dict[str, Chunk]], where: Filter, query: str, hops: int
) -> None:
    graph, chunks = varied
    allowed = {address for address, chunk in chunks.items() if where.matches(chunk)}
    hits = found(graph, query, hops=hops, limit=1000, where=where)
    spoken = {spot.address for spot in graph.spoken(sorted(allowed)) if spot.key in query.split()}
    assert spoken <= set(hits) <= allowed
    assert len(hits) == len(set(hits))


class Failing:
    """A graph that answers some questions and then breaks."""

    def __init__(self, graph: GraphStore, broken: Collection[str]) -> None:
        self._graph, self._broken = graph, broken

    def __getattr__(self, name: str) -> Any:
        if name in self._broken:
            raise StoreUnavailable("the graph is gone")
        return getattr(self._graph, name)


class Counting:
    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self.reads: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.reads.append(name)
        return getattr(self._graph, name)


def test_a_question_costs_few_reads(trees: MemoryGraph) -> None:
    graph = Counting(trees)
    Concepts(graph).hits("is a segment tree an algorithm for quickly answering sums?", 100, EVERYTHING)
    assert len(graph.reads) <= 11
    assert graph.reads.count("near") == 2


def test_an_empty_graph_says_what_fills_it() -> None:
    with pytest.raises(IndexNotFound, match=r"The graph of concepts is empty\. Run 'carrel index build' first"):
        Concepts(MemoryGraph()).hits("trees", 10, EVERYTHING)


def test_a_graph_that_cannot_tell_its_size_is_not_empty_but_fails(trees: MemoryGraph) -> None:
    concepts = Concepts(Failing(trees, {"size"}))
    assert not concepts.is_empty
    with pytest.raises(StoreUnavailable, match="the graph is gone"):
        concepts.hits("segment tree", 10, EVERYTHING)


HOSTILE = {
    "2000 characters": "segment " * 250,
    "one word": "x" * 2000,
    "emoji": "🌳 tree 👩‍👩‍👧",
    "sql": "segment tree'; DROP TABLE mentions; --",
    "cypher": "MATCH (n) DETACH DELETE n //",
    "right to left": "\u202esegment tree\u202c",
    "halves": "segment \udcff tree",
    "wildcards": "% _ * ? segment%",
    "combining": "e" + "\u0301" * 500,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_is_asked_is_looked_up_as_text(tmp_path: Path, trees: MemoryGraph, name: str) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    graph.put([paper("p", {"segment tree": 0.95}), paper("q", {"tree": 0.5})])
    before = graph.size()
    start = time.perf_counter()
    assert len(found(graph, HOSTILE[name])) <= 2
    assert time.perf_counter() - start < 10
    assert graph.size() == before
    graph.close()


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("how do segment trees work", {"segment tree"}),
        ("Is the Segment-Tree quick?", {"segment tree"}),
        ("what is a tree of segments", set()),
        ("最短路怎么求", {"最短路"}),
        ("", set()),
    ],
)
def test_it_is_told_which_of_some_concepts_a_question_names(query: str, named: set[str]) -> None:
    assert said(query, MemoryGraph(), ["segment tree", "segmental", "最短路"]) == named


def test_an_acronym_names_what_it_stands_for() -> None:
    graph = MemoryGraph()
    graph.put([Contribution("p", concepts=(Concept("support vector machine", ("SVM",)),))])
    assert said("does an SVM help", graph, ["support vector machine"]) == {"support vector machine"}
