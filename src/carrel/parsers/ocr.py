"""The text of a picture, recognised by PP-OCRv6, whose weights the package `rapidocr` carries."""

from __future__ import annotations

import importlib.util
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]

INSTALL = "pip install 'carrel[ocr]'"
_NEEDED = ("rapidocr", "cv2")
_FINDER, _READER = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"
_FINDER_SIDE = 960
"""Pixels that lines are looked for in; they are read in as many as the picture has."""
_LEAST_SCORE = 0.6
"""Mean probability of the letters of a line that counts as read."""
_SURE = 0.9
_SAMPLE = 5
"""Lines that are read to see whether the page stands on its head."""
_TALL = 1.5
"""Times the width; the package turns what is taller on its side."""
_SHORT = 2.0
"""Times the height of a line: what is tall and no longer is a letter, not a line that runs upwards."""
_INK = 0.35
"""Of the strongest contrast; less is paper."""
_BAND = 0.5
"""Of the ink of a full row: those between the top of the small letters and the baseline have more."""
_X_HEIGHT, _CAPITALS, _IDEOGRAPHS = 0.45, 0.65, 0.88
"""Of letters, in sizes of the font."""
_SMALLEST, _LARGEST = 0.55, 0.9
"""Sizes of a font, in heights of the line as it was found."""
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


@dataclass(frozen=True, slots=True)
class Recognised:
    """A line, in pixels of the picture turned upright."""

    text: str
    left: float
    right: float
    baseline: float
    size: float
    """Of its font, by the height of its letters."""


@dataclass(frozen=True, slots=True)
class Reading:
    turned: int
    """Degrees clockwise until the text stands upright."""
    size: tuple[int, int]
    """Width and height, so turned."""
    lines: tuple[Recognised, ...]
    unclear: int
    """How many lines were found but could not be read."""


@dataclass(frozen=True)
class _Found:
    corners: NDArray[np.float32]
    """From the top left one, clockwise."""
    cut: Picture

    @cached_property
    def size(self) -> tuple[int, int]:
        top_left, top_right, bottom_right, bottom_left = self.corners
        width = max(np.linalg.norm(top_left - top_right), np.linalg.norm(bottom_right - bottom_left))
        height = max(np.linalg.norm(top_left - bottom_left), np.linalg.norm(top_right - bottom_right))
        return max(int(width), 1), max(int(height), 1)

    @property
    def is_tall(self) -> bool:
        return self.size[1] / self.size[0] >= _TALL

    @property
    def picture(self) -> Picture:
        return np.rot90(self.cut, -1) if self.is_tall else self.cut


def is_installed() -> bool:
    return all(importlib.util.find_spec(name) for name in _NEEDED) and all(
        (_models() / name).is_file() for name in (_FINDER, _READER)
    )


def read(picture: Picture) -> Reading:
    """The lines of a picture (rows, columns, three colours), in no order."""
    turned, found = _upright(picture)
    found = _running_across(found)
    recognised = [_measured(one, text) if score >= _LEAST_SCORE else None for one, (text, score) in _texts(found)]
    lines = tuple(line for line in recognised if line is not None and line.text)
    height, width = _turn(picture, turned).shape[:2]
    return Reading(turned, (width, height), lines, recognised.count(None))


# Which way up


def _upright(picture: Picture) -> tuple[int, list[_Found]]:
    """Degrees to turn a picture by, and what is then found: upright is how most of the text is read best."""
    found, turned = _find(picture), 0
    tall = sum(max(one.size) for one in found if one.is_tall)
    if tall > sum(max(one.size) for one in found if not one.is_tall):
        turned = 90
        found = _find(_turn(picture, turned))
    sample = [one.picture for one in sorted(found, key=lambda one: -max(one.size))[:_SAMPLE]]
    sure = _certainty(sample)
    if sure < _SURE and _certainty([_turn(cut, 180) for cut in sample]) > sure:
        turned += 180
        found = _find(_turn(picture, turned))
    return turned, found


