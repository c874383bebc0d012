"""What is said of two concepts, in whose words, and where."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.types import EVERYTHING, Predicate, Relation, Role

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from carrel.catalogs import Catalog
    from carrel.graphs import GraphStore
    from carrel.types import Chunk, ConceptRow, Spot, Triple

SYMMETRIC = frozenset({Predicate.RELATED_TO, Predicate.COMPARED_TO})
"""What holds in both directions at once."""
FORWARD = {
    Predicate.PREREQUISITE: "is needed for",
    Predicate.USES: "uses",
    Predicate.PART_OF: "is part of",
    Predicate.EXAMPLE_OF: "is an example of",
    Predicate.IMPLEMENTS: "implements",
    Predicate.COMPARED_TO: "is compared to",
    Predicate.RELATED_TO: "is related to",
}
"""The words between subject and object, those of the predicates that say most first."""
ORDER = tuple(FORWARD)
BACKWARD = {
    Predicate.PREREQUISITE: "needs",
    Predicate.USES: "is used by",
    Predicate.PART_OF: "has as a part",
    Predicate.EXAMPLE_OF: "has as an example",
    Predicate.IMPLEMENTS: "is implemented by",
    Predicate.COMPARED_TO: "is compared to",
    Predicate.RELATED_TO: "is related to",
}
"""The words between object and subject."""


@dataclass(frozen=True, slots=True)
class Where:
    """A place in the papers."""

    address: str
    """Empty for what the user's own files say."""
    paper_id: str = ""
    title: str = ""
    year: int = 0
    page: int | None = None
    section_path: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "address": self.address or None,
            "paper_id": self.paper_id or None,
            "title": self.title,
            "year": self.year or None,
            "page": self.page,
            "section_path": list(self.section_path),
        }


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence that states a relation."""

    text: str
    confidence: float
    where: Where
    start: int
    end: int
    """It is `text[start:end]` of what `carrel show ADDRESS --text` prints."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "confidence": round(self.confidence, 4),
            **self.where.as_dict(),
            "start": self.start,
            "end": self.end,
        }


@dataclass(frozen=True, slots=True)
class Edge:
    """How two concepts stand to each other, and who says so, the surest first."""

    relation: Relation
    subject: str
    object: str
    """The names of the relation's ends."""
    evidence: tuple[Evidence, ...] = ()

    @property
    def predicate(self) -> Predicate:
        return self.relation.predicate

    def as_dict(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "predicate": self.predicate.value,
            "object": self.object,
            "confidence": round(self.relation.confidence, 4),
            "statements": self.relation.statements,
            "evidence": [one.as_dict() for one in self.evidence],
        }


def edges(
    relations: Sequence[Relation], rows: Mapping[str, ConceptRow], graph: GraphStore, catalog: Catalog, *, most: int
) -> list[Edge]:
    """These relations with the sentences that state them, at most so many of each."""
    known_ends = [one for one in relations if one.subject in rows and one.object in rows]
    said = _said(known_ends, rows, graph)
    kept = {relation: said[_ends(*relation[:3])][:most] for relation in known_ends}
    addresses = {triple.address for triples in kept.values() for triple in triples if triple.address}
    chunks = {chunk.address: chunk for chunk in catalog.chunks(sorted(addresses))}
    return [
        Edge(
            relation,
            rows[relation.subject].concept.name,
            rows[relation.object].concept.name,
            tuple(_evidence(triple, chunks.get(triple.address)) for triple in triples),
        )
        for relation, triples in kept.items()
    ]


def places(addresses: Collection[str], catalog: Catalog) -> dict[str, Where]:
    """What is known of these places, by address. One question to the catalog."""
    asked = [address for address in dict.fromkeys(addresses) if address]
    return {chunk.address: place(chunk) for chunk in catalog.chunks(asked)}


def readings(
    rows: Mapping[str, ConceptRow], graph: GraphStore, catalog: Catalog, *, most: int
) -> dict[str, tuple[Where, ...]]:
    """Where to read of each concept, in so many papers: where it is defined, then the chunks that are most about it."""
    addresses = {key: [row.concept.defined_at] for key, row in rows.items()}
    for spot in sorted(graph.spots(rows, limit=most * 5, where=EVERYTHING), key=_aboutness):
        addresses[spot.key].append(spot.address)
    known = places([one for several in addresses.values() for one in several], catalog)
    return {key: _of_different_papers(several, known, most) for key, several in addresses.items()}


def both_ways(relations: Iterable[Relation]) -> list[Relation]:
    """The same relations, where of those that hold in both directions two are one."""
    made: dict[tuple[str, Predicate, str], Relation] = {}
    for one in relations:
        ends = _ends(*one[:3])
        other = made.get(ends)
        confidence = max(one.confidence, other.confidence if other else 0.0)
        made[ends] = Relation(*ends, confidence, one.statements + (other.statements if other else 0))
    return list(made.values())


def strength(relation: Relation) -> float:
    """How far a relation is believed, in (0, 1): a second witness counts, a tenth hardly."""
    return relation.confidence * relation.statements / (relation.statements + 0.5)


def _said(
    relations: Iterable[Relation], rows: Mapping[str, ConceptRow], graph: GraphStore
) -> dict[tuple[str, Predicate, str], list[Triple]]:
    keys = {row.concept.name: key for key, row in rows.items()}
    wanted = {end for relation in relations for end in (relation.subject, relation.object)}
    said: dict[tuple[str, Predicate, str], list[Triple]] = defaultdict(list)
    for triple in graph.triples(wanted):
        said[_ends(keys.get(triple.subject, ""), triple.predicate, keys.get(triple.object, ""))].append(triple)
    return said


def _ends(subject: str, predicate: Predicate, other: str) -> tuple[str, Predicate, str]:
    if predicate in SYMMETRIC and other < subject:
        return other, predicate, subject
    return subject, predicate, other


def _evidence(triple: Triple, chunk: Chunk | None) -> Evidence:
    where = place(chunk, triple.start) if chunk else Where(triple.address)
    return Evidence(triple.evidence, triple.confidence, where, triple.start, triple.end)


def _of_different_papers(addresses: Iterable[str], known: Mapping[str, Where], most: int) -> tuple[Where, ...]:
    first: dict[str, Where] = {}
    for where in (known[address] for address in addresses if address in known):
        first.setdefault(where.paper_id, where)
    return tuple(first.values())[:most]


def _aboutness(spot: Spot) -> tuple[bool, float, str]:
    return spot.role != Role.DISCUSSES, -spot.relevance, spot.address


def place(chunk: Chunk, at: int | None = None) -> Where:
    """A chunk, or in it what stands at a place of the paper's text."""
    path = chunk.section_path if at is None else chunk.section_at(at)
    return Where(chunk.address, chunk.paper_id, chunk.title, chunk.year, chunk.page_start, path)
