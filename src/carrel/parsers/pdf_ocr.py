"""Scanned pages: those without text and with a large picture, read by OCR if it is installed."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from carrel.parsers import ocr
from carrel.parsers.pdf_graphics import GraphicKind, drawing_of
from carrel.parsers.pdf_pieces import ASCENT, DESCENT, Piece, Style

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from carrel.parsers.ocr import Reading, Recognised
    from carrel.parsers.pdf_pages import Frame, Page

_SCAN = 0.4
"""Part of a page that is pictures when it was scanned."""
_LONG_SIDE = 2340
"""Pixels of a page, however large it is: 200 to the inch on A4."""
_LARGEST_SCALE = 300 / 72
_STEP = 1.25
"""Between the sizes that are told apart: they are measured by ink, and of one font not always alike."""
_LONG_LINE = 70
"""Characters. Capitals and digits make a line of prose look larger than it is, by one step."""
_SMALLEST = 0.5
_FEWEST_LETTERS = 4
_MOST_RANGES = 10


@dataclass(frozen=True, slots=True)
class _Scan:
    """What was read of a page, on the page seen so that it is upright."""

    page: Page
    seen: Frame
    reading: Reading

    @property
    def points(self) -> float:
        """Of a pixel."""
        return self.seen.size[0] / self.reading.size[0]


def with_scans(
    document: Any,  # noqa: ANN401
    pages: Sequence[Page],
    most: int,
    more_time: Callable[[], None],
) -> tuple[list[Page], tuple[str, ...]]:
    """The pages of an open pdfium document, up to so many scans among them read, and what is to be said of it.

    Before each scan `more_time` is called: it takes seconds.
    """
    scans = [page for page in pages if not page.pieces and _is_scan(document, page)]
    read: dict[int, _Scan] = {}
    for page in scans[:most]:
        more_time()
        read[page.number] = _read(document, page)
    usual = _usual_size(list(read.values()))
    whole = [_with_pieces(read[page.number], usual) if page.number in read else page for page in pages]
    return whole, tuple(_remarks(whole, read, [page.number for page in scans[most:]], most))


def _is_scan(document: Any, page: Page) -> bool:  # noqa: ANN401
    area = page.width * page.height
    with closing(document[page.number - 1]) as opened:
        graphics = drawing_of(opened.raw, area).graphics
    # A graphic of the file has its bottom below its top.
    return sum(abs(graphic.area) for graphic in graphics if graphic.kind == GraphicKind.IMAGE) > _SCAN * area


def _read(document: Any, page: Page) -> _Scan:  # noqa: ANN401
    with closing(document[page.number - 1]) as opened:
        scale = min(_LONG_SIDE / max(opened.get_size()), _LARGEST_SCALE)
        reading = ocr.read(opened.render(scale=scale).to_numpy())
    return _Scan(page, replace(page.shown, angle=(page.shown.angle + reading.turned) % 360), reading)


def _usual_size(scans: Sequence[_Scan]) -> float:
    """The size of most of the text, in points."""
    sizes = sorted((line.size * scan.points, len(line.text)) for scan in scans for line in scan.reading.lines)
    half, passed = sum(length for _, length in sizes) / 2, 0
    for size, length in sizes:
        passed += length
        if passed >= half:
            return size
    return 10.0


def _with_pieces(scan: _Scan, usual: float) -> Page:
    pieces = tuple(_piece(line, scan.points, usual) for line in scan.reading.lines)
    return replace(scan.page, pieces=pieces, candidates=(), seen=scan.seen)


def _piece(line: Recognised, points: float, usual: float) -> Piece:
    style = Style(_size(line.text, line.size * points, usual))
    baseline = round(line.baseline * points, 1)
    return Piece(
        text=line.text,
        left=line.left * points,
        top=baseline - ASCENT * style.size,
        right=line.right * points,
        bottom=baseline + DESCENT * style.size,
        style=style,
        first=style,
        baseline=baseline,
    )


def _size(text: str, measured: float, usual: float) -> float:
    """No title is a number, and few letters, as in a drawing, are easily measured wrong."""
    if sum(letter.isalpha() for letter in text) < _FEWEST_LETTERS:
        measured = min(measured, usual)
    steps = round(math.log(measured / usual, _STEP))
    if steps == 1 and len(text) >= _LONG_LINE:
        steps = 0
    return max(round(usual * _STEP**steps, 1), _SMALLEST)


# What is said of it


def _remarks(pages: Sequence[Page], read: dict[int, _Scan], left_out: Sequence[int], most: int) -> Iterator[str]:
    numbers = [page.number for page in pages if page.number in read and page.pieces]
    if numbers:
        yield f"{_named(numbers, 'was', 'were')} read by OCR: quotes may differ from the print"
    if unclear := sum(scan.reading.unclear for scan in read.values()):
        yield f"{unclear} line{'s' if unclear > 1 else ''} too unclear for OCR left out"
    if left_out:
        yield f"{_named(left_out, 'is a scan', 'are scans')} and left out: ingest.ocr_pages is {most}"


def _named(numbers: Sequence[int], one: str, several: str) -> str:
    """`pages 1–3, 7 were`; only how many, where that would be long."""
    starts = [numbers[0], *(after for before, after in pairwise(numbers) if after > before + 1)]
    ends = [*(before for before, after in pairwise(numbers) if after > before + 1), numbers[-1]]
    ranges = [f"{start}–{end}" if end > start else str(start) for start, end in zip(starts, ends, strict=True)]
    if len(ranges) > _MOST_RANGES:
        return f"{len(numbers)} pages {several}"
    return f"page {ranges[0]} {one}" if len(numbers) == 1 else f"pages {', '.join(ranges)} {several}"
