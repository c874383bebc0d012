"""How papers' contributions are replaced by Cypher, within one transaction."""

from __future__ import annotations

from itertools import pairwise, starmap
from typing import TYPE_CHECKING

from carrel.graphs import CURATED, cypher, said
from carrel.graphs.cypher_reading import concepts
from carrel.graphs.meaning import Spelling, meanings
from carrel.types import Predicate, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from carrel.graphs.cypher_reading import Asking
    from carrel.graphs.said import Named
    from carrel.types import Contribution, Mention, Triple, Work

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
        touched |= self._insert(contributions)
        for query in cypher.CITE:
            self._ask(query, papers=papers)
        self._mean(touched)
        self._ask(cypher.SWEEP, keys=sorted(touched))

    def _insert(self, contributions: Sequence[Contribution]) -> set[str]:
        named = [(each.paper_id, row) for each in contributions for row in said.named(each)]
        keys = {key for _, row in named for key in (row.concept, row.key)}
        self._put(cypher.PUT_DOCUMENTS, [_document(each) for each in contributions])
        self._put(cypher.PUT_ENTRIES, [_work(each.paper_id, work) for each in contributions for work in each.cites])
        self._put(cypher.PUT_CHUNKS, [row for each in contributions for row in _chunks(each)])
        self._put(cypher.PUT_ORDER, [row for each in contributions for row in _order(each)])
        self._ask(cypher.PUT_CONCEPTS, keys=sorted(keys))
        self._put(cypher.PUT_NAMES, [_name(paper, row) for paper, row in named if row.key == row.concept])
        self._put(cypher.PUT_ALIASES, [_alias(paper, row) for paper, row in named if row.key != row.concept])
        self._put_claims(contributions)
        return keys

    def _put_claims(self, contributions: Sequence[Contribution]) -> None:
        mentions = [(each.paper_id, mention) for each in contributions for mention in said.mentions(each)]
        triples = [(each.paper_id, triple) for each in contributions for triple in said.triples(each)]
        self._ask(cypher.PUT_PLACES, keys=sorted({mention.address for _, mention in mentions}))
        for role in Role:
            rows = [_mention(paper, mention) for paper, mention in mentions if mention.role == role]
            self._put(cypher.put_mentions(role), rows)
        for predicate in Predicate:
            rows = [_triple(paper, triple) for paper, triple in triples if triple.predicate == predicate]
            self._put(cypher.put_triples(predicate), rows)

    def _put(self, query: str, rows: Sequence[dict[str, object]]) -> None:
        if rows:
            self._ask(query, rows=list(rows))

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


def _chunks(contribution: Contribution) -> Iterator[dict[str, object]]:
    for place, chunk in enumerate(contribution.chunks):
        yield {
            "chunk_id": chunk.address,
            "paper_id": contribution.paper_id,
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


def _order(contribution: Contribution) -> Iterator[dict[str, object]]:
    for one, other in pairwise(contribution.chunks):
        yield {"from": one.address, "to": other.address}


def _name(paper: str, row: Named) -> dict[str, object]:
    told = {
        "spelling": row.spelling,
        "stated": row.stated,
        "description": row.definition,
        "category": row.category,
        "defined_at": row.defined_at,
    }
    return {"paper": paper, "concept": row.concept, "told": told}


def _alias(paper: str, row: Named) -> dict[str, object]:
    return {"key": row.key, "concept": row.concept, "told": {"paper_id": paper, "spelling": row.spelling}}


def _mention(paper: str, mention: Mention) -> dict[str, object]:
    told = {
        "paper_id": paper,
        "frequency": mention.count,
        "relevance": mention.relevance,
        "units": said.units(mention.relevance),
    }
    return {"address": mention.address, "key": said.key(mention.concept), "told": told}


def _triple(paper: str, triple: Triple) -> dict[str, object]:
    told = {
        "paper_id": paper,
        "confidence": triple.confidence,
        "sourceChunkId": triple.address,
        "evidence": triple.evidence,
        "starts": triple.start,
        "ends": triple.end,
    }
    return {"subject": said.key(triple.subject), "object": said.key(triple.object), "told": told}
