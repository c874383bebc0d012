"""What vectors cost as a library grows: every store, and raw faiss and usearch as the limit.

    python -m benchmarks.vectors ../shared/data/corpora/acl_anthology_2016_2021 [--sizes 10000 100000] [--plot FOLDER]

Real-shaped vectors: abstracts as granite has them, and beyond those the middles of two with a little noise; random ones
would be no guide, for nothing is near anything in 384 dimensions. Questions are titles of other abstracts. Each store
has a process of its own, with its server where it needs one, and all are asked the same questions in turn, so that what
else the machine does is shared by all. Servers are those of tests/servers.py; usearch is measured if it is installed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import shutil
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from tests import servers

from benchmarks.query import abstracts
from carrel import registry
from carrel.embedders.cache import EmbeddingCache
from carrel.embedders.granite import Granite
from carrel.evaluate import plots
from carrel.ingest.indexing import embed
from carrel.settings.sections import Search
from carrel.types import EVERYTHING, QUOTABLE, Chunk, ChunkKind, Filter, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection

    from carrel.types import Matrix, Vector

    Find = Callable[[Vector, "Look"], Sequence[int]]
    """The rows nearest to a question."""

SIZES = (10_000, 100_000, 1_000_000)
STORES = ("flat", "lance", "pgvector", "milvus", "faiss exact", "faiss HNSW", "usearch HNSW")
REAL = 10_000
"""Abstracts that are embedded, which takes two cores minutes; what is more is grown of them."""
QUESTIONS = 200
WARM_UP = 20
LIMIT = 10
AT_ONCE = 5_000
CHUNKS_A_PAPER = 50
YEARS = 10


class Look(NamedTuple):
    limit: int
    where: Filter = EVERYTHING


NEAREST = Look(LIMIT)
ONE_YEAR = Look(LIMIT, Filter(year_min=2020, year_max=2020))
QUESTION = Look(Search().candidates, Filter(kinds=QUOTABLE))
"""As `search` and `ask` look: for as many candidates, of what can be quoted."""
LOOKS = (NEAREST, ONE_YEAR, QUESTION)
NOISE = 0.005
MODEL = "granite"
FIGURES = (
    ("p50", "milliseconds a search (p50)", 1),
    ("rows_a_second", "vectors taken in a second", 1),
    ("memory", "megabytes of memory", 1e6),
    ("disk", "megabytes on disk", 1e6),
)
"""That are drawn, and in which unit."""
HNSW = {"connectivity": 16, "expansion_add": 200, "expansion_search": 128}


@dataclass(frozen=True)
class Filled:
    """What it took to fill a store."""

    rows_a_second: float
    disk: int
    memory: int
    """Bytes that are nobody else's and in no file, of the process and of its server."""


@dataclass
class Asked:
    """One for each question."""

    milliseconds: list[float] = field(default_factory=list)
    found: list[Sequence[int]] = field(default_factory=list)


# The vectors.


def prepare(data: Path, work: Path, sizes: Sequence[int]) -> None:
    """Vectors, questions and what is nearest to them, each in a file."""
    work.mkdir(parents=True, exist_ok=True)
    embedder, chunks = Granite(), abstracts(data)
    held, kept = chunks[: QUESTIONS + WARM_UP], chunks[QUESTIONS + WARM_UP :][:REAL]
    if not (work / "questions.npy").exists():
        np.save(work / "questions.npy", np.stack([embedder.embed_query(chunk.title) for chunk in held]))
    cache = EmbeddingCache(work / "acl", model=embedder.name, dim=embedder.dim)
    vectors, *_ = embed(kept, embedder, cache)
    for size in sizes:
        if not (work / f"vectors-{size}.npy").exists():
            np.save(work / f"vectors-{size}.npy", grown(vectors, size))


def grown(vectors: Matrix, size: int) -> Matrix:
    random = np.random.default_rng(0)
    rows = np.empty((size, vectors.shape[1]), dtype=np.float32)
    rows[: len(vectors)] = vectors[:size]
    for start in range(len(vectors), size, len(vectors)):
        mixed = vectors + random.uniform(0, 1, (len(vectors), 1)) * vectors[random.permutation(len(vectors))]
        mixed += random.normal(scale=NOISE, size=mixed.shape)
        mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
        rows[start : start + len(vectors)] = mixed[: size - start]
    return rows


def year_of(row: int) -> int:
    """As papers are spread over the years."""
    return 2015 + row // CHUNKS_A_PAPER % YEARS


def chunk_of(row: int) -> Chunk:
    paper = f"p{row // CHUNKS_A_PAPER}"
    address = f"{paper}/ch1/s1/p{row}"
    return Chunk(address, paper, Part.BODY, ChunkKind.PASSAGE, "text", 0, 4, title="A title", year=year_of(row))


def row_of(address: str) -> int:
    return int(address.rpartition("/p")[2])


# One store, in a process of its own.


