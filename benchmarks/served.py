"""What a search costs on servers as a library grows, stage by stage, beside the same library in files.

    python -m benchmarks.served ../shared/data/corpora/acl_anthology_2016_2021 [--sizes 10000 100000] [--plot FOLDER]

The library is that of `benchmarks/query.py`. Its stores are moved as `carrel migrate` moves them, each by itself and
timed: once all of them to PostgreSQL (vectors by pgvector), once to PostgreSQL (catalog, words), Milvus (vectors) and
the Bolt server of ArcadeDB (graph). Then all are asked the same questions in turn. Servers are those of
tests/servers.py.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from tests import servers
from tests.congruence.fleet import PASSWORDS

from benchmarks.query import LIMIT, QUESTIONS, SIZES, WARM_UP, abstracts, grown, library_of, questions
from carrel import Library
from carrel.embedders.cache import EmbeddingCache
from carrel.embedders.granite import Granite
from carrel.evaluate import plots
from carrel.ingest.indexing import embed
from carrel.migrating import migrate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EMBEDDED = "in files"
NAME = "served"
TOLD = {
    **{f"{seam}_namespace": NAME for seam in ("catalog", "vectors", "keywords", "graph")},
    # A stage that is slow is to be seen, not given up.
    "search.arm_timeout": "120",
}
PATIENCE = 900.0


class Asked(NamedTuple):
    """Milliseconds, of every question."""

    whole: list[float]
    stages: dict[str, list[float]]


def places(postgresql: str, milvus: str, bolt: str) -> dict[str, dict[str, str]]:
    """What the settings name, in the order in which it is moved."""
    files = {"catalog": "sqlite", "vectors": "flat", "keywords": "tantivy", "graph": "sqlite"}
    catalog = {"catalog": postgresql, "keywords": "postgresql"}
    return {
        EMBEDDED: files,
        "PostgreSQL": {**catalog, "vectors": "pgvector", "graph": postgresql},
        "PostgreSQL, Milvus, Bolt": {**catalog, "vectors": f"{milvus}/{NAME}", "graph": bolt},
    }


def move(folder: Path, now: Mapping[str, str], to: Mapping[str, str]) -> None:
    """Each store that is not there yet, by itself."""
    settings = dict(now)
    for seam, target in to.items():
        if settings[seam] == target:
            continue
        start = time.perf_counter()
        done = migrate(str(folder), {**TOLD, **settings}, {seam: target}, progress=lambda *_: None)
        settings[seam] = target
        seconds, rows = time.perf_counter() - start, done.moved[seam].rows
        kind = "pgvector" if target == "pgvector" else target.partition(":")[0]
        print(f"  {seam} to {kind}: {rows:,} rows in {seconds:.1f} s, {rows / seconds:,.0f} a second", flush=True)


def opened(folder: Path, settings: Mapping[str, str]) -> Library:
    library = Library.open(folder, overrides={**TOLD, **settings})
    deadline = time.monotonic() + PATIENCE
    while library.stores.vectors.unindexed() and time.monotonic() < deadline:
        time.sleep(1)
    return library


def ask_all(libraries: Mapping[str, Library], asked: Sequence[str]) -> dict[str, Asked]:
    told = {name: Asked([], {}) for name in libraries}
    differing = 0
    for number, question in enumerate(asked):
        if number == WARM_UP:
            told, differing = {name: Asked([], {}) for name in libraries}, 0
        found = {}
        for name, library in libraries.items():
            start = time.perf_counter()
            result = library.search(question, limit=LIMIT)
            told[name].whole.append((time.perf_counter() - start) * 1000)
            for stage, spent in result.timings.items():
                told[name].stages.setdefault(stage, []).append(spent)
            if result.degraded:
                raise SystemExit(f"{name}: {result.degraded}")
            found[name] = [one.chunk.address for one in result.passages]
        differing += sum(addresses != found[EMBEDDED] for addresses in found.values())
    print(f"\n{differing} of {len(told) * (len(asked) - WARM_UP)} rankings differ from those in files")
    return told


def tell(size: int, told: Mapping[str, Asked]) -> None:
    print(f"\n{size:,} chunks, {QUESTIONS} questions, milliseconds, p50 / p95\n")
    print(f"| | {' | '.join(told)} |\n|---|{'---|' * len(told)}")
    print(f"| **a search** | {' | '.join(_both(one.whole) for one in told.values())} |")
    usual = float(np.median(told[EMBEDDED].whole))
    print(f"| to that in files | {' | '.join(f'{np.median(one.whole) / usual:.2f}' for one in told.values())} |")
    # Where a stage takes longest, and by which stores, is what one looks for.
    every = {stage for one in told.values() for stage in one.stages} - {"total"}
    slowest = {stage: max(np.median(one.stages.get(stage, [0.0])) for one in told.values()) for stage in every}
    for stage in sorted(every, key=lambda stage: -slowest[stage]):
        print(f"| {stage} | {' | '.join(_both(one.stages.get(stage, [0.0])) for one in told.values())} |", flush=True)


def _both(times: Sequence[float]) -> str:
    return f"{np.percentile(times, 50):.1f} / {np.percentile(times, 95):.1f}"


def measure(size: int, library: Library, folder: Path, asked: Sequence[str]) -> dict[str, Asked]:
    library.close()
    with ExitStack() as stack:
        postgresql = stack.enter_context(servers.postgresql(shared_buffers="1GB", maintenance_work_mem="2GB"))
        milvus, bolt = stack.enter_context(servers.milvus()), stack.enter_context(servers.bolt())
        chosen = places(postgresql.address, milvus.address, bolt.address)
        print(f"\nmoving {size:,} chunks", flush=True)
        *_, (_, first), (_, second) = chosen.items()
        move(folder, chosen[EMBEDDED], first)
        # The catalog and the words are there already.
        move(folder, {**chosen[EMBEDDED], **{seam: first[seam] for seam in ("catalog", "keywords")}}, second)
        libraries = {name: stack.enter_context(opened(folder, settings)) for name, settings in chosen.items()}
        gc.collect()
        gc.freeze()
        told = ask_all(libraries, asked)
        tell(size, told)
    return told


def draw(folder: Path, everything: Mapping[int, Mapping[str, Asked]]) -> None:
    names = {name for told in everything.values() for name in told}
    curves = [
        plots.Line(name, tuple((size, float(np.median(told[name].whole))) for size, told in sorted(everything.items())))
        for name in sorted(names)
    ]
    picture = plots.growth("milliseconds a search (p50)", "chunks", curves)
    (folder / "served_p50.svg").write_text(picture, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--plot", type=Path, help="draw how it grows, into this folder")
    options = parser.parse_args()
    os.environ.update(PASSWORDS)
    embedder, chunks = Granite(), abstracts(options.data)
    vectors, *_ = embed(chunks, embedder, EmbeddingCache(options.work / "acl", model=embedder.name, dim=embedder.dim))
    asked = questions(chunks)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    everything = {}
    for size in options.sizes:
        folder = options.work.resolve() / f"query-{size}"
        library = library_of(grown(chunks, vectors, size), folder)
        shutil.rmtree(library.layout.cache / "moving", ignore_errors=True)
        everything[size] = measure(size, library, folder, asked)
    if options.plot:
        draw(options.plot, everything)


if __name__ == "__main__":
    main()
