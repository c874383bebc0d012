"""What stands around the text of a page and is no part of it: running heads, page numbers, numbered lines, notices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.parsers.pdf_pages import Page
    from carrel.parsers.pdf_pieces import Piece

_ZONE = 0.12
"""Part of a page's height, above and below, where furniture stands."""
_OFTEN = 0.4
"""Part of a paper's pages that have a running head; or every second of them has the same."""
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(
    r"[-–—\s]*(?:p(?:age|\.)?\s*)?(?:\d{1,5}|[ivxl]{1,7})(?:\s*(?:of|/)\s*\d{1,5})?[-–—\s|]*", re.IGNORECASE
)
_NOTICE = re.compile(
    r"(?:proceedings of|©|\(c\)|copyright|downloaded (?:from|by)|arxiv:\s*\d|permission to make|"
    r"this (?:work|article|paper) is (?:licensed|distributed)|licensed under|preprint\b|to appear in)",
    re.IGNORECASE,
)
_LINE_NUMBER = re.compile(r"\d{1,4}")
_FEWEST_LINE_NUMBERS = 10
_ROW = 4.0
"""Points within which heads of different pages are at the same height."""


def without_furniture(pages: Sequence[Page]) -> list[list[Piece]]:
    """The pieces of each page that belong to its text."""
    running = _running(pages)
    return [_kept(page, running) for page in pages]


def _running(pages: Sequence[Page]) -> set[tuple[str, int]]:
    """Texts that stand at the same height of several pages, whatever numbers are in them."""
    found: dict[tuple[str, int], set[int]] = {}
    for index, page in enumerate(pages):
        for piece in _in_zone(page):
            found.setdefault(_key(piece), set()).add(index)
    least = max(2, min(_OFTEN * len(pages), 4))
    none: set[int] = set()
    return {(text, row) for (text, row), on in found.items() if len(on | found.get((text, row + 1), none)) >= least}


def _in_zone(page: Page) -> Iterator[Piece]:
    return (piece for piece in page.pieces if _is_in_zone(piece, page))


def _is_in_zone(piece: Piece, page: Page) -> bool:
    return piece.bottom < _ZONE * page.height or piece.top > (1 - _ZONE) * page.height


def _key(piece: Piece) -> tuple[str, int]:
    return _DIGITS.sub("#", piece.text.lower()), int(piece.baseline // _ROW)


def _kept(page: Page, running: set[tuple[str, int]]) -> list[Piece]:
    furniture = [piece for piece in _in_zone(page) if _is_furniture(piece, running)] + _lone_number(page)
    above = max((piece.bottom for piece in furniture if piece.top < page.height / 2), default=0.0)
    below = min((piece.top for piece in furniture if piece.top > page.height / 2), default=page.height)
    ids = {id(piece) for piece in furniture}
    ids |= {id(piece) for piece in _in_zone(page) if piece.bottom <= above or piece.top >= below}
    return list(_without_line_numbers([piece for piece in page.pieces if id(piece) not in ids]))


def _lone_number(page: Page) -> list[Piece]:
    """Below everything else, wherever on the page that is."""
    if len(page.pieces) < 2:
        return []
    *others, last = sorted(page.pieces, key=lambda piece: piece.top)
    apart = last.top - max(piece.bottom for piece in others)
    lone = last.top > page.height / 2 and apart > last.style.size and _NUMBER.fullmatch(last.text)
    return [last] if lone else []


def _is_furniture(piece: Piece, running: set[tuple[str, int]]) -> bool:
    text, row = _key(piece)
    repeated = (text, row) in running or (text, row - 1) in running
    return repeated or bool(_NUMBER.fullmatch(piece.text)) or bool(_NOTICE.match(piece.text))


def _without_line_numbers(pieces: list[Piece]) -> Iterator[Piece]:
    """Manuscripts number their lines in a margin."""
    words = [piece for piece in pieces if not _LINE_NUMBER.fullmatch(piece.text)]
    left = min((piece.left for piece in words), default=0.0)
    right = max((piece.right for piece in words), default=0.0)
    outside = {
        id(piece)
        for piece in pieces
        if _LINE_NUMBER.fullmatch(piece.text) and (piece.right <= left or piece.left >= right)
    }
    return (piece for piece in pieces if len(outside) < _FEWEST_LINE_NUMBERS or id(piece) not in outside)
