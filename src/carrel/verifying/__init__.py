"""The verb `verify`: whether the stores of a library agree, and whether its papers still say what answers quote."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from carrel.identifiers import paper_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it should be."""

    store: str
    """A store of the library, or the file of an answer."""
    id: str
    problem: str


class Fate(StrEnum):
    """What became of a quote."""

    UNCHANGED = "unchanged"
    """It stands where it stood, in the same text."""
    TEXT_CHANGED = "text_changed"
    """It stands where it stood, in a text that changed elsewhere."""
    MOVED = "moved"
    """It stands elsewhere in its text, which has changed."""
    MISPLACED = "misplaced"
    """Its text is the same, but it does not stand where the answer says."""
    QUOTE_GONE = "quote_gone"
    PAPER_GONE = "paper_gone"


_STANDS = frozenset({Fate.UNCHANGED, Fate.TEXT_CHANGED, Fate.MOVED})
"""What a reader may still rely on."""


@dataclass(frozen=True, slots=True)
class QuoteChecked:
    id: int
    address: str
    status: Fate
    start: int | None = None
    """Where it stands now."""
    end: int | None = None

    @property
    def stands(self) -> bool:
        return self.status in _STANDS


@dataclass(frozen=True, slots=True)
class AnswerChecked:
    file: str
    question: str
    time: str
    citations: tuple[QuoteChecked, ...]
    notes: tuple[str, ...] = ()
    """What is to be known and is no damage: a retraction since, another model, a text that changed elsewhere."""


@dataclass(frozen=True, slots=True)
class Verified:
    checked: Mapping[str, int]
    """How much of everything was looked at."""
    problems: tuple[Fault, ...]
    answers: tuple[AnswerChecked, ...] = ()
    hint: str = ""
    """What to do about the problems."""

    @property
    def ok(self) -> bool:
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        result = {
            "status": "ok" if self.ok else "damaged",
            "checked": dict(self.checked),
            "problems": [asdict(problem) for problem in self.problems],
            "answers": [asdict(answer) for answer in self.answers],
        }
        return {**result, "hint": self.hint} if self.hint else result


def together(answers: Sequence[tuple[AnswerChecked, Sequence[Fault]]]) -> Verified:
    """Several answers as one result."""
    quotes = [quote for answer, _ in answers for quote in answer.citations]
    papers = {paper_of(quote.address) for quote in quotes}
    problems = tuple(fault for _, faults in answers for fault in faults)
    return Verified(
        {"answers": len(answers), "quotes": len(quotes), "papers": len(papers)},
        problems,
        tuple(answer for answer, _ in answers),
        "Ask the question again, and save that answer." if problems else "",
    )
