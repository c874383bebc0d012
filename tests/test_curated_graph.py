"""Whatever is done to the user's files and to the papers, the graph is the one that a fresh build would give."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel import curation, layout
from carrel.catalogs import Entry
from carrel.curation import concepts, edges
from carrel.curation.records import CuratedConcept, Edge
from carrel.errors import CarrelError
from carrel.graphs import CURATED
from carrel.layout import Layout
from carrel.testing import MemoryCatalog, MemoryGraph
from carrel.types import (
    EVERYTHING,
    ChunkKind,
    ConceptRow,
    Contribution,
    Document,
    Part,
    Reference,
    Spot,
    Triple,
)
from tests.builders import make_chunk
from tests.test_curation import HOSTILE

PAPERS = ("p1", "p2", "concept")
CONCEPTS = ("a", "b", "c")
NODES = (*PAPERS, *(f"concept:{one}" for one in CONCEPTS), "a")

Step = tuple[str, str, str, str]
STEPS = st.tuples(
    st.sampled_from(("concept", "update", "delete", "merge", "edge", "paper", "text", "gone", "by hand", "nothing")),
    st.sampled_from(NODES),
    st.sampled_from(NODES),
    st.sampled_from(("Name", "names", "Other", "part-of", "models", "")),
)


BEGINNING: tuple[Step, ...] = (
    ("text", "", "p1", "words"),
    ("concept", "a", "alias", "Name"),
    ("concept", "b", "c", "Other"),
    ("edge", "concept", "concept:a", "models"),
    ("edge", "concept:a", "concept:b", "part-of"),
)
"""A paper with a text and no abstract, about a concept that is part of another."""


class Place:
    """A library's files, catalog and graph, without the rest."""

    def __init__(self, folder: Path) -> None:
        self.layout: Layout = layout.create(folder)
        self.catalog, self.graph = MemoryCatalog(), MemoryGraph()

    def take_in(self) -> bool:
        return curation.take_in(self.layout, self.catalog, self.graph)

    def put(self, paper: str, part: Part, text: str) -> None:
        kind = ChunkKind.ABSTRACT if part == Part.ABSTRACT else ChunkKind.PASSAGE
        address = f"{paper}/{kind}" if part == Part.ABSTRACT else f"{paper}/ch1/s1/p0"
        chunk = make_chunk(paper, text=text, address=address, part=part, kind=kind)
        self.catalog.put([Entry(Reference(paper, paper), Document(paper, part, text, text), (chunk,), listed=True)])
        self.graph.put([Contribution(paper, tuple(self.catalog.chunks_of([paper])))])

    def remove(self, paper: str) -> None:
        self.catalog.remove([paper])
        self.graph.delete([paper])

    def known(self, ids: Collection[str]) -> set[str]:
        return {row.reference.id for row in self.catalog.papers(ids)}

    def do(self, step: Step) -> None:
        verb, one, other, text = step
        root, concept_id = self.layout.root, one.removeprefix("concept:")
        if verb == "concept":
            concepts.add(root, CuratedConcept(concept_id, text or "N", (other,)))
        elif verb == "update":
            concepts.update(root, one, name=text, aliases=[other])
        elif verb == "delete":
            concepts.delete(root, one, self.known, force=True)
        elif verb == "merge":
            concepts.merge(root, one, other, self.known, lambda _: None)
        elif verb == "edge":
            edges.add(root, Edge(one, other, text, "S"), self.known)
        elif verb == "paper":
            self.put(PAPERS[len(one) % 3], Part.ABSTRACT, text)
        elif verb == "text":
            self.put(PAPERS[len(other) % 3], Part.BODY, text or "words")
        elif verb == "gone":
            self.remove(PAPERS[len(one) % 3])
        elif verb == "by hand":
            (root / "edges.jsonl").unlink(missing_ok=True)

    def told(self, graph: MemoryGraph) -> tuple[set[str], Sequence[ConceptRow], Sequence[Triple], Sequence[Spot]]:
        rows = graph.find("", limit=100)
        keys = [row.key for row in rows]
        return graph.papers(), rows, graph.triples(keys), graph.spots(keys, limit=100, where=EVERYTHING)

    def fresh(self) -> MemoryGraph:
        graph = MemoryGraph()
        papers = [row.reference.id for row in self.catalog.papers()]
        graph.put([Contribution(paper, tuple(self.catalog.chunks_of([paper]))) for paper in papers])
        cache = self.layout.cache / "curated.json"
        remembered = cache.read_bytes() if cache.exists() else None
        cache.unlink(missing_ok=True)
        curation.take_in(self.layout, self.catalog, graph)
        if remembered is None:
            cache.unlink(missing_ok=True)
        else:
            cache.write_bytes(remembered)
        return graph


@settings(max_examples=40)
@given(st.lists(STEPS, max_size=8))
def test_the_graph_is_the_one_of_a_fresh_build(tmp_path_factory: pytest.TempPathFactory, steps: list[Step]) -> None:
    place = Place(tmp_path_factory.mktemp("any"))
    for step in (*BEGINNING, *steps):
        with suppress(CarrelError):
            place.do(step)
        place.take_in()
        assert curation.is_current(place.layout)
        assert not place.take_in()
    assert place.told(place.graph) == place.told(place.fresh())


def test_the_graph_has_what_the_files_say_of_a_paper_that_is_there(tmp_path: Path) -> None:
    place = Place(tmp_path)
    for step in BEGINNING:
        place.do(step)
    assert place.take_in()
    papers, rows, triples, spots = place.told(place.graph)
    assert (papers, [row.concept.name for row in rows]) == ({"concept", CURATED}, ["Name", "Other"])
    assert [(one.subject, one.predicate, one.object) for one in triples] == [("Name", "PART_OF", "Other")]
    assert [spot.address for spot in spots] == ["concept/ch1/s1/p0"]
    place.put("concept", Part.ABSTRACT, "It has an abstract now.")
    assert place.take_in()
    assert [spot.address for spot in place.told(place.graph)[3]] == ["concept/abstract"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_reach_the_graph_as_data(tmp_path: Path, text: str) -> None:
    place = Place(tmp_path)
    place.put("p1", Part.ABSTRACT, "words")
    concepts.add(place.layout.root, CuratedConcept("h", text, description=text))
    concepts.add(place.layout.root, CuratedConcept("plain", "Plain"))
    edges.add(place.layout.root, Edge("p1", "h", text, text), place.known)
    edges.add(place.layout.root, Edge("concept:h", "concept:plain", text, text), place.known)
    place.take_in()
    kept = curation.read(place.layout.root).concepts["h"].name
    (key,) = place.graph.resolve([kept]).values()
    assert place.graph.concepts([key])[key].concept.name == kept
    assert [spot.address for spot in place.graph.spots([key], limit=9, where=EVERYTHING)] == ["p1/abstract"]
