"""What every graph store must do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import lists

from carrel.errors import StoreUnavailable
from carrel.graphs import CURATED, GraphStore
from carrel.graphs.sqlite import SqliteGraph
from carrel.testing import MemoryGraph
from carrel.types import (
    EVERYTHING,
    Concept,
    Contribution,
    Filter,
    GraphSize,
    Mention,
    Predicate,
    Relation,
    Role,
    Spot,
    Triple,
    Work,
)
from tests.builders import FILTERS, SINGLE_FILTERS, make_chunk, varied_chunks
from tests.graphs.conftest import empty, make
from tests.graphs.contributions import CHANGES, CONTRIBUTIONS, told
from tests.graphs.stores import KEPT, KINDS, Maker

VARIED = varied_chunks(60)
USES, PART_OF = Predicate.USES, Predicate.PART_OF
EXAMPLES = {"sqlite": 60, "postgresql": 30, "neo4j": 6}


@pytest.fixture(params=KINDS)
def graph(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, opened: dict[str, GraphStore]
) -> Iterator[GraphStore]:
    yield from empty(make(request.param, request, tmp_path_factory), opened)


@pytest.fixture(params=KEPT)
def kept(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, opened: dict[str, GraphStore]
) -> Maker:
    made = make(request.param, request, tmp_path_factory)
    list(empty(made, opened))
    return made


@pytest.fixture(scope="module", params=KINDS)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    """A graph where every varied chunk mentions the concept `retrieval`."""
    made = make(request.param, request, tmp_path_factory, namespace="carrel_filled")
    graph = made.open()
    graph.clear()
    papers = sorted({chunk.paper_id for chunk in VARIED})
    chunks = {paper: tuple(chunk for chunk in VARIED if chunk.paper_id == paper) for paper in papers}
    graph.put(
        [
            Contribution(paper, chunks[paper], mentions=tuple(Mention("retrieval", c.address) for c in chunks[paper]))
            for paper in papers
        ]
    )
    yield graph
    graph.close()


def say(graph: GraphStore, paper_id: str, *concepts: Concept) -> None:
    graph.put([Contribution(paper_id, concepts=concepts)])


def names(graph: GraphStore, text: str, limit: int = 99) -> list[str]:
    return [row.concept.name for row in graph.find(text, limit=limit)]


def place(number: int, paper_id: str = "p") -> str:
    return make_chunk(paper_id, number).address


def relate(subject: str, target: str, predicate: Predicate = USES, sure: float = 0.5, paper_id: str = "p") -> Triple:
    return Triple(subject, predicate, target, sure, place(1, paper_id), f"{subject} uses {target}.", 3, 9)


def mentioning(*mentions: Mention, paper_id: str = "p", **others: Any) -> Contribution:
    """A paper of nine chunks that says this."""
    chunks = tuple(make_chunk(paper_id, number) for number in range(1, 10))
    return Contribution(paper_id, chunks, mentions=mentions, **others)


def ends(relations: list[Relation]) -> list[tuple[str, str, str]]:
    return [(relation.subject, relation.predicate, relation.object) for relation in relations]


def test_it_is_a_graph_and_empty_at_first(graph: GraphStore) -> None:
    assert isinstance(graph, GraphStore)
    assert (graph.size(), graph.papers(), graph.find("", limit=9), graph.find("a", limit=9)) == (
        GraphSize(),
        set(),
        [],
        [],
    )
    assert (graph.resolve(["a"]), graph.concepts(["a"]), graph.near("a", edits=2, limit=9)) == ({}, {}, [])
    assert (graph.relations(["a"]), graph.triples(["a"]), graph.citations(), graph.citations(["a"])) == (
        [],
        [],
        set(),
        set(),
    )
    assert (graph.spots(["a"], limit=9, where=EVERYTHING), graph.spoken(["a"])) == ([], [])
    graph.delete(["nobody"])
    graph.put([])
    graph.clear()
    assert graph.size() == GraphSize()


def test_a_concept_comes_back_with_all_that_was_said_of_it(graph: GraphStore) -> None:
    concept = Concept(
        "Dense Retrieval", ("DPR", "dense passage retrieval"), "Search by vectors.", "method", "p/abstract"
    )
    say(graph, "p", concept)
    (row,) = graph.find("dense retrieval", limit=9)
    assert (row.concept, row.papers, row.chunks, row.weight, row.curated) == (concept, 1, 0, 0.0, False)
    assert graph.concepts([row.key, "nobody"]) == {row.key: row}


def test_what_several_papers_say_of_a_concept_is_one_concept(graph: GraphStore) -> None:
    say(graph, "b", Concept("Graph", ("net",), "Nodes and edges.", "structure", "b/abstract"))
    say(graph, "a", Concept("graph", ("network",)))
    say(graph, "c", Concept("Graph", ("network",), "Another definition.", "other"))
    (row,) = graph.find("graph", limit=9)
    assert row.concept == Concept("Graph", ("net", "network"), "Nodes and edges.", "structure", "b/abstract")
    assert (row.papers, graph.size().concepts) == (3, 1)


def test_of_spellings_that_as_many_papers_use_the_first_is_the_name(graph: GraphStore) -> None:
    say(graph, "a", Concept("tree"))
    say(graph, "b", Concept("Tree"))
    assert names(graph, "tree") == ["Tree"]


def test_the_curated_name_definition_and_category_go_before_those_of_papers(graph: GraphStore) -> None:
    for paper in ("2020.a", "b"):
        say(graph, paper, Concept("graph", (), "A paper's.", "paper's", f"{paper}/abstract"))
    say(graph, CURATED, Concept("GRAPH", ("network",), "The curator's.", "curated"))
    (row,) = graph.find("graph", limit=1)
    assert row.concept == Concept("GRAPH", ("network",), "The curator's.", "curated")
    assert (row.papers, row.curated, graph.size().papers) == (2, True, 2)
    assert graph.papers() == {"2020.a", "b", CURATED}


def test_what_is_only_mentioned_or_related_is_a_concept_too(graph: GraphStore) -> None:
    graph.put([mentioning(Mention("BM25", place(1)), triples=(relate("Search", "Index"),))])
    assert graph.size() == GraphSize(concepts=3, mentions=1, triples=1, chunks=9, papers=1)
    assert names(graph, "index") == ["Index"]


def test_what_has_no_name_is_not_kept(graph: GraphStore) -> None:
    graph.put([mentioning(Mention(" ", place(1)), concepts=(Concept(""),), triples=(relate("a", " "),))])
    assert graph.size() == GraphSize(chunks=9, papers=1)


MEANINGS: dict[str, tuple[dict[str, tuple[Concept, ...]], dict[str, str]]] = {
    "an alias means its concept": ({"a": (Concept("long name", ("LN",)),)}, {"LN": "long name"}),
    "so does a name that is only another's alias": (
        {"a": (Concept("long name", ("LN",)),), "b": (Concept("LN"),)},
        {"LN": "long name", "Long Name": "long name"},
    ),
    "two thirds suffice": (
        {
            "a": (Concept("long name", ("LN",)),),
            "b": (Concept("long name", ("LN",)),),
            "c": (Concept("line number", ("LN",)),),
        },
        {"LN": "long name"},
    ),
    "less does not, and the name is nobody's": (
        {"a": (Concept("long name", ("LN",)),), "b": (Concept("line number", ("LN",)),)},
        {"LN": "", "long name": "long name", "line number": "line number"},
    ),
    "or its own, where somebody uses it": (
        {"a": (Concept("long name", ("LN",)),), "b": (Concept("line number", ("LN",)),), "c": (Concept("LN"),)},
        {"LN": "ln"},
    ),
    "one with aliases of its own is its own": (
        {"a": (Concept("long name", ("LN",)),), "b": (Concept("LN", ("L. N.",)),)},
        {"LN": "ln", "long name": "long name"},
    ),
    "a circle of aliases is two concepts": (
        {"a": (Concept("one", ("other",)), Concept("other", ("one",)))},
        {"one": "one", "other": "other"},
    ),
    "a curated alias goes before all papers": (
        {
            "a": (Concept("long name", ("LN",)),),
            "b": (Concept("LN", ("x",)),),
            CURATED: (Concept("Own Name", ("LN",)),),
        },
        {"LN": "own name", "x": "own name", "long name": "long name"},
    ),
    "a curated concept is its own": (
        {CURATED: (Concept("LN"), Concept("long name", ("LN",)))},
        {"LN": "ln", "long name": "long name"},
    ),
    "votes for concepts that the curator made one are for that one": (
        {
            "a": (Concept("first", ("LN",)),),
            "b": (Concept("second", ("LN",)),),
            CURATED: (Concept("both", ("first", "second")),),
        },
        {"LN": "both", "first": "both"},
    ),
    "what the curator only relates is not curated": (
        {"a": (Concept("long name", ("LN",)),), CURATED: ()},
        {"LN": "long name"},
    ),
}


@pytest.mark.parametrize("case", MEANINGS)
def test_names_mean_concepts_by_the_rules_whoever_comes_first(graph: GraphStore, case: str) -> None:
    papers, expected = MEANINGS[case]
    triples = {CURATED: (relate("LN", "something"),)} if not papers.get(CURATED, (1,)) else {}
    said = [Contribution(paper, concepts=told, triples=triples.get(paper, ())) for paper, told in papers.items()]
    for order in (said, said[::-1]):
        graph.clear()
        for contribution in order:
            graph.put([contribution])
        assert graph.resolve([*expected, "nobody"]) == {name: key for name, key in expected.items() if key}


def test_what_is_said_under_an_alias_is_said_of_the_concept(graph: GraphStore) -> None:
    graph.put(
        [
            mentioning(
                Mention("support vector machine", place(1), 2, 0.5),
                Mention("SVM", place(1), 3, 0.25),
                concepts=(Concept("support vector machine", ("SVM",)),),
            ),
            mentioning(
                Mention("SVM", place(2, "q"), 1, 1.0), paper_id="q", triples=(relate("SVM", "kernel", paper_id="q"),)
            ),
        ]
    )
    key = graph.resolve(["svm"])["svm"]
    assert key == graph.resolve(["Support Vector Machine"])["Support Vector Machine"]
    row = graph.concepts([key])[key]
    assert (row.concept.name, row.concept.aliases) == ("support vector machine", ("SVM",))
    assert (row.papers, row.chunks, row.weight) == (2, 2, 1.75)
    assert graph.spots([key], limit=9, where=EVERYTHING) == [
        Spot(key, place(2, "q"), 1, 1.0, Role.MENTIONS),
        Spot(key, place(1), 2, 0.5, Role.MENTIONS),
    ]
    assert graph.spoken([place(1)]) == [Spot(key, place(1), 2, 0.5, Role.MENTIONS)]
    assert graph.relations([key]) == [Relation(key, USES, "kernel", 0.5)]
    assert [triple.subject for triple in graph.triples([key, "kernel"])] == ["support vector machine"]


def test_when_the_paper_goes_that_gave_the_alias_both_names_stand_alone(graph: GraphStore) -> None:
    say(graph, "a", Concept("long name", ("LN",)))
    graph.put([mentioning(Mention("LN", place(1)), Mention("long name", place(2)))])
    assert graph.concepts(["long name", "ln"]).keys() == {"long name"}
    graph.delete(["a"])
    assert {key: row.chunks for key, row in graph.concepts(["long name", "ln"]).items()} == {"long name": 1, "ln": 1}


def test_curated_mentions_weigh_but_are_no_paper(graph: GraphStore) -> None:
    graph.put([mentioning(Mention("graph", place(1), 1, 0.5))])
    graph.put(
        [Contribution(CURATED, mentions=(Mention("graph", place(1), 1, 0.75), Mention("graph", "gone/abstract")))]
    )
    (row,) = graph.find("graph", limit=1)
    assert (row.papers, row.chunks, row.weight, row.curated) == (1, 1, 2.25, False)
    assert graph.spots([row.key], limit=9, where=EVERYTHING) == [Spot(row.key, place(1), 1, 0.75, Role.MENTIONS)]


def test_a_curated_mention_waits_for_its_paper(graph: GraphStore) -> None:
    graph.put([Contribution(CURATED, mentions=(Mention("graph", place(1)),))])
    assert (graph.spots(["graph"], limit=9, where=EVERYTHING), graph.spoken([place(1)])) == ([], [])
    for _ in range(2):
        graph.put([mentioning()])
        assert [spot.address for spot in graph.spots(["graph"], limit=9, where=EVERYTHING)] == [place(1)]
        graph.delete(["p"])
        assert graph.spots(["graph"], limit=9, where=EVERYTHING) == []


@pytest.mark.parametrize("text", ["graph", "GRAPH", "  Graph ", "gRaPh\n"])
def test_the_exact_name_is_found_before_those_that_contain_it_and_they_by_weight(graph: GraphStore, text: str) -> None:
    mentions = (Mention("knowledge graph", place(1), 1, 0.9), Mention("graph theory", place(1), 1, 0.5))
    graph.put([mentioning(*mentions, concepts=(Concept("Graph"), Concept("tree"), Concept("hypergraph")))])
    assert names(graph, text) == ["Graph", "knowledge graph", "graph theory", "hypergraph"]
    assert names(graph, text, limit=2) == ["Graph", "knowledge graph"]


def test_an_exact_alias_counts_as_the_name_and_a_part_of_one_is_found_too(graph: GraphStore) -> None:
    say(graph, "p", Concept("retrieval-augmented generation", ("RAG",)), Concept("fragment"), Concept("x", ("ragged",)))
    assert names(graph, "rag") == ["retrieval-augmented generation", "fragment", "x"]


def test_concepts_that_share_an_alias_are_all_found_by_it(graph: GraphStore) -> None:
    say(graph, "a", Concept("convolutional network", ("CNN",)))
    say(graph, "b", Concept("cable news", ("CNN",)))
    assert names(graph, "cnn") == ["cable news", "convolutional network"]
    assert graph.near("cnm", edits=1, limit=9) == ["cable news", "convolutional network"]


def test_an_empty_text_finds_every_concept_by_weight_then_key(graph: GraphStore) -> None:
    graph.put([mentioning(Mention("b", place(1), 1, 0.5), concepts=(Concept("c"), Concept("a")))])
    assert (names(graph, " "), names(graph, "", limit=2)) == (["b", "a", "c"], ["b", "a"])


@pytest.mark.parametrize("text", ["unknown", "%", "_", "*", "' OR 1=1 --", "\udcff", "\0"])
def test_what_no_name_contains_finds_nothing(graph: GraphStore, text: str) -> None:
    say(graph, "p", Concept("graph"))
    assert names(graph, text) == []
    assert graph.resolve([text]) == {}


@pytest.mark.parametrize(
    ("name", "edits", "expected"),
    [
        ("segment tree", 0, ["segment tree"]),
        ("segmnet tree", 1, ["segment tree"]),
        ("sgement rtee", 2, ["segment tree"]),
        ("segmentree", 2, ["segment tree"]),
        ("segemntt ree", 2, ["segment tree"]),
        ("segment trie", 1, ["segment trie", "segment tree"]),
        ("segmentreex", 2, []),
        ("fenwick tee", 1, ["binary indexed tree"]),
        ("st", 2, ["st", "it"]),
        ("i", 2, ["it", "st"]),
        ("absent", 2, []),
    ],
)
def test_names_are_found_that_are_so_many_edits_away_nearest_first(
    graph: GraphStore, name: str, edits: int, expected: list[str]
) -> None:
    trees = ("segment tree", "segment trie", "st", "it", "interval tree")
    say(graph, "p", *map(Concept, trees), Concept("binary indexed tree", ("Fenwick tree",)))
    assert graph.near(name, edits=edits, limit=9) == expected
    assert graph.near(name, edits=edits, limit=1) == expected[:1]


def test_relations_go_both_ways_and_count_statements(graph: GraphStore) -> None:
    graph.put([Contribution("p", triples=(relate("a", "b", sure=0.6), relate("a", "b", sure=0.9), relate("c", "a")))])
    graph.put([Contribution("q", triples=(relate("a", "b"), relate("b", "c", PART_OF), relate("x", "y")))])
    assert graph.relations(["a"]) == [Relation("a", USES, "b", 0.9, 3), Relation("c", USES, "a", 0.5, 1)]
    assert ends(graph.relations(["a", "b"])) == [("a", "USES", "b"), ("b", "PART_OF", "c"), ("c", "USES", "a")]
    assert ends(graph.relations(["b"], predicates=[PART_OF])) == [("b", "PART_OF", "c")]
    assert graph.relations(["b"], predicates=[]) == graph.relations(["nobody"]) == graph.relations([]) == []


def test_a_concept_has_no_relation_to_itself(graph: GraphStore) -> None:
    graph.put(
        [
            Contribution(
                "p",
                concepts=(Concept("long name", ("LN",)),),
                triples=(relate("LN", "Long Name"), relate("a", "a"), relate("LN", "a")),
            )
        ]
    )
    assert ends(graph.relations(["long name", "a"])) == [("long name", "USES", "a")]
    assert [triple.object for triple in graph.triples(["long name", "a"])] == ["a"]
    assert graph.size().triples == 3


def test_a_triple_comes_back_whole_between_the_concepts_asked_for_surest_first(graph: GraphStore) -> None:
    first = Triple("Search", USES, "Index", 0.7, "p/ch1/s1/p1", 'It "uses" an index.', 10, 29)
    second = Triple("search", USES, "index", 0.9, "q/ch1/s1/p1", "Uses it.", 0, 8)
    graph.put([Contribution("p", triples=(first, relate("Search", "other")))])
    graph.put([Contribution("q", triples=(second,))])
    told = graph.triples(["search", "index"])
    assert [(t.subject, t.object) for t in told] == [("Search", "Index")] * 2
    assert [(t.confidence, t.address, t.evidence, t.start, t.end) for t in told] == [
        (0.9, "q/ch1/s1/p1", "Uses it.", 0, 8),
        (0.7, "p/ch1/s1/p1", 'It "uses" an index.', 10, 29),
    ]
    assert graph.triples(["search"]) == graph.triples(["search", "index"], predicates=[PART_OF]) == []


def test_spots_come_by_falling_relevance_then_address_so_many_for_each_concept(graph: GraphStore) -> None:
    shares = {9: 0.25, 2: 0.5, 5: 0.25, 7: 1.0}
    mentions = [Mention(name, place(number), 2, share) for name in "yx" for number, share in shares.items()]
    graph.put([mentioning(*mentions)])
    found = graph.spots(["x", "y", "nobody"], limit=3, where=EVERYTHING)
    assert [(spot.key, spot.address) for spot in found] == [(name, place(n)) for name in "xy" for n in (7, 2, 5)]
    assert found[0] == Spot("x", place(7), 2, 1.0, Role.MENTIONS)
    assert graph.spots(["x"], limit=0, where=EVERYTHING) == []


def test_roles_are_apart_and_of_the_same_one_the_most_relevant_stands(graph: GraphStore) -> None:
    graph.put(
        [
            mentioning(
                Mention("x", place(1), 1, 0.5),
                Mention("x", place(1), 9, 0.75),
                Mention("x", place(1), 4, 0.75),
                Mention("x", place(1), 1, 1.0, Role.DISCUSSES),
                Mention("x", place(2), 1, 0.25, Role.CODE_EXAMPLE_FOR),
                Mention("x", place(3), 1, 0.125, Role.FORMULA_FOR),
            )
        ]
    )
    expected = [
        Spot("x", place(1), 1, 1.0, Role.DISCUSSES),
        Spot("x", place(1), 9, 0.75, Role.MENTIONS),
        Spot("x", place(2), 1, 0.25, Role.CODE_EXAMPLE_FOR),
        Spot("x", place(3), 1, 0.125, Role.FORMULA_FOR),
    ]
    for limit in (1, 2, 3, 4, 9):
        assert graph.spots(["x"], limit=limit, where=EVERYTHING) == expected[:limit]
    assert graph.spoken([place(1)]) == expected[:2]


@pytest.mark.parametrize("where", SINGLE_FILTERS)
def test_each_filter_means_what_filter_matches_says(filled: GraphStore, where: Filter) -> None:
    assert addresses(filled, where) == sorted(chunk.address for chunk in VARIED if where.matches(chunk))


@settings(max_examples=40)
@given(where=FILTERS)
def test_filters_together_mean_what_filter_matches_says(filled: GraphStore, where: Filter) -> None:
    assert addresses(filled, where) == sorted(chunk.address for chunk in VARIED if where.matches(chunk))


def test_a_filter_of_many_papers_is_a_filter(filled: GraphStore) -> None:
    where = Filter(paper_ids=frozenset({"smith2020", *(f"absent{number}" for number in range(2000))}))
    allowed = sorted(chunk.address for chunk in VARIED if where.matches(chunk))
    assert addresses(filled, where) == allowed
    assert [spot.address for spot in filled.spots(["retrieval"], limit=3, where=where)] == allowed[:3]


def addresses(graph: GraphStore, where: Filter) -> list[str]:
    return [spot.address for spot in graph.spots(["retrieval"], limit=99, where=where)]


def test_a_chunk_speaks_of_its_concepts_most_relevant_first(graph: GraphStore) -> None:
    mentions = (
        Mention("b", place(1), 1, 0.5),
        Mention("a", place(1), 1, 0.5),
        Mention("c", place(1)),
        Mention("d", place(2)),
    )
    graph.put([mentioning(*mentions)])
    assert [spot.key for spot in graph.spoken([place(2), place(1), "nowhere"])] == ["c", "a", "b", "d"]
    assert [spot.key for spot in graph.spoken([place(2), place(1)], of=["d", "a", "nothing"])] == ["a", "d"]
    assert graph.spoken([]) == graph.spoken([place(1)], of=[]) == []


def test_papers_cite_each_other_by_doi_or_else_by_title_and_never_themselves(graph: GraphStore) -> None:
    works = {"a": Work("10.1/a", "one"), "b": Work("10.1/b", "two"), "c": Work("", "two"), "d": Work("", "")}
    cites = {
        "a": (Work("10.1/b", "anything"), Work("10.1/a", "one"), Work("", "one")),
        "b": (Work("10.9/other", "one"), Work("", ""), Work("", "unknown")),
        "c": (Work("10.1/new", "two"),),
        "d": (Work("", "two"), Work("10.9/other", "two")),
    }
    graph.put([Contribution(paper, work=works[paper], cites=cites[paper]) for paper in works])
    expected = {("a", "b"), ("d", "b"), ("d", "c")}
    assert graph.citations() == expected
    assert graph.citations(["a"]) == {("a", "b")}
    assert graph.citations(["b", "nobody"]) == {("a", "b"), ("d", "b")}
    assert graph.citations([]) == set()
    graph.delete(["b"])
    assert graph.citations() == {("d", "c")}
    graph.put([Contribution("b", work=works["b"])])
    assert graph.citations() == expected


def contribute(graph: GraphStore, paper_id: str) -> None:
    """The same from every paper: a concept, a mention and a relation."""
    graph.put(
        [
            mentioning(
                Mention("graph", place(1, paper_id)),
                paper_id=paper_id,
                concepts=(Concept("graph", (f"alias of {paper_id}",), f"Definition of {paper_id}."),),
                triples=(relate("graph", "node", paper_id=paper_id),),
            )
        ]
    )


def test_a_put_replaces_what_the_paper_said_before(graph: GraphStore) -> None:
    graph.put([mentioning(Mention("old", place(1)), triples=(relate("old", "older"),))])
    new = mentioning(Mention("new", place(2)), triples=(relate("new", "newer"),))
    graph.put([mentioning(Mention("between", place(3))), new])
    assert (names(graph, "old"), graph.size().concepts, names(graph, "between")) == ([], 2, [])
    assert [spot.address for spot in graph.spots(["old", "new"], limit=9, where=EVERYTHING)] == [place(2)]
    graph.put([new])
    assert graph.size() == GraphSize(concepts=2, mentions=1, triples=1, chunks=9, papers=1)


def test_deleting_a_paper_takes_back_exactly_what_it_contributed(graph: GraphStore) -> None:
    for paper_id in ("a", "b", "aa"):
        contribute(graph, paper_id)
    graph.delete(["a", "aa", "nobody"])
    (row,) = graph.find("graph", limit=9)
    assert row.concept == Concept("graph", ("alias of b",), "Definition of b.")
    assert (row.papers, row.chunks, row.weight) == (1, 1, 1.0)
    assert graph.triples(["graph", "node"]) == [relate("graph", "node", paper_id="b")]
    assert [spot.address for spot in graph.spots(["graph"], limit=9, where=EVERYTHING)] == [place(1, "b")]
    graph.delete(["b"])
    assert (graph.size(), graph.papers()) == (GraphSize(), set())


def test_clearing_forgets_everything_and_leaves_room(graph: GraphStore) -> None:
    contribute(graph, "a")
    graph.clear()
    assert (graph.size(), names(graph, "graph"), graph.papers()) == (GraphSize(), [], set())
    contribute(graph, "a")
    assert names(graph, "graph") == ["graph"]


HOSTILE = {
    "quotes": """o'neil "a" `b`""",
    "SQL": "x'); DROP TABLE names; --",
    "Cypher": "x'}) DETACH DELETE (n) //",
    "HTML": "<script>alert(1)</script>",
    "wildcards": "100%_*?[x]",
    "JSON": '["a", "b"]',
    "backslash": "a\\b\\",
    "10 kB": "".join(chr(97 + number * number % 26) for number in range(10_240)),
    "10 kB of others": "漢字🙂" * 1_000,
    "emoji": "naïve 漢字 🙂👩‍🔬",
    "right to left": "\u202eشبكة عصبية\u202c",
    "format": "{marks} %s ? $keys {0}",
}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_are_only_names(graph: GraphStore, hostile: str) -> None:
    name = HOSTILE[hostile]
    concept = Concept(name, (f"{name}2",), name, name)
    graph.put([mentioning(Mention(name, place(1)), concepts=(concept,), triples=(relate(name, "bystander"),))])
    say(graph, "other", Concept("bystander"))
    (row,) = graph.find(name, limit=1)
    assert row.concept == concept
    assert graph.resolve([name, f"{name}2"]) == {name: row.key, f"{name}2": row.key}
    assert ends(graph.relations([row.key])) == [(row.key, "USES", "bystander")]
    assert [triple.subject for triple in graph.triples([row.key, "bystander"])] == [name]
    assert graph.spoken([place(1)]) == [Spot(row.key, place(1), 1, 1.0, Role.MENTIONS)]
    assert graph.concepts([row.key]) == {row.key: row}
    graph.delete(["p"])
    assert (names(graph, ""), graph.size().concepts) == (["bystander"], 1)


