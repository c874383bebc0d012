"""Right-to-left text in the order in which it is read, from where its characters stand."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.parsers.pdf_pieces import Glyph

_FIRST = "\u0590"
_STRONG = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_LETTERS = re.compile(r"[^\W\d_]")
_LAM, _ALEFS = "\u0644", frozenset("\u0622\u0623\u0625\u0627")
_BETWEEN = frozenset({"ES", "ET", "CS", "WS", "ON", "NSM", "BN"})
"""Classes of characters that run the way of what is on both sides of them."""


def is_strong(character: str) -> bool:
    return (
        character >= _FIRST
        and bool(_STRONG.match(character))
        and unicodedata.bidirectional(character[0]) in {"R", "AL"}
    )


def is_right_to_left(text: str) -> bool:
    return 2 * len(_STRONG.findall(text)) > len(_LETTERS.findall(text))


def logical(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """The glyphs of one line from right to left, but words and numbers that run the other way turned again."""
    from_right = sorted(glyphs, key=lambda glyph: (-(glyph.left + glyph.right), glyph.text != " "))
    ordered: list[Glyph] = []
    for run, forwards in _runs(from_right):
        ordered += reversed(run) if forwards else run
    return _lam_first(ordered)


def _runs(glyphs: Sequence[Glyph]) -> Iterator[tuple[list[Glyph], bool]]:
    """Stretches of one direction, each with whether it runs left to right."""
    start = 0
    while start < len(glyphs):
        forwards = _is_forwards(glyphs[start].text)
        end = _end_of_forwards(glyphs, start) if forwards else start + 1
        yield list(glyphs[start:end]), forwards
        start = end


def _end_of_forwards(glyphs: Sequence[Glyph], start: int) -> int:
    end = position = start + 1
    while position < len(glyphs):
        if _is_forwards(glyphs[position].text):
            end = position + 1
        elif unicodedata.bidirectional(glyphs[position].text[0]) not in _BETWEEN:
            break
        position += 1
    return end


def _is_forwards(text: str) -> bool:
    return unicodedata.bidirectional(text[0]) in {"L", "EN", "AN"}


def _lam_first(glyphs: list[Glyph]) -> list[Glyph]:
    """Where one glyph is lam and alef: taken apart, both have its box, and pdfium turns them with the line."""
    for index in range(len(glyphs) - 1):
        first, second = glyphs[index], glyphs[index + 1]
        if first.text in _ALEFS and second.text == _LAM and (first.left, first.right) == (second.left, second.right):
            glyphs[index], glyphs[index + 1] = second, first
    return glyphs
