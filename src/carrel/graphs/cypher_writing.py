"""How papers' contributions are replaced by Cypher, within one transaction."""

from __future__ import annotations

from itertools import pairwise, starmap
from typing import TYPE_CHECKING

from carrel.graphs import CURATED, cypher, said
from carrel.graphs.cypher_reading import concepts
from carrel.graphs.meaning import Spelling, meanings
from carrel.types import Predicate, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from carrel.graphs.cypher_reading import Asking
    from carrel.types import Chunk, Contribution, Work

_PREVIEW = 200


class Writer:
    def __init__(self, ask: Asking) -> None:
        self._ask = ask

    def replace(self, paper_ids: Sequence[str], contributions: Sequence[Contribution]) -> None:
        self._ask(cypher.LOCK)
        papers = list(paper_ids)
        touched = {key for row in self._ask(cypher.NAMED_BY, papers=papers) for key in row if key is not None}
        for query in cypher.FORGET:
            self._ask(query, papers=papers)
        for contribution in contributions:
            touched |= self._insert(contribution)
        for query in cypher.CITE:
            self._ask(query, papers=papers)
        self._mean(touched)
        self._ask(cypher.SWEEP, keys=sorted(touched))

    def _insert(self, contribution: Contribution) -> set[str]:
        paper, named = contribution.paper_id, said.named(contribution)
        self._ask(cypher.PUT_DOCUMENTS, rows=[_document(contribution)])
        entries = [_work(paper, work) for work in contribution.cites]
        self._ask(cypher.PUT_ENTRIES, rows=entries)
        chunks = [_chunk(paper, place, chunk) for place, chunk in enumerate(contribution.chunks)]
        self._ask(cypher.PUT_CHUNKS, rows=chunks)
        order = [{"from": one.address, "to": other.address} for one, other in pairwise(contribution.chunks)]
        self._ask(cypher.PUT_ORDER, rows=order)
        keys = {key for row in named for key in (row.concept, row.key)}
        self._ask(cypher.PUT_CONCEPTS, keys=sorted(keys))
        self._put_names(paper, named)
        self._put_mentions(contribution)
        self._put_triples(contribution)
        return keys

    def _put_names(self, paper: str, named: Sequence[said.Named]) -> None:
        names = [
            {
                "paper": paper,
                "concept": row.concept,
                "told": {
                    "spelling": row.spelling,
                    "stated": row.stated,
                    "description": row.definition,
                    "category": row.category,
                    "defined_at": row.defined_at,
                },
            }
            for row in named
            if row.key == row.concept
        ]
        aliases = [
            {"key": row.key, "concept": row.concept, "told": {"paper_id": paper, "spelling": row.spelling}}
            for row in named
            if row.key != row.concept
        ]
        self._ask(cypher.PUT_NAMES, rows=names)
        self._ask(cypher.PUT_ALIASES, rows=aliases)

    def _put_mentions(self, contribution: Contribution) -> None:
        mentions = said.mentions(contribution)
        self._ask(cypher.PUT_PLACES, keys=sorted({mention.address for mention in mentions}))
        for role in Role:
            rows = [
                {
                    "address": mention.address,
                    "key": said.key(mention.concept),
                    "told": {
                        "paper_id": contribution.paper_id,
                        "frequency": mention.count,
                        "relevance": mention.relevance,
                        "units": said.units(mention.relevance),
                    },
                }
                for mention in mentions
                if mention.role == role
            ]
            if rows:
                self._ask(cypher.put_mentions(role), rows=rows)

    def _put_triples(self, contribution: Contribution) -> None:
        triples = said.triples(contribution)
        for predicate in Predicate:
            rows = [
                {
                    "subject": said.key(triple.subject),
                    "object": said.key(triple.object),
                    "told": {
                        "paper_id": contribution.paper_id,
                        "confidence": triple.confidence,
                        "sourceChunkId": triple.address,
                        "evidence": triple.evidence,
                        "starts": triple.start,
                        "ends": triple.end,
                    },
                }
                for triple in triples
                if triple.predicate == predicate
            ]
            if rows:
                self._ask(cypher.put_triples(predicate), rows=rows)

    def _mean(self, keys: Iterable[str]) -> None:
        """Bring up to date which concepts these keys mean, and their aliases."""
        touched = {*keys, *(row.key for row in self._spellings([cypher.ALIASES], keys))}
        told = set(self._spellings([cypher.NAMED, cypher.ALIASES, cypher.ALIAS_OF], touched))
        told.update(self._spellings([cypher.NAMED, cypher.ALIAS_OF], {row.concept for row in told}))
        meant = meanings(touched, told)
        self._ask(cypher.MEAN, rows=[{"key": key, "means": meant.get(key)} for key in sorted(touched)])
        self._describe({*meant.values()})

    def _spellings(self, queries: Sequence[str], keys: Iterable[str]) -> list[Spelling]:
        rows = [row for query in queries for row in self._ask(query, keys=sorted(set(keys)), curated=CURATED)]
        return list(starmap(Spelling, rows))

    def _describe(self, keys: Iterable[str]) -> None:
        """Write on its node what a concept is called, for those who look around by themselves."""
        rows = [
            {
                "key": key,
                "told": {
                    "name": row.concept.name,
                    "aliases": list(row.concept.aliases),
                    "description": row.concept.definition,
                    "category": row.concept.category,
                },
            }
            for key, row in concepts(self._ask, keys).items()
        ]
        self._ask(cypher.DESCRIBE, rows=rows)


def _document(contribution: Contribution) -> dict[str, object]:
    counts = {
        "chunks": len(contribution.chunks),
        "mentions": len(said.mentions(contribution)),
        "triples": len(said.triples(contribution)),
    }
    return _work(contribution.paper_id, contribution.work) | counts


def _work(paper: str, work: Work) -> dict[str, object]:
    return {"paper_id": paper, "doi": said.bounded(work.doi), "title": said.bounded(work.title)}


def _chunk(paper: str, place: int, chunk: Chunk) -> dict[str, object]:
    return {
        "chunk_id": chunk.address,
        "paper_id": paper,
        "position": place,
        "kind": str(chunk.kind),
        "year": chunk.year,
        "venue": chunk.venue.casefold(),
        "tags": list(chunk.tags),
        "topic": chunk.topic,
        "chapter": chunk.chapter,
        "section": chunk.section,
        "preview": chunk.text[:_PREVIEW],
        "tokenCount": chunk.token_count,
        "hasCode": chunk.has_code,
        "hasFormula": chunk.has_formula,
        "hasTable": chunk.has_table,
    }
