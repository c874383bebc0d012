"""What a reference library of 10,000 papers costs, beside the search it is to replace.

    python -m benchmarks.references ../shared/data --library .bench/acl    the first call, the scan, ten questions
    python -m benchmarks.references ../shared/data --build                 6,235 papers indexed, then three changed
    python -m benchmarks.references ../shared/data --library .bench/acl --pool    choose anew what the test embeds

The library is made when it is not there yet, which takes minutes. The peer keeps a map of paper id → float32 vector,
decodes all of it at its first call, and compares every vector by its cosine; its keyword search is SQLite's FTS5. It is
rewritten here in Python, once as the plain loop it is, and once with numpy for every step that the map allows.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pickle
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.test_conceptual import ANSWERS, DEEP, POOL, keyword_table, match

from benchmarks import foundation
from benchmarks.foundation import carrel
from carrel import Library
from carrel.embedders.granite import Granite
from carrel.likeness import default_threshold
from carrel.references import jsonl
from carrel.types import EVERYTHING, ChunkKind, Filter, Mode
from carrel.vectors.flat import FlatVectors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from carrel.types import Reference, Vector

PAPERS, BUILT = 10_455, 6_235
TITLES = 190
ABSTRACTS = Filter(kinds=frozenset({ChunkKind.ABSTRACT}))
LEAST = default_threshold(Granite.name)
SEMANTIC = 'result = library.semantic("QUERY"); mark("semantic: embed, scan, catalog")'


class Known(Granite):
    """Has embedded the queries already."""

    def __init__(self, vectors: Mapping[str, Vector]) -> None:
        super().__init__()
        self._vectors = vectors

    def embed_query(self, text: str) -> Vector:
        return self._vectors[text]


# The peer


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    dot = length_a = length_b = 0.0
    for x, y in zip(a, b, strict=True):
        dot += x * y
        length_a += x * x
        length_b += y * y
    return dot / (math.sqrt(length_a) * math.sqrt(length_b))


def plain_scan(vectors: Mapping[str, Sequence[float]], query: Sequence[float]) -> list[str]:
    near = [(similarity, paper) for paper, v in vectors.items() if (similarity := cosine(query, v)) >= LEAST]
    return [paper for _, paper in sorted(near, reverse=True)[:10]]


def numpy_scan(vectors: Mapping[str, Vector], query: Vector) -> list[str]:
    length = math.sqrt(query.dot(query))
    near = [
        (similarity, paper)
        for paper, v in vectors.items()
        if (similarity := v.dot(query) / (length * math.sqrt(v.dot(v)))) >= LEAST
    ]
    return [paper for _, paper in sorted(near, reverse=True)[:10]]


# What is measured


def first_call(library: Path) -> None:
    question = next(iter(ANSWERS))
    times = [carrel("-C", library, "semantic", question)[0] for _ in range(9)]
    print("\ncommand, process start included              median s    best s")
    print(f"carrel semantic                            {statistics.median(times):10.3f} {min(times):9.3f}")
    before, _, after = foundation.PROFILE.partition("result = ")
    script = (before + SEMANTIC + after[after.index("\n") :]).replace("carrel.cli.search", "carrel.cli.semantic")
    script = script.replace("DIR", repr(str(library))).replace("QUERY", question)
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    print("\nwhere its time goes                                    ms")
    for line in printed.splitlines():
        name, milliseconds = line.split("\t")
        print(f"{name:52} {milliseconds:>5}")


def scans(library: Path, references: Sequence[Reference]) -> None:
    """One query after another, each asked of everyone in turn."""
    titles = [one.title for one in random.Random(0).sample(list(references), TITLES)]
    queries = [*ANSWERS, *titles]
    vectors = {query: Granite().embed_query(query) for query in queries}
    with Library.open(library, embedder=Known(vectors)) as opened, Library.open(library) as whole:
        store, table = opened.stores.vectors, keyword_table(list(references))
        as_arrays = {one.id: v for one in references if (v := store.get(f"{one.id}/abstract")) is not None}
        as_lists = {paper: vector.tolist() for paper, vector in as_arrays.items()}
        ways: dict[str, Callable[[str], object]] = {
            "carrel semantic: scan, threshold, catalog": opened.semantic,
            "  its scan alone": lambda query: store.search(vectors[query], limit=10, where=ABSTRACTS),
            "  with the query's embedding": whole.semantic,
            "the peer's scan, numpy": lambda query: numpy_scan(as_arrays, vectors[query]),
            "the peer's keyword search, FTS5": lambda query: match(table, query, limit=10),
            "carrel's keyword index": lambda query: opened.stores.keywords.search(query, limit=10, where=EVERYTHING),
        }
        for ask in ways.values():
            ask(queries[0])
        rounds = [{name: _milliseconds(ask, query) for name, ask in ways.items()} for query in queries]
        spent = {name: [one[name] for one in rounds] for name in ways}
        few = queries[:3]
        spent["the peer's scan, plain loop"] = [
            _milliseconds(lambda query: plain_scan(as_lists, vectors[query].tolist()), query) for query in few
        ]
        _print_times(spent, f"{len(queries)} queries, {len(as_arrays)} papers; the plain loop {len(few)} queries")
        agreement(opened, as_arrays, vectors)
    opening(library, as_lists, next(iter(vectors.values())))


def _milliseconds(ask: Callable[..., object], *query: str) -> float:
    start = time.perf_counter()
    ask(*query)
    return (time.perf_counter() - start) * 1000


def _print_times(spent: Mapping[str, Sequence[float]], title: str) -> None:
    us = statistics.median(next(iter(spent.values())))
    print(f"\nafter the query is embedded ({title})\n{'':44} median ms  95 % ms   / semantic")
    for name, times in spent.items():
        median, slow = statistics.median(times), float(np.percentile(times, 95))
        print(f"{name:44} {median:9.2f} {slow:8.2f} {median / us:9.1f} x")


def agreement(library: Library, papers: Mapping[str, Vector], queries: Mapping[str, Vector]) -> None:
    """Ours against all cosines in double precision, the threshold left out."""
    ids, matrix = list(papers), np.stack(list(papers.values())).astype(np.float64)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    same = 0
    for query, vector in queries.items():
        exact = [ids[row] for row in np.argsort(-(matrix @ vector.astype(np.float64)), kind="stable")[:10]]
        same += exact == [near.reference.id for near in library.semantic(query, threshold=0).papers]
    print(f"\nthe first ten are those of an exact scan, in its order: {same} of {len(queries)} queries")


def opening(library: Path, papers: Mapping[str, Sequence[float]], query: Vector) -> None:
    """From the files to the first answer, the files in the system's cache for both."""
    encoded = pickle.dumps({paper: np.array(vector, dtype=np.float32) for paper, vector in papers.items()})
    directory = library / ".carrel/cache/vectors"

    def ours() -> object:
        store = FlatVectors(directory, model=Granite.name, dim=Granite.dim)
        return store.search(query, limit=10, where=ABSTRACTS)

    mine = [_milliseconds(ours) for _ in range(9)]
    theirs = [_milliseconds(lambda: numpy_scan(pickle.loads(encoded), query)) for _ in range(9)]  # noqa: S301
    print(
        f"\nopen the vectors and answer once: {statistics.median(mine):.1f} ms; "
        f"decode the map and answer once, numpy: {statistics.median(theirs):.1f} ms ({len(encoded) / 1e6:.1f} MB)"
    )