def serve(pipe: Connection, store: str, size: int, work: Path) -> None:
    """Fill a store, then find what is asked for until nothing more is."""
    rows, questions = np.load(work / f"vectors-{size}.npy", mmap_mode="r"), np.load(work / "questions.npy")
    folder = work / f"{store.replace(' ', '-')}-{size}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    # Where servers keep their things, too.
    tempfile.tempdir = str(folder)
    with opened(store, folder, rows.shape[1]) as (add, find, ready):
        start = time.perf_counter()
        for first in range(0, size, AT_ONCE):
            add(first, np.array(rows[first : first + AT_ONCE]))
        ready()
        rate = size / (time.perf_counter() - start)
        for question in questions[:WARM_UP]:
            find(question, NEAREST)
        pipe.send(asdict(Filled(rate, disk_of(folder), memory_of(os.getpid()))))
        while (number := pipe.recv()) is not None:
            pipe.send([_timed(find, questions[number], look) for look in LOOKS])
    shutil.rmtree(folder, ignore_errors=True)


def _timed(find: Find, question: Vector, look: Look) -> tuple[float, list[int]]:
    start = time.perf_counter()
    found = find(question, look)
    return (time.perf_counter() - start) * 1000, [int(row) for row in found]


Opened = tuple["Callable[[int, Matrix], None]", "Find", "Callable[[], None]"]
"""How to add rows from a first one on, how to find some, and how to be done with adding."""


@contextmanager
def opened(store: str, folder: Path, dim: int) -> Iterator[Opened]:
    if store == "faiss exact":
        yield faiss_index("Flat", dim)
    elif store == "faiss HNSW":
        yield faiss_index(f"HNSW{HNSW['connectivity']},Flat", dim)
    elif store == "usearch HNSW":
        yield usearch_index(dim)
    else:
        with carrel_store(store, folder, dim) as made:
            yield made


@contextmanager
def carrel_store(name: str, folder: Path, dim: int) -> Iterator[Opened]:
    with ExitStack() as stack:
        address = name
        if name == "milvus":
            address = stack.enter_context(servers.milvus()).address
        elif name == "pgvector":
            address = stack.enter_context(servers.postgresql(maintenance_work_mem="4GB")).address
        offered: dict[str, Any] = {"namespace": "carrel_bench", "password": servers.PASSWORD, "database": None}
        store = registry.make("vectors", address, directory=folder, model=MODEL, dim=dim, half=False, **offered)

        def add(first: int, rows: Matrix) -> None:
            store.put([chunk_of(first + row) for row in range(len(rows))], rows)

        def find(question: Vector, look: Look) -> list[int]:
            return [row_of(hit.address) for hit in store.search(question, limit=look.limit, where=look.where)]

        filling = stack.enter_context(ExitStack())
        filling.enter_context(store.filling())

        def ready() -> None:
            filling.close()
            while store.unindexed():
                time.sleep(1)

        yield add, find, ready
        store.close()


def faiss_index(kind: str, dim: int) -> Opened:
    faiss = importlib.import_module("faiss")
    index = faiss.index_factory(dim, kind, faiss.METRIC_INNER_PRODUCT)
    if hasattr(index, "hnsw"):
        index.hnsw.efConstruction, index.hnsw.efSearch = HNSW["expansion_add"], HNSW["expansion_search"]
    return lambda _, rows: index.add(rows), _by_row(lambda *asked: index.search(asked[0][None], asked[1])[1][0]), _done


def usearch_index(dim: int) -> Opened:
    index = importlib.import_module("usearch.index").Index(ndim=dim, metric="ip", **HNSW)
    add = lambda first, rows: index.add(np.arange(first, first + len(rows)), rows)  # noqa: E731
    return add, _by_row(lambda question, limit: index.search(question, limit).keys), _done


def _by_row(find: Callable[[Vector, int], Sequence[int]]) -> Find:
    """An index that knows no filters, but every row is quotable here."""
    return lambda question, look: () if look == ONE_YEAR else find(question, look.limit)


def _done() -> None:
    """Everything is in its index at once."""


def disk_of(folder: Path) -> int:
    """Of files that a server may be about to delete."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            size += path.lstat().st_size
    return size


def memory_of(pid: int) -> int:
    """Of a process and its children: what lies in no file."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    told = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    own = sum(int(line.split()[1]) * 1024 for line in told if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
    return own + sum(memory_of(int(child)) for child in children)


# All of them, in turn.


def measure(size: int, stores: Sequence[str], work: Path) -> dict[str, dict[str, float]]:
    rows, questions = np.load(work / f"vectors-{size}.npy", mmap_mode="r"), np.load(work / "questions.npy")[WARM_UP:]
    year = np.array([year_of(row) for row in range(size)]) == ONE_YEAR.where.year_min
    asked, filled = ask_all(size, stores, work)
    everything = [np.asarray(rows @ question) for question in questions]
    of_year = [np.where(year, near, -2) for near in everything]
    figures = {}
    for store, (nearest, filtered, whole) in asked.items():
        figures[store] = {
            **asdict(filled[store]),
            "p50": float(np.percentile(nearest.milliseconds, 50)),
            "p95": float(np.percentile(nearest.milliseconds, 95)),
            "recall": recall(nearest.found, everything, LIMIT),
            "filtered p50": float(np.percentile(filtered.milliseconds, 50)),
            "filtered recall": recall(filtered.found, of_year, LIMIT),
            "question p50": float(np.percentile(whole.milliseconds, 50)),
            "question p95": float(np.percentile(whole.milliseconds, 95)),
            "question recall": recall(whole.found, everything, QUESTION.limit),
        }
    return figures


