"""What the foundation costs: indexing, adding again, starting up, searching.

    python -m benchmarks.foundation ../shared/data [--papers 10455]

Every command is run as a user runs it, in a process of its own. Peers are run on the same data in the same run: for the
embedder, the same model fed 32 texts at a time in the order they come, padded to the longest; for exact search, numpy
over an array in memory; for BM25, SQLite's FTS5. Only the ratios mean anything on a shared machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from carrel import Library
from carrel.embedders.granite import Granite
from carrel.files import size_on_disk
from carrel.types import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from carrel.encoders.windows import Tokens
    from carrel.types import Matrix

QUERIES = (
    "neural machine translation of low-resource languages",
    "detecting hate speech on social media",
    "how to evaluate summaries for factual consistency",
    "dependency parsing with graph neural networks",
    "retrieving passages for open-domain question answering",
)
PROFILE = """
import time; marks = [("interpreter", time.perf_counter())]
def mark(name): marks.append((name, time.perf_counter()))
import carrel.cli, carrel.cli.search; mark("import the command line (click)")
import numpy; mark("import numpy")
import pydantic; mark("import pydantic")
from carrel.library import Library; mark("import the rest of the library")
library = Library.open(DIR); mark("read settings")
stores = library.stores; mark("open the stores")
import onnxruntime, tokenizers; mark("import onnxruntime, tokenizers")
library.embedder.count_tokens(["x"]); mark("verify the model's sha256, load its tokenizer")
library.embedder.embed_query("warm"); mark("load the model")
result = library.search("QUERY"); mark("search: embed, two arms, fuse, rerank, remember")
for (_, a), (name, b) in zip(marks, marks[1:]): print(f"{name}\\t{(b - a) * 1000:.0f}")
"""


def references(data: Path, count: int, target: Path) -> None:
    """The ACL Anthology's abstracts as a refs.jsonl."""
    with gzip.open(data / "corpora/acl_anthology_2016_2021/corpus.jsonl.gz", "rt", encoding="utf-8") as source:
        records = [_record(json.loads(line)) for line, _ in zip(source, range(count), strict=False)]
    lines = (json.dumps(record, ensure_ascii=False) for record in records)
    target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _record(entry: dict[str, Any]) -> dict[str, Any]:
    authors = [{"first": name.rpartition(" ")[0], "last": name.rpartition(" ")[2]} for name in entry["authors"]]
    return {
        "id": entry["_id"],
        "doi": entry.get("doi") or "",
        "title": entry["title"],
        "authors": authors,
        "abstract": entry["text"],
        "venue": entry["booktitle"],
        "published": {"year": entry["year"]},
        "pdf_path": "",
        "source": {"type": "manual", "id": entry["_id"]},
    }


