"""How long a search takes, stage by stage, at 10,000 and 100,000 chunks.

    python -m benchmarks.query ../shared/data/corpora/acl_anthology_2016_2021 [--work .bench]

Beside it, on the same chunks and asked the same questions in turn: a plain script (bm25s and numpy: the embedding, both
scans, a fusion of scores, nothing else), which no search with more to tell can undercut by much, and LanceDB's hybrid
search. Install them for it: pip install bm25s lancedb.

The texts of the first 10,000 chunks are abstracts. Those beyond are made of two abstracts' halves, and their vectors of
the two's, as embedding them would take the better part of an hour; for the time that a search takes it is the same.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import importlib
import itertools
import json
import os
import shutil
import statistics
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from carrel import Library, health, sentences
from carrel.catalogs import Entry
from carrel.embedders.cache import EmbeddingCache
from carrel.embedders.granite import Granite
from carrel.ingest import graphing
from carrel.ingest.indexing import embed
from carrel.types import Author, Chunk, ChunkKind, Document, Part, Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from carrel.types import Matrix, Vector

SIZES = (10_000, 100_000)
PAPERS = 10_000
QUESTIONS = 150
WARM_UP = 10
DEPTH = 200
LIMIT = 10
BATCH = 2_000
KEYWORD_WEIGHT = 0.5


@dataclass(frozen=True)
class Shelf:
    """What every system searches."""

    chunks: Sequence[Chunk]
    vectors: Matrix


def abstracts(data: Path) -> list[Chunk]:
    with gzip.open(data / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        records = itertools.islice((record for record in map(json.loads, file) if record["text"]), PAPERS)
        return [_chunk(f"p{number}", 0, record["title"], record["text"]) for number, record in enumerate(records)]


def _chunk(paper: str, position: int, title: str, text: str) -> Chunk:
    return Chunk(
        f"{paper}/ch1/s1/p{position}",
        paper,
        Part.BODY,
        ChunkKind.PASSAGE,
        text,
        0,
        len(text),
        position=position,
        title=title,
        authors=("A. Reader",),
        year=2020,
    )


def grown(chunks: Sequence[Chunk], vectors: Matrix, size: int) -> Shelf:
    """The same papers with more chunks each."""
    random = np.random.default_rng(0)
    texts, rows = list(chunks), [vectors]
    for position in range(1, size // len(chunks)):
        others = random.permutation(len(chunks))
        texts += [
            replace(_mixed(one, chunks[other]), address=f"{one.paper_id}/ch1/s1/p{position}", position=position)
            for one, other in zip(chunks, others.tolist(), strict=True)
        ]
        noise = random.normal(scale=0.02, size=vectors.shape)
        mixed = vectors + vectors[others] + noise
        rows.append((mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32))
    return Shelf(texts, np.vstack(rows))


def _mixed(one: Chunk, other: Chunk) -> Chunk:
    halves = [_sentences(one.text)[::2], _sentences(other.text)[1::2]]
    text = " ".join(itertools.chain(*halves)) or one.text
    return replace(one, text=text, end=len(text))


def _sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences.spans(text)]


def questions(chunks: Sequence[Chunk]) -> list[str]:
    """Titles and first sentences, by turns."""
    picked = np.random.default_rng(1).permutation(len(chunks))[: QUESTIONS + WARM_UP]
    return [
        chunks[i].title if turn % 2 else _sentences(chunks[i].text)[0][:2000] for turn, i in enumerate(picked.tolist())
    ]


def library_of(shelf: Shelf, folder: Path) -> Library:
    """A library that holds exactly these chunks with these vectors, and their graph, or the one that is there."""
    if (folder / ".carrel").exists():
        library = Library.open(folder)
        if library.stores.vectors.count() == library.stores.graph.size().chunks == len(shelf.chunks):
            return library
        library.close()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    library = Library.init(folder)
    stores = library.stores
    by_paper: dict[str, list[int]] = {}
    for row, chunk in enumerate(shelf.chunks):
        by_paper.setdefault(chunk.paper_id, []).append(row)
    with health.taking_in(library.layout):
        for batch in (
            itertools.batched(by_paper.items(), BATCH) if hasattr(itertools, "batched") else _batches(by_paper)
        ):
            stores.catalog.put([_entry([shelf.chunks[row] for row in rows]) for _, rows in batch])
            flat = [row for _, rows in batch for row in rows]
            stores.vectors.put([shelf.chunks[row] for row in flat], shelf.vectors[flat])
            stores.keywords.put([shelf.chunks[row] for row in flat])
            paper_ids, chunks = [paper_id for paper_id, _ in batch], [shelf.chunks[row] for row in flat]
            graphing.write(paper_ids, graphing.contributions(paper_ids, chunks, stores), stores)
        stores.catalog.activate(list(by_paper))
    return library


def _batches(by_paper: dict[str, list[int]]) -> Iterator[list[tuple[str, list[int]]]]:
    items = list(by_paper.items())
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def _entry(chunks: Sequence[Chunk]) -> Entry:
    first = chunks[0]
    reference = Reference(first.paper_id, first.title, authors=(Author("A.", "Reader"),))
    return Entry(reference, Document(first.paper_id, Part.BODY, "text", digest=first.paper_id), tuple(chunks))


def plain_script(shelf: Shelf, embedder: Granite) -> Callable[[str], list[int]] | None:
    """The honest limit."""
    try:
        bm25s = importlib.import_module("bm25s")
    except ModuleNotFoundError:
        return None
    index = bm25s.BM25()
    index.index(
        bm25s.tokenize([chunk.embedded_text for chunk in shelf.chunks], show_progress=False), show_progress=False
    )

    def ask(question: str) -> list[int]:
        similarities = shelf.vectors @ embedder.embed_query(question)
        nearest = np.argpartition(-similarities, DEPTH)[:DEPTH]
        tokens = bm25s.tokenize([question], show_progress=False)
        rows, scores = index.retrieve(tokens, k=DEPTH, show_progress=False)
        fused = dict(zip(nearest.tolist(), _standard(similarities[nearest]), strict=True))
        for row, score in zip(rows[0].tolist(), _standard(scores[0]), strict=True):
            fused[row] = fused.get(row, 0.0) + KEYWORD_WEIGHT * score
        return sorted(fused, key=lambda row: -fused[row])[:LIMIT]

    return ask


def _standard(scores: Vector) -> list[float]:
    standard: list[float] = ((scores - scores.min()) / (scores.std() + 1e-9)).tolist()
    return standard


def lance(shelf: Shelf, embedder: Granite, folder: Path) -> Callable[[str], Any] | None:
    """LanceDB as its documentation has it: a full-text index, exact vectors, hybrid search fused by ranks."""
    try:
        lancedb = importlib.import_module("lancedb")
    except ModuleNotFoundError:
        return None
    shutil.rmtree(folder, ignore_errors=True)
    rows = [
        {"id": chunk.address, "text": chunk.embedded_text, "vector": vector}
        for chunk, vector in zip(shelf.chunks, shelf.vectors, strict=True)
    ]
    table = lancedb.connect(str(folder)).create_table("chunks", rows)
    table.create_fts_index("text", replace=True)

    def ask(question: str) -> Any:  # noqa: ANN401
        search = table.search(query_type="hybrid").vector(embedder.embed_query(question)).text(question)
        return search.limit(LIMIT).to_list()

    return ask


def measure(size: int, shelf: Shelf, asked: Sequence[str], work: Path) -> None:
    library, embedder = library_of(shelf, work / f"query-{size}"), Granite()
    stages: dict[str, list[float]] = {}

    def ours(question: str) -> None:
        for stage, spent in library.search(question, limit=LIMIT).timings.items():
            stages.setdefault(stage, []).append(spent)

    systems: dict[str, Callable[[str], object] | None] = {
        "carrel": ours,
        "query embedding alone": embedder.embed_query,
        "bm25s + numpy script": plain_script(shelf, embedder),
        "LanceDB hybrid": lance(shelf, embedder, work / f"query-{size}-lance"),
    }
    # The collector need not walk through what is this script's own, every chunk above all, in the midst of a search.
    gc.collect()
    gc.freeze()
    spent: dict[str, list[float]] = {name: [] for name in systems}
    for number, question in enumerate(asked):
        for name, ask in systems.items():
            if ask is not None:
                spent[name].append(_milliseconds(ask, question))
        if number + 1 == WARM_UP:
            spent, stages = {name: [] for name in systems}, {}
    library.close()
    _print(size, spent, stages)


def _milliseconds(ask: Callable[[str], object], question: str) -> float:
    start = time.perf_counter()
    ask(question)
    return (time.perf_counter() - start) * 1000


def _print(size: int, spent: dict[str, list[float]], stages: dict[str, list[float]]) -> None:
    print(f"\n{size:,} chunks, {QUESTIONS} questions, milliseconds")
    print(f"| {'':24} |    p50 |    p95 | ratio of p50 to carrel's |\n|{'-' * 26}|-------:|-------:|-------:|")
    ours = statistics.median(spent["carrel"])
    for name, times in spent.items():
        if not times:
            print(f"| {name:24} | not installed | | |")
            continue
        middle = statistics.median(times)
        print(f"| {name:24} | {middle:6.1f} | {np.percentile(times, 95):6.1f} | {middle / ours:6.2f} |")
    for stage, times in sorted(stages.items(), key=lambda pair: -statistics.median(pair[1])):
        print(f"|   carrel: {stage:14} | {statistics.median(times):6.1f} | {np.percentile(times, 95):6.1f} | |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    options = parser.parse_args()
    embedder, chunks = Granite(), abstracts(options.data)
    cache = EmbeddingCache(options.work / "acl", model=embedder.name, dim=embedder.dim)
    vectors, *_ = embed(chunks, embedder, cache)
    asked = questions(chunks)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for size in options.sizes:
        measure(size, grown(chunks, vectors, size), asked, options.work)


if __name__ == "__main__":
    main()
