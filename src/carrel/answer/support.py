"""Whether a quote says what a statement says in other words.

No model here understands either. A statement is believed if nothing in it is new: its numbers, names, denials, doubts
and directions are the quote's, what the two share stands in the same order, and the words that it adds are few and
everyday ones. That is strict on purpose, as a wrong statement that is believed costs more than a right one that is not.
Whether the embedder finds the two alike was measured and decides nothing beside (`benchmarks/support.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from carrel import claims
from carrel.claims.wording import sides
from carrel.concepts import lexicon

if TYPE_CHECKING:
    from carrel.claims import Claim
    from carrel.types import Span

LEAST_SHARED = 0.8
"""Of the statement's words."""
FEWEST_WORDS = 3
"""Less is no statement."""
_SHOWN = 120


@dataclass(frozen=True)
class Comparison:
    statement: Claim
    source: Claim
    quote: str
    span: Span

    @cached_property
    def shared(self) -> float:
        words = self.statement.words
        return 1 - len(self.statement.missing(self.source)) / len(words) if words else 0.0

    @property
    def order(self) -> float:
        return claims.order(self.statement, self.source)

    def objection(self) -> str:
        """Why the quote does not say so, in words for the reader; empty if nothing is to be said against it."""
        if number := claims.unsaid_number(self.statement, self.source):
            return f"the number {number} is in no excerpt it rests on"
        if name := claims.unsaid_name(self.statement, self.source):
            return f"{name} is in no excerpt it rests on"
        if claims.denies(self.statement, self.source) or claims.turns(self.statement, self.source):
            return f"the excerpt says the opposite: {self._shown}"
        if claims.drops_a_doubt(self.statement, self.source):
            return f"the excerpt does not say it for certain: {self._shown}"
        return "" if self._adds_little and self.order == 1 else NOWHERE

    @property
    def _adds_little(self) -> bool:
        added = self.statement.missing(self.source)
        return self.shared >= LEAST_SHARED and all(_is_everyday(word) for word in added)

    @property
    def _shown(self) -> str:
        plain = " ".join(self.quote.split())
        return f"“{plain}”" if len(plain) <= _SHOWN else f"“{plain[:_SHOWN].rsplit(' ', 1)[0]} …”"


NOWHERE = "no excerpt says so"


def _is_everyday(word: claims.Word) -> bool:
    return lexicon.is_known(word.written.lower()) and word.stem not in sides()


def says_enough(statement: Claim) -> bool:
    return len(statement.words) + len(statement.numbers) >= FEWEST_WORDS
