"""What many small writes leave behind: files and bytes of the embedded vector stores, each paper put by itself.

    python -m benchmarks.upserts [--puts 5000] [--stores flat lance]

Half as many papers as puts, so that most are replaced; files are counted after each put. Beside it the
limit: the same papers put at once.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.vectors import disk_of
from carrel import registry
from carrel.types import Chunk, ChunkKind, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Matrix

CHUNKS_A_PAPER = 10
DIM = 384
TIMES_TOLD = 10


def chunks_of(paper: int) -> list[Chunk]:
    name = f"p{paper}"
    return [
        Chunk(f"{name}/ch1/s1/p{place}", name, Part.BODY, ChunkKind.PASSAGE, "text", 0, 4, title="A title", year=2020)
        for place in range(CHUNKS_A_PAPER)
    ]


def rows_of(puts: int) -> Matrix:
    """Another version of a paper has other vectors: each put has its own."""
    rows = np.random.default_rng(0).normal(size=(puts, CHUNKS_A_PAPER, DIM)).astype(np.float32)
    unit: Matrix = rows / np.linalg.norm(rows, axis=2, keepdims=True)
    return unit


def opened(store: str, folder: Path) -> Any:  # noqa: ANN401
    offered: dict[str, Any] = {"namespace": "carrel_bench", "password": "", "database": None}
    return registry.make("vectors", store, directory=folder, model="granite", dim=DIM, half=False, **offered)


def files_of(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*"))


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401
    """Whether both hold the same passages, and of each its last vector."""
    addresses = other.addresses()
    held, put = one.many(addresses), other.many(addresses)
    return one.addresses() == addresses and all(np.array_equal(held[address], put[address]) for address in addresses)


def measure(store: str, papers: Sequence[int], rows: Matrix) -> str:
    with tempfile.TemporaryDirectory() as one_by_one, tempfile.TemporaryDirectory() as at_once:
        vectors, limit = opened(store, Path(one_by_one)), opened(store, Path(at_once))
        most_files, seconds = 0, 0.0
        for number, paper in enumerate(papers, start=1):
            start = time.perf_counter()
            vectors.put(chunks_of(paper), rows[number - 1])
            seconds += time.perf_counter() - start
            files = files_of(Path(one_by_one))
            most_files = max(most_files, files)
            if number % max(1, len(papers) // TIMES_TOLD) == 0:
                print(f"{store}: {number:,} puts, {files:,} files", flush=True)
        last = {paper: number for number, paper in enumerate(papers)}
        limit.put(
            [chunk for paper in last for chunk in chunks_of(paper)], np.vstack([rows[put] for put in last.values()])
        )
        if not _same(vectors, limit):
            raise SystemExit(f"{store} does not hold what was put into it")
        held, least = disk_of(Path(one_by_one)), disk_of(Path(at_once))
        for one in (vectors, limit):
            one.close()
    return (
        f"| {store} | {len(last):,} | {most_files:,} | {held / 1e6:,.1f} | {least / 1e6:,.1f} | {held / least:.2f} | "
        f"{seconds / len(papers) * 1000:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--puts", type=int, default=5_000)
    parser.add_argument("--stores", nargs="*", default=["flat", "lance"])
    options = parser.parse_args()
    papers = np.random.default_rng(1).integers(options.puts // 2, size=options.puts).tolist()
    rows = rows_of(options.puts)
    lines = [measure(store, papers, rows) for store in options.stores]
    print(f"\n{options.puts:,} puts of one paper, {CHUNKS_A_PAPER} passages each\n")
    print("| | papers | files, at most | MB | MB put at once | ratio | ms a put |\n|---|--:|--:|--:|--:|--:|--:|")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
