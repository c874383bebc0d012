"""Answers in the sources' own words: the sentences that say most about the question, one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.types import Prompt

_NEARLY_AS_GOOD = 0.7
"""Sentences scoring less than this share of the best one say something else."""
_FROM_ONE_SOURCE = 2
"""So that a second source is heard too."""


class Extractive:
    """Deterministic, instant, and unable to say what no source says."""

    name = "extractive"
    context_tokens = 1_000_000

    def __init__(self, max_statements: int = 4) -> None:
        self._max_statements = max_statements

    def stream(self, prompt: Prompt) -> Iterator[str]:
        ranked = sorted(
            (-score, excerpt.number, span.start, " ".join(excerpt.text[span.start : span.end].split()))
            for excerpt in prompt.excerpts
            for span, score in excerpt.sentences
        )
        said: dict[str, int] = {}
        for negative_score, number, _, sentence in ranked:
            weak = -negative_score < _NEARLY_AS_GOOD * -ranked[0][0]
            if weak or len(said) == self._max_statements:
                return
            if sentence not in said and list(said.values()).count(number) < _FROM_ONE_SOURCE:
                said[sentence] = number
                yield f"{sentence} [{number}]\n"