def _turn(picture: Picture, degrees: int) -> Picture:
    return np.ascontiguousarray(np.rot90(picture, -degrees // 90))


def _certainty(pictures: Sequence[Picture]) -> float:
    return float(np.mean([score for _, score in _recognise(pictures)])) if pictures else 1.0


def _running_across(found: list[_Found]) -> list[_Found]:
    heights = [one.size[1] for one in found if not one.is_tall]
    longest = _SHORT * float(np.median(heights)) if heights else 0.0
    return [one for one in found if not one.is_tall or one.size[1] <= longest]


# Where a line stands


def _measured(found: _Found, text: str) -> Recognised:
    """By its ink."""
    picture = found.picture
    grey = picture.mean(axis=2)
    contrast = np.abs(grey - np.median(grey))
    ink = np.where(contrast >= _INK * contrast.max(), contrast, 0)
    first, last = _band(ink.sum(axis=1))
    columns = np.flatnonzero(contrast.max(axis=0) >= _INK * contrast.max())
    height, width = grey.shape
    top_left, top_right, bottom_right, bottom_left = found.corners.tolist()
    top, bottom = (top_left[1] + top_right[1]) / 2, (bottom_left[1] + bottom_right[1]) / 2
    start, end = (top_left[0] + bottom_left[0]) / 2, (top_right[0] + bottom_right[0]) / 2
    return Recognised(
        text=text,
        left=start + (end - start) * float(columns[0]) / width,
        right=start + (end - start) * float(columns[-1] + 1) / width,
        baseline=top + (bottom - top) * last / height,
        size=min(max((last - first) / _part_filled(text), _SMALLEST * height), _LARGEST * height),
    )


def _band(rows: NDArray[np.float64]) -> tuple[int, int]:
    dark = np.flatnonzero(rows >= _BAND * np.percentile(rows, 90))
    runs = np.split(dark, np.flatnonzero(np.diff(dark) > 2) + 1)
    run = max(runs, key=lambda run: float(rows[run].sum()))
    return int(run[0]), int(run[-1]) + 1


def _part_filled(text: str) -> float:
    """How high most of the letters of a text are, in sizes of its font."""
    letters = [letter for letter in text if letter.isalnum()]
    if 2 * sum(_is_ideograph(letter) for letter in letters) > len(letters):
        return _IDEOGRAPHS
    high = sum(letter.isupper() or letter.isdigit() for letter in letters)
    return _CAPITALS if high > 0.4 * len(letters) else _X_HEIGHT


def _is_ideograph(letter: str) -> bool:
    return "\u2e80" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7a3"


# The models


def _models() -> Path:
    # Found, not imported: that takes a second.
    spec = importlib.util.find_spec("rapidocr")
    places = (spec.submodule_search_locations if spec else None) or ["."]
    return Path(places[0]) / "models"


@lru_cache(maxsize=1)
def _engine() -> Any:  # noqa: ANN401
    import cv2
    from rapidocr import RapidOCR

    cv2.setNumThreads(1)
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_preprocess_img": False,
            "Global.use_vertical_padding": False,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            # Named, or the package would fetch what it misses from the network.
            "Det.model_path": str(_models() / _FINDER),
            "Det.limit_type": "max",
            "Det.limit_side_len": _FINDER_SIDE,
            "Rec.model_path": str(_models() / _READER),
            # One by one: what is read of a line does not depend on its neighbours, and nothing is padded.
            "Rec.rec_batch_num": 1,
        }
    )


@contextmanager
def _working() -> Iterator[Any]:
    """The engine; where it gets no memory, that is said as Python says it."""
    import cv2
    from rapidocr.inference_engine.onnxruntime.main import ONNXRuntimeError

    try:
        yield _engine()
    except (ONNXRuntimeError, RuntimeError, cv2.error) as error:
        if "alloc" in str(error):
            raise MemoryError from error
        raise


def _find(picture: Picture) -> list[_Found]:
    from rapidocr.main import RapidOCRError

    try:
        with _working() as engine:
            cuts, found = engine.detect_and_crop(picture, {})
    except RapidOCRError:  # There is no text.
        return []
    return [_Found(corners, cut) for corners, cut in zip(found.boxes, cuts, strict=True)]


def _recognise(pictures: Sequence[Picture]) -> list[tuple[str, float]]:
    if not pictures:
        return []
    with _working() as engine:
        found = engine.recognize_txt(list(pictures))
    return list(zip(found.txts, found.scores, strict=True))


def _texts(found: Sequence[_Found]) -> list[tuple[_Found, tuple[str, float]]]:
    texts = [(_clean(text), score) for text, score in _recognise([one.picture for one in found])]
    return list(zip(found, texts, strict=True))


def _clean(text: str) -> str:
    """Signs as wide as Chinese ones only among these."""
    text = " ".join(text.split())
    return text if any(_is_ideograph(sign) for sign in text) else text.translate(_FULL_WIDTH)
