"""Fit the numbers of the `fused` reranker, and show how well they hold on collections that had no part in it.

    python -m benchmarks.fit_fused ../shared/data/retrieval [--write]

Two things are told apart. In which order candidates come is a weighted sum of a few features (`ORDER`), in steps of a
coarse grid. How sure one can be is fitted: the slope of a logistic curve over that sum on all candidates, and on each
question's best candidate alone, where it counts, what its sum and the similarity of the nearest are worth.

Fitted on: scifact's train claims, pubmedqa_train, covidqa_dev (passages of full texts), hotpot100, musique100.
Held out: scifact's test claims, cranfield, vaswani, cp_algorithms. Every question is asked twice: of the collection,
and of the collection without the documents that answer it, so that the model also learns what a library looks like
that does not have the answer. For each fitted collection the report uses numbers that were fitted without it.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmarks import collections
from carrel.evaluate import calibrating, plots
from carrel.evaluate.metrics import ndcg
from carrel.rerankers.fused import Fused, features, nearest
from carrel.types import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.types import Candidate

Array = NDArray[np.float64]
_TEXT = {"coverage": 1.5, "coverage_ahead": 2.0, "heading": 1.5}
ORDER: dict[str, dict[str, float]] = {
    "second": {"feedback_z": 1.0, "words_z": 0.2, **_TEXT},
    "first": {"similarity_z": 1.0, "words_z": 0.5, **_TEXT},
    "vector": {"similarity_z": 1.0, **_TEXT},
    "keyword": {"words_z": 1.0, **_TEXT, "coverage": 3.0},
    "neither": _TEXT,
}
FITTED = ("scifact_train", "pubmedqa_train", "covidqa_dev", "hotpot100", "musique100")
HELD_OUT = ("scifact", "cranfield", "vaswani", "cp_algorithms")
RIDGE = 1e-4
MOST_QUERIES = 300
TARGET = Path(__file__).parent.parent / "src/carrel/rerankers/fused.json"


@dataclass(frozen=True)
class Pool:
    """The candidates of one question, as one model sees them."""

    order: Array
    """The weighted sum of each."""
    nearest: float
    """The similarity of the nearest."""
    relevant: Array
    addresses: tuple[str, ...]
    grades: Mapping[str, int]
    answerable: bool


class Listening(Fused):
    """The reranker, with what it was given: the first round's candidates, then the second's."""

    def __init__(self) -> None:
        self.heard: list[Sequence[Candidate]] = []

    def explained(self, query: str, candidates: Sequence[Candidate]) -> list[tuple[float, dict[str, float]]]:
        self.heard.append(candidates)
        return super().explained(query, candidates)


def pools(index: collections.Index) -> dict[str, list[Pool]]:
    """By model."""
    chosen = sorted(index.collection.relevant)
    picked = np.random.default_rng(0).permutation(len(chosen))[:MOST_QUERIES]
    gathered: dict[str, list[Pool]] = {name: [] for name in ORDER}
    for number in sorted(picked):
        for answerable in (True, False):
            for name, pool in _pools(index, chosen[number], answerable=answerable).items():
                gathered[name].append(pool)
    return gathered


def _pools(index: collections.Index, query: str, *, answerable: bool) -> dict[str, Pool]:
    grades, text = index.collection.relevant[query], index.collection.queries[query]
    papers = {index.by_address[address].paper_id for address in grades}
    left_out = frozenset(chunk.address for chunk in index.collection.chunks if chunk.paper_id in papers)
    without = frozenset[str]() if answerable else left_out
    found: dict[str, Pool] = {}
    for mode, models in ((Mode.HYBRID, ("first", "second")), (Mode.VECTOR, ("vector",)), (Mode.KEYWORD, ("keyword",))):
        reranker = Listening()
        index.search(text, reranker=reranker, mode=mode, without=without)
        for name, candidates in zip(models, reranker.heard, strict=False):
            found[name] = _pool(name, text, candidates, grades, answerable=answerable)
            if name == "first":
                found["neither"] = _pool("neither", text, candidates, grades, answerable=answerable)
    return found


def _pool(
    model: str, text: str, candidates: Sequence[Candidate], grades: Mapping[str, int], *, answerable: bool
) -> Pool:
    values = features(text, candidates)
    return Pool(
        order=sum((weight * values[name] for name, weight in ORDER[model].items()), np.zeros(len(candidates))),
        nearest=0.0 if model == "neither" else nearest(candidates),
        relevant=np.array([candidate.chunk.address in grades for candidate in candidates], dtype=np.float64),
        addresses=tuple(candidate.chunk.address for candidate in candidates),
        grades=grades,
        answerable=answerable,
    )


@dataclass(frozen=True)
class Curve:
    slope: float
    best: float
    nearest: float
    bias: float

    def chances(self, pool: Pool) -> Array:
        sure = self.best * pool.order.max() + self.nearest * pool.nearest + self.bias
        return _sigmoid(self.slope * (pool.order - pool.order.max()) + sure)


def fit(groups: Sequence[Sequence[Pool]]) -> Curve:
    """Collections count alike, and questions in them."""
    shares = [1 / len(group) / len(groups) for group in groups for _ in group]
    every = [pool for group in groups for pool in group]
    slope, *_ = logistic(
        np.vstack([_columns(pool, pool.order) for pool in every]),
        np.concatenate([pool.relevant for pool in every]),
        np.concatenate([np.full(len(pool.order), s / len(pool.order)) for pool, s in zip(every, shares, strict=True)]),
    )
    best, near, bias = logistic(
        np.vstack([_columns(pool, pool.order.max()) for pool in every]),
        np.array([pool.relevant[pool.order.argmax()] for pool in every]),
        np.array(shares),
    )
    return Curve(float(slope), float(best), float(near), float(bias))


def _columns(pool: Pool, order: Array | float) -> Array:
    order = np.atleast_1d(order)
    return np.column_stack([order, np.full(len(order), pool.nearest)])


def logistic(values: Array, target: Array, share: Array) -> Array:
    """Weights and bias."""
    mean = share @ values
    spread = np.sqrt(share @ (values - mean) ** 2) + 1e-9
    # Standardised, so that the ridge weighs on all alike.
    solved = _newton(np.column_stack([(values - mean) / spread, np.ones(len(values))]), target, share)
    weights = solved[:-1] / spread
    return np.append(weights, solved[-1] - weights @ mean)


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


def report(name: str, group: Sequence[Pool], curve: Curve) -> str:
    """nDCG@10 of the order, and what the best candidate's probability is worth."""
    gain = [
        ndcg([pool.addresses[i] for i in np.argsort(-pool.order, kind="stable")], pool.grades)
        for pool in group
        if pool.answerable
    ]
    likely, right = best(group, curve)
    answerable = np.array([pool.answerable for pool in group])
    yes, no = likely[answerable], likely[~answerable]
    answered = " ".join(f"{np.mean(yes >= t):.2f}/{np.mean(no >= t):.2f}" for t in (0.4, 0.6, 0.8))
    brier = calibrating.brier(likely, right)
    return f"{name:15} {np.mean(gain):8.4f} {brier:8.4f} {auroc(yes, no):8.4f}  {answered}"


