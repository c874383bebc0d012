"""Tables as Markdown writes them: one header row, every cell filled, every row as wide as the others."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST_COLUMNS = 200
_MOST_FILLED = 1_000_000
"""Characters that spans may add: a file of a kilobyte can ask for a million rows of a million columns."""
_MATH = re.compile(r"\$[^$\n]{1,2000}\$")


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    columns: int = 1
    rows: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    cells: Sequence[Cell]
    is_header: bool = False


def pipe_table(rows: Iterable[Row]) -> str:
    """A table with its spans filled and the rows of its head joined column by column; empty when it has no words."""
    listed = [row for row in rows if row.cells]
    lines = _Grid().filled(listed)
    if not any(text for line in lines for text in line):
        return ""
    heads = next((number for number, row in enumerate(listed) if not row.is_header), len(listed)) or 1
    rule = ["---"] * len(lines[0])
    return "\n".join([_line(_joined(lines[:heads])), _line(rule), *map(_line, lines[heads:])])


def span(value: str | None) -> int:
    """How many cells a `colspan` or `rowspan` asks for; 1 for what is no number."""
    digits = (value or "").strip()
    return max(1, int(digits)) if digits.isascii() and digits.isdigit() and len(digits) < 6 else 1


@dataclass(slots=True)
class _Grid:
    """Texts by row and column, a cell that spans several standing in each of them."""

    room: int = _MOST_FILLED
    hanging: dict[int, tuple[int, str]] = field(default_factory=dict)
    """By column: how many rows more a cell of a row above reaches down, and its text."""

    def filled(self, rows: Sequence[Row]) -> list[list[str]]:
        lines = [self._line(row) for row in rows]
        width = max(map(len, lines), default=0)
        return [[*line, *([""] * (width - len(line)) if self._afford(3 * width) else [])] for line in lines]

    def _line(self, row: Row) -> list[str]:
        line: list[str] = []
        for cell in row.cells:
            self._hang(line)
            self._stand(line, cell)
        while beyond := [column for column in self.hanging if column >= len(line)]:
            line += [""] * (min(beyond) - len(line))
            self._hang(line)
        return line

    def _stand(self, line: list[str], cell: Cell) -> None:
        """Put a cell into the columns it spans, and remember the rows."""
        text = plain(cell.text)
        wide = max(1, min(cell.columns, _MOST_COLUMNS - len(line)))
        if not self._afford((wide - 1) * (len(text) + 3)):
            wide = 1
        if cell.rows > 1 and len(line) < _MOST_COLUMNS:
            self.hanging |= {len(line) + place: (cell.rows - 1, text) for place in range(wide)}
        line += [text] * wide

    def _hang(self, line: list[str]) -> None:
        """Fill the next columns from the cells above that reach down into them."""
        while found := self.hanging.pop(len(line), None):
            left, text = found
            if not self._afford(len(text) + 3):
                self.hanging.clear()
                return
            if left > 1:
                self.hanging[len(line)] = (left - 1, text)
            line.append(text)

    def _afford(self, size: int) -> bool:
        self.room -= size
        return self.room > 0


def plain(text: str) -> str:
    """A cell's text on one line, with no bare `|` in it; in a formula `\\|` would be another sign."""
    line = " ".join(text.split())
    if "|" not in line:
        return line
    return _MATH.sub(lambda found: found.group().replace("|", "\\vert "), line).replace("|", "\\|")


def _joined(heads: Sequence[Sequence[str]]) -> list[str]:
    width = len(heads[0])
    columns = [[line[place] for line in heads if place < len(line)] for place in range(width)]
    return [" ".join(dict.fromkeys(text for text in column if text)) for column in columns]


def _line(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"
