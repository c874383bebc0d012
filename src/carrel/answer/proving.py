"""Whether what was said stands in what was offered, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from carrel import quotes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.answer.said import Said
    from carrel.embedders import Embedder
    from carrel.types import Excerpt, Span


class Place(NamedTuple):
    """The words of an excerpt that prove a statement."""

    number: int
    span: Span


class Unproved(Exception):
    """Why a sentence is not believed, in words for the reader."""


class Prover:
    """Believes a sentence only where an excerpt that was offered says the same."""

    def __init__(self, excerpts: Sequence[Excerpt], embedder: Embedder) -> None:
        self._excerpts = {excerpt.number: excerpt for excerpt in excerpts}
        self._embedder = embedder

    def prove(self, said: Said) -> tuple[Place, ...]:
        """Where it stands: at least one place, at most one for each excerpt. Raises `Unproved`."""
        places: list[Place] = []
        for number in dict.fromkeys(said.numbers):
            excerpt = self._excerpts.get(number)
            span = quotes.locate(said.text, excerpt.text) if excerpt else None
            if span:
                places.append(Place(number, span))
        if not places:
            raise Unproved("no excerpt says so")
        return tuple(places)
