"""A graph of dictionaries: what each paper contributes, put together when it is asked for."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from carrel.graphs import ALL_RELATIONS
from carrel.types import EVERYTHING, Concept, Filter, Hit, Predicate, Subgraph

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from carrel.types import Chunk, Mention, Triple


@dataclass(frozen=True, slots=True)
class _Contribution:
    chunks: tuple[Chunk, ...]
    concepts: tuple[Concept, ...]
    mentions: tuple[Mention, ...]
    triples: tuple[Triple, ...]

    def said(self) -> Iterator[Concept]:
        """Its concepts, and those that it only mentions or relates."""
        related = [name for triple in self.triples for name in (triple.subject, triple.object)]
        implied = {_key(name): name for name in [*related, *(mention.concept for mention in self.mentions)]}
        yield from self.concepts
        known = {_key(concept.name) for concept in self.concepts}
        yield from (Concept(name) for key, name in implied.items() if key not in known)


class MemoryGraph:
    def __init__(self) -> None:
        self._papers: dict[str, _Contribution] = {}

    def put(
        self,
        paper_id: str,
        *,
        chunks: Sequence[Chunk],
        concepts: Sequence[Concept],
        mentions: Sequence[Mention],
        triples: Sequence[Triple],
    ) -> None:
        self._papers[paper_id] = _Contribution(tuple(chunks), tuple(concepts), tuple(mentions), tuple(triples))

    def delete(self, paper_ids: Collection[str]) -> None:
        for paper_id in paper_ids:
            self._papers.pop(paper_id, None)

    def find(self, text: str, *, limit: int) -> list[Concept]:
        asked = _key(text)
        names = {key: {key, *map(_key, concept.aliases)} for key, concept in self._concepts().items()}
        found = [key for key in names if asked and any(asked in name for name in names[key])]
        best_first = sorted(found, key=lambda key: (asked not in names[key], len(key), key))
        return [self._concepts()[key] for key in best_first[:limit]]

    def neighbours(
        self, names: Collection[str], *, hops: int, relations: Collection[Predicate] = ALL_RELATIONS
    ) -> Subgraph:
        titles = {key: concept.name for key, concept in self._concepts().items()}
        depths = self._walk(names, hops, relations)
        triples = [
            replace(triple, subject=titles[_key(triple.subject)], object=titles[_key(triple.object)])
            for triple in self._triples(relations)
            if _key(triple.subject) in depths and _key(triple.object) in depths
        ]
        return Subgraph({titles[key]: depth for key, depth in depths.items()}, tuple(sorted(triples, key=_order)))

    def chunks(self, names: Collection[str], *, hops: int, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        depths = self._walk(names, hops, ALL_RELATIONS)
        places = {chunk.address: chunk for paper in self._papers.values() for chunk in paper.chunks}
        scores: dict[str, float] = defaultdict(float)
        for mention in (mention for paper in self._papers.values() for mention in paper.mentions):
            chunk = places.get(mention.address)
            if _key(mention.concept) in depths and chunk and where.matches(chunk):
                scores[mention.address] += mention.relevance / (1 + depths[_key(mention.concept)])
        hits = [Hit(address, round(score, 6)) for address, score in scores.items()]
        return sorted(hits, key=lambda hit: (-hit.score, hit.address))[:limit]

    def count(self) -> int:
        return len(self._concepts())

    def clear(self) -> None:
        self._papers = {}

    def close(self) -> None:
        """Nothing is open."""

    def _concepts(self) -> dict[str, Concept]:
        """By key: what the papers, in order of id, say of each concept."""
        said: dict[str, list[Concept]] = defaultdict(list)
        for paper_id in sorted(self._papers):
            for concept in self._papers[paper_id].said():
                said[_key(concept.name)].append(concept)
        return {key: _together(concepts) for key, concepts in said.items()}

    def _triples(self, relations: Collection[Predicate]) -> Iterator[Triple]:
        for paper in self._papers.values():
            yield from (triple for triple in paper.triples if triple.predicate in relations)

    def _walk(self, names: Collection[str], hops: int, relations: Collection[Predicate]) -> dict[str, int]:
        """How far each concept is that can be reached."""
        beside: dict[str, set[str]] = defaultdict(set)
        for triple in self._triples(relations):
            beside[_key(triple.subject)].add(_key(triple.object))
            beside[_key(triple.object)].add(_key(triple.subject))
        depths = dict.fromkeys(self._concepts().keys() & {_key(name) for name in names}, 0)
        edge = set(depths)
        for depth in range(1, hops + 1):
            edge = {reached for key in edge for reached in beside[key]} - depths.keys()
            if not edge:
                break
            depths |= dict.fromkeys(edge, depth)
        return depths


def _together(said: Sequence[Concept]) -> Concept:
    """One concept: the spelling most papers use, all aliases, the first definition and category there is."""
    spellings = Counter(concept.name for concept in said)
    return Concept(
        name=min(spellings, key=lambda name: (-spellings[name], name)),
        aliases=tuple(sorted({alias for concept in said for alias in concept.aliases})),
        definition=next((concept.definition for concept in said if concept.definition), ""),
        category=next((concept.category for concept in said if concept.category), ""),
    )


def _order(triple: Triple) -> tuple[str, ...]:
    return (_key(triple.subject), triple.predicate, _key(triple.object), triple.address, triple.evidence)


def _key(name: str) -> str:
    return " ".join(name.casefold().split())
