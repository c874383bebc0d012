"""A graph of dictionaries: what each paper contributes, put together when it is asked for."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from carrel.graphs import ALL_RELATIONS, CURATED, retelling, said
from carrel.graphs.meaning import Spelling, best_spelling, meanings
from carrel.types import EVERYTHING, Concept, ConceptRow, Filter, GraphSize, Predicate, Relation, Spot
from carrel.words import edits as edits_between

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from carrel.graphs.said import Named
    from carrel.types import Chunk, Contribution, Mention, Triple


class MemoryGraph:
    def __init__(self) -> None:
        self._told: dict[str, Contribution] = {}
        self._whole = _Whole({})

    def put(self, contributions: Sequence[Contribution]) -> None:
        self._keep(self._told | {contribution.paper_id: contribution for contribution in contributions})

    def delete(self, paper_ids: Collection[str]) -> None:
        self._keep({paper: told for paper, told in self._told.items() if paper not in paper_ids})

    def _keep(self, told: dict[str, Contribution]) -> None:
        self._told = dict(sorted(told.items()))
        self._whole = _Whole(self._told)

    def papers(self) -> set[str]:
        return set(self._told)

    def contributed(self, paper_ids: Collection[str]) -> list[Contribution]:
        return [retelling.normal(self._told[paper]) for paper in sorted(self._told.keys() & set(paper_ids))]

    def resolve(self, names: Collection[str]) -> dict[str, str]:
        meant = self._whole.meant
        return {name: meant[said.key(name)] for name in names if said.key(name) in meant}

    def near(self, name: str, *, edits: int, limit: int) -> list[str]:
        whole, asked = self._whole, said.key(name)
        found: dict[str, int] = {}
        for row in whole.named:
            distance, key = edits_between(row.key, asked, most=edits), whole.meant[row.concept]
            if distance <= edits:
                found[key] = min(distance, found.get(key, distance))
        return sorted(found, key=lambda key: (found[key], key))[:limit]

    def concepts(self, keys: Collection[str]) -> dict[str, ConceptRow]:
        rows = self._whole.rows
        return {key: rows[said.bounded(key)] for key in keys if said.bounded(key) in rows}

    def find(self, text: str, *, limit: int) -> list[ConceptRow]:
        whole, asked = self._whole, said.key(text)
        exact = {whole.meant[row.concept] for row in whole.named if row.key == asked}
        found = {whole.meant[row.concept] for row in whole.named if asked in row.key}
        rows = [whole.rows[key] for key in found]
        return sorted(rows, key=lambda row: (row.key not in exact, -row.weight, row.key))[:limit]

    def relations(self, keys: Collection[str], *, predicates: Collection[Predicate] = ALL_RELATIONS) -> list[Relation]:
        asked = {said.bounded(key) for key in keys}
        surest: dict[tuple[str, Predicate, str], list[float]] = defaultdict(list)
        for subject, triple, target in self._whole.statements(predicates):
            if subject in asked or target in asked:
                surest[subject, triple.predicate, target].append(triple.confidence)
        return sorted(Relation(*ends, max(sure), len(sure)) for ends, sure in surest.items())

    def triples(self, keys: Collection[str], *, predicates: Collection[Predicate] = ALL_RELATIONS) -> list[Triple]:
        asked, rows = {said.bounded(key) for key in keys}, self._whole.rows
        found = [
            (
                (-triple.confidence, subject, triple.predicate, target, triple.address, triple.start, triple.evidence),
                replace(triple, subject=rows[subject].concept.name, object=rows[target].concept.name),
            )
            for subject, triple, target in self._whole.statements(predicates)
            if subject in asked and target in asked
        ]
        return [triple for _, triple in sorted(found, key=lambda pair: pair[0])]

    def spots(self, keys: Collection[str], *, limit: int, where: Filter = EVERYTHING) -> list[Spot]:
        chunks = self._whole.chunks
        found = []
        for key in sorted({said.bounded(key) for key in keys}):
            spots = [spot for spot in self._whole.spots if spot.key == key and where.matches(chunks[spot.address])]
            found += sorted(spots, key=lambda spot: (-spot.relevance, spot.address, spot.role))[:limit]
        return found

    def spoken(self, addresses: Collection[str], *, of: Collection[str] | None = None) -> list[Spot]:
        keys = None if of is None else {said.bounded(key) for key in of}
        spots = [one for one in self._whole.spots if one.address in addresses and (keys is None or one.key in keys)]
        return sorted(spots, key=lambda spot: (spot.address, -spot.relevance, spot.key, spot.role))

    def citations(self, paper_ids: Collection[str] | None = None) -> set[tuple[str, str]]:
        return {
            (citing.paper_id, cited.paper_id)
            for citing in self._told.values()
            for cited in self._told.values()
            if any(entry.cites(cited.work) for entry in citing.cites)
            and citing is not cited
            and (paper_ids is None or citing.paper_id in paper_ids or cited.paper_id in paper_ids)
        }

    def size(self) -> GraphSize:
        whole = self._whole
        papers = self._told.keys() - {CURATED}
        return GraphSize(len(whole.rows), len(whole.mentions), len(whole.triples), len(whole.chunks), len(papers))

    def clear(self) -> None:
        self._keep({})

    def close(self) -> None:
        """Nothing is open."""


class _Whole:
    """The graph of all contributions, each part worked out when it is first needed."""

    def __init__(self, told: dict[str, Contribution]) -> None:
        self._told = told
        self._named = [(paper, row) for paper in told for row in said.named(told[paper])]
        self.mentions = [(paper, mention) for paper in told for mention in said.mentions(told[paper])]
        self.triples = [triple for each in told.values() for triple in said.triples(each)]

    @property
    def named(self) -> Iterable[Named]:
        return (row for _, row in self._named)

    @cached_property
    def chunks(self) -> dict[str, Chunk]:
        return {chunk.address: chunk for each in self._told.values() for chunk in each.chunks}

    @cached_property
    def spellings(self) -> list[Spelling]:
        papers: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
        for paper, row in self._named:
            papers[row.concept, row.key, row.spelling].append(paper == CURATED and row.stated)
        return [Spelling(*names, len(told), any(told)) for names, told in papers.items()]

    @cached_property
    def meant(self) -> dict[str, str]:
        return meanings({row.key for row in self.named}, self.spellings)

    @cached_property
    def spots(self) -> list[Spot]:
        """The most relevant mention of each concept in each chunk of the graph, in each role."""
        best: dict[tuple[str, str, str], Spot] = {}
        for _, mention in self.mentions:
            spot = self._spot(mention)
            place = (spot.key, spot.address, spot.role)
            if spot.address in self.chunks:
                best[place] = max(spot, best.get(place, spot), key=lambda spot: (spot.relevance, spot.count))
        return list(best.values())

    def _spot(self, mention: Mention) -> Spot:
        key = self.meant[said.key(mention.concept)]
        return Spot(key, mention.address, mention.count, mention.relevance, mention.role)

    def statements(self, predicates: Collection[Predicate]) -> Iterable[tuple[str, Triple, str]]:
        """Every triple between the concepts that its ends mean; none of a concept with itself."""
        for triple in self.triples:
            subject, target = self.meant[said.key(triple.subject)], self.meant[said.key(triple.object)]
            if subject != target and triple.predicate in predicates:
                yield subject, triple, target

    @cached_property
    def rows(self) -> dict[str, ConceptRow]:
        return {key: self._row(key) for key in {self.meant[row.concept] for row in self.named}}

    def _row(self, key: str) -> ConceptRow:
        spoken = [(p, m) for p, m in self.mentions if self.meant[said.key(m.concept)] == key]
        return ConceptRow(
            key,
            self._concept(key),
            papers=len({paper for paper, row in self._named if self.meant[row.concept] == key} - {CURATED}),
            chunks=len({(paper, mention.address) for paper, mention in spoken if paper != CURATED}),
            weight=said.weight(sum(said.units(mention.relevance) for _, mention in spoken)),
            curated=any(s.curated for s in self.spellings if s.concept == s.key == key),
        )

    def _concept(self, key: str) -> Concept:
        curated_first = sorted(self._named, key=lambda named: (named[0] != CURATED, named[0], named[1].concept))
        told = [row for _, row in curated_first if self.meant[row.concept] == key]
        own = [spelling for spelling in self.spellings if spelling.concept == spelling.key == key]
        defined = next((row for row in told if row.definition), None)
        return Concept(
            name=best_spelling(own),
            aliases=tuple(sorted({row.spelling for row in told if row.key not in {row.concept, key}})),
            definition=defined.definition if defined else "",
            category=next((row.category for row in told if row.category), ""),
            defined_at=defined.defined_at if defined else "",
        )