def questions(library: Path, references: Sequence[Reference]) -> None:
    """Where each question's paper stands in the whole collection."""
    table = keyword_table(list(references))
    print(f"\n{'question':72} semantic  keyword  FTS5 (ranks; - is not among the first {10 * DEEP})")
    with Library.open(library) as opened:
        for question, paper in ANSWERS.items():
            by_words = opened.search(question, mode=Mode.KEYWORD, limit=10 * DEEP).passages
            ranks = (
                _rank(paper, [near.reference.id for near in opened.semantic(question).papers]),
                _rank(paper, [passage.chunk.paper_id for passage in by_words]),
                _rank(paper, match(table, question, limit=10 * DEEP)),
            )
            print(f"{question:72} {ranks[0]:>8} {ranks[1]:>8} {ranks[2]:>5}   {paper}")


def _rank(paper: str, found: Sequence[str]) -> str:
    return str(found.index(paper) + 1) if paper in found else "-"


def choose_pool(library: Path) -> None:
    """For each question the papers nearest to it, and those that keyword search gives instead."""
    chosen: set[str] = set()
    with Library.open(library) as opened:
        for question in ANSWERS:
            nearest = opened.semantic(question, limit=12, threshold=0).papers
            instead = opened.search(question, mode=Mode.KEYWORD, limit=5).passages
            chosen |= {near.reference.id for near in nearest} | {passage.chunk.paper_id for passage in instead}
    POOL.write_text(json.dumps(sorted(chosen), indent=1) + "\n", encoding="utf-8")
    print(f"\n{POOL.name}: {len(chosen)} papers")


