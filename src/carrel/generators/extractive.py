"""Answers in the sources' own words: the sentences that say most about the question, one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from carrel import sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.types import Excerpt, Prompt, Span

SAME = 0.8
"""The share of their words that sentences have in common which say the same."""
_MUCH_WEAKER = 0.25
"""Sentences that score so much less than the best one say something else."""
_FROM_ONE_SOURCE = 3
"""So that a second source is heard too."""


class Sentence(NamedTuple):
    """A stretch of an excerpt, and how much it says about the question."""

    excerpt: Excerpt
    span: Span
    score: float

    @property
    def order(self) -> tuple[float, int, int]:
        return (-self.score, self.excerpt.number, self.span.start)

    @property
    def whole(self) -> Sentence:
        """With what it leans on, if that may be quoted."""
        whole, offered = sentences.whole(self.excerpt.text, self.span), self.excerpt.offered
        allowed = offered is None or any(one.start <= whole.start and whole.end <= one.end for one in offered)
        return self._replace(span=whole) if allowed else self

    @property
    def text(self) -> str:
        return _plain(self.excerpt.text[self.span.start : self.span.end])

    def overlaps(self, other: Sentence) -> bool:
        one, two = self.span, other.span
        return self.excerpt.number == other.excerpt.number and one.start < two.end and two.start < one.end


class Extractive:
    """Deterministic, instant, and unable to say what no source says."""

    name = "extractive"
    context_tokens = 1_000_000

    def __init__(self, max_statements: int = 4) -> None:
        self._max_statements = max_statements

    def stream(self, prompt: Prompt) -> Iterator[str]:
        for one in self.chosen(prompt.excerpts):
            numbers = [one.excerpt.number, *(each.number for each in prompt.excerpts if one.text in _plain(each.text))]
            yield f"{one.text} {' '.join(f'[{number}]' for number in dict.fromkeys(numbers))}\n"

    def chosen(self, excerpts: Sequence[Excerpt]) -> Iterator[Sentence]:
        """What is worth saying, best first, nothing twice; what a sentence leans on only if it was not told already."""
        told: list[Sentence] = []
        for sentence in _nearly_as_good(excerpts):
            if len(told) == self._max_statements:
                return
            whole = sentence.whole
            one = sentence if any(whole.overlaps(earlier) for earlier in told) else whole
            often = sum(earlier.excerpt.number == one.excerpt.number for earlier in told) >= _FROM_ONE_SOURCE
            if not often and not any(one.overlaps(earlier) or _same(one.text, earlier.text) for earlier in told):
                told.append(one)
                yield one


def _nearly_as_good(excerpts: Sequence[Excerpt]) -> list[Sentence]:
    found = [Sentence(one, span, score) for one in excerpts for span, score in one.sentences]
    ranked = sorted(found, key=lambda one: one.order)
    return [one for one in ranked if one.score >= ranked[0].score - _MUCH_WEAKER]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _same(one: str, other: str) -> bool:
    """Whether they say the same, or one no more than a part of the other."""
    said, before = set(words.stems(one)), set(words.stems(other))
    return words.share(said, before) >= SAME or said <= before
