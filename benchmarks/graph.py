"""What the graph of concepts costs: to build beside the other indexes, to walk, and to take a paper out of.

    python -m benchmarks.graph ../shared/data [--papers 371] [--chunks 100000]

Building: the articles of PLOS and PubMed Central are taken in without a graph, by the bundled embedder, then their
graph is made. Walking and deleting: a made-up graph of 100,000 chunks, 20,000 concepts and 500,000 edges (four in five
say where a concept is spoken of, the others how two stand to each other), in which few concepts are spoken of nearly
everywhere, as in any library. Questions name two of its concepts, the well-known ones as often as they are spoken of.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.full_papers import unpack
from carrel import Library
from carrel.concepts import Rules
from carrel.graphs.sqlite import SqliteGraph
from carrel.ingest import batches, graphing
from carrel.search.concepts import Concepts
from carrel.types import EVERYTHING, Chunk, ChunkKind, Contribution, Mention, Part, Predicate, Role, Triple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PAPERS = 371
CHUNKS = 100_000
CHUNKS_A_PAPER = 20
CONCEPTS = 20_000
EDGES = 500_000
MENTIONS = 0.8
"""The share of the edges that say where a concept is spoken of."""
QUESTIONS = 300
DELETED = 50
AT_ONCE = 20


def building(data: Path, papers: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "articles")
        found = unpack(data, papers, folder)
        with Library.init(Path(place, "library"), overrides={"concepts.extractor": "none"}) as library:
            indexing = seconds(lambda: library.add(folder))
            graph = seconds(lambda: _graph(library))
            size = library.stores.graph.size()
    print(f"{found} articles, {size.chunks:,} chunks: {size.concepts:,} concepts, {size.mentions:,} mentions, "
          f"{size.triples:,} triples\n")  # fmt: skip
    print("|                            | seconds | share of indexing |\n|---|---:|---:|")
    print(f"| indexed without a graph    | {indexing:,.0f} | 100 % |")
    print(f"| the graph                  | {graph:,.0f} | {graph / indexing:.0%} |\n")


def _graph(library: Library) -> None:
    stores = replace(library.stores, extractor=Rules())
    for paper_ids in batches([row.reference.id for row in library.list()], AT_ONCE):
        made = graphing.contributions(paper_ids, stores.catalog.chunks_of(paper_ids), stores)
        graphing.write(paper_ids, made, stores)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def name(number: int) -> str:
    """Of two words that no other has, so that none is nearly another."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    digits = [letters[number // 26**place % 26] for place in range(4)]
    return f"{''.join(digits)} model {number}"


class Made:
    """Contributions in which the n-th concept is spoken of about 1/n as often as the first."""

    def __init__(self, chunks: int, random: Random) -> None:
        scale = chunks / CHUNKS
        self._random = random
        self.concepts, edges = int(CONCEPTS * scale), int(EDGES * scale)
        self.papers = chunks // CHUNKS_A_PAPER
        self._mentions, self._triples = round(edges * MENTIONS / chunks), round(edges * (1 - MENTIONS) / chunks)
        self._weights = np.cumsum(1 / np.arange(10, self.concepts + 10))

    def concept(self) -> str:
        return name(int(np.searchsorted(self._weights, self._random.random() * self._weights[-1])))

    def contributions(self) -> Iterator[Contribution]:
        for number in range(self.papers):
            paper = f"paper{number}"
            chunks = tuple(_chunk(paper, place, number) for place in range(CHUNKS_A_PAPER))
            mentions = [one for chunk in chunks for one in self._spoken(chunk.address)]
            triples = [one for chunk in chunks for one in self._stated(chunk.address)]
            yield Contribution(paper, chunks, mentions=tuple(mentions), triples=tuple(triples))

    def _spoken(self, address: str) -> list[Mention]:
        names: set[str] = set()
        while len(names) < self._mentions:
            names.add(self.concept())
        roles = (Role.DISCUSSES, Role.MENTIONS, Role.MENTIONS)
        return [Mention(one, address, 1, self._random.random(), self._random.choice(roles)) for one in sorted(names)]

    def _stated(self, address: str) -> list[Triple]:
        pairs = [(self.concept(), self.concept()) for _ in range(self._triples)]
        kinds = list(Predicate)
        return [Triple(a, self._random.choice(kinds), b, 0.8, address, f"{a} and {b}.") for a, b in pairs if a != b]


def _chunk(paper: str, place: int, number: int) -> Chunk:
    address = f"{paper}/ch1/s1/p{place}"
    return Chunk(address, paper, Part.BODY, ChunkKind.PASSAGE, "", 0, 0, position=place, year=1990 + number % 30)


def walking(chunks: int) -> None:
    made = Made(chunks, Random(0))
    with tempfile.TemporaryDirectory() as place:
        graph = SqliteGraph(Path(place, "graph.db"))
        filling = seconds(lambda: _fill(graph, made))
        size = graph.size()
        print(f"{size.chunks:,} chunks, {size.concepts:,} concepts, {size.mentions + size.triples:,} edges on SQLite, "
              f"filled in {filling:,.0f} s\n")  # fmt: skip
        questions = [f"how does {made.concept()} differ from {made.concept()}" for _ in range(QUESTIONS)]
        papers = [f"paper{number}" for number in Random(1).sample(range(made.papers), DELETED)]
        rows = {f"{hops} hops": _asked(graph, questions, hops) for hops in (0, 1, 2, 3)}
        rows["delete a paper"] = [seconds(partial(graph.delete, [paper])) for paper in papers]
        graph.close()
    print("| milliseconds | p50 | p95 | most |\n|---|---:|---:|---:|")
    for row, spent in rows.items():
        p50, p95 = np.percentile(np.array(spent) * 1000, [50, 95])
        print(f"| {row} | {p50:.1f} | {p95:.1f} | {max(spent) * 1000:.1f} |")


def _fill(graph: SqliteGraph, made: Made) -> None:
    waiting = made.contributions()
    while some := list(islice(waiting, AT_ONCE)):
        graph.put(some)


def _asked(graph: SqliteGraph, questions: Sequence[str], hops: int) -> list[float]:
    concepts = Concepts(graph, hops=hops)
    for question in questions[:10]:
        concepts.hits(question, 200, EVERYTHING)
    return [seconds(partial(concepts.hits, question, 200, EVERYTHING)) for question in questions[10:]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--papers", type=int, default=PAPERS, help="0 to leave building out")
    parser.add_argument("--chunks", type=int, default=CHUNKS, help="0 to leave walking out")
    asked = parser.parse_args()
    if asked.papers:
        building(asked.data, asked.papers)
    if asked.chunks:
        walking(asked.chunks)


if __name__ == "__main__":
    main()
