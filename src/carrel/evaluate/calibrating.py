"""Whether probabilities keep their word: how often what was found held an answer beside how likely that was called.

A question is asked twice: of the library, and of the library without the papers that answer it. Without them whatever
is found is wrong. As the probabilities assume that of three questions two have an answer, what was said with the papers
counts twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from carrel.evaluate.intervals import Difference, Interval, difference
from carrel.evaluate.plots import Bin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

BINS = 10
FEWEST = 50
"""Questions from which on a threshold is fitted."""
SIGNIFICANT = 0.05
_WIDEST = 0.3
"""An interval of a threshold that is still of use."""
_RESAMPLES = 200
_FOLDS = 5
_TIMES = 3
"""How often each question is counted: twice with what answers it, once without."""
_NEWTON_STEPS = 100
_RIDGE = 1e-6
_EDGE = 1e-6
"""Nearer to 0 and 1 than this no probability is taken at its word."""


class Trial(NamedTuple):
    """One question asked with and without the papers that answer it: how likely each time an answer was called, and
    whether, with them, something of theirs was found."""

    question: str
    likely: float
    right: bool
    likely_without: float


class Coverage(NamedTuple):
    """What an answer would be given to from a threshold on."""

    threshold: float
    answered: float
    """Share of the questions that the library has an answer to."""
    answered_without: float
    """Share of the questions that it has none to."""
    risk: float
    """Share of all that was answered where nothing that was found held an answer."""


@dataclass(frozen=True, slots=True)
class Map:
    """From what was said to what it means: sigmoid(slope · logit(p) + shift), rising."""

    slope: float = 1.0
    shift: float = 0.0

    def of(self, probabilities: Array) -> Array:
        return _sigmoid(self.slope * _logit(probabilities) + self.shift)

    def meaning(self, certainty: float) -> float:
        """The probability that has to be said for this one to be meant."""
        return float(_sigmoid((_logit(np.array([certainty])) - self.shift) / self.slope)[0])


AS_SAID = Map()


def said(trials: Sequence[Trial]) -> tuple[Array, Array]:
    """All probabilities and whether they came true: with the answering papers, once more, and without."""
    likely, without = [trial.likely for trial in trials], [trial.likely_without for trial in trials]
    right = [float(trial.right) for trial in trials]
    return (
        np.array([*likely, *likely, *without], dtype=np.float64),
        np.array([*right, *right, *([0.0] * len(trials))], dtype=np.float64),
    )


def brier(likely: Array, right: Array) -> float:
    return float(np.mean((likely - right) ** 2))


def bins(likely: Array, right: Array, *, count: int = BINS) -> list[Bin]:
    """The probabilities in as many steps as there are, those without any left out."""
    step = np.minimum((likely * count).astype(int), count - 1)
    return [
        Bin(float(likely[step == one].mean()), float(right[step == one].mean()), int((step == one).sum()))
        for one in range(count)
        if (step == one).any()
    ]


def calibration_error(likely: Array, right: Array) -> float:
    """By how much, on average over its steps, what was said differs from what came true."""
    return sum(one.count * abs(one.predicted - one.observed) for one in bins(likely, right)) / max(len(likely), 1)


def auroc(trials: Sequence[Trial]) -> float:
    """How often a question with an answer is called likelier than one without; 0.5 is chance."""
    yes, no = (np.array(values) for values in zip(*((t.likely, t.likely_without) for t in trials), strict=True))
    apart = np.subtract.outer(yes, no)
    return float((apart > 0).mean() + 0.5 * (apart == 0).mean())


def coverage(trials: Sequence[Trial], threshold: float) -> Coverage:
    likely, right = said(trials)
    answered = likely >= threshold
    risk = float(1 - right[answered].mean()) if answered.any() else 0.0
    shares, _, shares_without = answered.reshape(_TIMES, -1).mean(axis=1).tolist()
    return Coverage(threshold, shares, shares_without, risk)


def fit(likely: Array, right: Array) -> Map | None:
    """Platt's map by Newton's method; None when what was called likelier did not come true more often."""
    if not 0 < right.sum() < len(right):
        return None
    hits, misses = right.sum(), len(right) - right.sum()
    # Platt's targets: not quite sure even of what was seen, so that few trials make no certainty.
    target = np.where(right > 0, (hits + 1) / (hits + 2), 1 / (misses + 2))
    design = np.column_stack([_logit(likely), np.ones(len(likely))])
    slope, shift = _newton(design, target)
    return Map(slope, shift) if slope > 0 else None


def _newton(design: Array, target: Array) -> tuple[float, float]:
    weights = np.zeros(2)
    for _ in range(_NEWTON_STEPS):
        chance = _sigmoid(design @ weights)
        slope = design.T @ (chance - target) + _RIDGE * weights
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + _RIDGE * np.eye(2)
        step = np.linalg.solve(curve, slope)
        # Far out the curve is flat and a whole step leads astray.
        while _loss(design, target, weights - step) > _loss(design, target, weights) + _EDGE:
            step = step / 2
        weights = weights - step
        if np.abs(step).max() < _EDGE:
            break
    return float(weights[0]), float(weights[1])


def _loss(design: Array, target: Array, weights: Array) -> float:
    values = design @ weights
    return float(np.sum(np.logaddexp(0, values) - target * values) + 0.5 * _RIDGE * weights @ weights)


def refitted(trials: Sequence[Trial], *, seed: int) -> Array:
    """What maps fitted on the other trials make of each one's probabilities, in the order of `said`."""
    likely, right = said(trials)
    folds = np.tile(np.random.default_rng(seed).permutation(len(trials)) % _FOLDS, _TIMES)
    mapped = likely.copy()
    for one in range(_FOLDS):
        made = fit(likely[folds != one], right[folds != one])
        if made:
            mapped[folds == one] = made.of(likely[folds == one])
    return mapped


