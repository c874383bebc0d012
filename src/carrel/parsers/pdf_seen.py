"""Whether text that may be hidden can be seen: the page is drawn with it and without it, and the pictures compared.

So it does not matter what hides it: a picture or an area drawn over it, a ground of its own colour, a clip that cuts it
away, a layer that is switched off. Only pages with text that gives a reason to doubt are drawn at all.
"""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from carrel.parsers.pdf_pieces import readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from carrel.parsers.pdf_glyphs import Glyphs, Run
    from carrel.parsers.pdf_graphics import Drawing

    Boxes = NDArray[np.float64]

_INVISIBLE_MODES = frozenset({3, 7})
"""Drawn by nobody; whether a scan shows it is asked elsewhere."""
_NEARLY_WHITE = 200
_FAINT = 64
"""Of 255, opacity."""
_ALIKE = 40
"""Of 255, between two colours."""
_MUCH = 0.2
"""Part of a text's box that something else must lie on to matter."""
_SEEN = 12
"""Of 255: how much a pixel must change for an eye to see it."""
_SCALE = 2.0
_MOST_PIXELS = 4_000_000
_MOST_CLIPS, _MOST_SEGMENTS = 4, 12
_LAYER = "OC"


def unseen(page: Any, glyphs: Glyphs, drawing: Drawing, upright: Callable[[Boxes], Boxes]) -> NDArray[np.bool_]:  # noqa: ANN401
    """Of each character, whether it is in the file and not in the picture of the page."""
    hidden = np.zeros(len(glyphs.codes), dtype=np.bool_)
    doubted = _doubted(glyphs, drawing)
    if not doubted:
        return hidden
    scale = min(_SCALE, math.sqrt(_MOST_PIXELS / max(drawing.page_area, 1.0)))
    changed = _changed(page, list(doubted), scale)
    boxes = upright(glyphs.boxes) * scale
    for places in doubted.values():
        shown = [index for index in places if _is_drawn(changed, boxes[index])]
        gone = set(places) - set(shown) if shown else places
        # A blank is never seen; it goes with the words around it.
        hidden[[index for index in gone if not shown or readable(glyphs.codes[index]).strip()]] = True
    return hidden


def _doubted(glyphs: Glyphs, drawing: Drawing) -> dict[int, list[int]]:
    """The text objects that may be hidden, and the numbers of their characters."""
    places: dict[int, list[int]] = {}
    runs: dict[int, Run] = {}
    for index, run in enumerate(glyphs.runs):
        if run is not None and run.mode not in _INVISIBLE_MODES and run.colour[3]:
            places.setdefault(run.handle, []).append(index)
            runs[run.handle] = run
    areas = _Areas(drawing)
    return {
        handle: numbers
        for handle, numbers in places.items()
        if _is_doubtful(runs[handle], _around(glyphs.boxes[numbers]), areas, drawing.texts.get(handle, 0))
    }


def _around(boxes: Boxes) -> tuple[float, float, float, float]:
    """Left, bottom, right, top of them all."""
    (left, bottom), (right, top) = boxes[:, :2].min(axis=0).tolist(), boxes[:, 2:].max(axis=0).tolist()
    return left, bottom, right, top


class _Areas:
    """What is painted on a page, as arrays."""

    def __init__(self, drawing: Drawing) -> None:
        painted = drawing.painted
        self.colours = [area.colour for area in painted]
        self.orders = np.array([area.order for area in painted])
        self.boxes = np.array([area.box for area in painted], dtype=np.float64).reshape(len(painted), 4)

    def under_or_over(self, box: Sequence[float]) -> NDArray[np.int64]:
        """The numbers of those that share much of a box."""
        left, bottom, right, top = self.boxes.T
        width = np.clip(np.minimum(right, box[2]) - np.maximum(left, box[0]), 0, None)
        height = np.clip(np.minimum(top, box[3]) - np.maximum(bottom, box[1]), 0, None)
        whole = max((box[2] - box[0]) * (box[3] - box[1]), 0.01)
        return np.flatnonzero(width * height > _MUCH * whole)


