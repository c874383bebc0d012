"""When a library has outgrown a store, and where it should move: from what it measures, not from what it is called."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from carrel import locking
from carrel.files import size_on_disk
from carrel.types import QUOTABLE, Filter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from carrel.library import Library
    from carrel.types import Vector
    from carrel.vectors import VectorStore


class Bound(NamedTuple):
    most: int
    source: str
    """Where the figure comes from."""


BOUNDS: dict[str, Bound] = {
    "flat vectors": Bound(1_000_000, "22 to 38 ms (p50) at 1,000,000 x 384 on 2 cores; benchmarks/vectors.py"),
    "lance vectors": Bound(5_000_000, "calculated: 105 ms, of 29 at 1,000,000, where all but 10 grow with the rows"),
    "pgvector vectors": Bound(5_000_000, "calculated: 26 GB of table and index, from 5.3 GB at 1,000,000 x 384"),
    "postgresql keywords chunks": Bound(
        200_000, "75 ms (p50) and 0.5 s (p95) at 100,000, and grows; docs/postgresql.md"
    ),
    "sqlite graph chunks": Bound(200_000, "503 MB at 100,000 chunks (docs/benchmarks.md); chosen: 1 GB in one file"),
    "postgresql graph chunks": Bound(5_000_000, "calculated: 25 GB of tables, walked two hops by joins"),
    "slow milliseconds": Bound(150, "chosen: four times what flat takes at its bound"),
    "memory share of vectors": Bound(50, "chosen, in percent of the free memory: beyond, searches read the disk"),
    "writers on one disk": Bound(4, "chosen: one writes at a time, and more wait for each other"),
}
"""Up to where each kind of store is right: what was measured, what was calculated from it, and what was chosen."""
_SAMPLE = 100
"""Addresses among which there is one with a vector, if there are vectors."""
_DIM = 384
"""Of the vectors that were measured; longer ones count for more."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What is true of a library at this moment."""

    papers: int
    chunks: int
    vectors: int
    dim: int
    graph_chunks: int
    graph_bytes: int
    """Of its file; 0 where it has none here."""
    workers: int
    """Processes that take documents in."""
    stores: Mapping[str, str]
    """The setting of each."""
    memory: int | None = None
    """Free bytes; None where nobody tells."""
    search_ms: float | None = None
    """Of one look at the vectors."""
    unindexed: int = 0
    """Vectors of which a search may miss some."""

    @property
    def vector_bytes(self) -> int:
        return self.vectors * self.dim * 4

    def kind(self, seam: str) -> str:
        kind = self.stores[seam].partition(":")[0]
        return "pgvector" if (seam, kind) == ("vectors", "postgresql") else kind


class Advice(NamedTuple):
    told: str
    command: str = ""
    """What would move the store; empty where it is right."""


def measured(library: Library) -> Measured:
    stores, chosen = library.current, library.settings
    sizes, graph = stores.catalog.sizes(), stores.graph.size()
    return Measured(
        papers=sizes.papers,
        chunks=sizes.chunks,
        vectors=stores.vectors.count(),
        dim=stores.vectors.dim,
        graph_chunks=graph.chunks,
        graph_bytes=size_on_disk(library.layout.cache / "graph"),
        workers=sum(map(locking.is_held, library.layout.workers.glob("*.lock"))),
        stores={seam: str(getattr(chosen, seam)) for seam in ("catalog", "vectors", "keywords", "graph")},
        memory=_free_memory(),
        search_ms=_search_ms(library),
        unindexed=stores.vectors.unindexed(),
    )


def advise(found: Measured) -> list[Advice]:
    """One for each store of which there is something to say."""
    return [*_of_vectors(found), *_of_keywords(found), *_of_graph(found), *_of_catalog(found)]


def _of_vectors(found: Measured) -> Iterator[Advice]:
    size = f"{found.vectors:,} vectors, {_bytes(found.vector_bytes)}"
    took = "" if found.search_ms is None else f", {found.search_ms:.0f} ms a look"
    bound = _bound_of_vectors(found)
    reason = _outgrown(found, bound)
    if reason:
        yield Advice(f"{size}{took}: {reason}", _better_vectors(found))
    elif bound:
        yield Advice(f"{size}{took}: {found.kind('vectors')} is right up to about {bound.most:,}{_behind(found)}")
    else:
        yield Advice(f"{size}{took} in {found.kind('vectors')}{_behind(found)}")


