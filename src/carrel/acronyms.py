"""Acronyms and the words they stand for, as texts define them: `long short-term memory (LSTM)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_SMALL = "a an and at by for from in of on or the to with"
SMALL_WORDS = frozenset(_SMALL.split())
"""Words that give no initial, or may."""
_WORD = re.compile(r"[^\W_]+")
_SHORT = r"(?=[A-Za-z0-9&/-]{0,9}[A-Z][a-z0-9&/-]{0,9}[A-Z0-9])[A-Za-z][A-Za-z0-9&/-]{1,9}"
_IN_BRACKETS = re.compile(rf"[(\[]\s?({_SHORT}?)s?\s?[)\],;]")
_BEFORE_BRACKETS = re.compile(rf"\b({_SHORT})\s\(([^()\[\]\n]{{6,80}})\)")
_MARKUP = re.compile(r"\*{1,3}|_{2,3}|`|\[(?=[^\[\]\n]{1,100}\]\()|\]\([^()\s]{0,300}\)")
_REACH = 200
_ENDS_A_PHRASE = re.compile(r"[.;:()\[\]!?]\s|\n\s*\n|[()\[\]]")


class Pair(NamedTuple):
    short: str
    long: str


def pairs(text: str) -> Iterator[Pair]:
    """What a text defines, in either order: `suffix array (SA)`, `SA (suffix array)`."""
    text = _MARKUP.sub("", text)
    for match in _IN_BRACKETS.finditer(text):
        before = _ENDS_A_PHRASE.split(text[max(0, match.start() - _REACH) : match.start()])[-1]
        if found := words_before(match[1], before):
            yield Pair(match[1], found)
    for match in _BEFORE_BRACKETS.finditer(text):
        if words_before(match[1], match[2]) == match[2]:
            yield Pair(match[1], match[2])


def words_before(short: str, before: str) -> str:
    """The words at the end of a text that the acronym stands for; empty if there are none."""
    words = before.split()
    # As many words as Schwartz and Hearst allow.
    return _shortest_match(short, " ".join(words[-min(len(short) + 5, 2 * len(short)) :]))


def _shortest_match(short: str, before: str) -> str:
    """The words at the end of a text whose letters are the acronym's, in order, the first beginning a word."""
    letters, small = short.lower(), before.lower()
    place = len(small)
    for number, letter in reversed(list(enumerate(letters))):
        if not letter.isalnum():
            continue
        place = small.rfind(letter, 0, place)
        while place > 0 and number == 0 and small[place - 1].isalnum():
            place = small.rfind(letter, 0, place)
        if place < 0:
            return ""
    found = before[place:].strip(" ,;:")
    return found if _is_long_form(letters, found.lower()) else ""


def _is_long_form(short: str, found: str) -> bool:
    words = _WORD.findall(found)
    whole = len(words) > 1 and words[0] not in SMALL_WORDS and short not in words
    return whole and not re.search(r"[()\[\].;:]", found)