# Building


def building(data: Path, folder: Path) -> None:
    refs, library = folder / "all.jsonl", folder / "library"
    foundation.references(data, BUILT + 1, refs)
    *lines, another = refs.read_text(encoding="utf-8").splitlines(keepends=True)
    carrel("init", library)
    own = library / ".carrel/refs.jsonl"
    own.write_text("".join(lines), encoding="utf-8")
    print("\ncarrel index build                    seconds  embedded  indexed   MB")
    _build("all papers", library)
    _build("the same again", library)
    edited = {**json.loads(lines[10]), "abstract": "Another abstract: " + json.loads(lines[11])["abstract"]}
    own.write_text("".join([*lines[:10], json.dumps(edited) + "\n", *lines[11:20], *lines[21:], another]))
    changes = {"changed": edited["id"], "orphaned": json.loads(lines[20])["id"], "missing": json.loads(another)["id"]}
    checked = _check(library)
    named = {kind: checked[f"{kind}_ids"] for kind in changes}
    print(f"\none abstract edited, one paper deleted, one added; carrel index check: {checked['status']}, {named}")
    assert named == {kind: [paper] for kind, paper in changes.items()}
    assert _build("after the three changes", library)["chunks_embedded"] == 2
    print(f"carrel index check: {_check(library)['status']}")


def _build(name: str, library: Path) -> dict[str, Any]:
    seconds, memory, printed = carrel("-C", library, "index", "build", "--json")
    built: dict[str, Any] = json.loads(printed)
    speed = f", {built['chunks_embedded'] / seconds:.1f} a second, peak {memory:.0f} MB" if seconds > 60 else ""
    print(
        f"{name:36} {seconds:8.1f} {built['chunks_embedded']:9} {built['papers_indexed']:8} "
        f"{built['index_size_bytes'] / 1e6:6.1f}{speed}"
    )
    return built


def _check(library: Path) -> dict[str, Any]:
    """Stale is an exit code of its own, so the command may leave with more than zero."""
    command = [sys.executable, "-m", "carrel", "-C", str(library), "index", "check", "--json"]
    checked: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    return checked


def prepare(data: Path, library: Path) -> list[Reference]:
    """The references, and the library that has them indexed."""
    if not library.exists():
        carrel("init", library)
        foundation.references(data, PAPERS, library / ".carrel/refs.jsonl")
        carrel("-C", library, "index", "build", "--json")
    return jsonl.read(library / ".carrel/refs.jsonl").references


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--library", type=Path, default=Path(".bench/acl"), help="where the library is, or is to be")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--build", action="store_true", help="measure building instead")
    what.add_argument("--pool", action="store_true", help="choose the pool of tests/test_conceptual.py instead")
    options = parser.parse_args()
    if options.build:
        with tempfile.TemporaryDirectory() as folder:
            building(options.data, Path(folder))
        return
    references = prepare(options.data, options.library)
    print(f"{len(references)} papers; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if options.pool:
        choose_pool(options.library)
    else:
        first_call(options.library)
        scans(options.library, references)
    questions(options.library, references)


if __name__ == "__main__":
    main()
