"""Fit the numbers by which an answer knows how sure it may be, and show how well they hold.

    python -m benchmarks.fit_certainty ../shared/data/retrieval [--work .bench] [--sample N] [--write]

Every question is asked of its collection, and of the collection without the documents that answer it; SciFact's claims
without evidence, whose cited abstract is there, once. Then questions are asked of collections of other fields. What was
found holds an answer if a document that answers the question is among the passages that an answer would draw on.

Numbers depend on how many questions have an answer at all. Assumed here: two thirds have one, a sixth is about what the
library has but not answered by it, and a sixth is about something else. Collections count alike.

Fitted on: scifact's train claims, the first half of pubmedqa_train, hotpot100, musique100, every other query of
cp_algorithms. Each row of the report is by numbers that were fitted without that collection, as library and as source
of unrelated questions. Cranfield and vaswani are reported alone: what is left there without the judged documents often
answers as well.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks import collections
from benchmarks.fit_fused import auroc, load, logistic
from carrel.answer.certainty import EMBEDDER, MODELS, features
from carrel.answer.evidence import select
from carrel.rerankers.fused import Fused
from carrel.types import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from carrel.types import Passage

    Array = NDArray[np.float64]

FITTED = ("scifact_train", "pubmedqa_train", "hotpot100", "musique100", "cp_algorithms")
REPORTED = ("cranfield", "vaswani")
ELSEWHERE = {
    "scifact_train": ("cp_algorithms", "hotpot100", "cranfield"),
    "pubmedqa_train": ("cp_algorithms", "hotpot100", "vaswani"),
    "hotpot100": ("pubmedqa_train", "scifact_train"),
    "musique100": ("scifact_train", "pubmedqa_train"),
    "cp_algorithms": ("pubmedqa_train", "scifact_train"),
}
"""Library → whose questions are asked of it for being about something else."""
SHARES = {"answer": 2 / 3, "near": 1 / 6, "unrelated": 1 / 6}
TOP = 5
THRESHOLD = 0.4
MODES = {"whole": Mode.HYBRID, "near": Mode.HYBRID, "reranked": Mode.KEYWORD, "words": Mode.KEYWORD}
"""How the questions are asked that each model is fitted on."""
TARGET = Path(__file__).parent.parent / "src/carrel/answer/certainty.json"


class Row(NamedTuple):
    """One question asked of one library."""

    library: str
    source: str
    kind: str
    """As in SHARES: whether its answer is there, was left out, or cannot be expected there at all."""
    holds: bool
    """Whether a document that answers it is among the passages."""
    values: Mapping[str, float]


def evidence(folder: Path) -> dict[str, frozenset[str]]:
    """The documents that support or contradict each of SciFact's claims."""
    with gzip.open(folder / "claims.jsonl.gz", "rt", encoding="utf-8") as file:
        claims = list(map(json.loads, file))
    return {str(one["id"]): frozenset(found["doc_id"] for found in one["evidence"]) for one in claims}