def carrel(*arguments: str | Path) -> tuple[float, float, str]:
    """Seconds, the most megabytes ever resident, and what was printed."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "carrel", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"carrel {' '.join(map(str, arguments))} left with {status}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024, printed


def indexing(refs: Path, library: Path, count: int) -> None:
    seconds, memory, _ = carrel("-C", library, "add", refs)
    cache = library / ".carrel/cache"
    indexes = sum(size_on_disk(cache / name) for name in ("vectors", "keywords"))
    print(f"\n{count} abstracts added in {seconds:.1f} s: {count / seconds:.1f} a second, peak memory {memory:.0f} MB")
    print(
        f"on disk: indexes {indexes / 1e6:.1f} MB, embedding cache {size_on_disk(cache / 'embeddings') / 1e6:.1f} MB, "
        f"catalog {(library / '.carrel/carrel.db').stat().st_size / 1e6:.1f} MB, "
        f"refs.jsonl {refs.stat().st_size / 1e6:.1f} MB"
    )
    seconds, _, printed = carrel("-C", library, "add", refs, "--json")
    print(f"the same file again: {seconds:.1f} s, {json.loads(printed)['chunks_embedded']} embedded")
    lines = refs.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[count // 2])
    lines[count // 2] = json.dumps({**record, "abstract": record["abstract"] + " And one more sentence."})
    refs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    seconds, _, printed = carrel("-C", library, "add", refs, "--json")
    print(f"one abstract edited: {seconds:.1f} s, {json.loads(printed)['chunks_embedded']} embedded")


def starting(library: Path) -> None:
    print("\ncommand, process start included       median s    best s")
    for name, arguments in (("carrel --help", ("--help",)), ("carrel search", ("-C", library, "search", QUERIES[0]))):
        times = [carrel(*arguments)[0] for _ in range(7)]
        print(f"{name:36} {statistics.median(times):10.3f} {min(times):9.3f}")
    print("\nwhere a search's time goes             ms")
    script = PROFILE.replace("DIR", repr(str(library))).replace("QUERY", QUERIES[0])
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    for line in printed.splitlines():
        name, milliseconds = line.split("\t")
        print(f"{name:52} {milliseconds:>5}")


def peers(library: Path) -> None:
    print("\nin one process                          us ms    peer ms   ratio (peer / us)")
    with Library.open(library) as opened:
        stores = opened.stores
        chunks = opened.stores.catalog.chunks_of({row.reference.id for row in opened.list()})
        sample = random.Random(0).sample(chunks, min(256, len(chunks)))
        texts = [chunk.embedded_text for chunk in sample]
        _row("embed 256 abstracts", lambda: stores.embedder.embed_passages(texts), lambda: _padded(texts), rounds=1)
        vectors = [stores.embedder.embed_query(query) for query in QUERIES]
        matrix = np.concatenate([np.asarray(live.segment.vectors) for live in stores.vectors._live])  # type: ignore[attr-defined]
        _row(
            f"exact search, {len(matrix)} x {matrix.shape[1]}, top 50",
            lambda: [stores.vectors.search(vector, limit=50, where=EVERYTHING) for vector in vectors],
            lambda: [np.argsort(-(matrix @ vector))[:50] for vector in vectors],
        )
        table = _fts5([(chunk.address, chunk.embedded_text) for chunk in chunks])
        _row(
            f"BM25, {len(chunks)} chunks, top 50",
            lambda: [stores.keywords.search(query, limit=50, where=EVERYTHING) for query in QUERIES],
            lambda: [_match(table, query) for query in QUERIES],
        )


def _row(name: str, ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 9) -> None:
    """Alternately, so that a busy moment of the machine hits both."""
    mine, other = [], []
    for _ in range(rounds + 1):
        mine.append(_milliseconds(ours))
        other.append(_milliseconds(theirs))
    us, peer = statistics.median(mine[1:]), statistics.median(other[1:])
    print(f"{name:36} {us:9.2f} {peer:10.2f} {peer / us:8.2f}")


def _milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def _padded(texts: Sequence[str]) -> Matrix:
    """The same session on batches of 32 in the order they come, short texts padded to the batch's longest."""
    embedder = Granite()
    rows = [np.array(tokens[:510], dtype=np.int64) for tokens in embedder._tokenise(texts)]
    return np.concatenate([embedder._encode(_square(rows[i : i + 32])) for i in range(0, len(rows), 32)])


def _square(rows: Sequence[Tokens]) -> Tokens:
    longest = max(map(len, rows))
    return np.stack([np.pad(row, (0, longest - len(row)), constant_values=1) for row in rows])


def _fts5(rows: Sequence[tuple[str, str]]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (address UNINDEXED, text, tokenize = 'porter unicode61')")
    connection.executemany("INSERT INTO texts VALUES (?, ?)", rows)
    return connection


def _match(table: sqlite3.Connection, query: str) -> list[Any]:
    asked = " OR ".join(f'"{word}"' for word in query.split())
    return table.execute(
        "SELECT address FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT 50", [asked]
    ).fetchall()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--papers", type=int, default=10_455)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        refs, library = Path(folder) / "acl.jsonl", Path(folder) / "library"
        references(options.data, options.papers, refs)
        carrel("init", library)
        indexing(refs, library, options.papers)
        starting(library)
        peers(library)
    print(f"\npeak memory of this benchmark {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