def _is_doubtful(run: Run, box: Sequence[float], areas: _Areas, order: int) -> bool:
    if run.colour[3] < _FAINT or _is_on_a_layer(run.handle) or _is_cut_away(run.handle, box):
        return True
    near = areas.under_or_over(box).tolist()
    if any(areas.orders[number] > order for number in near):
        return True
    ground = areas.colours[near[-1]] if near else (255, 255, 255, 255)
    if ground is None:
        return min(run.colour[:3]) > _NEARLY_WHITE
    return all(abs(one - other) < _ALIKE for one, other in zip(run.colour[:3], ground[:3], strict=True))


def _is_on_a_layer(handle: int) -> bool:
    item = _handle(handle)
    return any(_mark(item, number) == _LAYER for number in range(max(0, pdfium.FPDFPageObj_CountMarks(item))))


def _mark(item: Any, number: int) -> str:  # noqa: ANN401
    buffer, length = (ctypes.c_ushort * 16)(), ctypes.c_ulong()
    mark = pdfium.FPDFPageObj_GetMark(item, number)
    if not pdfium.FPDFPageObjMark_GetName(mark, buffer, ctypes.sizeof(buffer), length):
        return ""
    return bytes(buffer)[: length.value].decode("utf-16-le", "replace").rstrip("\0")


def _is_cut_away(handle: int, box: Sequence[float]) -> bool:
    """Whether one of the areas that a text is clipped to does not reach its middle."""
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    clip = pdfium.FPDFPageObj_GetClipPath(_handle(handle))
    for number in range(min(max(0, pdfium.FPDFClipPath_CountPaths(clip)), _MOST_CLIPS)):
        corners = np.array(list(_corners(clip, number)), dtype=np.float64)
        if len(corners) and not (corners.min(axis=0) <= (x, y)).all() & (corners.max(axis=0) >= (x, y)).all():
            return True
    return False


def _corners(clip: Any, number: int) -> Iterator[tuple[float, float]]:  # noqa: ANN401
    count = pdfium.FPDFClipPath_CountPathSegments(clip, number)
    x, y = ctypes.c_float(), ctypes.c_float()
    for index in range(count if count <= _MOST_SEGMENTS else 0):
        if pdfium.FPDFPathSegment_GetPoint(pdfium.FPDFClipPath_GetPathSegment(clip, number, index), x, y):
            yield x.value, y.value


def _changed(page: Any, handles: Sequence[int], scale: float) -> NDArray[np.uint8]:  # noqa: ANN401
    """How much each pixel of a page changes when these text objects are left out."""
    whole = _drawn(page, scale)
    try:
        for handle in handles:
            pdfium.FPDFPageObj_SetIsActive(_handle(handle), 0)
        without = _drawn(page, scale)
    finally:
        for handle in handles:
            pdfium.FPDFPageObj_SetIsActive(_handle(handle), 1)
    most: NDArray[np.uint8] = np.abs(whole.astype(np.int16) - without).max(axis=2).astype(np.uint8)
    return most


def _drawn(page: Any, scale: float) -> NDArray[np.uint8]:  # noqa: ANN401
    bitmap = page.render(scale=scale)
    try:
        return np.array(bitmap.to_numpy()[:, :, :3])
    finally:
        bitmap.close()


def _is_drawn(changed: NDArray[np.uint8], box: NDArray[np.float64]) -> bool:
    left, top = np.floor(box[:2]).astype(int).clip(0)
    right, bottom = np.ceil(box[2:]).astype(int).clip(0)
    part = changed[top : max(bottom, top + 1), left : max(right, left + 1)]
    return bool(part.size) and int(part.max()) >= _SEEN


def _handle(address: int) -> Any:  # noqa: ANN401
    return ctypes.cast(address, pdfium.FPDF_PAGEOBJECT)
