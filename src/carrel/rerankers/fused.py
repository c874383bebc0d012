"""A calibrated combination of what is already known about a candidate.

It is a weighted sum and a logistic curve, and no cross-encoder: it reads the candidate's words only to see how many of
the question's they have, close together and in the headings. Its numbers are in `fused.json`;
`benchmarks/fit_fused.py` says where they come from.
"""

from __future__ import annotations

import json
import math
from collections import Counter, deque
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from carrel import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from numpy.typing import NDArray

    from carrel.types import Candidate

    Array = NDArray[np.float64]

_POOL = 30
"""As many candidates as the numbers were fitted on: what is usual is measured on these, not on a longer list."""
_MODELS = (
    ("second", frozenset({"feedback_z", "words_z"})),
    ("first", frozenset({"similarity_z", "words_z"})),
    ("vector", frozenset({"similarity_z"})),
    ("keyword", frozenset({"words_z"})),
    ("neither", frozenset[str]()),
)
"""Which model is used when these signals are there, the first that fits."""
_REMEMBERED = 512
_NEAR = 30
"""Words in a long sentence."""
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
    costly = False

    def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        return [probability for probability, _ in self.explained(query, candidates)]

    def explained(self, query: str, candidates: Sequence[Candidate]) -> list[tuple[float, dict[str, float]]]:
        if not candidates:
            return []
        model, values = _models()[model_for(candidates)], features(query, candidates)
        order = sum((weight * values[name] for name, weight in model.weights.items()), np.zeros(len(candidates)))
        sure = model.lead * order[:_POOL].max() + model.nearest * nearest(candidates) + model.bias
        # Beyond 50 it is 0 or 1, and further on no number.
        probabilities = (1 / (1 + np.exp((-order - sure).clip(-50, 50)))).round(6).tolist()
        used = {name: values[name].round(4).tolist() for name in model.weights}
        return [(p, {name: row[i] for name, row in used.items()}) for i, p in enumerate(probabilities)]


@dataclass(frozen=True)
class Model:
    """A candidate's logit is the weighted sum of its features, which says how it compares with the others, and the same
    for all of a question, which says how sure one can be of any: by the best of those sums and by the similarity of
    the nearest."""

    weights: Mapping[str, float]
    lead: float
    nearest: float
    bias: float


@cache
def _models() -> dict[str, Model]:
    stored = json.loads((resources.files("carrel.rerankers") / "fused.json").read_text(encoding="utf-8"))
    return {name: Model(**model) for name, model in stored["models"].items()}


def model_for(candidates: Sequence[Candidate]) -> str:
    """Which model: without a signal, the one that was fitted without it."""
    known = set.intersection(*(set(candidate.signals) for candidate in candidates))
    if not any("similarity" in candidate.signals for candidate in candidates[:_POOL]):
        # Meaning was asked for, but none of these has a vector: that says nothing about them.
        known -= {"similarity_z", "feedback_z"}
    return next(name for name, signals in _MODELS if signals <= known)


def features(query: str, candidates: Sequence[Candidate]) -> dict[str, Array]:
    """Each feature's value for every candidate: the signals that all have, and what their words say."""
    known = set.intersection(*(set(candidate.signals) for candidate in candidates))
    values = {name: np.array([candidate.signals[name] for candidate in candidates]) for name in known}
    return {**values, **_covered(query, candidates)}


def nearest(candidates: Sequence[Candidate]) -> float:
    """The best similarity that is known."""
    return max((one.signals["similarity"] for one in candidates[:_POOL] if "similarity" in one.signals), default=0.0)


def _covered(query: str, candidates: Sequence[Candidate]) -> dict[str, Array]:
    """The share of the question's words close together, in the headings, and how far ahead of its own paper's.

    A word weighs more the fewer candidates have it; one that none has weighs most: it is what the library lacks.
    """
    texts = [_stems(one.chunk.text) for one in candidates]
    headings = [set(_stems(one.chunk.heading)) for one in candidates]
    weights = _weights(query, [above.union(text) for above, text in zip(headings[:_POOL], texts, strict=False)])
    whole = sum(weights.values()) or 1.0
    coverage = np.array([_together(text, weights) for text in texts]) / whole
    return {
        "coverage": coverage,
        "coverage_ahead": coverage - _of_their_papers(coverage, candidates),
        "heading": np.array([_weigh(above, weights) for above in headings]) / whole,
    }


@lru_cache(maxsize=_REMEMBERED)
def _stems(text: str) -> tuple[str, ...]:
    """A search reads its candidates twice, and the next one often some of the same."""
    return tuple(words.stems(text))


def _together(text: Sequence[str], weights: Mapping[str, float]) -> float:
    """What the question's words weigh that stand within a sentence's length of each other, at the best place."""
    weight = best = 0.0
    near: deque[tuple[int, str]] = deque()
    times: Counter[str] = Counter()
    # Few of a text's words are the question's: this is the quickest way past the others.
    for place, stem in [(place, stem) for place, stem in enumerate(text) if stem in weights]:
        near.append((place, stem))
        times[stem] += 1
        weight += weights[stem] if times[stem] == 1 else 0.0
        while near[0][0] <= place - _NEAR:
            _, gone = near.popleft()
            times[gone] -= 1
            weight -= weights[gone] if not times[gone] else 0.0
        best = max(best, weight)
    return best


def _of_their_papers(values: Array, candidates: Sequence[Candidate]) -> Array:
    """The mean over the candidates of the same paper: which of its passages is meant, when they are about the same."""
    _, paper = np.unique([candidate.chunk.paper_id for candidate in candidates], return_inverse=True)
    means: Array = np.bincount(paper, weights=values) / np.bincount(paper)
    return means[paper]


def _weights(query: str, held: Sequence[Set[str]]) -> dict[str, float]:
    everything = dict.fromkeys(words.stems(query))
    asked = [stem for stem in everything if stem not in small_words()] or list(everything)
    frequency = {stem: sum(stem in one for one in held) for stem in asked}
    return {stem: math.log(1 + len(held) / (0.5 + frequency[stem])) for stem in asked}


def _weigh(present: Set[str], weights: Mapping[str, float]) -> float:
    return sum(weights[stem] for stem in present if stem in weights)


@cache
def small_words() -> set[str]:
    """Words that every question has and no answer needs."""
    return set(words.stems(_SMALL_WORDS))
