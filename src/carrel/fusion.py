"""Many rankings into one. Ties keep a stable order: first found in more arms, then by address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.types import ArmScore, Fused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.types import Hit


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


def _fuse(rankings: Mapping[str, Sequence[Hit]], given: Mapping[str, Sequence[float]]) -> list[Fused]:
    arms: dict[str, dict[str, ArmScore]] = {}
    scores: dict[str, float] = {}
    for arm, hits in rankings.items():
        for rank, (hit, score) in enumerate(zip(hits, given[arm], strict=True), start=1):
            arms.setdefault(hit.address, {})[arm] = ArmScore(rank, hit.score)
            scores[hit.address] = scores.get(hit.address, 0.0) + score
    fused = [Fused(address, scores[address], arms[address]) for address in arms]
    return sorted(fused, key=lambda one: (-one.score, -len(one.arms), one.address))


def _stretched(hits: Sequence[Hit]) -> list[float]:
    if not hits:
        return []
    best, worst = max(hit.score for hit in hits), min(hit.score for hit in hits)
    return [(hit.score - worst) / (best - worst) if best > worst else 1.0 for hit in hits]