def test_after_any_changes_it_is_what_a_fresh_one_would_be(kept: Maker) -> None:
    graph = kept.open()

    @settings(max_examples=EXAMPLES[kept.kind], suppress_health_check=[HealthCheck.too_slow])
    @given(changes=CHANGES)
    def holds(changes: list[list[Contribution] | set[str]]) -> None:
        graph.clear()
        left: dict[str, Contribution] = {}
        for change in changes:
            if isinstance(change, set):
                graph.delete(change)
                left = {paper: said for paper, said in left.items() if paper not in change}
            else:
                graph.put(change)
                left |= {said.paper_id: said for said in change}
        fresh = MemoryGraph()
        fresh.put(list(left.values()))
        assert told(graph) == told(fresh)

    holds()
    graph.close()


@given(contributions=lists(CONTRIBUTIONS, max_size=6))
def test_what_papers_contributed_makes_the_same_graph_again(contributions: list[Contribution]) -> None:
    graph, again = MemoryGraph(), MemoryGraph()
    graph.put(contributions)
    chunks = {each.paper_id: each.chunks for each in contributions}
    again.put([replace(each, chunks=chunks[each.paper_id]) for each in graph.contributed(graph.papers())])
    assert told(again) == told(graph)


def test_what_a_paper_contributed_comes_back_as_it_was_said_and_nothing_of_others(graph: GraphStore) -> None:
    said = Contribution(
        "p",
        concepts=(Concept("Heap", ("binary heap", "priority queue"), "A tree.", "kind", place(1)), Concept("Sort")),
        mentions=(Mention("Heap", place(1), 2, 0.5, Role.DISCUSSES), Mention("tree", place(2), 1, 0.25)),
        triples=(Triple("Heap", PART_OF, "Sort", 0.75, place(1), "Heaps sort.", 3, 14),),
        work=Work("10.1/p", "on heaps"),
        cites=(Work("", "on trees"), Work("10.1/q")),
    )
    contribute(graph, "q")
    graph.put([said, Contribution(CURATED, concepts=(Concept("Heap", ("priority queue",)),))])
    assert graph.contributed(["p", "nobody"]) == [said]
    assert graph.contributed([]) == []
    assert [each.paper_id for each in graph.contributed(graph.papers())] == [CURATED, "p", "q"]
    graph.delete(["p"])
    assert graph.contributed(["p"]) == []