def questions(collection: collections.Collection, data: Path, sample: int) -> dict[str, frozenset[str]]:
    """Those to fit on, with the documents that answer each."""
    answers = {query: frozenset(found) for query, found in collection.relevant.items()}
    if collection.name == "scifact_train":
        answers = {query: found for query, found in evidence(data / "scifact").items() if query in collection.queries}
    chosen = sorted(answers, key=list(collection.queries).index)
    if collection.name == "pubmedqa_train":
        chosen = chosen[: len(chosen) // 2]
    if collection.name == "cp_algorithms":
        chosen = chosen[::2]
    picked = np.random.default_rng(0).permutation(len(chosen))[:sample]
    return {chosen[number]: answers[chosen[number]] for number in sorted(picked)}


def known(text: str, passages: Sequence[Passage], index: collections.Index, mode: Mode) -> dict[str, float]:
    """What an answer would go by. Where words alone were asked, no vectors are."""
    excerpts = select(text, passages, index.embedder) if mode != Mode.KEYWORD else ()
    return features(text, passages, excerpts, index.embedder.name)


def own_rows(index: collections.Index, asked: Mapping[str, frozenset[str]], mode: Mode) -> Iterator[Row]:
    """With the answering documents and without; what has none, once."""
    name = index.collection.name
    for query, answering in asked.items():
        text = index.collection.queries[query]
        for without in {frozenset[str](), answering}:
            passages = index.search(text, reranker=Fused(), mode=mode, without=without).passages[:TOP]
            if not passages:
                continue
            holds = any(one.chunk.paper_id in answering for one in passages)
            kind = "answer" if answering and not without else "near"
            yield Row(name, name, kind, holds, known(text, passages, index, mode))


def foreign_rows(index: collections.Index, source: str, asked: Mapping[str, str], mode: Mode) -> Iterator[Row]:
    for text in asked.values():
        passages = index.search(text, reranker=Fused(), mode=mode).passages[:TOP]
        if passages:
            yield Row(
                index.collection.name,
                source,
                "unrelated",
                holds=False,
                values=known(text, passages, index, mode),
            )


def gather(data: Path, work: Path, sample: int) -> dict[Mode, list[Row]]:
    loaded = {name: load(data, name) for name in (*FITTED, *REPORTED)}
    asked = {name: questions(one, data, sample) for name, one in loaded.items()}
    rows: dict[Mode, list[Row]] = {Mode.HYBRID: [], Mode.KEYWORD: []}
    for name in (*FITTED, *REPORTED):
        index = collections.index(loaded[name], work)
        for mode in rows:
            rows[mode] += own_rows(index, asked[name], mode)
            for source in ELSEWHERE.get(name, ()):
                texts = {query: loaded[source].queries[query] for query in list(asked[source])[: sample // 4]}
                rows[mode] += foreign_rows(index, source, texts, mode)
        print("asked", name, flush=True)
    return rows


def shares(rows: Sequence[Row]) -> Array:
    """What each row counts: kinds as assumed, libraries alike within a kind."""
    groups = [(row.kind, row.library) for row in rows]
    libraries = {kind: len({library for one, library in groups if one == kind}) for kind in SHARES}
    sizes = {group: groups.count(group) for group in set(groups)}
    return np.array([SHARES[kind] / libraries[kind] / sizes[kind, library] for kind, library in groups])


def fit(rows: Sequence[Row], names: Sequence[str]) -> Array:
    """The weights and, last, the bias."""
    return logistic(columns(rows, names), np.array([float(row.holds) for row in rows]), shares(rows))


def columns(rows: Sequence[Row], names: Sequence[str]) -> Array:
    return np.array([[row.values[name] for name in names] for row in rows], dtype=np.float64)


def chances(rows: Sequence[Row], names: Sequence[str], numbers: Array) -> Array:
    sums = columns(rows, names) @ numbers[:-1] + numbers[-1]
    return np.asarray(1 / (1 + np.exp(-sums)), dtype=np.float64)


def report(rows: Sequence[Row], names: Sequence[str]) -> None:
    """Each collection by numbers that were fitted without it."""
    likely, true, counted = [], [], []
    print("| collection | held an answer | refused, having it | refused, left out | refused, unrelated | AUROC near |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in (*FITTED, *REPORTED):
        others = [row for row in rows if name not in (row.library, row.source) and row.library in FITTED]
        held = [row for row in rows if row.library == name]
        found, kinds = chances(held, names, fit(others, names)), np.array([row.kind for row in held])
        holds = np.array([row.holds for row in held])
        refused = [_share(found[kinds == kind] < THRESHOLD) for kind in SHARES]
        area = auroc(found[kinds == "answer"], found[kinds == "near"])
        print(f"| {name} | {_share(holds[kinds == 'answer'])} | {' | '.join(refused)} | {area:.3f} |")
        if name in FITTED:
            likely.append(found)
            true.append(holds)
            counted.append(shares(held))
    _reliability(*map(np.concatenate, (likely, true, counted)))


def _reliability(likely: Array, true: Array, counted: Array) -> None:
    print("\n| said | came true | share |\n|---:|---:|---:|")
    step = np.minimum((likely * 10).astype(int), 9)
    error = 0.0
    for one in range(10):
        inside = step == one
        if not inside.any():
            continue
        weight = counted[inside]
        said, came = np.average(likely[inside], weights=weight), np.average(true[inside], weights=weight)
        error += abs(said - came) * weight.sum() / counted.sum()
        print(f"| {said:.2f} | {came:.2f} | {weight.sum() / counted.sum():.2f} |")
    brier = np.average((likely - true) ** 2, weights=counted)
    print(f"\nBrier score {brier:.4f}, calibration error {error:.4f}")


def _share(values: Array) -> str:
    return f"{np.mean(values):.3f}" if len(values) else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    parser.add_argument("--sample", type=int, default=200, help="questions of a collection at most")
    parser.add_argument("--write", action="store_true", help="keep the numbers in the package")
    options = parser.parse_args()
    rows = gather(options.data, options.work, options.sample)
    models: dict[str, object] = {}
    for model, needed in MODELS:
        names = sorted(needed)
        # Where nothing can be quoted, there is no nearest sentence.
        asked = [row for row in rows[MODES[model]] if needed <= row.values.keys()]
        print(f"\n{model}: {', '.join(names)}\n")
        report(asked, names)
        *weights, bias = fit([row for row in asked if row.library in FITTED], names).round(5).tolist()
        models[model] = {"weights": dict(zip(names, weights, strict=True)), "bias": bias}
    print(json.dumps(models, indent=1))
    if options.write:
        told = {"embedder": EMBEDDER, "fitted_on": FITTED, "assumed": SHARES, "models": models}
        TARGET.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
