"""The curated files as a contribution to the graph, which is believed before what papers contribute."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

from carrel import naming
from carrel.curation.records import name, node, predicate
from carrel.graphs import CURATED
from carrel.types import ChunkKind, Concept, Contribution, Mention, Role, Triple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from carrel.catalogs import Catalog
    from carrel.curation.notebook import Curated


def contribution(curated: Curated, place: Callable[[Collection[str]], Mapping[str, str]]) -> Contribution:
    """The user's concepts with all names they have had, how they stand to each other, and what papers are about them.

    `place` says at which chunk each of these papers speaks for itself; one that it leaves out is not there. Edges
    between two papers, and those of projects, have no place in the graph.
    """
    named = {end.id for edge in curated.edges for end in map(node, edge.key[:2]) if end.kind == "paper"}
    places = place(named)
    names = {one.id: name(one.name) for one in curated.concepts.values()}
    ends = [(edge, *curated.ends(edge, places)) for edge in curated.edges]
    triples = dict.fromkeys(
        Triple(names[source.id], predicate(edge.type), names[target.id], 1.0, "", name(edge.summary))
        for edge, source, target in ends
        if source.kind == target.kind == "concept" and _are_two(names.get(source.id), names.get(target.id))
    )
    mentions = dict.fromkeys(
        Mention(names[concept.id], places[paper.id], role=Role.DISCUSSES)
        for _, *pair in ends
        for concept, paper in permutations(pair)
        if concept.kind == "concept" and concept.id in names and paper.kind == "paper" and paper.id in places
    )
    return Contribution(CURATED, concepts=tuple(_concepts(curated)), mentions=tuple(mentions), triples=tuple(triples))


def addresses(papers: Collection[str], catalog: Catalog) -> dict[str, str]:
    """The chunk in which each of these papers speaks for itself: its abstract, or else its first passage."""
    abstracts = catalog.chunks([f"{paper}/{ChunkKind.ABSTRACT}" for paper in papers])
    found = {chunk.paper_id: chunk.address for chunk in abstracts if chunk.text.strip()}
    for chunk in catalog.chunks_of([paper for paper in papers if paper not in found]):
        if chunk.kind == ChunkKind.PASSAGE:
            found.setdefault(chunk.paper_id, chunk.address)
    return {chunk.paper_id: chunk.address for chunk in abstracts} | found


def _are_two(first: str | None, second: str | None) -> bool:
    return first is not None and second is not None and naming.key(first) != naming.key(second)


def _concepts(curated: Curated) -> Iterator[Concept]:
    """One for each key: two of the user's concepts that are called the same are one in the graph."""
    made: dict[str, Concept] = {}
    for one in curated.concepts.values():
        own, *others = (name(text) for text in one.names)
        before = made.setdefault(naming.key(own), Concept(own))
        aliases = dict.fromkeys([*before.aliases, *(text for text in others if text and text != own)])
        definition = before.definition or name(one.description)
        made[naming.key(own)] = replace(before, aliases=tuple(aliases), definition=definition)
    return iter(made.values())
