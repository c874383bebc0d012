"""Words that the library does not have, put right by those that it has."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from carrel.queries.parsing import Piece, joined
from carrel.types import Step, StepKind
from carrel.words import edits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_WORD = re.compile(r"[^\W_]+")
_SHORTEST, _LONG, _LONGEST = 4, 8, 30
_MOST = 4
"""Words of a query that are put right: each costs some milliseconds."""


class Words(Protocol):
    """The library's."""

    @property
    def frequencies(self) -> Callable[[Sequence[str]], list[int]]: ...
    @property
    def near(self) -> Callable[[str, int, str], list[str]]: ...


@dataclass(frozen=True, slots=True)
class Corrected:
    pieces: tuple[Piece, ...]
    steps: tuple[Step, ...] = ()

    @property
    def text(self) -> str:
        return joined(self.pieces)


def correct(pieces: tuple[Piece, ...], library: Words) -> Corrected:
    """Every word outside of phrases that no chunk has is replaced by the nearest that some chunk has."""
    unknown = _unknown([word for piece in pieces if not piece.is_phrase for word in candidates(piece.text)], library)
    if not unknown:
        return Corrected(pieces)
    text = joined(pieces)
    found = {word: nearest(word, library, beside=text) for word in unknown[:_MOST]}
    right = {word: other for word, other in found.items() if other}
    return Corrected(
        tuple(piece if piece.is_phrase else replace(piece, text=_replaced(piece.text, right)) for piece in pieces),
        tuple(Step(StepKind.SPELLING, word, other, is_told=True) for word, other in right.items()),
    )


def nearest(word: str, library: Words, *, beside: str) -> str:
    """The word of the library that this one is most likely meant to be; empty if there is none."""
    asked = word.casefold()
    for distance in (1,) if len(asked) < _LONG else (1, 2):
        texts = library.near(asked, distance, beside)
        counted = Counter(other for text in texts for other in like(asked, text, distance))
        if counted:
            return min(counted, key=lambda other: (*_strangeness(asked, other), -counted[other], other))
    return ""


def like(word: str, text: str, distance: int) -> set[str]:
    """The words of a text that are spelled like this one, up to so many letters."""
    letters = set(word)
    return {
        other
        for other in set(_WORD.findall(text.casefold()))
        # Cheap to see, and true of nearly all words: each letter changed adds and takes away one.
        if abs(len(other) - len(word)) <= distance and len(letters ^ set(other)) <= 2 * distance
        if other.isalpha() and edits(word, other, most=distance) <= distance and _may_be(word, other, distance)
    }


def _may_be(word: str, other: str, distance: int) -> bool:
    """Whether one may stand for the other, and is not a word of its own that happens to be near."""
    if word.endswith(other):
        # `immobility` is not meant to be `mobility`.
        return False
    if len(word) > _SHORTEST:
        return distance == 1 or word[0] == other[0]
    # A short word is near to too many others, unless one of its letters is only missing or misplaced.
    return word[0] == other[0] and (len(other) > len(word) or sorted(word) == sorted(other))


def _strangeness(word: str, other: str) -> tuple[int, bool, bool]:
    """How unlikely one is to be written for the other: the first letter is the last to go wrong."""
    return edits(word, other, most=2), word[0] != other[0], sorted(word) != sorted(other)


def candidates(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = match.group()
        # Capitals inside are a name's or a symbol's own spelling; other scripts have no small letters.
        if _SHORTEST <= len(word) <= _LONGEST and word.isalpha() and word[1:].islower():
            yield word


def _unknown(words: Sequence[str], library: Words) -> list[str]:
    distinct = list(dict.fromkeys(words))
    return [word for word, count in zip(distinct, library.frequencies(distinct), strict=True) if not count]


def _replaced(text: str, right: dict[str, str]) -> str:
    return _WORD.sub(lambda match: right.get(match.group(), match.group()), text)