def test_a_put_that_fails_leaves_everything_as_it_was(kept: Maker) -> None:
    graph = kept.open()
    contribute(graph, "a")
    before = told(graph, papers=["a"])
    impossible = mentioning(Mention("broken", place(1), 1, float("nan")))
    with pytest.raises(ValueError, match="NaN"):
        graph.put([mentioning(Mention("new", place(2, "a")), paper_id="a"), impossible])
    assert told(graph, papers=["a"]) == before
    contribute(graph, "b")
    assert graph.papers() == {"a", "b"}
    graph.close()


def test_a_closed_graph_can_be_opened_again_and_says_the_same(kept: Maker) -> None:
    before = kept.open()
    contribute(before, "a")
    expected = told(before)
    before.close()
    assert told(before) == expected
    before.close()
    after = kept.open()
    assert told(after) == expected
    after.close()


def test_many_that_write_at_once_all_succeed(kept: Maker) -> None:
    graphs = [kept.open() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(contribute, graphs, "0123"))
    for graph in graphs:
        (row,) = graph.find("graph", limit=1)
        assert (row.concept.aliases[3], row.papers, row.weight) == ("alias of 3", 4, 4.0)
        graph.close()


def test_reading_makes_no_file(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph" / "graph.db")
    assert graph.size() == GraphSize()
    graph.delete(["a"])
    graph.clear()
    assert list(tmp_path.iterdir()) == []


def test_it_is_read_while_another_writes(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    contribute(graph, "a")
    other = sqlite3.connect(tmp_path / "graph.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("DELETE FROM papers")
    assert graph.papers() == {"a"}
    other.execute("ROLLBACK")
    other.close()
    graph.close()


@pytest.mark.parametrize("content", [b"This is no database. " * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_reported_each_time_and_never_an_empty_list(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "graph.db").write_bytes(content)
    graph = SqliteGraph(tmp_path / "graph.db")
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="cannot use graph") as caught:
            graph.find("graph", limit=1)
    assert caught.value.hint == "It is derived: delete that file and run 'carrel index build'."


def test_a_graph_of_another_version_is_refused_each_time(tmp_path: Path) -> None:
    written = SqliteGraph(tmp_path / "graph.db")
    contribute(written, "a")
    written.close()
    connection = sqlite3.connect(tmp_path / "graph.db")
    connection.execute("PRAGMA user_version = 3")
    connection.close()
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="written by a newer Carrel"):
            written.size()


def test_a_graph_of_the_first_version_is_empty_and_can_be_written(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "graph.db")
    for table in ("names", "aliases", "places", "mentions", "triples"):
        connection.execute(f"CREATE TABLE {table} (paper_id TEXT, key TEXT)")
        connection.execute(f"CREATE INDEX {table}_paper ON {table} (paper_id)")
        connection.execute(f"INSERT INTO {table} VALUES ('old', 'graph')")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    graph = SqliteGraph(tmp_path / "graph.db")
    assert graph.size() == GraphSize()
    contribute(graph, "a")
    assert names(graph, "graph") == ["graph"]
    graph.close()
