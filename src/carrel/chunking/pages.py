"""On which pages a stretch of text stands, and where on them."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.types import Box, Chunk, Place

_TYPICAL = 0.46
"""Width of a character, in sizes of its font, where it is not known which it is."""
_NARROW, _WIDE = 0.28, 0.75
_NARROW_SIGNS, _WIDE_SIGNS = frozenset("iljtfrI .,;:'’|!()[]-"), frozenset("mwMW@%—")
_CAPITAL, _SQUARE = 0.66, 1.0
_MOST_IN_A_LINE = 2.5
"""A box whose text would be so many times as long as the box is wide has several lines in it."""


def numbered(chunks: Sequence[Chunk], places: Sequence[Place]) -> Iterator[Chunk]:
    """The chunks, each with its first and last page where the paper has pages."""
    for chunk in chunks:
        pages = [place.box.page for place in within(places, chunk.start, chunk.end)]
        yield replace(chunk, page_start=min(pages), page_end=max(pages)) if pages else chunk


def boxes(places: Sequence[Place], start: int, end: int, text: str, offset: int = 0) -> tuple[Box, ...]:
    """The boxes that characters `start` to `end` of a text stand in, in reading order.

    Lines that they fill in part are cut where they begin and end, by what letters are wide as a rule. `text` is what is
    known of the text, from its character `offset` on.
    """
    return tuple(cut(place, start, end, text, offset) for place in within(places, start, end))


def within(places: Sequence[Place], start: int, end: int) -> Iterator[Place]:
    """Those that `text[start:end]` stands in, whole or in part."""
    # Places are in order and do not overlap, so that their ends are in order, too.
    first = bisect_left(places, start + 1, key=lambda place: place.end)
    for place in places[first:]:
        if place.start >= end:
            return
        yield place


def cut(place: Place, start: int, end: int, text: str, offset: int = 0) -> Box:
    """A place's box, or of a line only where the characters from `start` to `end` stand in it."""
    box = place.box
    if start <= place.start and place.end <= end:
        return box
    signs = [text[index - offset : index - offset + 1] for index in range(place.start, place.end) if index >= offset]
    signs = [""] * (place.end - place.start - len(signs)) + signs
    edges = list(accumulate(map(_width, signs), initial=0.0))
    if edges[-1] * (box.bottom - box.top) > _MOST_IN_A_LINE * (box.right - box.left):
        return box
    scale = (box.right - box.left) / edges[-1]
    before, after = edges[max(start - place.start, 0)] * scale, edges[min(end, place.end) - place.start] * scale
    if _runs_left(signs):
        return replace(box, left=round(box.right - after, 2), right=round(box.right - before, 2))
    return replace(box, left=round(box.left + before, 2), right=round(box.left + after, 2))


def _width(sign: str) -> float:
    if not sign:
        return _TYPICAL
    if sign in _NARROW_SIGNS:
        return _NARROW
    if sign in _WIDE_SIGNS:
        return _WIDE
    if unicodedata.east_asian_width(sign) in {"W", "F"}:
        return _SQUARE
    return _CAPITAL if sign.isupper() else _TYPICAL


def _runs_left(signs: Sequence[str]) -> bool:
    """Whether most of it is Arabic or Hebrew."""
    ways = [unicodedata.bidirectional(sign) for sign in signs if sign.isalpha()]
    return 2 * sum(way in {"R", "AL"} for way in ways) > len(ways)