def ask_all(size: int, stores: Sequence[str], work: Path) -> tuple[dict[str, list[Asked]], dict[str, Filled]]:
    """Of each store every look, in the order of `LOOKS`."""
    context = multiprocessing.get_context("spawn")
    asked, filled, pipes = {}, {}, {}
    for store in stores:
        pipe, other = context.Pipe()
        process = context.Process(target=serve, args=(other, store, size, work))
        process.start()
        other.close()
        try:
            filled[store] = Filled(**pipe.recv())
        except EOFError:
            print(f"{store} at {size:,}: did not work, see above", flush=True)
            continue
        print(f"{store} at {size:,}: filled, {filled[store].rows_a_second:,.0f} rows/s", flush=True)
        asked[store], pipes[store] = [Asked() for _ in LOOKS], (pipe, process)
    for number in range(WARM_UP, WARM_UP + QUESTIONS):
        for store, (pipe, _) in list(pipes.items()):
            try:
                pipe.send(number)
                came = pipe.recv()
            except (EOFError, BrokenPipeError):
                print(f"{store} at {size:,}: stopped answering, see above", flush=True)
                del pipes[store], asked[store]
                continue
            for one, (milliseconds, found) in zip(asked[store], came, strict=True):
                one.milliseconds.append(milliseconds)
                one.found.append(found)
    for pipe, process in pipes.values():
        pipe.send(None)
        process.join()
    return asked, filled


def recall(found: Sequence[Sequence[int]], nearest: Sequence[Vector], limit: int) -> float:
    """Of so many nearest, or of those that are as near as the last of them, the share that was found."""
    hits = 0
    for rows, similarities in zip(found, nearest, strict=True):
        least = np.partition(similarities, -limit)[-limit]
        hits += int(np.sum(similarities[list(rows)] >= least - 1e-6)) if rows else 0
    return hits / (limit * len(nearest))


def told(size: int, measured: dict[str, dict[str, float]]) -> str:
    question = f"a question's {QUESTION.limit}: p50 | p95 | recall"
    asked = f"p50 ms | p95 ms | to flat | recall@{LIMIT} | one year: p50 | recall | {question}"
    lines = [f"\n{size:,} vectors, {QUESTIONS} questions\n", f"| | {asked} | rows/s in | memory MB | disk MB |"]
    lines.append("|---|" + "--:|" * 12)
    flat = measured.get("flat", {}).get("p50", float("nan"))
    for store, one in measured.items():
        narrow = f"{one['filtered p50']:.1f} | {one['filtered recall']:.3f}" if one["filtered recall"] else "– | –"
        lines.append(
            f"| {store} | {one['p50']:.1f} | {one['p95']:.1f} | {one['p50'] / flat:.2f} | {one['recall']:.3f} | "
            f"{narrow} | {one['question p50']:.1f} | {one['question p95']:.1f} | {one['question recall']:.3f} | "
            f"{one['rows_a_second']:,.0f} | {one['memory'] / 1e6:,.0f} | {one['disk'] / 1e6:,.0f} |"
        )
    return "\n".join(lines)


def draw(folder: Path, everything: dict[int, dict[str, dict[str, float]]]) -> None:
    for figure, title, unit in FIGURES:
        curves = []
        for store in STORES:
            known = ((size, by[store][figure] / unit) for size, by in everything.items() if store in by)
            # A bare index has no file.
            if points := tuple((size, value) for size, value in known if value):
                curves.append(plots.Line(store, points))
        name = f"vectors_{figure.replace('_', '-')}.svg"
        (folder / name).write_text(plots.growth(title, "vectors", curves), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--stores", nargs="*", default=STORES)
    parser.add_argument("--plot", type=Path, help="draw how it grows, into this folder")
    options = parser.parse_args()
    # Servers are started elsewhere.
    work = options.work.resolve() / "vectors"
    prepare(options.data, work, options.sizes)
    kept = work / "measured.json"
    everything = {int(size): by for size, by in json.loads(kept.read_text()).items()} if kept.exists() else {}
    for size in options.sizes:
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
        measured = measure(size, options.stores, work)
        print(told(size, measured), flush=True)
        everything[size] = {**everything.get(size, {}), **measured}
        kept.write_text(json.dumps(everything, indent=1))
    if options.plot:
        draw(options.plot, dict(sorted(everything.items())))


if __name__ == "__main__":
    main()
