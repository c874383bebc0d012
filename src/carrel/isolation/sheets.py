"""What is asked of those who draw, and their replies, of which nothing is believed that was not looked at."""

from __future__ import annotations

import math
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from carrel.errors import ParserCrashed
from carrel.facsimile import Lettering, Sheet, Word
from carrel.types import Box

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.facsimile import Wanted
    from carrel.isolation.drawers import Draws, Pdf

_PNG = b"\x89PNG\r\n\x1a\n"


def sizes(drawers: Draws, pdf: Pdf) -> tuple[int, tuple[Sheet, ...]]:
    """How many pages there are, and the sizes of the first of them."""
    reply, _ = drawers.ask(pdf, {"do": "sizes"})
    match reply:
        case {"total": int(total), "sizes": list(found)} if 0 <= len(found) <= total:
            return total, tuple(Sheet(page, *_numbers(size, 2, pdf)) for page, size in enumerate(found, start=1))
    raise _nonsense(pdf)


def picture(drawers: Draws, pdf: Pdf, page: int, width: int) -> bytes:
    _, content = drawers.ask(pdf, {"do": "picture", "page": page, "width": width})
    if not content.startswith(_PNG):
        raise _nonsense(pdf)
    return content


def words(drawers: Draws, pdf: Pdf, page: int) -> Lettering:
    reply, _ = drawers.ask(pdf, {"do": "words", "page": page})
    match reply:
        case {"size": list(size), "words": list(found)}:
            sheet = Sheet(page, *_numbers(size, 2, pdf))
            return Lettering(sheet, tuple(Word(_text(word, pdf), *_numbers(word[1:], 4, pdf)) for word in found))
    raise _nonsense(pdf)


def marks(drawers: Draws, pdf: Pdf, page: int, wanted: Sequence[Wanted]) -> list[tuple[Box, ...]]:
    """Where each of these stands on a page; nothing for one that is not found."""
    asked = [[astuple(one.box)[1:], one.before, one.quote, one.is_line] for one in wanted]
    reply, _ = drawers.ask(pdf, {"do": "marks", "page": page, "wanted": asked})
    match reply:
        case {"marks": list(found)} if len(found) == len(wanted):
            return [tuple(Box(page, *_numbers(box, 4, pdf)) for box in boxes) for boxes in found]
    raise _nonsense(pdf)


def _numbers(value: object, count: int, pdf: Pdf) -> list[float]:
    if not isinstance(value, list) or len(value) != count or not all(map(_is_number, value)):
        raise _nonsense(pdf)
    return [float(number) for number in value]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _text(value: Any, pdf: Pdf) -> str:  # noqa: ANN401
    if isinstance(value, list) and value and isinstance(value[0], str):
        # Halves of characters are no text.
        return value[0].encode("utf-8", "replace").decode()
    raise _nonsense(pdf)


def _nonsense(pdf: Pdf) -> ParserCrashed:
    return ParserCrashed(f"the pages of {pdf.name!r} cannot be drawn: what came back is none")
