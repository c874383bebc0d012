"""From the pieces of a page to its lines, column by column in reading order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from carrel.parsers.pdf_rows import Line, line_of, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.parsers.pdf_pieces import Piece

_STEP = 2.0
"""Points between the places where a gutter is looked for."""
_WIDEST = 10_000.0
_PROSE = 18
"""Characters; cells of tables have fewer, lines of a column more."""
_FEWEST_LINES = 3
_SIDE_BAR = 0.45
"""A column narrower than this part of its neighbour's lines stands beside the text, not before it."""
_DEEPEST = 2
_INITIAL = 1.8
"""Times the size of the text."""
_MOST_INITIALS = 20
_CLOSE = 1.4
"""Sizes between the baselines of one paragraph."""
_FRONT = 0.5
"""The part of a first page where names stand under the title, in columns of their own."""
_FRONT_ROWS = 12
_WIDE = 2.0
"""Times the height of a line: the gap between the names and the text."""


@dataclass(frozen=True, slots=True)
class Column:
    """Lines that follow each other on a page."""

    lines: tuple[Line, ...]
    aside: bool = False
    """It stands beside the text and does not interrupt it."""


def columns_of(pieces: Sequence[Piece], page: int) -> list[Column]:
    """In reading order. On a first page, what stands above a wide gap is read before what stands below it."""
    pieces = _with_initials(pieces)
    if page > 0 or _gutter(pieces) is None:
        return _columns(list(pieces), page)
    above, below = _front(list(pieces))
    return [*_columns(above, page), *_columns(below, page)]


def _with_initials(pieces: Sequence[Piece]) -> list[Piece]:
    """The large letter that begins a chapter, put before the rest of its word."""
    whole = list(pieces)
    initials = [piece for piece in pieces if len(piece.text) == 1 and piece.text.isupper()]
    for initial in initials[:_MOST_INITIALS]:
        rest = min((piece for piece in whole if _follows(initial, piece)), key=lambda piece: piece.left, default=None)
        if rest is not None:
            whole = [piece for piece in whole if piece is not initial and piece is not rest]
            whole.append(replace(rest, text=initial.text + rest.text, left=initial.left))
    return whole


def _follows(initial: Piece, piece: Piece) -> bool:
    size = piece.style.size
    beside = 0 <= piece.left - initial.right + 0.2 * size < 1.2 * size
    return beside and initial.style.size > _INITIAL * size and abs(piece.top - initial.top) < 0.6 * size


def _columns(pieces: list[Piece], page: int) -> list[Column]:
    reversed_ = sum(piece.is_right_to_left for piece in pieces) * 2 > len(pieces)
    groups = list(_ordered(pieces, _DEEPEST, reversed_=reversed_))
    return [_column(group, page, aside=aside) for group, aside in groups if group]


def _front(pieces: list[Piece]) -> tuple[list[Piece], list[Piece]]:
    """Title and names, and the rest of the page: parted by the last wide gap before the text."""
    rows = rows_of(pieces)
    height = max((piece.bottom for piece in pieces), default=0.0)
    cut = 0
    for index, (before, after) in enumerate(pairwise(rows[: _FRONT_ROWS + 1]), start=1):
        bottom = max(piece.bottom for row in rows[:index] for piece in row)
        gap = min(piece.top for piece in after) - bottom
        if gap > _WIDE * max(piece.style.size for piece in before) and bottom < _FRONT * height:
            cut = index
    return [piece for row in rows[:cut] for piece in row], [piece for row in rows[cut:] for piece in row]


def _column(pieces: list[Piece], page: int, *, aside: bool) -> Column:
    return Column(tuple(line_of(row, page) for row in rows_of(pieces)), aside)


def _ordered(pieces: list[Piece], depth: int, *, reversed_: bool) -> Iterator[tuple[list[Piece], bool]]:
    """Groups of pieces: what reaches over a gutter, and between such the columns beside it; with which are asides."""
    gutter = _gutter(pieces) if depth else None
    if gutter is None:
        yield pieces, False
        return
    for band in _bands(pieces, gutter):
        left = [piece for piece in band if piece.right <= gutter]
        right = [piece for piece in band if piece.left >= gutter]
        if len(left) + len(right) < len(band):
            yield band, False
        elif _is_aside(left, right):
            yield from _ordered(right, depth - 1, reversed_=reversed_)
            yield left, True
        elif _is_aside(right, left):
            yield from _ordered(left, depth - 1, reversed_=reversed_)
            yield right, True
        else:
            for side in (right, left) if reversed_ else (left, right):
                yield from _ordered(side, depth - 1, reversed_=reversed_)


def _is_aside(side: list[Piece], main: list[Piece]) -> bool:
    if not side or not main:
        return False
    width = max(piece.right for piece in side) - min(piece.left for piece in side)
    longest = sorted(piece.right - piece.left for piece in main)[-(len(main) // 4) - 1]
    return width < _SIDE_BAR * longest


def _bands(pieces: list[Piece], gutter: float) -> list[list[Piece]]:
    """From top to bottom: rows that reach over the gutter, and the rows between them that do not."""
    bands: list[tuple[bool, list[Piece]]] = []
    for row in rows_of(pieces):
        crossing = _crosses(row, gutter) or (bool(bands) and bands[-1][0] and _ends(bands[-1][1][-1], row))
        if bands and bands[-1][0] == crossing:
            bands[-1][1].extend(row)
        else:
            bands.append((crossing, list(row)))
    return [band for _, band in bands]


def _ends(last: Piece, row: list[Piece]) -> bool:
    """Whether a row is the short last line of a paragraph that reaches over the gutter."""
    first, size = row[0], last.style.size
    alike = abs(first.style.size - size) < 0.5 and abs(first.left - last.left) < 0.2 * size
    return len(row) == 1 and not last.region and alike and first.baseline - last.baseline < _CLOSE * size


def _crosses(row: list[Piece], gutter: float) -> bool:
    return any(piece.left < gutter < piece.right for piece in row)


def _gutter(pieces: Sequence[Piece]) -> float | None:
    """Where the page is divided, if it is: with lines of text on both sides of a place that few reach over."""
    if len(pieces) < 2 * _FEWEST_LINES:
        return None
    left = np.array([piece.left for piece in pieces])
    right = np.array([piece.right for piece in pieces])
    prose = np.array([len(piece.text) >= _PROSE for piece in pieces])
    if not _STEP < right.max() - left.min() < _WIDEST:
        return None
    places = np.arange(left.min(), right.max(), _STEP)
    before = _counts(right[prose], places)
    after = prose.sum() - _counts(left[prose], places)
    over = _counts(left, places) - _counts(right, places)
    score = np.minimum(before, after) - over
    best = int(score.argmax())
    if min(before[best], after[best]) < _FEWEST_LINES or score[best] <= 0:
        return None
    end = best
    while end + 1 < len(places) and score[end + 1] == score[best]:
        end += 1
    return float(places[best] + places[end]) / 2


def _counts(edges: np.ndarray, places: np.ndarray) -> np.ndarray:
    """How many edges lie at or before each place."""
    return np.searchsorted(np.sort(edges), places, side="right")
