"""The characters of a page, fetched from pdfium in bulk: one call a character for its code, its box and its run."""

from __future__ import annotations

import ctypes
import math
import re
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_MOST_CHARACTERS = 200_000
"""Of a page. One with more is a map or an attack."""
_BOLD = re.compile(r"bold|black|heavy|demi|medi(?!um)|cmbx|sfbx|cmssbx|\.b(?![a-z])|-b(?![a-z])", re.IGNORECASE)
_ITALIC = re.compile(r"ital|obli|cmti|sfti|slant", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|cmtt|sftt|typewriter|consol|menlo|code", re.IGNORECASE)
_FORCE_BOLD, _ITALIC_FLAG, _FIXED_PITCH = 1 << 18, 1 << 6, 1
_BOLD_WEIGHT = 650
_UPRIGHT_TOLERANCE = 3
"""Degrees."""
DIAGONAL = -1


@dataclass(frozen=True, slots=True)
class Font:
    name: str = ""
    bold: bool = False
    italic: bool = False
    mono: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """What a text object says of all its characters: colour is red, green, blue, alpha; `origin` is on its baseline."""

    font: Font
    size: float
    angle: int
    origin: tuple[float, float]
    mode: int
    colour: tuple[int, int, int, int]
    handle: int = 0
    """The text object itself, as pdfium numbers it."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    codes: list[int]
    boxes: NDArray[np.float64]
    """Left, bottom, right, top in the file's coordinates."""
    runs: list[Run | None]
    """Of each character; none for the line ends that pdfium makes."""
    unread: int
    """How many more there are."""


def _unwrapped(function: Any, result: Any, *arguments: Any) -> Callable[..., Any]:  # noqa: ANN401
    """The same function with plain integers for handles: four times as fast, for what is called for each character."""
    return ctypes.CFUNCTYPE(result, *arguments)(ctypes.cast(function, ctypes.c_void_p).value or 0)


_code = _unwrapped(pdfium.FPDFText_GetUnicode, ctypes.c_uint, ctypes.c_void_p, ctypes.c_int)
_object = _unwrapped(pdfium.FPDFText_GetTextObject, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
_box = _unwrapped(
    pdfium.FPDFText_GetLooseCharBox, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(pdfium.FS_RECTF)
)


def read_glyphs(text: Any) -> Glyphs:  # noqa: ANN401
    """Of a pdfium text page."""
    handle = ctypes.cast(text, ctypes.c_void_p).value
    there = max(0, pdfium.FPDFText_CountChars(text))
    count = min(there, _MOST_CHARACTERS)
    codes = _whole(list(map(_code, repeat(handle, count), range(count))))
    objects = list(map(_object, repeat(handle, count), range(count)))
    rectangles = (pdfium.FS_RECTF * count)()
    for index in range(count):
        _box(handle, index, rectangles[index])
    return Glyphs(codes, _boxes(rectangles, count), _runs(text, objects), there - count)


def _whole(codes: list[int]) -> list[int]:
    """Characters beyond the first 65,536 come in two halves: both in the first, nothing in the second."""
    for index, code in enumerate(codes[:-1]):
        following = codes[index + 1]
        if 0xD800 <= code < 0xDC00 <= following < 0xE000:
            codes[index : index + 2] = [0x10000 + ((code - 0xD800) << 10) + following - 0xDC00, 0]
    return codes


def _boxes(rectangles: Any, count: int) -> NDArray[np.float64]:  # noqa: ANN401
    left_top_right_bottom = np.frombuffer(rectangles, dtype=np.float32).reshape(count, 4)
    boxes = left_top_right_bottom[:, [0, 3, 2, 1]].astype(np.float64)
    return np.nan_to_num(boxes, nan=0.0, posinf=0.0, neginf=0.0)


def _runs(text: Any, objects: list[int | None]) -> list[Run | None]:  # noqa: ANN401
    known: dict[int, Run] = {}
    fonts: dict[int, Font] = {}
    runs: list[Run | None] = []
    for index, address in enumerate(objects):
        if address is None:
            runs.append(None)
            continue
        run = known.get(address)
        if run is None:
            run = known[address] = _run(text, index, address, fonts)
        runs.append(run)
    return runs


def _run(text: Any, index: int, handle: int, fonts: dict[int, Font]) -> Run:  # noqa: ANN401
    matrix, x, y = pdfium.FS_MATRIX(), ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetMatrix(text, index, matrix)
    pdfium.FPDFText_GetCharOrigin(text, index, x, y)
    shown = pdfium.FPDFText_GetTextObject(text, index)
    size = abs(pdfium.FPDFText_GetFontSize(text, index)) * math.hypot(matrix.c, matrix.d)
    return Run(
        font=_font(pdfium.FPDFTextObj_GetFont(shown), fonts),
        size=size if math.isfinite(size) else 0.0,
        angle=_angle(matrix.a, matrix.b),
        origin=(x.value, y.value),
        mode=pdfium.FPDFTextObj_GetTextRenderMode(shown),
        colour=colour_of(shown) or (0, 0, 0, 255),
        handle=handle,
    )


def _angle(a: float, b: float) -> int:
    """Which way a text runs, in degrees, where it is one of the four ways of a page."""
    degrees = math.degrees(math.atan2(b, a)) % 360
    nearest = round(degrees / 90) * 90
    return nearest % 360 if abs(degrees - nearest) <= _UPRIGHT_TOLERANCE else DIAGONAL


def colour_of(shown: Any) -> tuple[int, int, int, int] | None:  # noqa: ANN401
    """What an object of a page is filled with, if that is a colour."""
    parts = [ctypes.c_uint() for _ in range(4)]
    if not pdfium.FPDFPageObj_GetFillColor(shown, *parts):
        return None
    red, green, blue, alpha = (part.value for part in parts)
    return (red, green, blue, alpha)


def _font(handle: Any, known: dict[int, Font]) -> Font:  # noqa: ANN401
    address = ctypes.cast(handle, ctypes.c_void_p).value
    if address is None:
        return Font()
    if address not in known:
        buffer = ctypes.create_string_buffer(256)
        pdfium.FPDFFont_GetBaseFontName(handle, buffer, 256)
        name = buffer.value.decode("utf-8", "replace").rpartition("+")[2]
        flags, weight = pdfium.FPDFFont_GetFlags(handle), pdfium.FPDFFont_GetWeight(handle)
        known[address] = Font(
            name=name,
            bold=bool(_BOLD.search(name)) or bool(flags & _FORCE_BOLD) or weight >= _BOLD_WEIGHT,
            italic=bool(_ITALIC.search(name)) or bool(flags & _ITALIC_FLAG),
            mono=bool(_MONO.search(name)) or bool(flags & _FIXED_PITCH),
        )
    return known[address]
