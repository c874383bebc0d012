"""Fit the numbers of the `fused` reranker, and show how well they hold on collections that had no part in it.

    python -m benchmarks.fit_fused ../shared/data/retrieval [--write]

Fitted on: scifact's train claims, pubmedqa_train, covidqa_dev (passages of full texts), hotpot100, musique100.
Held out: scifact's test claims, cranfield, vaswani, cp_algorithms. Every question is asked twice: of the collection,
and of the collection without the documents that answer it, so that the model also learns what a library looks like
that does not have the answer.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import collections
from carrel.rerankers.fused import FEATURES, features

Array = NDArray[np.float64]
MODELS = {
    "both": FEATURES,
    "vector": ("similarity", "similarity_z", "coverage"),
    "keyword": ("words_z", "coverage"),
    "neither": ("coverage",),
}
FITTED = ("scifact_train", "pubmedqa_train", "covidqa_dev", "hotpot100", "musique100")
HELD_OUT = ("scifact", "cranfield", "vaswani", "cp_algorithms")
DEPTH = 50
RIDGE = 1e-4
MOST_QUERIES = 500
TARGET = Path(__file__).parent.parent / "src/carrel/rerankers/fused.json"


@dataclass(frozen=True)
class Pool:
    """The candidates of one question: features, whether each is relevant, and their addresses."""

    values: Array
    relevant: Array
    addresses: tuple[str, ...]
    grades: dict[str, int]
    answerable: bool


def pools(index: collections.Index) -> list[Pool]:
    chosen = sorted(index.collection.relevant)
    picked = np.random.default_rng(0).permutation(len(chosen))[:MOST_QUERIES]
    return [
        _pool(index, chosen[number], answerable=answerable) for number in sorted(picked) for answerable in (True, False)
    ]


def _pool(index: collections.Index, query: str, *, answerable: bool) -> Pool:
    grades = dict(index.collection.relevant[query])
    text = index.collection.queries[query]
    papers = {index.by_address[address].paper_id for address in grades}
    without = (
        frozenset() if answerable else frozenset(c.address for c in index.collection.chunks if c.paper_id in papers)
    )
    candidates = index.candidates(text, depth=DEPTH, without=without)
    values = features(text, candidates)
    return Pool(
        values=np.column_stack([values[name] for name in FEATURES]),
        relevant=np.array([candidate.chunk.address in grades for candidate in candidates], dtype=np.float64),
        addresses=tuple(candidate.chunk.address for candidate in candidates),
        grades=grades,
        answerable=answerable,
    )


def fit(groups: list[list[Pool]], names: tuple[str, ...]) -> Array:
    """Weights and bias by Newton's method. Every collection counts the same, and every question within it."""
    columns = [FEATURES.index(name) for name in names]
    values = np.vstack([pool.values[:, columns] for group in groups for pool in group])
    target = np.concatenate([pool.relevant for group in groups for pool in group])
    share = np.concatenate([_share(pool, group, groups) for group in groups for pool in group])
    mean = share @ values
    spread = np.sqrt(share @ (values - mean) ** 2)
    # Standardised, so that the ridge weighs on all features alike.
    design = np.column_stack([(values - mean) / spread, np.ones(len(values))])
    solved = _newton(design, target, share)
    weights = solved[:-1] / spread
    return np.append(weights, solved[-1] - weights @ mean)


def _share(pool: Pool, group: list[Pool], groups: list[list[Pool]]) -> Array:
    return np.full(len(pool.relevant), 1 / len(pool.relevant) / len(group) / len(groups))


def _newton(design: Array, target: Array, share: Array) -> Array:
    weights = np.zeros(design.shape[1])
    for _ in range(100):
        chance = _sigmoid(design @ weights)
        slope = design.T @ (share * (chance - target)) + RIDGE * np.append(weights[:-1], 0)
        curve = (design * (share * chance * (1 - chance))[:, None]).T @ design + RIDGE * np.eye(len(weights))
        step = np.linalg.solve(curve, slope)
        weights = weights - step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def report(name: str, group: list[Pool], weights: Array) -> str:
    scored = [(pool, _sigmoid(np.column_stack([pool.values, np.ones(len(pool.values))]) @ weights)) for pool in group]
    gain = [
        collections.ndcg([pool.addresses[i] for i in np.argsort(-chance, kind="stable")], pool.grades)
        for pool, chance in scored
        if pool.answerable
    ]
    before = [collections.ndcg(pool.addresses, pool.grades) for pool in group if pool.answerable]
    best = [(float(chance.max()), float(pool.relevant[chance.argmax()])) for pool, chance in scored]
    brier = np.mean([(chance - right) ** 2 for chance, right in best])
    yes = [chance for (chance, _), (pool, _) in zip(best, scored, strict=True) if pool.answerable]
    no = [chance for (chance, _), (pool, _) in zip(best, scored, strict=True) if not pool.answerable]
    answered = " ".join(f"{np.mean(np.array(yes) >= t):.2f}/{np.mean(np.array(no) >= t):.2f}" for t in (0.4, 0.6, 0.8))
    return f"{name:15} {np.mean(before):8.4f} {np.mean(gain):8.4f} {brier:8.4f} {_auroc(yes, no):8.4f}  {answered}"


def _auroc(yes: list[float], no: list[float]) -> float:
    differences = np.subtract.outer(np.array(yes), np.array(no))
    return float((differences > 0).mean() + 0.5 * (differences == 0).mean())


def _sigmoid(values: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-values))
    return result


def _load(data: Path, name: str) -> collections.Collection:
    if name == "covidqa_dev":
        return collections.load_passages(data / name)
    part = "_train" if name == "scifact_train" else ""
    return collections.load(data / (name.removesuffix("_train") if part else name), part=part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    parser.add_argument("--write", action="store_true", help="keep the numbers in the package")
    options = parser.parse_args()
    groups = {}
    for name in (*FITTED, *HELD_OUT):
        groups[name] = pools(collections.index(_load(options.data, name), options.work))
        print("pooled", name, len(groups[name]), flush=True)
    models = {arms: fit([groups[name] for name in FITTED], names) for arms, names in MODELS.items()}
    print(f"{'collection':15} {'RRF':>8} {'fused':>8} {'Brier':>8} {'AUROC':>8}  answered with/without evidence")
    for name in (*FITTED, *HELD_OUT):
        print(report(name, groups[name], models["both"]), "" if name in FITTED else "(held out)")
    numbers = {
        arms: {
            "weights": dict(zip(names, map(float, models[arms].round(5)), strict=False)),
            "bias": round(float(models[arms][-1]), 5),
        }
        for arms, names in MODELS.items()
    }
    print(json.dumps(numbers, indent=1))
    if options.write:
        TARGET.write_text(json.dumps({"fitted_on": FITTED, "models": numbers}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
