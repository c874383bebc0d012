"""Conversations that the user wants kept: what was asked, and what the answer was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its answer."""

    question: str
    asked: str
    """The question as it was searched for: made whole from earlier ones where it needed that."""
    answer: str
    time: str = ""
    """UTC, as ISO 8601 has it; the catalog's to say."""


@dataclass(frozen=True, slots=True)
class Session:
    name: str
    turns: int
    began: str
    latest: str
    """When its last question was asked."""


@runtime_checkable
class Conversations(Protocol):
    """Each method is one transaction. Nothing of a conversation is kept that was not added here."""

    def all(self) -> list[Session]:
        """Those with a turn, the latest first."""
        ...

    def turns(self, name: str) -> Sequence[Turn]:
        """Of one session, in the order in which they were added; none if there is no such session."""
        ...

    def add(self, name: str, turn: Turn) -> int:
        """Keep a turn behind the others, whoever adds at the same time; returns its number, from 1."""
        ...

    def remove(self, name: str) -> int:
        """Forget a session; returns how many turns it had."""
        ...
