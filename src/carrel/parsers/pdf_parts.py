"""The parts of a paper: blocks to be, before they have a place in the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.parsers.pdf_pieces import HYPHEN

if TYPE_CHECKING:
    from carrel.parsers.pdf_regions import Region
    from carrel.parsers.pdf_rows import Line
    from carrel.types import BlockKind


@dataclass(frozen=True, slots=True)
class Part:
    kind: BlockKind
    lines: tuple[Line, ...]
    level: int = 0
    region: Region | None = None
    note: bool = False
    aside: bool = False
    """It stands in a narrow column beside the text."""
    opens: bool = False
    """It may go on what stood before its column."""

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines).replace(HYPHEN + " ", "").replace(HYPHEN, "")
