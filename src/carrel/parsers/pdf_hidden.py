"""Text that is in the file but not on the page: invisible, white on white, tiny, or outside of what is shown of it.

Somebody may have put it there for machines to read. A scanned page is another thing: its text is invisible too, but
lies over the picture that shows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from carrel.parsers.pdf_graphics import GraphicKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from carrel.parsers.pdf_glyphs import Run
    from carrel.parsers.pdf_graphics import Graphic

_INVISIBLE_MODES = frozenset({3, 7})
_SMALLEST = 2.0
"""Points, as it stands on the page."""
_WHITE = 240
_MARGIN = 1.0
_SCAN = 0.4
"""Part of a page that is pictures when it was scanned; on a smaller one, invisible text is hidden all the same."""


def visible(
    runs: Sequence[Run | None],
    boxes: NDArray[np.float64],
    graphics: Sequence[Graphic],
    size: tuple[float, float],
    unseen: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Of each character, whether a reader would see it. Boxes are upright: left, top, right, bottom.

    `unseen` are those that turned out not to be in the picture of the page.
    """
    seen = _on_page(boxes, size) & ~unseen
    shown: dict[int, bool] = {}
    images = [graphic for graphic in graphics if graphic.kind == GraphicKind.IMAGE]
    scanned = _areas(images if sum(image.area for image in images) > _SCAN * size[0] * size[1] else ())
    coloured = _areas(graphic for graphic in graphics if graphic.coloured)
    for index, run in enumerate(runs):
        if run is None or not seen[index]:
            continue
        if id(run) not in shown:
            shown[id(run)] = _is_shown(run, boxes[index], scanned, coloured)
        seen[index] = shown[id(run)]
    return seen


def _on_page(boxes: NDArray[np.float64], size: tuple[float, float]) -> NDArray[np.bool_]:
    width, height = size
    left, top, right, bottom = boxes.T
    inside = (right >= -_MARGIN) & (left <= width + _MARGIN) & (bottom >= -_MARGIN) & (top <= height + _MARGIN)
    return np.asarray(inside, dtype=np.bool_)


def _areas(graphics: Iterable[Graphic]) -> NDArray[np.float64]:
    areas = [(graphic.left, graphic.top, graphic.right, graphic.bottom) for graphic in graphics]
    return np.array(areas, dtype=np.float64).reshape(len(areas), 4)


def _is_shown(run: Run, box: NDArray[np.float64], scanned: NDArray[np.float64], coloured: NDArray[np.float64]) -> bool:
    """An invisible run is shown by the scan under it, a white one by anything coloured."""
    # A dash of a symbols' font is flat and yet large: the longer side counts.
    if 0 < size_of(run, max(box[2] - box[0], box[3] - box[1])) < _SMALLEST:
        return False
    if run.mode in _INVISIBLE_MODES or not run.colour[3]:
        return _lies_on(box, scanned)
    return min(run.colour[:3]) < _WHITE or _lies_on(box, coloured)


def size_of(run: Run, height: float) -> float:
    """What its font says, unless its letters are of quite another size."""
    return run.size if not height or height / 3 <= run.size <= 3 * height else height / 1.2


def _lies_on(box: NDArray[np.float64], areas: NDArray[np.float64]) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    left, top, right, bottom = areas.T
    return bool(((left <= x) & (x <= right) & (top <= y) & (y <= bottom)).any())
