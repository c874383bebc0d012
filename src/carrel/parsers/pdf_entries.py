"""The lines of a bibliography, entry by entry."""

from __future__ import annotations

import re
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.parsers.pdf_rows import Line

_MARKER = re.compile(r"\[[\w+.,&\s-]{1,24}\]\s*\S|\(?\d{1,3}[.)]\s+\S|\d{1,3}\s+[A-Z]")
_FEWEST_MARKERS = 3
_INDENT = 0.5
"""In sizes."""


def entries_of(lines: Sequence[Line]) -> list[tuple[Line, ...]]:
    """By the numbers before them; else by their hanging indent; else by the gaps between them."""
    if not lines:
        return []
    marked = [bool(_MARKER.match(line.text)) for line in lines]
    if marked[0] and sum(marked) >= min(_FEWEST_MARKERS, len(lines)):
        return _cut(lines, marked)
    hanging = _outdented(lines)
    return _cut(lines, hanging if sum(hanging) > 1 and not all(hanging) else _after_gaps(lines))


def _cut(lines: Sequence[Line], begins: Sequence[bool]) -> list[tuple[Line, ...]]:
    starts = [index for index, begin in enumerate(begins) if begin or index == 0]
    return [tuple(lines[start:end]) for start, end in pairwise([*starts, len(lines)])]


def _outdented(lines: Sequence[Line]) -> list[bool]:
    """Lines at the left edge of their column, where others of the column stand further in."""
    begins: list[bool] = []
    for _, group in groupby(lines, key=_Column()):
        column = list(group)
        edge = min(line.start for line in column)
        inwards = [line.start > edge + _INDENT * line.size for line in column]
        begins += [not inside for inside in inwards] if any(inwards) else [False] * len(column)
    return begins


class _Column:
    """Numbers the columns that lines come in: a new one begins where they go up, or to another page."""

    def __init__(self) -> None:
        self.last: Line | None = None
        self.number = 0

    def __call__(self, line: Line) -> int:
        if self.last is not None and (line.page != self.last.page or line.baseline < self.last.baseline):
            self.number += 1
        self.last = line
        return self.number


def _after_gaps(lines: Sequence[Line]) -> list[bool]:
    steps = [after.baseline - before.baseline for before, after in pairwise(lines)]
    usual = sorted(step for step in steps if step > 0)[: max(1, len(steps) // 2)]
    normal = usual[-1] if usual else 0.0
    return [True, *(step > 1.15 * normal or step < 0 for step in steps)] if normal else [True] * len(lines)
