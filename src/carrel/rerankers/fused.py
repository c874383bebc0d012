"""A calibrated combination of what the arms already know about a candidate.

It is a logistic regression over a handful of features, and no cross-encoder: it reads the candidate's words only to see
how much of the question they cover. Its numbers are in `fused.json`; `benchmarks/fit_fused.py` fits them.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from carrel import sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.types import Candidate

FEATURES = ("similarity", "similarity_lead", "similarity_z", "words_z", "coverage", "sentence_coverage")
_WORD = re.compile(r"\w+")
_STEM = 6
_SMALL_WORDS = frozenset(
    """
    a about above after again against all also am an and any are aren as at be because been before being below between
    both but by can cannot could did do does doing down during each either few for from further had has have having he
    her here hers him his how i if in into is it its itself just may me might more most must my no nor not of off on
    once only or other our out over own same shall she should so some such than that the their them then there these
    they this those through to too under until up upon us use used using very was we were what when where which while
    who whom why will with within without would yet you your many much well one two new paper papers study show shows
    shown result results
    """.split()  # noqa: SIM905
)


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


def features(query: str, candidates: Sequence[Candidate]) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Each feature's value for every candidate. A candidate an arm did not find counts as its last."""
    similarity = _arm_scores(candidates, "vector")
    words = _arm_scores(candidates, "keyword")
    coverage, in_sentence = _coverage(query, candidates)
    return {
        "similarity": similarity,
        "similarity_lead": similarity - similarity.max(),
        "similarity_z": _standardised(similarity),
        "words_z": _standardised(words),
        "coverage": coverage,
        "sentence_coverage": in_sentence,
    }


def _arm_scores(candidates: Sequence[Candidate], arm: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    found = [c.fused.arms[arm].score if arm in c.fused.arms else math.nan for c in candidates]
    scores = np.array(found, dtype=np.float64)
    return np.zeros(len(scores)) if np.isnan(scores).all() else np.where(np.isnan(scores), np.nanmin(scores), scores)


def _standardised(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    spread = values.std()
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros(len(values))


def _coverage(
    query: str, candidates: Sequence[Candidate]
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """The share of the question's words in each candidate, and in the best of its sentences.

    A word weighs more the fewer candidates have it; one that none has weighs most: it is what the library lacks.
    """
    asked = stems(query) or {"": 1}
    held = [stems(f"{c.chunk.heading}\n{c.chunk.text}") for c in candidates]
    frequency = Counter(stem for words in held for stem in words if stem in asked)
    weights = {stem: math.log(1 + len(candidates) / (0.5 + frequency[stem])) for stem in asked}
    total = sum(weights.values())
    whole = [sum(weights[stem] for stem in asked if stem in words) / total for words in held]
    best = [_best_sentence(c.chunk.text, c.chunk.title, weights) / total for c in candidates]
    return np.array(whole), np.array(best)


def _best_sentence(text: str, title: str, weights: Mapping[str, float]) -> float:
    in_title = stems(title)
    shares = (
        sum(weight for stem, weight in weights.items() if stem in words)
        for words in (stems(text[span.start : span.end]) for span in sentences.prose(text))
    )
    return max(shares, default=sum(weight for stem, weight in weights.items() if stem in in_title))


def stems(text: str) -> dict[str, int]:
    """The words that carry meaning, cut to where their endings begin."""
    words = (word.casefold() for word in _WORD.findall(text))
    return Counter(word[:_STEM] for word in words if word not in _SMALL_WORDS)
