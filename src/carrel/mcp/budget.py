"""What an agent gets at once: as much as it can read, and a cursor to the rest."""

from __future__ import annotations

import bisect
import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

from carrel import sentences, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from carrel.cursors import Page, Place
    from carrel.types import Span

Item = TypeVar("Item")

_PROSE = re.compile(r"[A-Za-z ]")
_LETTERS = 4
"""To a token, in prose of Latin letters; figures and signs are about two to one, letters of other scripts one."""
_SIGNS = 2
_LEFT_OUT = "[…]"


def tokens(value: Any) -> int:  # noqa: ANN401
    """About how many a value takes as JSON: rather too many than too few."""
    spelt = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    others = _PROSE.sub("", spelt)
    signs = sum(map(str.isascii, others))
    return math.ceil((len(spelt) - len(others)) / _LETTERS + signs / _SIGNS + len(others) - signs)


def how_many(costs: Iterable[int], most: int) -> int:
    """How many of these fit, one by one; at least one, so that every page gets on."""
    count = 0
    for cost in costs:
        most -= cost
        if most < 0:
            break
        count += 1
    return max(count, 1)


def fitted(
    place: Place, items: Sequence[Item], name: Callable[[Item], str], cost: Callable[[Item], int], most: int
) -> Page[Item]:
    """As many of a list's items, from a place on, as fit."""
    rest = place.page(items, name, limit=0).items
    return place.page(items, name, limit=how_many(map(cost, rest), most))


def cut(text: str, most: int) -> str:
    """The beginning of a text, whole words of it, in so many tokens."""
    return text if tokens(text) <= most else f"{_beginning(text, most)} {_LEFT_OUT}"


def pieces(text: str, most: int) -> list[str]:
    """A text in pieces of so many tokens, cut at white space where there is any; together they are the text."""
    made: list[str] = []
    while tokens(text) > most:
        first = _beginning(text, most)
        made.append(first)
        text = text[len(first) :]
    return [*made, text]


def excerpt(text: str, query: str, most: int) -> str:
    """Those sentences of a text, in a row, that have most of the query's words, the rarer the better."""
    if tokens(text) <= most:
        return text
    spans = sentences.spans(text)
    said = _said([set(words.stems(text[span.start : span.end])) for span in spans], set(words.stems(query)))
    first, last = _best_row(spans, said, lambda start, end: tokens(text[start:end]) <= most)
    if last < first:
        return cut(text, most)
    start, end = spans[first].start, spans[last].end
    before = f"{_LEFT_OUT} " if text[:start].strip() else ""
    return f"{before}{text[start:end]}{f' {_LEFT_OUT}' if text[end:].strip() else ''}"


def _said(sentences_words: Sequence[set[str]], wanted: set[str]) -> list[float]:
    """How much each sentence says of what is wanted: a word that all of them have says nothing."""
    counts = Counter(word for found in sentences_words for word in found & wanted)
    return [sum(1 / counts[word] for word in found & wanted) for found in sentences_words]


def _best_row(spans: Sequence[Span], said: Sequence[float], fits: Callable[[int, int], bool]) -> tuple[int, int]:
    """The first and the last of the sentences in a row that say most; the last before the first if none fits."""
    best, chosen, first = -1.0, (1, 0), 0
    for last in range(len(spans)):
        while first <= last and not fits(spans[first].start, spans[last].end):
            first += 1
        if first <= last and (total := sum(said[first : last + 1])) > best:
            best, chosen = total, (first, last)
    return _widened(*chosen, spans, fits)


def _widened(first: int, last: int, spans: Sequence[Span], fits: Callable[[int, int], bool]) -> tuple[int, int]:
    """With as much of what follows, then of what comes before, as there is room for."""
    if last < first:
        return first, last
    while last + 1 < len(spans) and fits(spans[first].start, spans[last + 1].end):
        last += 1
    while first and fits(spans[first - 1].start, spans[last].end):
        first -= 1
    return first, last


def _beginning(text: str, most: int) -> str:
    longest = text[: most * _LETTERS]
    length = bisect.bisect_right(range(1, len(longest) + 1), most, key=lambda end: tokens(longest[:end]))
    room = longest[: max(length, 1)]
    shorter = room[: max(room.rfind(" "), room.rfind("\n")) + 1]
    return shorter if len(shorter) > len(room) // 2 else room
