"""Passages that say something new before those that say more of the same: maximal marginal relevance."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from carrel.search.duplicates import equal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.types import Matrix, Passage, Vector

MOST = 200
"""Passages that are put in order; those behind them stay where they are."""


def spread(passages: Sequence[Passage], vectors: Mapping[str, Vector], diversity: float) -> list[Passage]:
    """Each place goes to what is most relevant and least like anything before it; `diversity` weighs the two."""
    compared = _comparable(passages)
    if not compared:
        return list(passages)
    relevance, alike = _relevance(compared), _likeness(compared, vectors)
    nearest = np.zeros(len(compared), dtype=np.float32)
    left = np.ones(len(compared), dtype=bool)
    order: list[int] = []
    for _ in compared:
        worth = np.where(left, (1 - diversity) * relevance - diversity * nearest, -np.inf)
        order.append(int(worth.argmax()))
        left[order[-1]] = False
        nearest = np.maximum(nearest, alike[order[-1]])
    return [*(compared[place] for place in order), *passages[len(compared) :]]


def _comparable(passages: Sequence[Passage]) -> list[Passage]:
    """The first, as long as their scores are of one kind."""
    return list(takewhile(lambda one: (one.probability is None) == (passages[0].probability is None), passages[:MOST]))


def _relevance(passages: Sequence[Passage]) -> Vector:
    """In [0, 1]: whatever scale the scores have, the best and the last of them are as far apart."""
    scores = np.array([passage.score for passage in passages], dtype=np.float32)
    relevance: Vector = (scores - scores.min()) / max(float(np.ptp(scores)), 1e-9)
    return relevance


def _likeness(passages: Sequence[Passage], vectors: Mapping[str, Vector]) -> Matrix:
    """From 0, no more alike than any two of them, to 1, the same. Without vectors, only its own paper is like one."""
    held = [place for place, passage in enumerate(passages) if passage.chunk.address in vectors]
    alike = equal([passage.chunk.paper_id for passage in passages]).astype(np.float32)
    if len(held) > 1:
        rows = np.stack([vectors[passages[place].chunk.address] for place in held])
        cosines = rows @ rows.T
        usual = float((cosines.sum() - np.trace(cosines)) / (len(held) * (len(held) - 1)))
        alike[np.ix_(held, held)] = ((cosines - usual) / max(1.0 - usual, 1e-6)).clip(0.0, 1.0)
    return alike
