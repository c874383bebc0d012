"""The honest word that the evidence does not suffice, and how close the library came."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Certainty, Passage

INSUFFICIENT = "The library does not hold sufficient evidence to answer this question."
NEAR_MISSES = 3


def refusal(question: str, passages: Sequence[Passage], certainty: Certainty, threshold: float) -> str:
    """What was looked for, how near the nearest passages are, and what is missing."""
    del question, passages, certainty, threshold
    return INSUFFICIENT