def _behind(found: Measured) -> str:
    if not found.unindexed:
        return ""
    return f", and has yet to index {found.unindexed:,} of them: until then a search may miss some"


def _bound_of_vectors(found: Measured) -> Bound | None:
    bound = BOUNDS.get(f"{found.kind('vectors')} vectors")
    return bound._replace(most=bound.most * _DIM // max(found.dim, 1)) if bound else None


def _outgrown(found: Measured, bound: Bound | None) -> str:
    if bound is None:
        return ""
    kind = found.kind("vectors")
    if found.vectors > bound.most:
        return f"{kind} is right up to about {bound.most:,}"
    slow, share = BOUNDS["slow milliseconds"].most, BOUNDS["memory share of vectors"].most
    if found.search_ms is not None and found.search_ms > slow:
        return f"slower than {slow} ms on this machine"
    if kind == "flat" and found.memory and found.vector_bytes * 100 > found.memory * share:
        return f"more than {share} % of the {_bytes(found.memory)} of memory that are free"
    return ""


def _better_vectors(found: Measured) -> str:
    """What lives where the catalog already is goes before what needs a server of its own."""
    better = "pgvector" if found.kind("catalog") == "postgresql" else "lance"
    if found.kind("vectors") != "flat" or found.vectors > BOUNDS[f"{better} vectors"].most:
        better = "milvus://HOST:19530/COLLECTION"
    return f"carrel migrate --vectors {better}"


def _of_keywords(found: Measured) -> Iterator[Advice]:
    kind = found.kind("keywords")
    bound = BOUNDS.get(f"{kind} keywords chunks")
    if bound is None:
        return
    command = "carrel migrate --keywords milvus://HOST:19530/COLLECTION" if found.chunks > bound.most else ""
    yield Advice(f"words of {found.chunks:,} chunks: {kind} is right up to about {bound.most:,}", command)


def _of_graph(found: Measured) -> Iterator[Advice]:
    bound = BOUNDS.get(f"{found.kind('graph')} graph chunks")
    if not found.graph_chunks:
        return
    size = f"a graph of {found.graph_chunks:,} chunks{f', {_bytes(found.graph_bytes)}' if found.graph_bytes else ''}"
    if bound is None or found.graph_chunks <= bound.most:
        right = f" is right up to about {bound.most:,}" if bound else " has no bound known here"
        yield Advice(f"{size}: {found.kind('graph')}{right}")
        return
    server = "neo4j://USER@HOST:7687"
    if found.kind("graph") == "sqlite" and found.kind("catalog") == "postgresql":
        server = found.stores["catalog"]
    yield Advice(
        f"{size}: {found.kind('graph')} is right up to about {bound.most:,}", f"carrel migrate --graph {server}"
    )


def _of_catalog(found: Measured) -> Iterator[Advice]:
    most = BOUNDS["writers on one disk"].most
    if found.kind("catalog") != "sqlite":
        return
    told = f"{found.papers:,} papers, {found.workers:,} worker{'s' * (found.workers != 1)} at this moment"
    if found.workers > most:
        yield Advice(
            f"{told}: more than {most} wait for each other at one file",
            "carrel migrate --catalog postgresql://USER@HOST/DATABASE",
        )
    else:
        yield Advice(f"{told}: one file is right up to about {most} workers on one machine")


def _search_ms(library: Library) -> float | None:
    """The better of two looks by a vector that is there, each as a question looks.

    The first may have to fetch them from the disk.
    """
    vectors, limit = library.stores.vectors, library.settings.search.candidates
    some = vectors.many(list(islice(library.stores.catalog.addresses(), _SAMPLE)))
    return min((_timed(vectors, vector, limit) for vector in list(some.values())[:2]), default=None)


def _timed(vectors: VectorStore, vector: Vector, limit: int) -> float:
    start = time.perf_counter()
    vectors.search(vector, limit=limit, where=Filter(kinds=QUOTABLE))
    return (time.perf_counter() - start) * 1000


def _free_memory() -> int | None:
    """As Linux tells it; elsewhere nobody is asked."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None


def _bytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
