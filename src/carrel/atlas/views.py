"""One concept: what it is, how it stands to others, and where the papers speak of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.atlas import concept_named, summary
from carrel.atlas.statements import BACKWARD, FORWARD, ORDER, SYMMETRIC, Edge, Where, both_ways, edges, places, strength
from carrel.types import EVERYTHING, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from carrel.catalogs import Catalog
    from carrel.graphs import GraphStore
    from carrel.types import ConceptRow, Spot

_SPOTS = 1000
"""Of a concept that more chunks speak of, those that make the most of it are looked at."""
_RELATIONS = 100
_SENTENCES = 3
_BESIDE_SPOTS = 40


@dataclass(frozen=True, slots=True)
class Related:
    """A relation as one of its ends sees it."""

    edge: Edge
    other: str
    """The name of the other end."""
    other_key: str
    forward: bool
    """Whether it is seen from its subject; what holds in both directions always is."""

    @property
    def phrase(self) -> str:
        return (FORWARD if self.forward else BACKWARD)[self.edge.predicate]

    def as_dict(self) -> dict[str, Any]:
        facts = self.edge.as_dict()
        for end in ("subject", "object"):
            del facts[end]
        return {"phrase": self.phrase, "other": self.other, "forward": self.forward, **facts}


@dataclass(frozen=True, slots=True)
class Spoken:
    """A chunk that speaks of the concept."""

    where: Where
    role: Role
    count: int
    relevance: float

    def as_dict(self) -> dict[str, Any]:
        facts = {"role": self.role.value, "count": self.count, "relevance": round(self.relevance, 4)}
        return {**self.where.as_dict(), **facts}


@dataclass(frozen=True, slots=True)
class Speaker:
    """A paper that speaks of the concept, and how much it makes of it."""

    paper_id: str
    title: str
    year: int
    chunks: int
    relevance: float

    def as_dict(self) -> dict[str, Any]:
        return {
            "paper_id": self.paper_id,
            "title": self.title,
            "year": self.year or None,
            "chunks": self.chunks,
            "relevance": round(self.relevance, 4),
        }


@dataclass(frozen=True, slots=True)
class ConceptView:
    row: ConceptRow
    defined: Where | None
    related: tuple[Related, ...]
    """By phrase, in each the surest first."""
    spoken: tuple[Spoken, ...]
    """The most relevant first."""
    papers: tuple[Speaker, ...]
    citations: tuple[tuple[str, str], ...]
    """Which of these papers cites which."""
    beside: tuple[ConceptRow, ...]
    """What the same chunks speak of, the most often first: near it, though nobody says how."""

    def places(self, role: Role) -> list[Spoken]:
        return [one for one in self.spoken if one.role == role]

    def as_dict(self) -> dict[str, Any]:
        return {
            **summary(self.row),
            "defined_in": self.defined.as_dict() if self.defined else None,
            "relations": [one.as_dict() for one in self.related],
            "discussed": [one.as_dict() for one in self.places(Role.DISCUSSES)],
            "mentioned": [one.as_dict() for one in self.places(Role.MENTIONS)],
            "code_examples": [one.as_dict() for one in self.places(Role.CODE_EXAMPLE_FOR)],
            "formulas": [one.as_dict() for one in self.places(Role.FORMULA_FOR)],
            "speakers": [one.as_dict() for one in self.papers],
            "citations": [{"paper": paper, "cites": cited} for paper, cited in self.citations],
            "beside": [row.concept.name for row in self.beside],
        }


def view(name: str, graph: GraphStore, catalog: Catalog, *, limit: int = 10) -> ConceptView:
    """A concept by its name or alias, with at most so many of what `beside` and each role have."""
    row = concept_named(name, graph)
    spots = graph.spots([row.key], limit=_SPOTS, where=EVERYTHING)
    known = places([*(spot.address for spot in spots), row.concept.defined_at], catalog)
    speakers = _speakers(spots, known)
    papers = {one.paper_id for one in speakers}
    cited = {pair for pair in graph.citations(papers) if papers.issuperset(pair)} if papers else set()
    return ConceptView(
        row=row,
        defined=known.get(row.concept.defined_at),
        related=tuple(_related(row, graph, catalog)),
        spoken=tuple(_best(spots, known, limit)),
        papers=speakers,
        citations=tuple(sorted(cited)),
        beside=tuple(_beside(row, spots, graph, limit)),
    )


def _related(row: ConceptRow, graph: GraphStore, catalog: Catalog) -> list[Related]:
    relations = sorted(both_ways(graph.relations([row.key])), key=lambda one: (-strength(one), one))[:_RELATIONS]
    rows = graph.concepts({end for one in relations for end in (one.subject, one.object)})
    made = [seen_from(row.key, edge) for edge in edges(relations, rows, graph, catalog, most=_SENTENCES)]
    return sorted(made, key=by_phrase)


def by_phrase(related: Related) -> tuple[int, bool]:
    return ORDER.index(related.edge.predicate), related.forward


def seen_from(key: str, edge: Edge) -> Related:
    if edge.relation.subject == key:
        return Related(edge, edge.object, edge.relation.object, forward=True)
    return Related(edge, edge.subject, edge.relation.subject, forward=edge.predicate in SYMMETRIC)


def _best(spots: Iterable[Spot], known: Mapping[str, Where], limit: int) -> Iterator[Spoken]:
    shown: dict[Role, int] = defaultdict(int)
    for spot in spots:
        if spot.address in known and shown[spot.role] < limit:
            shown[spot.role] += 1
            yield Spoken(known[spot.address], spot.role, spot.count, spot.relevance)


def _speakers(spots: Iterable[Spot], known: Mapping[str, Where]) -> tuple[Speaker, ...]:
    by_paper: dict[str, list[Spot]] = defaultdict(list)
    for spot in spots:
        if spot.address in known:
            by_paper[known[spot.address].paper_id].append(spot)
    made = (_speaker(known[spoken[0].address], spoken) for spoken in by_paper.values())
    return tuple(sorted(made, key=lambda one: (-one.relevance, one.paper_id)))


def _speaker(where: Where, spots: Sequence[Spot]) -> Speaker:
    chunks = len({spot.address for spot in spots})
    return Speaker(where.paper_id, where.title, where.year, chunks, sum(spot.relevance for spot in spots))


def _beside(row: ConceptRow, spots: Sequence[Spot], graph: GraphStore, limit: int) -> list[ConceptRow]:
    ours = {spot.address: spot.relevance for spot in spots[:_BESIDE_SPOTS]}
    shared: dict[str, float] = defaultdict(float)
    for spot in graph.spoken(ours):
        if spot.key != row.key:
            shared[spot.key] += min(spot.relevance, ours[spot.address])
    nearest = sorted(shared, key=lambda key: (-shared[key], key))[:limit]
    rows = graph.concepts(nearest)
    return [rows[key] for key in nearest if key in rows]
