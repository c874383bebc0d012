"""On which pages a stretch of text stands, and where on them."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.types import Box, Chunk, Place


def numbered(chunks: Sequence[Chunk], places: Sequence[Place]) -> Iterator[Chunk]:
    """The chunks, each with its first and last page where the paper has pages."""
    for chunk in chunks:
        pages = [place.box.page for place in _within(places, chunk.start, chunk.end)]
        yield replace(chunk, page_start=min(pages), page_end=max(pages)) if pages else chunk


def boxes(places: Sequence[Place], start: int, end: int) -> tuple[Box, ...]:
    """The boxes that `text[start:end]` stands in, in reading order."""
    return tuple(place.box for place in _within(places, start, end))


def _within(places: Sequence[Place], start: int, end: int) -> Iterator[Place]:
    # Places are in order and do not overlap, so that their ends are in order, too.
    first = bisect_left(places, start + 1, key=lambda place: place.end)
    for place in places[first:]:
        if place.start >= end:
            return
        yield place
