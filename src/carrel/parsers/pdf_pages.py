"""A page of a PDF, in pieces of text and graphics.

Distances are points. A page is looked at so that most of its text stands upright: x to the right, y down, from its
top left corner; `Page.box` says where that is on the page as it is shown.
"""

from __future__ import annotations

import math
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from carrel.parsers.pdf_glyphs import DIAGONAL, Font, Glyphs, Run, read_glyphs
from carrel.parsers.pdf_graphics import Graphic, drawing_of
from carrel.parsers.pdf_hidden import size_of, visible
from carrel.parsers.pdf_pieces import Glyph, Piece, Setting, Style, pieces_of, readable
from carrel.parsers.pdf_regions import Region, candidates_of
from carrel.parsers.pdf_seen import unseen
from carrel.types import Box

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_MUCH_TEXT = 200
"""Characters."""
_SMALLEST = 0.5
_LINE_ENDS = frozenset({10, 13})


@dataclass(frozen=True, slots=True)
class Frame:
    """The page seen so that text running at `angle` (0, 90, 180 or 270 degrees) is upright."""

    angle: int
    left: float
    bottom: float
    right: float
    top: float

    @property
    def size(self) -> tuple[float, float]:
        width, height = self.right - self.left, self.top - self.bottom
        return (height, width) if self.angle in {90, 270} else (width, height)

    def upright(self, boxes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows of left, bottom, right, top in the file's coordinates → left, top, right, bottom."""
        left, bottom, right, top = boxes.T
        if self.angle == 0:
            turned = (left - self.left, self.top - top, right - self.left, self.top - bottom)
        elif self.angle == 90:
            turned = (bottom - self.bottom, left - self.left, top - self.bottom, right - self.left)
        elif self.angle == 180:
            turned = (self.right - right, bottom - self.bottom, self.right - left, top - self.bottom)
        else:
            turned = (self.top - top, self.right - right, self.top - bottom, self.right - left)
        return np.stack(turned, axis=1)

    def file_box(self, left: float, top: float, right: float, bottom: float) -> NDArray[np.float64]:
        """The way back, of one box."""
        if self.angle == 0:
            turned = (left + self.left, self.top - bottom, right + self.left, self.top - top)
        elif self.angle == 90:
            turned = (top + self.left, left + self.bottom, bottom + self.left, right + self.bottom)
        elif self.angle == 180:
            turned = (self.right - right, top + self.bottom, self.right - left, bottom + self.bottom)
        else:
            turned = (self.right - bottom, self.top - right, self.right - top, self.top - left)
        return np.array([turned])


@dataclass(frozen=True, slots=True)
class Page:
    number: int
    pieces: tuple[Piece, ...]
    candidates: tuple[Region, ...]
    """Where tables and figures may be."""
    hidden: int
    """How many characters no reader of the page would see."""
    unread: int
    turned: str
    """Text that runs another way than most, as a stamp in the margin does."""
    seen: Frame
    shown: Frame

    @property
    def width(self) -> float:
        return self.seen.size[0]

    @property
    def height(self) -> float:
        return self.seen.size[1]

    def box(self, left: float, top: float, right: float, bottom: float) -> Box:
        """On the page as it is shown, and inside of it."""
        box = self.shown.upright(self.seen.file_box(left, top, right, bottom))[0]
        limits = np.array(self.shown.size * 2)
        return Box(self.number, *np.clip(box, 0, limits).round(2).tolist())


def read_pages(document: Any, number: int) -> list[Page]:  # noqa: ANN401
    """A page of an open pdfium document, counted from 1; seen a second time where much of its text runs another way."""
    with closing(document[number - 1]) as page, closing(page.get_textpage()) as text:
        glyphs = read_glyphs(text.raw)
        shown = frame_of(page)
        drawing = drawing_of(page.raw, shown.size[0] * shown.size[1])
        hidden = unseen(page, glyphs, drawing, shown.upright)
    main, *others = _angles(glyphs, shown.angle)
    views = [
        _view(glyphs, drawing.graphics, hidden, number, replace(shown, angle=angle), shown) for angle in (main, *others)
    ]
    return [views[0], *(replace(view, hidden=0, unread=0) for view in views[1:])]


def frame_of(page: Any) -> Frame:  # noqa: ANN401
    """A page of pdfium's as it is shown."""
    return Frame(page.get_rotation() % 360, *_page_box(page))


def _view(
    glyphs: Glyphs, drawn: Sequence[Graphic], hidden: NDArray[np.bool_], number: int, seen: Frame, shown: Frame
) -> Page:
    boxes = seen.upright(glyphs.boxes)
    graphics = _upright(drawn, seen)
    is_seen = visible(glyphs.runs, boxes, graphics, seen.size, hidden)
    pieces = tuple(pieces_of(_upright_glyphs(glyphs, boxes, is_seen, seen)))
    candidates = candidates_of(graphics, pieces, seen.size)
    left_out, turned = _hidden(glyphs, is_seen), _turned(glyphs, is_seen, seen)
    return Page(number, pieces, candidates, left_out, glyphs.unread, turned, seen, shown)


def _upright(graphics: Sequence[Graphic], frame: Frame) -> list[Graphic]:
    if not graphics:
        return []
    # A graphic of the file has its bottom below its top.
    boxes = frame.upright(np.array([(one.left, one.top, one.right, one.bottom) for one in graphics]))
    return [
        replace(graphic, left=left, top=top, right=right, bottom=bottom)
        for graphic, (left, top, right, bottom) in zip(graphics, boxes.tolist(), strict=True)
    ]


def _page_box(page: Any) -> tuple[float, float, float, float]:  # noqa: ANN401
    """What is shown of a page: its crop box, as far as that lies on the media box."""
    left, bottom, right, top = page.get_bbox()
    return (left, bottom, right, top) if right > left and top > bottom else page.get_mediabox()


def _angles(glyphs: Glyphs, otherwise: int) -> list[int]:
    """Which ways the text runs, most of it first; not those of a few words only, as of stamps and labels."""
    counts = Counter(run.angle for run in glyphs.runs if run is not None and run.angle != DIAGONAL)
    angles = [angle for angle, _ in counts.most_common(1)] or [otherwise]
    return angles + [angle for angle, count in counts.items() if angle not in angles and count >= _MUCH_TEXT]


def _hidden(glyphs: Glyphs, is_seen: NDArray[np.bool_]) -> int:
    return sum(
        not seen and run is not None and bool(readable(code).strip())
        for code, run, seen in zip(glyphs.codes, glyphs.runs, is_seen.tolist(), strict=True)
    )


def _turned(glyphs: Glyphs, is_seen: NDArray[np.bool_], frame: Frame) -> str:
    return "".join(
        readable(code)
        for code, run, seen in zip(glyphs.codes, glyphs.runs, is_seen.tolist(), strict=True)
        if seen and run is not None and run.angle != frame.angle
    )


def _upright_glyphs(
    glyphs: Glyphs, boxes: NDArray[np.float64], is_seen: NDArray[np.bool_], frame: Frame
) -> Iterator[Glyph | None]:
    """The characters that can be seen and run the page's main way; None is a line end."""
    settings: dict[int, Setting] = {}
    for code, run, box, seen in zip(glyphs.codes, glyphs.runs, boxes.tolist(), is_seen.tolist(), strict=True):
        if code in _LINE_ENDS:
            yield None
        elif run is not None and seen and run.angle == frame.angle:
            setting = settings.get(id(run))
            if setting is None:
                setting = settings[id(run)] = _setting(run, box, frame)
            yield Glyph(readable(code), box[0], box[2], setting)


def _setting(run: Run, box: list[float], frame: Frame) -> Setting:
    size = size_of(run, box[3] - box[1])
    x, y = run.origin
    baseline = float(frame.upright(np.array([[x, y, x, y]]))[0][1])
    baseline = baseline if math.isfinite(baseline) else box[3]
    return Setting(_style(run.font, max(round(size, 1), _SMALLEST)), round(baseline, 1))


@lru_cache(maxsize=1024)
def _style(font: Font, size: float) -> Style:
    """One for all pieces set alike: there are many."""
    return Style(size, font.bold, font.italic, font.mono, font.name)
