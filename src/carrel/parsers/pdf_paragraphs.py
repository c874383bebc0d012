"""From the lines of a column to its paragraphs."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from carrel.parsers.captions import label_of
from carrel.parsers.pdf_pieces import HYPHEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from carrel.parsers.pdf_columns import Column
    from carrel.parsers.pdf_rows import Line

ITEM = re.compile(r"(?:[•◦▪▸►‣●○■□–*·∙-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s+\S")
_CAPTION = re.compile(
    r"(?:(?:[^\W\d_]+\.?\s*){1,3}?(?:[A-Z]{0,2}[.-]?\d[\d.-]*[a-z]?|[IVXL]+)|S\d+\s\w+)\s*(?:[:.|–—]|$)"
)
"""A label that stands for itself: `Figure 3 shows` is a sentence."""
_SENTENCE_END = re.compile(r"[.?!:…]['\")\]”’]*\d{0,2}$")
_NUMBERING = re.compile(r"(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)*|[IVX]+)\.?|\(\d+\)")
_NUMERIC = re.compile(r"[\W\d]*\d[\W\d]*")
_CELL_GAP = 2.2
"""In sizes; justified lines are stretched less."""
_LONGEST_CELL = 60
_PROSE = 18
_SAME_SIZE = 0.6
_INDENT = 0.7
"""In sizes."""
_LOOSE = 1.25
"""Times the usual distance of lines; a wider one parts paragraphs."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What is usual in a paper."""

    size: float
    bold: bool
    mono: bool
    leading: dict[float, float]
    """Distance of baselines in text of a size."""

    def step(self, size: float) -> float:
        return self.leading.get(size) or 1.2 * size


@dataclass(frozen=True, slots=True)
class Paragraph:
    lines: tuple[Line, ...]
    indented: bool
    """Its first line stands further in than its column."""
    gap: float
    """Above it, in usual distances of lines; large at the top of a column."""

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines).replace(HYPHEN + " ", "").replace(HYPHEN, "-")

    @property
    def size(self) -> float:
        return max(self.lines, key=lambda line: len(line.text)).size

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)


def measures_of(columns: Iterable[Column]) -> Measures:
    sizes: Counter[float] = Counter()
    bold: Counter[bool] = Counter()
    mono: Counter[bool] = Counter()
    steps: dict[float, Counter[float]] = {}
    for column in columns:
        for line in column.lines:
            if len(line.text) >= _PROSE:
                sizes[line.size] += len(line.text)
                bold[line.bold] += len(line.text)
                mono[line.mono] += len(line.text)
        for before, after in pairwise(column.lines):
            step = round(after.baseline - before.baseline, 1)
            if before.size == after.size and 0.9 * after.size < step < 2.5 * after.size:
                steps.setdefault(after.size, Counter())[step] += 1
    leading = {size: counts.most_common(1)[0][0] for size, counts in steps.items()}
    size = sizes.most_common(1)[0][0] if sizes else 10.0
    return Measures(size, bold[True] > bold[False], mono[True] > mono[False], leading)


def paragraphs_of(column: Column, measures: Measures) -> Iterator[Paragraph]:
    current: list[Line] = []
    gap = 9.0
    edge = min(line.start for line in column.lines)
    for index, line in enumerate(column.lines):
        if current and _begins(column, index, current, measures):
            yield _paragraph(current, edge, gap)
            gap = (line.baseline - current[-1].baseline) / measures.step(line.size)
            current = []
        current.append(line)
    if current:
        yield _paragraph(current, edge, gap)


def _paragraph(lines: list[Line], edge: float, gap: float) -> Paragraph:
    first = lines[0]
    indented = first.start > edge + _INDENT * first.size and (len(lines) < 2 or first.start > lines[1].start + 1)
    return Paragraph(tuple(lines), indented, gap)


def _begins(column: Column, index: int, current: Sequence[Line], measures: Measures) -> bool:
    """Whether a new paragraph begins with a line."""
    line, last = column.lines[index], current[-1]
    if line.region or last.region or _looks_different(last, line):
        return True
    if line.baseline - last.baseline > _LOOSE * measures.step(min(line.size, last.size)) + 0.5:
        return True
    if last.text.endswith(HYPHEN) or is_tabular(line):
        return False
    if ITEM.match(line.text) and (ITEM.match(current[0].text) or _ends(last)):
        return True
    if is_labelled(line.text) and _ends(last):
        return True
    return _is_indented(current, line) or _was_last(column, index, current)


def _looks_different(last: Line, line: Line) -> bool:
    if abs(last.size - line.size) > _SAME_SIZE or last.mono != line.mono:
        return True
    if is_tabular(last) != is_tabular(line) and not _goes_on(last, line):
        return True
    return last.bold != line.bold and min(len(last.text), len(line.text)) > 2


def is_labelled(text: str) -> bool:
    """Whether a text begins as captions do."""
    return bool(label_of(text)) and bool(_CAPTION.match(text[:80]))


def is_tabular(line: Line) -> bool:
    """Cells with wide gaps between them; a number before a heading is no cell."""
    numbered = bool(_NUMBERING.fullmatch(line.pieces[0].text)) and len(line.pieces) < 3
    cells = line.pieces[numbered:]
    if len(cells) < 2 or max(len(cell.text) for cell in cells) > _LONGEST_CELL:
        return False
    return line.widest_gap > _CELL_GAP or (len(cells) > 2 and all(_NUMERIC.fullmatch(cell.text) for cell in cells[1:]))


def _ends(line: Line) -> bool:
    return bool(_SENTENCE_END.search(line.text))


def _goes_on(last: Line, line: Line) -> bool:
    """Whether a line must be of one sentence with the line before."""
    return line.text[:1].islower() and not _ends(last)


def _is_indented(current: Sequence[Line], line: Line) -> bool:
    """By its indent against the lines before: further in than they, or further out than a hanging paragraph."""
    first, last = current[0], current[-1]
    inwards = (line.start - last.start) / line.size
    if inwards > _INDENT:
        hangs = len(current) == 1 and (ITEM.match(first.text) or not _ends(last))
        return not hangs
    return inwards < -_INDENT and len(current) > 1 and not _goes_on(last, line)


def _was_last(column: Column, index: int, current: Sequence[Line]) -> bool:
    """Whether the line before ended a paragraph: the first word of this line would have had room in it."""
    line, last = column.lines[index], current[-1]
    nearby = [
        other for other in column.lines[max(0, index - 4) : index + 4] if abs(other.size - line.size) < _SAME_SIZE
    ]
    measure = max(other.end for other in nearby)
    word = line.text.split(" ", 1)[0]
    needed = (len(word) + 1) / max(len(line.text), 1) * (line.right - line.left)
    room = measure - last.end
    if room < needed + 0.5 * line.size or line.text[:1].islower():
        return False
    return _ends(last) or room > 0.25 * (measure - line.start)
