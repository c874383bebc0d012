"""Which concepts the papers on a concept speak of, without those speaking of it in turn.

Nobody states then which comes first, but the papers show it: who writes on heavy-light decomposition needs segment
trees, and who writes on segment trees has no need of the other.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from carrel import sentences
from carrel.types import EVERYTHING, Role

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from carrel.catalogs import Catalog
    from carrel.graphs import GraphStore
    from carrel.types import Chunk, Concept, Span

_PAPERS = 5
"""On one concept."""
_SPOTS = 5
_OTHERS = 300
"""Concepts that are looked into, those that most chunks speak of first."""
_BETWEEN = re.compile(r"\s+[-–—]\s+|\s*[:/(]\s*|\.\s+")
"""What parts a title: `Maximum flow - Dinic's algorithm`."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """That some of the chunks on one concept speak of another."""

    concept: str
    other: str
    count: int
    of: int
    back: float
    """The share of the chunks on the other that speak of this one."""
    chunk: Chunk
    span: Span
    """A sentence that does."""

    @property
    def lead(self) -> float:
        """How much more the one speaks of the other than the other of the one, in [-1, 1]."""
        return self.count / self.of - self.back


def spoken_of(keys: Collection[str], graph: GraphStore, catalog: Catalog, *, most_papers: float) -> list[Spoken]:
    """What the papers on these concepts speak of, if it has papers of its own and no more than so many speak of it."""
    own = _on(keys, graph, catalog)
    counts: dict[str, int] = defaultdict(int)
    for on in own.values():
        for other, chunks in on.spoken.items():
            counts[other] += len(chunks)
    rows = graph.concepts(counts)
    rare = [key for key, row in rows.items() if row.papers <= most_papers]
    others = _on(sorted(rare, key=lambda key: (-counts[key], key))[:_OTHERS], graph, catalog)
    pairs = ((key, other) for key in sorted(own) for other in sorted(others) if key != other)
    found = (_spoken(key, other, own[key], others[other], rows[other].concept) for key, other in pairs)
    return [one for one in found if one is not None and one.lead > 0]


def sentence(chunks: Iterable[Chunk], concept: Concept) -> tuple[Chunk, Span] | None:
    """The first sentence of these chunks that has the concept's name in it."""
    names = "|".join(_spelled(name) for name in (concept.name, *concept.aliases) if name.strip())
    pattern = re.compile(rf"(?<!\w)(?:{names})(?:e?s)?(?!\w)", re.IGNORECASE)
    for chunk in chunks if names else ():
        for span in sentences.prose(chunk.text):
            if pattern.search(chunk.text, span.start, span.end):
                return chunk, span
    return None


def _spelled(name: str) -> str:
    """A name with spaces or hyphens; an acronym only in capitals."""
    pattern = r"[\s\-–]+".join(map(re.escape, re.split(r"[\s\-–]+", name)))
    return f"(?-i:{pattern})" if name.isupper() else pattern


class _On(NamedTuple):
    """The papers on a concept."""

    papers: frozenset[str]
    chunks: int
    spoken: Mapping[str, list[Chunk]]
    """By concept: the chunks that speak of it."""


def _spoken(key: str, other: str, on: _On, on_other: _On, concept: Concept) -> Spoken | None:
    chunks = on.spoken.get(other, [])
    found = sentence(chunks, concept) if chunks and not on.papers & on_other.papers else None
    back = len(on_other.spoken.get(key, ())) / max(1, on_other.chunks)
    return Spoken(key, other, len(chunks), on.chunks, back, *found) if found else None


def _on(keys: Collection[str], graph: GraphStore, catalog: Catalog) -> dict[str, _On]:
    papers = _papers_on(keys, graph, catalog)
    wanted = {paper for several in papers.values() for paper in several}
    chunks = {chunk.address: chunk for chunk in catalog.chunks_of(wanted)} if wanted else {}
    counts = Counter(chunk.paper_id for chunk in chunks.values())
    spoken: dict[str, dict[str, dict[str, Chunk]]] = defaultdict(lambda: defaultdict(dict))
    for spot in graph.spoken(chunks) if chunks else ():
        spoken[chunks[spot.address].paper_id][spot.key][spot.address] = chunks[spot.address]
    return {key: _together(sorted(several), counts, spoken) for key, several in papers.items()}


def _together(papers: Sequence[str], counts: Counter[str], spoken: Mapping[str, Mapping[str, dict[str, Chunk]]]) -> _On:
    found: dict[str, list[Chunk]] = defaultdict(list)
    for paper in papers:
        for key, chunks in spoken[paper].items():
            found[key] += chunks.values()
    return _On(frozenset(papers), sum(counts[paper] for paper in papers), found)


def _papers_on(keys: Collection[str], graph: GraphStore, catalog: Catalog) -> dict[str, set[str]]:
    """By concept: the papers of which it is the title, or a part of it; concepts without such papers are left out."""
    spots = [one for one in graph.spots(keys, limit=_SPOTS, where=EVERYTHING) if one.role == Role.DISCUSSES]
    chunks = {chunk.address: chunk for chunk in catalog.chunks([spot.address for spot in spots])}
    parts = {chunk.title: _parts(chunk.title) for chunk in chunks.values()}
    meant = graph.resolve({part for several in parts.values() for part in several})
    found: dict[str, set[str]] = defaultdict(set)
    for spot in spots:
        chunk = chunks.get(spot.address)
        is_on = chunk is not None and spot.key in {meant.get(part) for part in parts[chunk.title]}
        if chunk is not None and is_on and len(found[spot.key]) < _PAPERS:
            found[spot.key].add(chunk.paper_id)
    return {key: papers for key, papers in found.items() if papers}


def _parts(title: str) -> list[str]:
    return [part for part in dict.fromkeys([title, *_BETWEEN.split(title)]) if part.strip()]
