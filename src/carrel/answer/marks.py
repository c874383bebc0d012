"""The marks by which a generator says what it rests on, in the forms that models give them: `[1]`, `(Source 2)`, ³."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALLED = r"(?:excerpts?|sources?|ref(?:erence)?s?\.?|docs?|documents?|passages?|papers?|citations?|cite|nos?\.?|\#|\^)"
_NUMBERS = r"\d{1,3}(?:\s*(?:,|;|&|and|-|–|to|,\s*and)\s*(?:\#|\^)?\d{1,3})*"
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
IN_BRACKETS = rf"(?:\[\[?\s*(?:{_CALLED}\s*:?\s*)?{_NUMBERS}\s*\]?\]|【\s*(?:{_CALLED}\s*)?{_NUMBERS}[^】\n]{{0,20}}】)"
MARK = (
    rf"(?:{IN_BRACKETS}(?:\([^()\s]{{0,200}}\))?|\(\s*{_CALLED}\s*{_NUMBERS}\s*\)|\(\d{{1,2}}(?:\s*,\s*\d{{1,2}})*\)"
    rf"|(?<=[.!?。！？])[{_RAISED}]+(?:[,˒⁻][{_RAISED}]+)*)"
)
MARKS = rf"(?i:{MARK}(?:[^\S\n,;]*[,;]?[^\S\n]*{MARK})*)"
_FLAGS = re.IGNORECASE
_STOP = r"[.!?。！？…]"
_BEHIND_THE_STOP = re.compile(rf"(?P<stop>{_STOP}[\"'”’)\]*]*)\s*(?P<marks>{MARKS})[\s*.,;]*$", _FLAGS)
_BEFORE_THE_STOP = re.compile(rf"\s*(?P<marks>{MARKS})(?P<stop>[\s*]*{_STOP}*[\"'”’)*]*)\s*$", _FLAGS)
_IN_FRONT = re.compile(rf"^(?P<marks>{IN_BRACKETS}(?:\s*{IN_BRACKETS})*)\s*:?\s*(?=\S)", _FLAGS)
_LEADING = r"(?:based on|according to|as (?:stated|shown|reported|described|mentioned|noted) in|from|in)\s+"
_INSIDE = re.compile(
    rf"^{_LEADING}{IN_BRACKETS},?|\s*(?:{IN_BRACKETS}|\(\s*{_CALLED}\s*{_NUMBERS}\s*\))",
    _FLAGS,
)
_NAMED_FIRST = re.compile(
    rf"^{_LEADING}(?:the\s+)?(?:(?P<marks>{_CALLED}\s*{_NUMBERS})|(?:provided|given|above|following)\s+"
    r"(?:excerpts?|sources?|context|passages?|text|information|documents?)|excerpts?),\s*(?=\w)",
    _FLAGS,
)
_ONLY = re.compile(rf"[\s*(]*(?:{MARKS})[\s*).,;]*", _FLAGS)
_PIECE = re.compile(r"(\d{1,3})\s*(?:-|–|to)\s*[#^]?(\d{1,3})|(\d{1,3})")
_PLAIN_DIGITS = str.maketrans(_RAISED, "0123456789")
_LONGEST_RANGE = 20


def numbers(marks: str) -> tuple[int, ...]:
    """Each once, in their order: `[1, 3-5]` is 1, 3, 4 and 5."""
    return tuple(dict.fromkeys(number for match in _PIECE.finditer(_plain(marks)) for number in _range(match)))


def _plain(marks: str) -> str:
    return re.sub(r"\([^()\s]*[^\d,\s()][^()\s]*\)", "", marks).translate(_PLAIN_DIGITS)


def _range(match: re.Match[str]) -> Iterator[int]:
    if match[3]:
        yield int(match[3])
    else:
        first, last = int(match[1]), int(match[2])
        yield from range(first, min(last, first + _LONGEST_RANGE) + 1) if first <= last else (first, last)


def are_all(line: str) -> bool:
    return bool(_ONLY.fullmatch(line))


def taken_off(sentence: str) -> tuple[str, tuple[int, ...]]:
    """A sentence without the marks at its ends, and what they say."""
    behind = _BEHIND_THE_STOP.search(sentence) or _BEFORE_THE_STOP.search(sentence)
    if behind:
        sentence = (sentence[: behind.start()] + behind["stop"].strip(" *")).strip()
    front = _IN_FRONT.match(sentence) or _NAMED_FIRST.match(sentence)
    if front:
        sentence = _begun(sentence[front.end() :])
    found = [found["marks"] or "" for found in (front, behind) if found]
    return sentence, numbers(" ".join(found))


def taken_out(sentence: str) -> tuple[str, tuple[int, ...]]:
    """A sentence without the marks inside of it, and what they say."""
    found = "".join(match.group() for match in _INSIDE.finditer(sentence))
    bare = _INSIDE.sub("", sentence).strip()
    return _begun(bare) if found else bare, numbers(found)


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
