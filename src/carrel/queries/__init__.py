"""What a query says beyond its words: its language, fields, phrases, acronyms and slips of the pen.

`parse` looks at the query alone; `understand` asks the library's own words about it, by three small questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.queries import acronyms, language, spelling
from carrel.queries.fields import Fields
from carrel.queries.parsing import Parsed, parse
from carrel.types import Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Fields", "Lookup", "Parsed", "Understood", "as_it_stands", "parse", "understand"]


_OUTCOMES = {
    (True, True): ("must stand there", False),
    (False, True): ("its words: no passage that is searched has all phrases", True),
    (False, False): ("its words: no passage that is searched has the phrase", True),
}
"""What becomes of a phrase that is insisted on or not, and that somebody has or not; and whether that is told."""


@dataclass(frozen=True)
class Lookup:
    """What understanding asks of a library."""

    frequencies: Callable[[Sequence[str]], list[int]]
    """How many chunks have each of these words."""
    count: Callable[[Sequence[str]], int]
    """How many chunks that the search allows have all of these phrases."""
    having: Callable[[str, str], list[str]]
    """Texts with this word, those first that are about the rest."""
    near: Callable[[str, int, str], list[str]]
    """Texts with a word spelled like this one, up to so many letters; those first that are about the rest."""


@dataclass(frozen=True, slots=True)
class Understood:
    """What is searched for, and how that came about."""

    text: str
    phrases: tuple[str, ...] = ()
    """Stand in everything that is found by words."""
    also: tuple[tuple[str, str], ...] = ()
    """Names in the text, each with another name."""
    steps: tuple[Step, ...] = ()


def as_it_stands(parsed: Parsed) -> Understood:
    """What can be understood without a library: a phrase is no more than its words."""
    return Understood(parsed.text, steps=_steps(parsed))


def understand(parsed: Parsed, lookup: Lookup, *, correct: bool, expand: bool) -> Understood:
    """What a query comes to in a library; whether to correct words and to expand acronyms is for the caller to say."""
    held = [phrase for phrase in parsed.phrases if lookup.count([phrase])]
    phrases = tuple(held) if len(held) < 2 or lookup.count(held) else ()
    corrected = spelling.correct(parsed.pieces, lookup) if correct else spelling.Corrected(parsed.pieces)
    named = acronyms.expand(corrected.pieces, lookup) if expand else []
    steps = (
        *_steps(parsed),
        *(Step(StepKind.PHRASE, f'"{one}"', *_OUTCOMES[one in phrases, one in held]) for one in parsed.phrases),
        *corrected.steps,
        *(Step(StepKind.ACRONYM, one.written, one.other) for one in named),
    )
    return Understood(corrected.text, phrases, tuple((one.written, one.other) for one in named), steps)


def _steps(parsed: Parsed) -> tuple[Step, ...]:
    return (Step(StepKind.LANGUAGE, "", language.of(parsed.text)), *parsed.steps)