def best(group: Sequence[Pool], curve: Curve) -> tuple[Array, Array]:
    """How likely the best candidate of each question is called, and whether it is relevant."""
    scored = [(pool, curve.chances(pool)) for pool in group]
    return (
        np.array([chance.max() for _, chance in scored]),
        np.array([pool.relevant[chance.argmax()] for pool, chance in scored]),
    )


def auroc(yes: Sequence[float] | Array, no: Sequence[float] | Array) -> float:
    differences = np.subtract.outer(np.array(yes), np.array(no))
    return float((differences > 0).mean() + 0.5 * (differences == 0).mean())


def _sigmoid(values: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-values))
    return result


def load(data: Path, name: str) -> collections.Collection:
    if name == "covidqa_dev":
        return collections.load_passages(data / name)
    part = "_train" if name == "scifact_train" else ""
    return collections.load(data / (name.removesuffix("_train") if part else name), part=part)


def numbers(model: str, curve: Curve) -> dict[str, object]:
    return {
        "weights": {name: round(curve.slope * weight, 5) for name, weight in ORDER[model].items()},
        "lead": round(curve.best / curve.slope - 1, 5),
        "nearest": round(curve.nearest, 5),
        "bias": round(curve.bias, 5),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    parser.add_argument("--plot", type=Path, help="draw how often candidates of each probability are relevant")
    parser.add_argument("--write", action="store_true", help="keep the numbers in the package")
    options = parser.parse_args()
    groups: dict[str, dict[str, list[Pool]]] = {}
    drawn: list[tuple[Array, Array]] = []
    for name in (*FITTED, *HELD_OUT):
        groups[name] = pools(collections.index(load(options.data, name), options.work))
        print("pooled", name, len(groups[name]["second"]), flush=True)
    for model in ORDER:
        print(f"\n{model:15} {'nDCG@10':>8} {'Brier':>8} {'AUROC':>8}  answered with/without evidence at 0.4 0.6 0.8")
        whole = fit([groups[name][model] for name in FITTED])
        for name in (*FITTED, *HELD_OUT):
            others = [groups[other][model] for other in FITTED if other != name]
            curve = fit(others) if name in FITTED else whole
            print(report(name, groups[name][model], curve))
            if model == "second":
                drawn.append(best(groups[name][model], curve))
    likely, right = (np.concatenate(part) for part in zip(*drawn, strict=True))
    print(f"all together: Brier {calibrating.brier(likely, right):.4f}", end=", ")
    print(f"calibration error {calibrating.calibration_error(likely, right):.4f}")
    if options.plot:
        options.plot.write_text(plots.reliability(calibrating.bins(likely, right)), encoding="utf-8")
    models = {model: numbers(model, fit([groups[name][model] for name in FITTED])) for model in ORDER}
    print(json.dumps(models, indent=1))
    if options.write:
        TARGET.write_text(json.dumps({"fitted_on": FITTED, "models": models}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
