"""Pieces that stand beside each other: the lines of a page."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.parsers.pdf_pieces import Piece, Style
    from carrel.parsers.pdf_regions import Region


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    pieces: tuple[Piece, ...]
    page: int
    """Which of the pages that were read, counted from 0."""
    text: str
    left: float
    top: float
    right: float
    bottom: float
    baseline: float
    style: Style
    """Of its longest piece."""
    bold: bool
    """All of it."""
    mono: bool
    backwards: bool
    """It is read from right to left."""

    @property
    def start(self) -> float:
        """How far in it begins, in the direction in which it is read."""
        return -self.right if self.backwards else self.left

    @property
    def end(self) -> float:
        return -self.left if self.backwards else self.right

    @property
    def size(self) -> float:
        return self.style.size

    @property
    def region(self) -> Region | None:
        """The figure or table that stands in the line's place."""
        return self.pieces[0].region

    @property
    def widest_gap(self) -> float:
        """Between two of its pieces, in sizes."""
        gaps = (after.left - before.right for before, after in pairwise(self.pieces))
        return max(gaps, default=0.0) / max(self.size, 1.0)


def line_of(row: Sequence[Piece], page: int) -> Line:
    backwards = sum(len(piece.text) * (1 if piece.is_right_to_left else -1) for piece in row) > 0
    pieces = tuple(sorted(row, key=lambda piece: -piece.right if backwards else piece.left))
    main = max(pieces, key=lambda piece: len(piece.text))
    return Line(
        pieces=pieces,
        page=page,
        text=" ".join(piece.text for piece in pieces),
        left=min(piece.left for piece in pieces),
        top=min(piece.top for piece in pieces),
        right=max(piece.right for piece in pieces),
        bottom=max(piece.bottom for piece in pieces),
        baseline=main.baseline,
        style=main.style,
        bold=all(piece.style.bold for piece in pieces),
        mono=all(piece.style.mono for piece in pieces),
        backwards=backwards,
    )


def rows_of(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """From top to bottom; sub- and superscripts with what they belong to."""
    rows: list[list[Piece]] = []
    top = bottom = 0.0
    for piece in sorted(pieces, key=lambda piece: (piece.baseline, piece.left)):
        overlap = min(bottom, piece.bottom) - max(top, piece.top)
        alone = piece.region or not rows or rows[-1][0].region
        if not alone and overlap > 0.5 * min(piece.bottom - piece.top, bottom - top):
            rows[-1].append(piece)
            top, bottom = min(top, piece.top), max(bottom, piece.bottom)
        else:
            rows.append([piece])
            top, bottom = piece.top, piece.bottom
    return rows
