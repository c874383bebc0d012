"""How sure the evidence makes us that it holds an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.types import Certainty, Confidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Excerpt, Passage

_LEVELS = ((0.8, Confidence.HIGH), (0.6, Confidence.MEDIUM), (0.4, Confidence.LOW))


def certainty(question: str, passages: Sequence[Passage], excerpts: Sequence[Excerpt]) -> Certainty:
    """The probability that what was found holds an answer, and what of the question it does not speak of."""
    del question, excerpts
    return Certainty(passages[0].probability if passages else 0.0)


def level(probability: float | None) -> Confidence:
    """The same in a word. Without a probability no claim is made."""
    levels = (level for least, level in _LEVELS if probability is not None and probability >= least)
    return next(levels, Confidence.INSUFFICIENT)
