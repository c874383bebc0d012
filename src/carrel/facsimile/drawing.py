"""What is done with one PDF: its pages measured, drawn, read, and quotes marked on them."""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from carrel.errors import NotFound, SourceError
from carrel.facsimile.marking import Letters, marks_of
from carrel.facsimile.png import png
from carrel.facsimile.wording import words_of
from carrel.parsers import Source
from carrel.parsers.pdf import opened
from carrel.parsers.pdf_glyphs import read_glyphs
from carrel.parsers.pdf_pages import frame_of

if TYPE_CHECKING:
    from carrel.facsimile import Wanted
    from carrel.types import Box

MOST_SHEETS = 10_000
"""Whose sizes are told."""
_PAGES_HELD = 4
_MOST_PIXELS, _MOST_HIGH = 16_000_000, 16_000
"""Of a picture. One of a page that is far higher than wide becomes narrower than was asked."""


class Drawing:
    """An open PDF; what is wrong with it is a `SourceError`. Only one thread at a time may use pdfium."""

    def __init__(self, name: str, content: bytes) -> None:
        self._name = name
        self._document = opened(Source(name, content))
        # Several quotes may be asked of one page, one after the other.
        self._letters = lru_cache(_PAGES_HELD)(self._read)

    def close(self) -> None:
        self._document.close()

    @property
    def total(self) -> int:
        return len(self._document)

    def sizes(self) -> list[tuple[float, float]]:
        """Width and height of each page, in points."""
        return [self._size(number) for number in range(1, min(self.total, MOST_SHEETS) + 1)]

    def picture(self, number: int, width: int) -> bytes:
        """A page as PNG, so many pixels wide."""
        import pypdfium2 as pdfium  # type: ignore[import-untyped]
        from pypdfium2 import raw

        with closing(self._page(number)) as page:
            size = frame_of(page).size
            if min(size) <= 0:
                raise SourceError(f"page {number} of {self._name!r} has no size")
            wide, high = _pixels(*size, width)
            with closing(pdfium.PdfBitmap.new_native(wide, high, raw.FPDFBitmap_BGR, rev_byteorder=True)) as bitmap:
                bitmap.fill_rect((255, 255, 255, 255), 0, 0, wide, high)
                flags = raw.FPDF_ANNOT | raw.FPDF_REVERSE_BYTE_ORDER
                raw.FPDF_RenderPageBitmap(bitmap, page, 0, 0, wide, high, 0, flags)
                return png(bitmap.to_numpy())

    def words(self, number: int) -> tuple[tuple[float, float], list[tuple[str, float, float, float, float]]]:
        """A page's size, and its words with where they stand."""
        letters, size = self._letters(number)
        return _rounded(size), list(words_of(letters, *size))

    def marks(self, number: int, wanted: list[Wanted]) -> list[list[Box]]:
        """Where on a page each of these quotes stands, exactly; nothing for one that is not found."""
        letters, _ = self._letters(number)
        return [marks_of(one, letters, number) for one in wanted]

    def _read(self, number: int) -> tuple[Letters, tuple[float, float]]:
        with closing(self._page(number)) as page, closing(page.get_textpage()) as text:
            frame, glyphs = frame_of(page), read_glyphs(text.raw)
        return Letters.of(glyphs, frame), frame.size

    def _size(self, number: int) -> tuple[float, float]:
        from pypdfium2 import PdfiumError

        try:
            # Without reading the page, which takes a hundred times as long.
            return _rounded(self._document.get_page_size(number - 1))
        except PdfiumError:
            # One broken page does not keep the others from being shown.
            return 0.0, 0.0

    def _page(self, number: int) -> Any:  # noqa: ANN401
        from pypdfium2 import PdfiumError

        if not 1 <= number <= self.total:
            raise NotFound(f"{self._name!r} has no page {number}: its pages are 1 to {self.total}")
        try:
            return self._document[number - 1]
        except PdfiumError as error:
            raise SourceError(f"page {number} of {self._name!r} is damaged: pdfium cannot read it") from error


def _rounded(size: tuple[float, float]) -> tuple[float, float]:
    return round(size[0], 2), round(size[1], 2)


def _pixels(width: float, height: float, wanted: int) -> tuple[int, int]:
    """How many of a picture of a page of this size."""
    high = wanted * height / width
    scale = min(1.0, (_MOST_PIXELS / (wanted * high)) ** 0.5, _MOST_HIGH / high)
    return max(1, round(wanted * scale)), max(1, round(high * scale))
