"""Concepts listed, one by one, and with what lies around them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from carrel.atlas import concept_named, concepts, neighbourhoods, views
from carrel.catalogs import Entry
from carrel.errors import InvalidInput, NotFound
from carrel.graphs import CURATED
from carrel.types import (
    Concept,
    Contribution,
    Document,
    Mention,
    Part,
    Predicate,
    Reference,
    Role,
    SectionStart,
    Triple,
)
from tests.atlas.graphs import Written


def test_concepts_are_listed_by_what_the_papers_make_of_them(written: Written) -> None:
    written.paper("a", "Segment tree | uses | Array", "Segment tree | part of | Toolbox")
    written.paper("b", "Segment tree | uses | Recursion")
    found = concepts("", written.graph, limit=2)
    assert [row.concept.name for row in found.rows] == ["Segment tree", "Array"]
    assert (found.rows[0].papers, found.rows[0].chunks, found.total) == (2, 3, 4)
    assert found.as_dict()["concepts"][0]["name"] == "Segment tree"


def test_a_query_finds_names_and_aliases_and_counts_without_the_limit(written: Written) -> None:
    written.paper("a", "Fenwick tree | like | Segment tree", concepts=[Concept("Fenwick tree", ("BIT",))])
    assert [row.concept.name for row in concepts("bit", written.graph, limit=5).rows] == ["Fenwick tree"]
    found = concepts(" tree ", written.graph, limit=1)
    assert (found.query, len(found.rows), found.total) == ("tree", 1, 2)
    assert len(concepts("tree", written.graph, limit=0).rows) == 2
    assert concepts("nothing", written.graph, limit=5).total == 0
    with pytest.raises(InvalidInput, match="must not be negative, got -1"):
        concepts("", written.graph, limit=-1)


def test_a_concept_is_known_by_any_spelling_by_its_alias_and_by_a_part_only_it_has(written: Written) -> None:
    written.paper("a", "Segment tree | uses | Array", concepts=[Concept("Segment tree", ("interval tree",))])
    for name in ("segment trees", "SEGMENT TREE", "interval tree", "segmen"):
        assert concept_named(name, written.graph).concept.name == "Segment tree"


def test_an_unknown_name_is_answered_with_near_ones(written: Written) -> None:
    written.paper("a", "Segment tree | uses | Array")
    with pytest.raises(NotFound) as caught:
        concept_named("Segmant trea", written.graph)
    assert caught.value.message == ("there is no concept 'Segmant trea' in the library; the nearest is 'Segment tree'")
    assert caught.value.hint == "'carrel concepts TEXT' looks for one."
    with pytest.raises(NotFound, match=r"^there is no concept 'Quantum chromodynamics' in the library$"):
        concept_named("Quantum chromodynamics", written.graph)


def test_a_part_that_several_have_is_answered_with_these(written: Written) -> None:
    written.paper("a", "Segment tree | like | Fenwick tree", "Splay tree | uses | Treap")
    with pytest.raises(NotFound, match="' tree' is in the names of several concepts: 'Segment tree', 'Splay tree'"):
        concept_named(" tree", written.graph)


def test_an_empty_graph_names_the_commands_that_fill_it(written: Written) -> None:
    with pytest.raises(NotFound, match="the library has no concepts yet") as caught:
        concept_named("Segment tree", written.graph)
    assert "'carrel add'" in caught.value.hint
    assert "'carrel index build'" in caught.value.hint
    with pytest.raises(NotFound, match="no concepts yet"):
        neighbourhoods.overview(written.graph, written.catalog, limit=5)
    assert concepts("", written.graph, limit=5).as_dict() == {"query": "", "concepts": [], "total": 0}
    with pytest.raises(InvalidInput, match="no concept was named"):
        concept_named("  ", written.graph)


def test_a_concept_tells_its_relations_in_both_directions_with_sentence_paper_and_page(written: Written) -> None:
    written.paper("a", "Lazy propagation | needs | Segment tree", "Segment tree | uses | Array")
    view = views.view("Segment tree", written.graph, written.catalog)
    assert [(one.phrase, one.other, one.forward) for one in view.related] == [
        ("is needed for", "Lazy propagation", True),
        ("uses", "Array", True),
    ]
    (evidence,) = view.related[1].edge.evidence
    assert (evidence.text, evidence.where.paper_id, evidence.where.page, evidence.where.section_path) == (
        "Segment tree uses Array.", "a", 2, ("Part 2",),
    )  # fmt: skip
    told = views.view("Array", written.graph, written.catalog).as_dict()["relations"][0]
    assert (told["phrase"], told["other"], told["predicate"], told["forward"]) == (
        "is used by", "Segment tree", "USES", False,
    )  # fmt: skip
    assert told["evidence"][0]["address"] == "a/ch1/s1/p2"


def test_a_sentence_is_told_with_the_section_it_stands_in(written: Written) -> None:
    (chunk,) = written.paper("a", "Segment tree | uses | Array")
    before, after = SectionStart(0, ("Trees",)), SectionStart(10_000, ("Later",))
    chunk = replace(chunk, section_path=("Later",), sections=(before, after))
    written.catalog.put([Entry(Reference("a", "On a"), Document("a", Part.BODY, chunk.text, "", ""), (chunk,))])
    (related,) = views.view("Array", written.graph, written.catalog).related
    assert related.edge.evidence[0].where.section_path == ("Trees",)


def test_what_holds_in_both_directions_is_told_once(written: Written) -> None:
    written.paper("a", ("Treap | like | Splay tree", 0.6))
    written.paper("b", ("Splay tree | like | Treap", 0.9))
    for name, other in (("Treap", "Splay tree"), ("Splay tree", "Treap")):
        (related,) = views.view(name, written.graph, written.catalog).related
        assert (related.phrase, related.other) == ("is compared to", other)
        assert (related.edge.relation.statements, related.edge.relation.confidence) == (2, 0.9)
        assert [one.text for one in related.edge.evidence] == ["Splay tree like Treap.", "Treap like Splay tree."]


def test_a_concept_tells_definition_roles_papers_citations_and_what_is_beside_it(written: Written) -> None:
    address = "b/ch1/s1/p1"
    written.paper("a", "Heap | uses | Array", title="Heaps", discusses=["Queue"])
    written.paper(
        "b",
        "Heap | part of | Dijkstra",
        concepts=[Concept("Heap", ("priority queue",), "A heap is a tree.", "data structure", address)],
        mentions=[Mention("Array", address, 2, 0.7, Role.CODE_EXAMPLE_FOR)],
        cites=["Heaps"],
    )
    view = views.view("priority queue", written.graph, written.catalog)
    assert (view.row.concept.definition, view.row.concept.category) == ("A heap is a tree.", "data structure")
    assert view.defined is not None
    assert (view.defined.address, view.defined.title) == (address, "On b")
    assert {one.paper_id for one in view.papers} == {"a", "b"}
    assert view.citations == (("b", "a"),)
    assert [row.concept.name for row in view.beside] == ["Array", "Queue", "Dijkstra"]
    told = view.as_dict()
    assert told["aliases"] == ["priority queue"]
    assert told["citations"] == [{"paper": "b", "cites": "a"}]
    array = views.view("Array", written.graph, written.catalog)
    assert [one.where.address for one in array.places(Role.CODE_EXAMPLE_FOR)] == [address]


def test_a_neighbourhood_goes_as_far_as_asked_and_no_circle_is_endless(written: Written) -> None:
    written.paper("a", "A1 | uses | B1", "B1 | uses | C1", "C1 | uses | D1", "D1 | uses | A1", "C1 | uses | E1")
    one = neighbourhoods.around("A1", written.graph, written.catalog, hops=1, limit=60)
    assert [(node.row.concept.name, node.hops) for node in one.nodes] == [("A1", 0), ("B1", 1), ("D1", 1)]
    assert {(edge.subject, edge.object) for edge in one.edges} == {("A1", "B1"), ("D1", "A1")}
    three = neighbourhoods.around("A1", written.graph, written.catalog, hops=3, limit=60)
    assert {node.row.concept.name: node.hops for node in three.nodes} == {"A1": 0, "B1": 1, "D1": 1, "C1": 2, "E1": 3}
    assert three.total == 4
    assert len(three.edges) == 5


def test_of_a_hub_the_surest_are_shown_and_the_rest_counted(written: Written) -> None:
    written.paper("a", *((f"Hub | uses | Spoke {number:03}", 0.5 + number / 1000) for number in range(300)))
    found = neighbourhoods.around("Hub", written.graph, written.catalog, hops=2, limit=3)
    assert [node.row.concept.name for node in found.nodes] == ["Hub", "Spoke 299", "Spoke 298", "Spoke 297"]
    assert found.total == 300
    assert found.as_dict()["nodes"][1]["via"] == "hub"


def test_whoever_is_kept_is_joined_to_the_centre(written: Written) -> None:
    written.paper("a", ("A1 | uses | B1", 0.51), ("B1 | uses | C1", 1.0), ("A1 | uses | D1", 0.5))
    found = neighbourhoods.around("A1", written.graph, written.catalog, hops=2, limit=2)
    names = {node.row.key: node for node in found.nodes}
    assert all(node.via in names for node in found.nodes if node.hops)


@pytest.mark.parametrize(
    ("hops", "limit", "message"), [(0, 5, "hops must be 1 to 3"), (4, 5, "got 4"), (1, 0, "limit")]
)
def test_what_cannot_be_walked_is_refused(written: Written, hops: int, limit: int, message: str) -> None:
    written.paper("a", "A1 | uses | B1")
    with pytest.raises(InvalidInput, match=message):
        neighbourhoods.around("A1", written.graph, written.catalog, hops=hops, limit=limit)


def test_the_map_of_a_library_shows_what_is_related_and_without_relations_what_there_is(written: Written) -> None:
    written.paper("a", "A1 | uses | B1", discusses=["Lonely"])
    shown = neighbourhoods.overview(written.graph, written.catalog, limit=10)
    assert [node.row.concept.name for node in shown.nodes] == ["A1", "B1"]
    assert (shown.centre, shown.total) == (None, 3)
    written.graph.delete(["a"])
    written.paper("b", discusses=["Lonely"])
    shown = neighbourhoods.overview(written.graph, written.catalog, limit=10)
    assert [node.row.concept.name for node in shown.nodes] == ["Lonely"]
    assert shown.nodes[0].read[0].paper_id == "b"


def test_what_your_own_files_say_needs_no_chunk(written: Written) -> None:
    triple = Triple("Heap", Predicate.PREREQUISITE, "Dijkstra", 1.0, "", "I learnt it so.")
    written.graph.put([Contribution(CURATED, concepts=(Concept("Heap"), Concept("Dijkstra")), triples=(triple,))])
    (related,) = views.view("Heap", written.graph, written.catalog).related
    assert related.edge.evidence[0].as_dict() | {"confidence": 1.0} == {
        "text": "I learnt it so.", "confidence": 1.0, "address": None, "paper_id": None, "title": "", "year": None,
        "page": None, "section_path": [], "start": 0, "end": 0,
    }  # fmt: skip