def _logit(values: Array) -> Array:
    inside = np.clip(values, _EDGE, 1 - _EDGE)
    return np.asarray(np.log(inside / (1 - inside)), dtype=np.float64)


def _sigmoid(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -50, 50))), dtype=np.float64)


@dataclass(frozen=True)
class Calibration:
    """What a library's questions say of its probabilities, and the threshold that suits them."""

    trials: tuple[Trial, ...]
    certainty: float
    """How sure an answer has to be."""
    map: Map
    """`AS_SAID` when nothing better is proved."""
    gain: Difference
    """By how much the map lessens the Brier score of trials that it was not fitted on."""
    threshold: float
    """The probability from which on passages are so sure."""
    interval: Interval
    doubt: str = ""
    """Why the threshold is not to be used."""


def calibrate(trials: Sequence[Trial], *, certainty: float, seed: int) -> Calibration:
    """Fit the map, keep it if it is proved to be needed, and find the threshold for a certainty."""
    likely, right = said(trials)
    made, held = fit(likely, right), refitted(trials, seed=seed)
    gain = difference(_errors(likely, right), _errors(held, right), seed=seed)
    needed = made is not None and gain.mean > 0 and gain.p < SIGNIFICANT
    found = made if made and needed else AS_SAID
    interval = _reach(trials, certainty, seed) if needed else Interval(certainty, certainty)
    return Calibration(
        trials=tuple(trials),
        certainty=certainty,
        map=found,
        gain=gain,
        threshold=round(found.meaning(certainty), 3),
        interval=interval,
        doubt=_doubt(len(trials), made, interval),
    )


def _errors(likely: Array, right: Array) -> list[float]:
    """The Brier score of each trial, all times together."""
    squares: Array = (likely - right) ** 2
    return list(squares.reshape(_TIMES, -1).mean(axis=0))


def _reach(trials: Sequence[Trial], certainty: float, seed: int) -> Interval:
    """Between which values the threshold lies for other questions of the same kind."""
    likely, right = said(trials)
    chance, count = np.random.default_rng(seed), len(trials)
    drawn = (chance.integers(count, size=count) for _ in range(_RESAMPLES))
    times = count * np.arange(_TIMES)[:, None]
    maps = (fit(likely[rows], right[rows]) for rows in ((times + one).ravel() for one in drawn))
    found = [one.meaning(certainty) for one in maps if one]
    low, high = np.quantile(found, [0.025, 0.975]) if found else (0.0, 1.0)
    return Interval(round(float(low), 3), round(float(high), 3))


def _doubt(count: int, made: Map | None, interval: Interval) -> str:
    if count < FEWEST:
        return f"{count} questions are too few to tell: {FEWEST} are needed"
    if made is None:
        return "the probabilities tell nothing: what was called likelier did not come true more often"
    if interval.high - interval.low > _WIDEST:
        return f"it may as well be {interval.low:.2f} as {interval.high:.2f}: ask more questions"
    return ""
