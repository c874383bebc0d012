"""Papers as they look: the pages of their PDFs as pictures, and where the words stand on them.

`sources` tells which PDF a paper is shown from, `drawing` is what is done with it, in a process of its own: `png` makes
a picture of a page, `wording` tells its words, `marking` finds a quote among its characters. `quoting` asks for that,
`keeping` keeps pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.types import Box


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page, counted from 1, and its size in points as it is shown."""

    page: int
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Word:
    """In points from the top left corner of its page."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Sheets:
    """The pages that can be shown of a paper, the first of them if they are very many."""

    paper_id: str
    sheets: tuple[Sheet, ...]
    total: int
    version: str
    """Another one when the PDF is another."""


@dataclass(frozen=True, slots=True)
class Lettering:
    """The words of a page."""

    sheet: Sheet
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    content: bytes
    """A PNG."""
    mark: str
    """Another one when the picture is another."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A part of the text that stands in a box: what comes before it there, and the part itself."""

    box: Box
    before: str
    quote: str
    is_line: bool
    """Whether the box has but one line of text in it."""
