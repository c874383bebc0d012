"""Many rankings into one. Ties keep a stable order: first found in more arms, then by address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from carrel.types import ArmScore, Fused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from carrel.types import Hit

_SPREAD = 1e-5
"""Scores that differ by less are all alike."""


def reciprocal_rank(rankings: Mapping[str, Sequence[Hit]], *, weights: Mapping[str, float], k: int = 60) -> list[Fused]:
    """Each arm gives weight / (k + rank), ranks from 1."""
    return _fuse(
        rankings,
        {arm: [weights[arm] / (k + rank) for rank in range(1, len(hits) + 1)] for arm, hits in rankings.items()},
    )


def min_max(rankings: Mapping[str, Sequence[Hit]], *, weights: Mapping[str, float]) -> list[Fused]:
    """Each arm gives its weight times its score, stretched so that its best is 1 and its worst 0."""
    return _fuse(
        rankings, {arm: [weights[arm] * share for share in _stretched(hits)] for arm, hits in rankings.items()}
    )


def z_score(
    rankings: Mapping[str, Sequence[Hit]], *, weights: Mapping[str, float], usual: Mapping[str, Usual]
) -> list[Fused]:
    """Each arm gives its weight times its score in standard deviations above its least.

    Counted from its least, not from its mean, so that what an arm did not find has nothing from it.
    """
    return _fuse(
        rankings,
        {arm: (weights[arm] * usual[arm].above_least(hits)).tolist() for arm, hits in rankings.items()},
    )


@dataclass(frozen=True, slots=True)
class Usual:
    """What the scores of a ranking are like."""

    mean: float
    spread: float
    least: float
    """Of the standard scores."""

    @classmethod
    def of(cls, hits: Sequence[Hit], *, padded: int = 0) -> Usual:
        """Of these hits and, for an arm that gives 0 to all it does not name, of zeros up to so many.

        Without them, the only passage that has a word would be nothing unusual.
        """
        zeros = [0.0] * (padded - len(hits))
        scores = np.array([*(hit.score for hit in hits), *zeros], dtype=np.float64)
        if not len(scores):
            return cls(0.0, 0.0, 0.0)
        mean, spread = float(scores.mean()), float(scores.std())
        return cls(mean, spread, (float(scores.min()) - mean) / spread) if spread >= _SPREAD else cls(mean, 0.0, 0.0)

    def above_least(self, hits: Sequence[Hit]) -> NDArray[np.float64]:
        """How many standard deviations each score lies above the least."""
        scores = np.array([hit.score for hit in hits], dtype=np.float64)
        return (scores - self.mean) / self.spread - self.least if self.spread else np.zeros(len(hits))

    def standard(self, score: float | None) -> float:
        """How many standard deviations a score lies above the mean; one that is not known is the least."""
        if score is None:
            return self.least
        return (score - self.mean) / self.spread if self.spread else 0.0


def _fuse(rankings: Mapping[str, Sequence[Hit]], given: Mapping[str, Sequence[float]]) -> list[Fused]:
    arms: dict[str, dict[str, ArmScore]] = {}
    shares: dict[str, dict[str, float]] = {}
    for arm, hits in rankings.items():
        for rank, (hit, share) in enumerate(zip(hits, given[arm], strict=True), start=1):
            arms.setdefault(hit.address, {})[arm] = ArmScore(rank, hit.score)
            shares.setdefault(hit.address, {})[arm] = share
    fused = [Fused(address, sum(shares[address].values()), arms[address], shares[address]) for address in arms]
    return sorted(fused, key=lambda one: (-one.score, -len(one.arms), one.address))


def _stretched(hits: Sequence[Hit]) -> list[float]:
    if not hits:
        return []
    best, worst = max(hit.score for hit in hits), min(hit.score for hit in hits)
    return [(hit.score - worst) / (best - worst) if best > worst else 1.0 for hit in hits]
