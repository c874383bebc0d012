"""Whether what was said stands in what was offered, and where.

Word for word is best: whole sentences, or a part of one that the rest does not turn round. Otherwise one sentence
must say the same (`support`). The excerpts that a statement cites are asked first; a generator
that forgets or mixes up its numbers is put right, one that cites what it was never given is not believed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from carrel import claims, quotes, screening
from carrel.answer.sources import Source
from carrel.answer.support import NOWHERE, says_enough

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from carrel.answer.said import Said
    from carrel.types import Excerpt, Span

_NEAR_MISS = 0.5
"""What shares fewer words with a statement is about something else, whatever it says."""


class Place(NamedTuple):
    """The words of an excerpt that prove a statement."""

    number: int
    span: Span


class Unproved(Exception):
    """Why a sentence is not believed, in words for the reader."""


class Prover:
    """Believes a sentence only where an excerpt that was offered says the same."""

    def __init__(self, excerpts: Sequence[Excerpt]) -> None:
        self._sources = {excerpt.number: Source(excerpt) for excerpt in excerpts}

    def parts(self, said: Said) -> tuple[Said, ...]:
        """What of it is to be proved: all together if it stands so in an excerpt, else sentence by sentence."""
        if any(screening.demands(part.text) for part in said.parts):
            return said.parts
        together = any(source.verbatim(said.text) for source in self._cited(said) or self._sources.values())
        return (said,) if together else said.parts

    def prove(self, said: Said) -> tuple[Place, ...]:
        """Where it stands: at least one place, at most one for each excerpt. Raises `Unproved`."""
        if screening.demands(said.text):
            raise Unproved("it asks or commands, and states nothing")
        cited = self._cited(said)
        if said.numbers and not cited:
            numbers = ", ".join(f"[{number}]" for number in said.numbers)
            raise Unproved(f"cites {numbers}, which {'was' if len(said.numbers) == 1 else 'were'} not offered")
        others = [source for source in self._sources.values() if source not in cited]
        places = (
            tuple(_verbatim(said.text, cited))
            or tuple(_supported(said.text, cited))
            or tuple(_verbatim(said.text, others))[:1]
            or tuple(_supported(said.text, others))[:1]
        )
        if not places:
            raise Unproved(_objection(said.text, cited or others))
        return places

    def _cited(self, said: Said) -> list[Source]:
        return [self._sources[number] for number in dict.fromkeys(said.numbers) if number in self._sources]


def _verbatim(text: str, sources: Iterable[Source]) -> Iterator[Place]:
    for source in sources:
        if span := source.verbatim(text):
            yield Place(source.number, span)


def _supported(text: str, sources: Iterable[Source]) -> Iterator[Place]:
    statement = claims.read(quotes.equalised(text))
    for source in sources if says_enough(statement) else ():
        good = (one.span for one in source.nearest(statement) if not one.objection())
        span = next(good, None)
        if span and source.is_english:
            yield Place(source.number, span)


def _objection(text: str, sources: Iterable[Source]) -> str:
    """What is to be said against the quote that comes nearest."""
    statement = claims.read(quotes.equalised(text))
    near = [one for source in sources for one in source.nearest(statement) if one.shared >= _NEAR_MISS]
    return max(near, key=lambda one: one.shared).objection() or NOWHERE if near else NOWHERE
