"""Pictures, lines and areas of a page: where they are, and whether text on them would be seen."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

_MOST_OBJECTS = 20_000
"""Of a page, those inside others included; the rest of a drawing lies where its beginning does."""
_DEEPEST = 4
_WHITE = 245
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


def graphics_of(page: Any, page_area: float) -> tuple[Graphic, ...]:  # noqa: ANN401
    """Of a pdfium page, in the file's coordinates, which count from the bottom up."""
    budget = [_MOST_OBJECTS]
    count = pdfium.FPDFPage_CountObjects(page)
    children = (pdfium.FPDFPage_GetObject(page, index) for index in range(min(count, _MOST_OBJECTS)))
    return tuple(_walk(children, np.eye(3), budget, page_area, _DEEPEST))


def _walk(objects: Iterator[Any], matrix: Matrix, budget: list[int], page_area: float, depth: int) -> Iterator[Graphic]:
    for item in objects:
        budget[0] -= 1
        if budget[0] < 0:
            return
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            continue
        if kind == pdfium.FPDF_PAGEOBJ_FORM:
            yield from _form(item, matrix, budget, page_area, depth)
        elif (box := _bounds(item, matrix)) is not None:
            image = kind == pdfium.FPDF_PAGEOBJ_IMAGE
            yield Graphic(GraphicKind.IMAGE if image else GraphicKind.DRAWING, *box, image or _is_coloured(item, kind))


def _form(
    form: Any,  # noqa: ANN401
    matrix: Matrix,
    budget: list[int],
    page_area: float,
    depth: int,
) -> Iterator[Graphic]:
    """A picture in one, unless it holds nothing but text, or is the page itself."""
    if not depth:
        return
    inner = matrix @ _matrix(form)
    children = (pdfium.FPDFFormObj_GetObject(form, index) for index in range(pdfium.FPDFFormObj_CountObjects(form)))
    found = list(_walk(children, inner, budget, page_area, depth - 1))
    box = _bounds(form, matrix)
    if not found or box is None:
        return
    image = all(graphic.kind == GraphicKind.IMAGE for graphic in found)
    kind = GraphicKind.IMAGE if image else GraphicKind.DRAWING
    whole = Graphic(kind, *box, any(graphic.coloured for graphic in found))
    yield from found if abs(whole.area) > _WHOLE_PAGE * page_area else [whole]


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


def _is_coloured(item: Any, kind: int) -> bool:  # noqa: ANN401
    """Whether an area is filled with anything but white."""
    if kind != pdfium.FPDF_PAGEOBJ_PATH:
        return True
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    if not pdfium.FPDFPath_GetDrawMode(item, mode, stroke) or mode.value == pdfium.FPDF_FILLMODE_NONE:
        return False
    parts = [ctypes.c_uint() for _ in range(4)]
    known = pdfium.FPDFPageObj_GetFillColor(item, *parts)
    return not known or (parts[3].value > 0 and min(part.value for part in parts[:3]) < _WHITE)
