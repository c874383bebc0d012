"""Fit the numbers of the `fused` reranker, and show how well they hold on collections that had no part in it.

    python -m benchmarks.fit_fused ../shared/data/retrieval [--write]

Two things are told apart. In which order candidates come is a weighted sum of a few features (`ORDER`), in steps of a
coarse grid. How sure one can be of a candidate is a logistic curve over that sum and over the best similarity that
any candidate of the question has; slope, bias and that weight are fitted here.

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
from carrel.evaluate.metrics import ndcg
from carrel.rerankers.fused import Fused, features
from carrel.types import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.types import Candidate

Array = NDArray[np.float64]
_TEXT = {"coverage": 1.0, "coverage_ahead": 2.0, "heading": 2.0}
ORDER: dict[str, dict[str, float]] = {
    "second": {"feedback_z": 1.0, "words_z": 0.2, **_TEXT},
    "first": {"similarity_z": 1.0, "words_z": 0.5, **_TEXT},
    "vector": {"similarity_z": 1.0, **_TEXT},
    "keyword": {"words_z": 1.0, **_TEXT},
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
    sure: Array
    """What says how sure one can be, the same for all."""
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
        sure=np.array([values[name][0] for name in sure_of(model)]),
        relevant=np.array([candidate.chunk.address in grades for candidate in candidates], dtype=np.float64),
        addresses=tuple(candidate.chunk.address for candidate in candidates),
        grades=grades,
        answerable=answerable,
    )


def sure_of(model: str) -> tuple[str, ...]:
    """What says how sure one can be of any candidate of a question."""
    return ("best_similarity",) if model in ("second", "first", "vector") else ()


def fit(groups: Sequence[Sequence[Pool]]) -> Array:
    """Slope, weights of what says how sure one can be, and bias; collections count alike, and questions in them."""
    values = np.vstack([_design(pool) for group in groups for pool in group])
    target = np.concatenate([pool.relevant for group in groups for pool in group])
    share = np.concatenate([_share(pool, group, groups) for group in groups for pool in group])
    mean = share @ values
    spread = np.sqrt(share @ (values - mean) ** 2)
    # Standardised, so that the ridge weighs on all alike.
    design = np.column_stack([(values - mean) / spread, np.ones(len(values))])
    solved = _newton(design, target, share)
    weights = solved[:-1] / spread
    return np.append(weights, solved[-1] - weights @ mean)


def _design(pool: Pool) -> Array:
    return np.column_stack([pool.order, np.tile(pool.sure, (len(pool.order), 1))])


def _share(pool: Pool, group: Sequence[Pool], groups: Sequence[Sequence[Pool]]) -> Array:
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


def chances(pool: Pool, weights: Array) -> Array:
    return _sigmoid(_design(pool) @ weights[:-1] + weights[-1])


def report(name: str, group: Sequence[Pool], weights: Array) -> str:
    """nDCG@10 of the order, and what the best candidate's probability is worth."""
    gain = [
        ndcg([pool.addresses[i] for i in np.argsort(-pool.order, kind="stable")], pool.grades)
        for pool in group
        if pool.answerable
    ]
    best = [(float(chance.max()), float(pool.relevant[chance.argmax()])) for pool, chance in _scored(group, weights)]
    brier = np.mean([(chance - right) ** 2 for chance, right in best])
    yes = [chance for (chance, _), pool in zip(best, group, strict=True) if pool.answerable]
    no = [chance for (chance, _), pool in zip(best, group, strict=True) if not pool.answerable]
    answered = " ".join(f"{np.mean(np.array(yes) >= t):.2f}/{np.mean(np.array(no) >= t):.2f}" for t in (0.4, 0.6, 0.8))
    return f"{name:15} {np.mean(gain):8.4f} {brier:8.4f} {auroc(yes, no):8.4f}  {answered}"


def _scored(group: Sequence[Pool], weights: Array) -> list[tuple[Pool, Array]]:
    return [(pool, chances(pool, weights)) for pool in group]


def auroc(yes: Sequence[float], no: Sequence[float]) -> float:
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


def numbers(model: str, weights: Array) -> dict[str, object]:
    slope = float(weights[0])
    told = {name: round(slope * weight, 5) for name, weight in ORDER[model].items()}
    sure = {name: round(float(weight), 5) for name, weight in zip(sure_of(model), weights[1:-1], strict=True)}
    return {"weights": {**told, **sure}, "bias": round(float(weights[-1]), 5)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".bench"))
    parser.add_argument("--plot", type=Path, help="draw how often candidates of each probability are relevant")
    parser.add_argument("--write", action="store_true", help="keep the numbers in the package")
    options = parser.parse_args()
    groups: dict[str, dict[str, list[Pool]]] = {}
    for name in (*FITTED, *HELD_OUT):
        groups[name] = pools(collections.index(load(options.data, name), options.work))
        print("pooled", name, len(groups[name]["second"]), flush=True)
    for model in ORDER:
        print(f"\n{model:15} {'nDCG@10':>8} {'Brier':>8} {'AUROC':>8}  answered with/without evidence at 0.4 0.6 0.8")
        whole = fit([groups[name][model] for name in FITTED])
        for name in (*FITTED, *HELD_OUT):
            others = [groups[other][model] for other in FITTED if other != name]
            print(report(name, groups[name][model], fit(others) if name in FITTED else whole))
    models = {model: numbers(model, fit([groups[name][model] for name in FITTED])) for model in ORDER}
    print(json.dumps(models, indent=1))
    if options.write:
        TARGET.write_text(json.dumps({"fitted_on": FITTED, "models": models}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
