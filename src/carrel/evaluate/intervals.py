"""How far a figure can be trusted: what other queries of the same kind might have given."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

RESAMPLES = 1000
LEVEL = 0.95
_TRIALS = 10_000
_AT_ONCE = 2_000_000
"""Numbers drawn at a time."""
_ALIKE = 1e-9
"""Differences below this are the machine's, not the rankings'."""


class Interval(NamedTuple):
    low: float
    high: float


class Difference(NamedTuple):
    """One ranking's scores less another's, over the same queries."""

    mean: float
    interval: Interval
    p: float
    """How often chance alone makes a difference as large, whichever way."""
    better: int
    worse: int
    equal: int

    @property
    def reversed(self) -> Difference:
        """The other's scores less the one's."""
        low, high = self.interval
        return Difference(-self.mean, Interval(-high, -low), self.p, self.worse, self.better, self.equal)


def bootstrap(scores: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES, level: float = LEVEL) -> Interval:
    """Between which values the mean lies in `level` of samples drawn from these queries, with replacement."""
    if not len(scores):
        raise InvalidInput("an interval needs at least one query")
    values = np.asarray(scores, dtype=np.float64)
    chance = np.random.default_rng(seed)
    means = np.concatenate(
        [
            values[chance.integers(len(values), size=(rows, len(values)))].mean(axis=1)
            for rows in _batches(resamples, len(values))
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def difference(one: Sequence[float], other: Sequence[float], *, seed: int = 0, trials: int = _TRIALS) -> Difference:
    """How two rankings differ on the same queries, with a two-sided randomisation test."""
    if len(one) != len(other):
        raise InvalidInput(f"{len(one)} and {len(other)} scores cannot be compared query by query")
    apart = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    return Difference(
        mean=float(apart.mean()),
        interval=bootstrap(list(apart), seed=seed),
        p=_randomisation(apart, np.random.default_rng(seed), trials),
        better=int((apart > _ALIKE).sum()),
        worse=int((apart < -_ALIKE).sum()),
        equal=int((abs(apart) <= _ALIKE).sum()),
    )


def _randomisation(apart: NDArray[np.float64], chance: np.random.Generator, trials: int) -> float:
    """Were both the same, each difference could as well have the other sign."""
    seen = abs(apart.sum()) - _ALIKE
    as_large = sum(
        int((abs(chance.choice((-1.0, 1.0), size=(rows, len(apart))) @ apart) >= seen).sum())
        for rows in _batches(trials, len(apart))
    )
    return (as_large + 1) / (trials + 1)


def _batches(rows: int, columns: int) -> Iterator[int]:
    most = max(1, _AT_ONCE // columns)
    for start in range(0, rows, most):
        yield min(most, rows - start)
