"""Does the graph of concepts pay? Recall@5 and nDCG@10 of each arm, of two together, and of all three.

    python -m benchmarks.graph_value DATA/retrieval [--work FOLDER] [--collections musique100 hotpot100]

musique100 and hotpot100 are questions that no single document answers. The weights of the bridges were chosen by the
first half of their queries, which is why both halves are told; that there are bridges at all was found with all of them
in view. The other collections are there to see that nothing is lost.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.evaluate import collections, metrics
from carrel.evaluate.intervals import bootstrap, difference
from carrel.evaluate.reports import aligned
from carrel.identifiers import slug
from carrel.ingest import indexing
from carrel.trials import shelves
from carrel.trials.ways import Way, ways
from carrel.types import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COLLECTIONS = ("musique100", "hotpot100", "cp_algorithms", "scifact", "cranfield", "vaswani")
IN_HALVES = frozenset({"musique100", "hotpot100"})
WITHOUT = "vector + keyword"
WITH = "all three, by bridges (default)"
DEPTH = 10
_MEASURES = ("recall@5", "ndcg@10")
_ALONE = {Mode.VECTOR: "vector", Mode.KEYWORD: "keyword"}

Scores = dict[str, dict[str, tuple[float, ...]]]
"""Way → query → what each measure says."""


def asked_ways() -> Iterator[Way]:
    for way in ways():
        if way.is_arm:
            yield Way(_ALONE[way.mode], way.settings, way.mode)
    yield Way("graph", {"reranker": "none"}, Mode.GRAPH)
    yield Way(WITHOUT, {"search.weight_graph": 0.0, "search.weight_bridge": 0.0})
    yield Way(f"{WITHOUT} + graph in the fusion", {"search.weight_graph": 0.5, "search.weight_bridge": 0.0})
    yield Way(f"{WITHOUT} + both", {"search.weight_graph": 0.5})
    yield Way(WITH)


def measure(folder: Path, home: Path) -> Scores:
    collection = collections.read(folder)
    with ExitStack() as opened:
        shelf = shelves.Shelf(home / slug(folder.name), {}, opened)
        asked = [(way, shelf.library(way.settings)) for way in asked_ways()]
        list(shelf.fill(collection.documents))
        library = asked[0][1]
        if not library.stores.graph.size().concepts:
            indexing.start_over(library.stores)
            indexing.settle(library.stores, batch=library.settings.ingest.batch_characters)
        scores: Scores = {way.name: {} for way, _ in asked}
        for query, text in collection.queries.items():
            for way, library in asked:
                found = library.search(text, mode=way.mode, limit=DEPTH, by_paper=True)
                ranked = [passage.chunk.paper_id for passage in found.passages]
                scores[way.name][query] = scored(ranked, collection.relevant[query])
            shelf.forget()
    return scores


def scored(ranked: Sequence[str], relevant: Mapping[str, int]) -> tuple[float, ...]:
    return metrics.recall(ranked, relevant, depth=5), metrics.ndcg(ranked, relevant)


def report(name: str, scores: Scores) -> str:
    queries = list(scores[WITH])
    half = len(queries) // 2
    parts = {f"{name}, {len(queries)} queries": queries}
    if name in IN_HALVES:
        parts |= {f"{name}, chosen on": queries[:half], f"{name}, not chosen on": queries[half:]}
    return "\n\n".join(f"### {title}\n\n{table(scores, chosen)}" for title, chosen in parts.items())


def table(scores: Scores, queries: Sequence[str]) -> str:
    head = ["", *(f"{measure} [95 %]" for measure in _MEASURES)]
    rows = [
        [way, *(_figure([found[query][place] for query in queries]) for place in range(2))]
        for way, found in scores.items()
    ]
    rows += [
        [f"{way} − {WITHOUT}", *(_gain(scores[way], scores[WITHOUT], queries, place) for place in range(2))]
        for way in scores
        if way.startswith(f"{WITHOUT} +") or way == WITH
    ]
    return aligned([head, *rows])


def _figure(values: Sequence[float]) -> str:
    low, high = bootstrap(values)
    return f"{sum(values) / len(values):.4f} [{low:.3f} {high:.3f}]"


def _gain(
    one: Mapping[str, Sequence[float]], other: Mapping[str, Sequence[float]], queries: Sequence[str], place: int
) -> str:
    found = difference([one[q][place] for q in queries], [other[q][place] for q in queries])
    low, high = found.interval
    return f"{found.mean:+.4f} [{low:+.3f} {high:+.3f}] p {found.p:.3f}, {found.better} better, {found.worse} worse"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, help="where the libraries are kept for the next time")
    parser.add_argument("--collections", nargs="*", default=COLLECTIONS)
    chosen = parser.parse_args()
    with shelves.folder(chosen.work) as home:
        for name in chosen.collections:
            print(f"{report(name, measure(chosen.data / name, home))}\n", flush=True)


if __name__ == "__main__":
    main()
