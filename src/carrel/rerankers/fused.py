"""A calibrated combination of what the arms already know about a candidate.

It is a logistic regression over a handful of features, and no cross-encoder: it reads the candidate's words only to see
how much of the question they cover. Its numbers are in `fused.json`; `benchmarks/fit_fused.py` fits them.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from carrel import sentences, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from carrel.types import Candidate, Chunk

    Array = NDArray[np.float64]

FEATURES = ("similarity", "similarity_z", "words_z", "coverage")
_POOL = 50
"""As many candidates as the numbers were fitted on."""
_SMALL_WORDS = """
    a about above after again against all also always am among an and another any anybody anyone anything are as at
    be because been before being below between both but by can cannot could did do does doing down during each
    either ever every everybody everyone everything exist exists few find for from further get gets give gives had
    happen happens has have having he her here him his how i if in into is it its itself just know known less let
    like made main make makes many may me mean means might more most much must my never no nobody none nor not
    nothing now of off often on once one only or other our out over own paper papers people per quite rather really
    result results same say says shall she should show shown shows so some somebody someone something such tell than
    that the their them then there these they thing things this those through to too two under until up upon us use
    used uses using very was way ways we well were what when where whether which while who whom whose why will with
    within without work works would yet you your
    """


class Fused:
    name = "fused"

    def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        if not candidates:
            return []
        model = _models()[_arms_of(candidates)]
        values = features(query, candidates)
        logits = model.bias + sum(weight * values[name] for name, weight in model.weights.items())
        return [round(float(p), 6) for p in 1 / (1 + np.exp(-np.asarray(logits)))]


@dataclass(frozen=True)
class Model:
    weights: Mapping[str, float]
    bias: float


@cache
def _models() -> dict[str, Model]:
    """One model for each set of arms that may have answered."""
    stored = json.loads((resources.files("carrel.rerankers") / "fused.json").read_text(encoding="utf-8"))
    return {arms: Model(model["weights"], model["bias"]) for arms, model in stored["models"].items()}


def _arms_of(candidates: Sequence[Candidate]) -> str:
    """Which of the two text arms said anything: without a feature, the model fitted without it."""
    named = {arm for candidate in candidates for arm in candidate.fused.arms}
    if {"vector", "keyword"} <= named:
        return "both"
    return "vector" if "vector" in named else "keyword" if "keyword" in named else "neither"


def features(query: str, candidates: Sequence[Candidate]) -> dict[str, Array]:
    """Each feature's value for every candidate. A candidate an arm did not find counts as the last of its pool.

    What is usual is measured on the first candidates only, so that a longer list does not change their scores.
    """
    similarity = _arm_scores(candidates, "vector")
    by_words = _arm_scores(candidates, "keyword")
    return {
        "similarity": similarity,
        "similarity_z": _standardised(similarity),
        "words_z": _standardised(by_words),
        "coverage": _coverage(query, candidates),
    }


def _arm_scores(candidates: Sequence[Candidate], arm: str) -> Array:
    found = [c.fused.arms[arm].score if arm in c.fused.arms else math.nan for c in candidates]
    scores = np.array(found, dtype=np.float64)
    known = scores[:_POOL][~np.isnan(scores[:_POOL])]
    return np.where(np.isnan(scores), known.min() if len(known) else 0.0, scores)


def _standardised(values: Array) -> Array:
    usual = values[:_POOL]
    return (values - usual.mean()) / usual.std() if usual.std() > 1e-9 else np.zeros(len(values))


def _coverage(query: str, candidates: Sequence[Candidate]) -> Array:
    """The share of the question's words in the best sentence of each candidate.

    A word weighs more the fewer candidates have it; one that none has weighs most: it is what the library lacks.
    """
    everything = dict.fromkeys(words.stems(query))
    asked = [stem for stem in everything if stem not in _small_words()] or list(everything)
    held = [set(words.stems(f"{c.chunk.heading}\n{c.chunk.text}")) for c in candidates[:_POOL]]
    frequency = {stem: sum(stem in one for one in held) for stem in asked}
    weights = {stem: math.log(1 + len(held) / (0.5 + frequency[stem])) for stem in asked}
    best = [max(_weigh(text, weights) for text in _sentences(c.chunk)) for c in candidates]
    return np.array(best) / (sum(weights.values()) or 1.0)


def _weigh(text: str, weights: Mapping[str, float]) -> float:
    present = set(words.stems(text))
    return sum(weight for stem, weight in weights.items() if stem in present)


def _sentences(chunk: Chunk) -> list[str]:
    return [chunk.text[span.start : span.end] for span in sentences.prose(chunk.text)] or [chunk.title]


@cache
def _small_words() -> set[str]:
    """Words that every question has and no answer needs."""
    return set(words.stems(_SMALL_WORDS))
