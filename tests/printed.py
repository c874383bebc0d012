"""Small PDFs of known words at known places, and what their words spell inside boxes."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache

import pypdfium2  # type: ignore[import-untyped]
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from carrel import Library
from carrel.types import Box

WIDTH, HEIGHT = 400.0, 600.0
LEADING = 14.0
NOTE = 3.0
"""How far above its line the number of a note may stand."""
LINES = (
    "Granite is hard and cools slowly below the ground. It melts at",
    "about 1,215 degrees (see Fig. 1). Nobody in the laboratory was",
    "surprised, for granite has been melted before. A second sentence",
    "says the same once more, and the last one ends the paragraph.",
)
QUOTE = "It melts at about 1,215 degrees (see Fig. 1)."


def pdf(*pages: Sequence[str], password: str = "", size: tuple[float, float] = (WIDTH, HEIGHT)) -> bytes:
    """A page of lines, one below the other, for each of these."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=size, encrypt=StandardEncryption(password) if password else None)
    for lines in pages or (LINES,):
        canvas.setFont("Times-Roman", 10)
        for row, line in enumerate(lines):
            canvas.drawString(60, size[1] - 100 - LEADING * row, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def turned(content: bytes, degrees: int, crop: tuple[float, float, float, float] | None = None) -> bytes:
    """The same pages, shown turned and in part."""
    buffer = io.BytesIO()
    with pypdfium2.PdfDocument(content) as document:
        for page in document:
            page.set_rotation(degrees)
            if crop:
                page.set_cropbox(*crop)
        document.save(buffer)
    return buffer.getvalue()


def plain(text: str) -> str:
    """Its letters and digits: blanks and hyphens at line ends are set in more ways than one."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text).casefold() if sign.isalnum())


class Reader:
    """Reads, in the text layer of a paper's pages, what stands in boxes."""

    def __init__(self, library: Library) -> None:
        self._words = cache(lambda paper_id, page: library.page_words(paper_id, page).words)

    def spelled(self, paper_id: str, boxes: Iterable[Box]) -> str:
        found = []
        for box in boxes:
            for word in self._words(paper_id, box.page):
                x, y = (word.left + word.right) / 2, (word.top + word.bottom) / 2
                if box.left <= x <= box.right and box.top - NOTE <= y <= box.bottom + NOTE:
                    found.append((box.page, word))
        return plain("".join(word.text for _, word in dict.fromkeys(found)))
