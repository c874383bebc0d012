"""Figures and tables on a page: where lines are ruled and pictures drawn, with the text inside of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from carrel.parsers.captions import label_of
from carrel.parsers.pdf_rows import rows_of
from carrel.types import ExhibitKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from carrel.parsers.pdf_graphics import Graphic
    from carrel.parsers.pdf_pieces import Piece

_ITEM_MARK = re.compile(r"[•◦▪▸►‣●○■□–*·∙-]|\(?\w{1,3}[.)]")
_THIN = 3.0
_SHORTEST_RULE = 40.0
_MOST_RULES = 500
"""Of a page; ruled paper has no tables."""
_SAME = 4.0
"""Points within which the ends of two rules are the same."""
_CELL = 6.0
"""Points: drawings nearer than this belong together."""
_MOST_CELLS = 300_000
_SMALLEST_FIGURE = 30.0
_WHOLE_PAGE = 0.75
_LABEL = 30
"""Characters; a label of a drawing has fewer."""
_NEAR = 14.0
_FARTHEST = 90.0
"""Points between a picture and its caption."""
_FULL = 0.8
"""A piece that fills this part of its region is a line of prose."""


@dataclass(frozen=True, slots=True)
class Region:
    kind: ExhibitKind
    left: float
    top: float
    right: float
    bottom: float
    pieces: tuple[Piece, ...] = ()

    def holds(self, piece: Piece, *, margin: float = 2.0) -> bool:
        x, y = (piece.left + piece.right) / 2, (piece.top + piece.bottom) / 2
        return self.left - margin <= x <= self.right + margin and self.top - margin <= y <= self.bottom + margin


def candidates_of(
    graphics: Sequence[Graphic], pieces: Sequence[Piece], size: tuple[float, float]
) -> tuple[Region, ...]:
    """What may be tables and figures, of a page of a size."""
    return (*_tables(graphics, pieces), *_figures(graphics, pieces, size))


def regions_of(candidates: Sequence[Region], pieces: Sequence[Piece]) -> tuple[list[Region], list[Piece]]:
    """The regions of a page with their pieces, and the pieces in none of them."""
    rest = list(pieces)
    regions: list[Region] = []
    for found in candidates:
        if any(_overlap(found, other) for other in regions):
            continue
        inside = [piece for piece in rest if found.holds(piece)]
        if found.kind == ExhibitKind.FIGURE:
            inside = [piece for piece in inside if not label_of(piece.text)]
            if _is_prose(inside, found):
                continue
            known = {id(piece) for piece in inside}
            inside += [piece for piece in rest if id(piece) not in known and _is_label(piece, found)]
        regions.append(Region(found.kind, found.left, found.top, found.right, found.bottom, tuple(inside)))
        taken = {id(piece) for piece in inside}
        rest = [piece for piece in rest if id(piece) not in taken]
    return regions, rest


def _overlap(one: Region, other: Region) -> bool:
    width = min(one.right, other.right) - max(one.left, other.left)
    height = min(one.bottom, other.bottom) - max(one.top, other.top)
    return width > 0 and height > 0


def _is_label(piece: Piece, region: Region) -> bool:
    short = len(piece.text) < _LABEL and piece.text[-1] not in ".:" and not label_of(piece.text)
    return short and region.holds(piece, margin=_NEAR)


def _is_prose(pieces: Sequence[Piece], region: Region) -> bool:
    """Text in a box, not a picture: most of its rows reach from side to side."""
    rows = rows_of(pieces)
    width = region.right - region.left
    full = sum(
        len(row) == 1 and row[0].right - row[0].left > _FULL * width and len(row[0].text) > _LABEL for row in rows
    )
    return full * 2 > len(rows)


def _tables(graphics: Sequence[Graphic], pieces: Sequence[Piece]) -> Iterator[Region]:
    """Between rules of one width, where what stands between them is no prose."""
    rules = [graphic for graphic in graphics if _is_rule(graphic)]
    for group in _stacks(rules) if len(rules) <= _MOST_RULES else ():
        yield from _ruled(group, pieces)


def _is_rule(graphic: Graphic) -> bool:
    return graphic.bottom - graphic.top < _THIN and graphic.right - graphic.left > _SHORTEST_RULE


def _stacks(rules: Sequence[Graphic]) -> list[list[Graphic]]:
    stacks: dict[tuple[int, int], list[Graphic]] = {}
    for rule in rules:
        left, right = round(rule.left / _SAME), round(rule.right / _SAME)
        near = ((left + i, right + j) for i in (0, -1, 1) for j in (0, -1, 1))
        key = next((key for key in near if key in stacks), (left, right))
        stacks.setdefault(key, []).append(rule)
    return [sorted(stack, key=lambda rule: rule.top) for stack in stacks.values() if len(stack) > 1]


def _ruled(rules: Sequence[Graphic], pieces: Sequence[Piece]) -> Iterator[Region]:
    """Runs of neighbouring rules with cells between them, each as one table."""
    left, right = rules[0].left, rules[0].right
    current: Region | None = None
    for above, below in pairwise(rules):
        between = Region(ExhibitKind.TABLE, left, above.top, right, below.bottom)
        inside = [piece for piece in pieces if between.holds(piece, margin=0.0)]
        if below.top - above.top < _THIN or (inside and _is_tabular(inside, between)):
            current = Region(ExhibitKind.TABLE, left, current.top if current else above.top, right, below.bottom)
        elif current:
            yield current
            current = None
    if current:
        yield current


def _is_tabular(pieces: Sequence[Piece], region: Region) -> bool:
    """Several cells beside each other in many rows, and hardly a row of prose."""
    rows = rows_of(pieces)
    width = region.right - region.left
    several = sum(sum(not _ITEM_MARK.fullmatch(piece.text) for piece in row) > 1 for row in rows)
    prose = sum(len(row[-1].text) > 2 * _LABEL and row[-1].right - row[-1].left > 0.6 * width for row in rows)
    return 3 * several >= len(rows) and 5 * prose <= len(rows)


def _figures(graphics: Sequence[Graphic], pieces: Sequence[Piece], size: tuple[float, float]) -> Iterator[Region]:
    """Drawings and pictures that touch each other, together; those without a caption may be frames of the text."""
    drawn = [graphic for graphic in graphics if not _is_rule(graphic) and _is_on(graphic, size)]
    captions = [piece for piece in pieces if label_of(piece.text)]
    if not drawn or not captions:
        return
    boxes = np.array([(g.left, g.top, g.right, g.bottom) for g in drawn])
    for left, top, right, bottom in _clusters(boxes, size):
        found = Region(ExhibitKind.FIGURE, left, top, right, bottom)
        large = right - left >= _SMALLEST_FIGURE and bottom - top >= _SMALLEST_FIGURE
        if large and any(_is_near(caption, found) for caption in captions):
            yield found


def _is_near(caption: Piece, region: Region) -> bool:
    apart = max(region.top - caption.bottom, caption.top - region.bottom)
    return apart < _FARTHEST and caption.left < region.right and caption.right > region.left


def _is_on(graphic: Graphic, size: tuple[float, float]) -> bool:
    width, height = size
    inside = graphic.right > 0 and graphic.bottom > 0 and graphic.left < width and graphic.top < height
    return inside and graphic.area < _WHOLE_PAGE * width * height


def _clusters(boxes: NDArray[np.float64], size: tuple[float, float]) -> Iterator[tuple[float, float, float, float]]:
    """On a coarse grid, so that many strokes cost no more than few."""
    across, down = (int(side / _CELL) + 2 for side in size)
    if across * down > _MOST_CELLS:
        return
    low = np.clip(np.floor(boxes[:, :2] / _CELL), 0, (across - 1, down - 1)).astype(int)
    high = np.clip(np.floor(boxes[:, 2:] / _CELL), 0, (across - 1, down - 1)).astype(int)
    grid = np.zeros((across, down), dtype=bool)
    for (x0, y0), (x1, y1) in zip(low, high, strict=True):
        grid[x0 : x1 + 1, y0 : y1 + 1] = True
    labels = _labelled(grid)
    owner = labels[low[:, 0], low[:, 1]]
    for label in np.unique(owner):
        members = boxes[owner == label]
        left, top = np.clip(members[:, :2].min(axis=0), 0, None).tolist()
        right, bottom = np.minimum(members[:, 2:].max(axis=0), size).tolist()
        yield left, top, right, bottom


def _labelled(grid: NDArray[np.bool_]) -> NDArray[np.int64]:
    """A number for each connected area."""
    labels = np.zeros(grid.shape, dtype=np.int64)
    across, down = grid.shape
    number = 0
    for start in zip(*np.nonzero(grid), strict=True):
        if labels[start]:
            continue
        number += 1
        labels[start] = number
        waiting = [start]
        while waiting:
            x, y = waiting.pop()
            for i, j in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if 0 <= i < across and 0 <= j < down and grid[i, j] and not labels[i, j]:
                    labels[i, j] = number
                    waiting.append((i, j))
    return labels
