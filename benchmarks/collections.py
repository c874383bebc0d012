"""Test collections as benchmarks see them: documents, questions, judgements, and an index of each kept under .bench."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from carrel.chunking import Limits, split
from carrel.embedders.cache import EmbeddingCache
from carrel.embedders.granite import Granite
from carrel.ingest.indexing import embed
from carrel.keywords.tantivy import TantivyKeywords
from carrel.parsers import Source
from carrel.parsers.text import PlainText
from carrel.search import Pipeline, search
from carrel.search.arms import keyword_arm, vector_arm
from carrel.search.meaning import Meaning
from carrel.settings import Search
from carrel.types import EVERYTHING, Chunk, ChunkKind, Mode, Part, Reference
from carrel.vectors.flat import FlatVectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from carrel.catalogs import Catalog
    from carrel.rerankers import Reranker
    from carrel.search.arms import Arm
    from carrel.types import Filter, Hit, SearchResult

_OPTIONS = Search(collapse=False)


@dataclass(frozen=True)
class Collection:
    name: str
    chunks: tuple[Chunk, ...]
    queries: Mapping[str, str]
    relevant: Mapping[str, Mapping[str, int]]
    """Query → document → grade."""


def load(folder: Path, *, part: str = "") -> Collection:
    """A BEIR-style folder; `part` names another set of queries and judgements, such as `_train`."""
    chunks = tuple(
        _chunk(record["_id"], record.get("title") or "", record["text"])
        for record in _records(folder / "corpus.jsonl.gz")
    )
    queries = {str(record["_id"]): record["text"] for record in _records(folder / f"queries{part}.jsonl.gz")}
    relevant: dict[str, dict[str, int]] = {}
    with gzip.open(folder / f"qrels{part}.tsv.gz", "rt", encoding="utf-8") as file:
        for query, document, grade in list(csv.reader(file, delimiter="\t"))[1:]:
            if int(grade) > 0 and query in queries:
                relevant.setdefault(query, {})[document] = int(grade)
    return Collection(folder.name + part, chunks, queries, relevant)


def load_passages(folder: Path) -> Collection:
    """Full texts, cut as Carrel cuts them; a chunk is relevant if the answer stands in it."""
    embedder = Granite()
    chunks: list[Chunk] = []
    for record in _records(folder / "corpus.jsonl.gz"):
        paper = PlainText().parse(Source(f"{record['_id']}.txt", record["text"].encode()))
        reference = Reference(record["_id"], record["title"])
        chunks += split(replace(paper, reference=reference), count_tokens=embedder.count_tokens, limits=Limits())
    queries: dict[str, str] = {}
    relevant: dict[str, dict[str, int]] = {}
    for record in _records(folder / "qa.jsonl.gz"):
        inside = [c for c in chunks if c.paper_id == record["gold_doc"] and c.start <= record["answer_start"] < c.end]
        if inside:
            queries[record["id"]] = record["question"]
            relevant[record["id"]] = {chunk.address: 1 for chunk in inside}
    return Collection(folder.name, tuple(chunks), queries, relevant)


@dataclass(frozen=True)
class _Shelf:
    """As much of a catalog as a search of plain passages needs."""

    by_address: Mapping[str, Chunk]

    def chunks(self, addresses: Sequence[str]) -> list[Chunk]:
        return [self.by_address[address] for address in addresses]


def _leaving_out(without: frozenset[str], arm: Arm) -> Arm:
    def find(query: str, limit: int, where: Filter) -> list[Hit]:
        return [hit for hit in arm(query, limit + len(without), where) if hit.address not in without][:limit]

    return find


@dataclass(frozen=True)
class Index:
    """Both text arms over one collection."""

    collection: Collection
    embedder: Granite
    vectors: FlatVectors
    keywords: TantivyKeywords
    by_address: Mapping[str, Chunk]

    @cached_property
    def meaning(self) -> Meaning:
        return Meaning(self.embedder, self.vectors)

    def search(
        self,
        query: str,
        *,
        reranker: Reranker,
        mode: Mode = Mode.HYBRID,
        without: frozenset[str] = frozenset(),
        where: Filter = EVERYTHING,
        options: Search = _OPTIONS,
    ) -> SearchResult:
        """As a library searches; `without` leaves documents out, as if the library did not have them."""
        arms = {"vector": vector_arm(self.meaning), "keyword": keyword_arm(self.keywords)}
        pipeline = Pipeline(
            {name: _leaving_out(without, arm) for name, arm in arms.items()},
            cast("Catalog", _Shelf(self.by_address)),
            reranker,
            options,
            meaning=self.meaning,
        )
        return search(query, mode=mode, limit=options.limit, where=where, pipeline=pipeline)


def index(collection: Collection, work: Path) -> Index:
    """Index a collection, or open the index that an earlier run left."""
    embedder, home = Granite(), work / collection.name.removesuffix("_train")
    vectors = FlatVectors(home / "vectors", model=embedder.name, dim=embedder.dim)
    keywords = TantivyKeywords(home / "keywords")
    if vectors.count() != len(collection.chunks):
        matrix, *_ = embed(
            collection.chunks, embedder, EmbeddingCache(home / "cache", model=embedder.name, dim=embedder.dim)
        )
        vectors.clear(model=embedder.name, dim=embedder.dim)
        vectors.put(collection.chunks, matrix)
    if keywords.count() != len(collection.chunks):
        keywords.clear()
        keywords.put(collection.chunks)
    return Index(collection, embedder, vectors, keywords, {chunk.address: chunk for chunk in collection.chunks})


def ndcg(ranked: Sequence[str], relevant: Mapping[str, int], *, depth: int = 10) -> float:
    gains = [relevant.get(address, 0) / np.log2(rank + 1) for rank, address in enumerate(ranked[:depth], start=1)]
    ideal = sorted(relevant.values(), reverse=True)[:depth]
    return float(sum(gains) / sum(grade / np.log2(rank + 1) for rank, grade in enumerate(ideal, start=1)))


def _chunk(document: str, title: str, text: str) -> Chunk:
    return Chunk(document, document, Part.ABSTRACT, ChunkKind.ABSTRACT, text, 0, len(text), title=title)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)
