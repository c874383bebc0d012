"""Pictures, lines and areas of a page: where they are, and whether text on them would be seen."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from carrel.parsers.pdf_glyphs import colour_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

_MOST_OBJECTS = 20_000
"""Of a page, those inside others included; the rest of a drawing lies where its beginning does."""
_DEEPEST = 4
_WHITE = 245
_NOTHING = (255, 255, 255, 0)
_WHOLE_PAGE = 0.6
"""A form that covers more of its page is the page, not a picture on it."""


class GraphicKind(StrEnum):
    IMAGE = "image"
    DRAWING = "drawing"


@dataclass(frozen=True, slots=True)
class Graphic:
    kind: GraphicKind
    left: float
    top: float
    right: float
    bottom: float
    coloured: bool
    """White text on it would be seen."""

    @property
    def area(self) -> float:
        return (self.right - self.left) * (self.bottom - self.top)


class Painted(NamedTuple):
    """An area that is filled, and when: what was there before, it may hide."""

    order: int
    box: tuple[float, float, float, float]
    colour: tuple[int, int, int, int] | None
    """None for pictures and patterns."""


@dataclass(slots=True)
class Drawing:
    """All that is drawn on a page, in the file's coordinates, which count from the bottom up."""

    page_area: float
    graphics: tuple[Graphic, ...] = ()
    painted: list[Painted] = field(default_factory=list)
    texts: dict[int, int] = field(default_factory=dict)
    """When each text object is drawn."""
    order: int = 0


def drawing_of(page: Any, page_area: float) -> Drawing:  # noqa: ANN401
    """Of a pdfium page."""
    drawing = Drawing(page_area)
    count = pdfium.FPDFPage_CountObjects(page)
    children = (pdfium.FPDFPage_GetObject(page, index) for index in range(min(count, _MOST_OBJECTS)))
    drawing.graphics = tuple(_walk(children, np.eye(3), drawing, _DEEPEST))
    return drawing


def _walk(objects: Iterator[Any], matrix: Matrix, drawing: Drawing, depth: int) -> Iterator[Graphic]:
    for item in objects:
        drawing.order += 1
        if drawing.order > _MOST_OBJECTS:
            return
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            drawing.texts[ctypes.cast(item, ctypes.c_void_p).value or 0] = drawing.order
        elif kind == pdfium.FPDF_PAGEOBJ_FORM:
            yield from _form(item, matrix, drawing, depth)
        elif (box := _bounds(item, matrix)) is not None:
            image = kind == pdfium.FPDF_PAGEOBJ_IMAGE
            colour = None if image else _fill(item, kind)
            if colour != _NOTHING:
                drawing.painted.append(Painted(drawing.order, box, colour))
            coloured = colour is None or (colour[3] > 0 and min(colour[:3]) < _WHITE)
            yield Graphic(GraphicKind.IMAGE if image else GraphicKind.DRAWING, *box, coloured)


def _form(form: Any, matrix: Matrix, drawing: Drawing, depth: int) -> Iterator[Graphic]:  # noqa: ANN401
    """A picture in one, unless it holds nothing but text, or is the page itself."""
    if not depth:
        return
    inner = matrix @ _matrix(form)
    children = (pdfium.FPDFFormObj_GetObject(form, index) for index in range(pdfium.FPDFFormObj_CountObjects(form)))
    found = list(_walk(children, inner, drawing, depth - 1))
    box = _bounds(form, matrix)
    if not found or box is None:
        return
    image = all(graphic.kind == GraphicKind.IMAGE for graphic in found)
    kind = GraphicKind.IMAGE if image else GraphicKind.DRAWING
    whole = Graphic(kind, *box, any(graphic.coloured for graphic in found))
    yield from found if abs(whole.area) > _WHOLE_PAGE * drawing.page_area else [whole]


def _matrix(item: Any) -> Matrix:  # noqa: ANN401
    found = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(item, found):
        return np.eye(3)
    return np.array([[found.a, found.c, found.e], [found.b, found.d, found.f], [0.0, 0.0, 1.0]])


def _bounds(item: Any, matrix: Matrix) -> tuple[float, float, float, float] | None:  # noqa: ANN401
    """Left, bottom, right, top."""
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
        return None
    corners = np.array([[x, y, 1.0] for x in (left.value, right.value) for y in (bottom.value, top.value)])
    moved = corners @ matrix.T
    if not np.isfinite(moved).all():
        return None
    (x0, y0, _), (x1, y1, _) = moved.min(axis=0).tolist(), moved.max(axis=0).tolist()
    return x0, y0, x1, y1


def _fill(item: Any, kind: int) -> tuple[int, int, int, int] | None:  # noqa: ANN401
    """The colour that an area is filled with; None where it is none, as of a pattern."""
    if kind != pdfium.FPDF_PAGEOBJ_PATH:
        return None
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    if not pdfium.FPDFPath_GetDrawMode(item, mode, stroke) or mode.value == pdfium.FPDF_FILLMODE_NONE:
        return _NOTHING
    return colour_of(item)
