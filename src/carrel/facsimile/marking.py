"""A quote found among the characters of a page, so that what is marked is the quote and nothing else."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from carrel.parsers.pdf_pieces import readable
from carrel.types import Box

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from difflib import Match

    from numpy.typing import NDArray

    from carrel.facsimile import Wanted
    from carrel.parsers.pdf_glyphs import Glyphs
    from carrel.parsers.pdf_pages import Frame

_LEAST_OF_A_LINE, _LEAST_OF_A_BLOCK = 0.6, 0.8
"""How much of a quote must be found: a line is known to have it, a block may be of another version of the paper."""
_FAR = 5
"""Characters."""
_LONGEST_COMPARED = 2000
_BEYOND = 0.3
"""Of a line's height; less than what lies between two lines."""
_SAME_LINE = 0.5
"""How much of the lower of two characters the other stands beside."""


@dataclass(frozen=True, slots=True)
class Letters:
    """The characters of a page, in the order of its text layer."""

    texts: list[str]
    boxes: NDArray[np.float64]
    """Left, top, right, bottom on the page as it is shown."""
    is_upright: list[bool]
    """Whether it runs from left to right or back, not up or down."""
    sizes: list[float]
    """Of their fonts; 0 where that is not known."""

    @classmethod
    def of(cls, glyphs: Glyphs, frame: Frame) -> Letters:
        across = [run is None or (run.angle - frame.angle) % 180 == 0 for run in glyphs.runs]
        sizes = [run.size if run else 0.0 for run in glyphs.runs]
        return cls(list(map(readable, glyphs.codes)), frame.upright(glyphs.boxes), across, sizes)

    def inside(self, box: Box, beyond: float = 0.0) -> list[int]:
        """Those whose middle lies in a box, or so far above or below it."""
        x, y = (self.boxes[:, :2] + self.boxes[:, 2:]).T / 2
        there = (box.left <= x) & (x <= box.right) & (box.top - beyond <= y) & (y <= box.bottom + beyond)
        found: list[int] = np.flatnonzero(there).tolist()
        return found


def marks_of(wanted: Wanted, letters: Letters, page: int) -> list[Box]:
    """Where the quote stands, a box for each of its lines; nothing if it is not there."""
    quote, before = _plain(wanted.quote), _plain(wanted.before)
    for inside, least in _where(wanted, letters):
        owners, said = _said(letters, inside)
        found = _nearest(said, quote, len(before)) or _alike(said, quote, least)
        if found is not None:
            break
    else:
        return []
    marked = _with_signs(owners[found[0]], owners[found[1] - 1], wanted.quote, letters, inside)
    lines = [marked] if wanted.is_line else list(_lines(marked, letters))
    return [_around(line, letters, wanted, page) for line in lines]


def _where(wanted: Wanted, letters: Letters) -> Iterator[tuple[Sequence[int], float]]:
    """The characters among which a quote is looked for, the most likely first, and how much of it must be there."""
    if wanted.is_line:
        yield letters.inside(wanted.box), _LEAST_OF_A_LINE
        # A number over a line may stand out of its box.
        yield letters.inside(wanted.box, _BEYOND * (wanted.box.bottom - wanted.box.top)), _LEAST_OF_A_LINE
    else:
        yield letters.inside(wanted.box), _LEAST_OF_A_BLOCK
        # Who measured that block may have measured in other units.
        yield range(len(letters.texts)), 1.0


def _said(letters: Letters, inside: Sequence[int]) -> tuple[list[int], str]:
    """What these characters say, and which of them says each sign of it."""
    plain = [(index, _plain(letters.texts[index])) for index in inside]
    return [index for index, signs in plain for _ in signs], "".join(signs for _, signs in plain)


def _plain(text: str) -> str:
    """Letters and digits alone: blanks, hyphens and accents are set in more ways than one."""
    spelled = unicodedata.normalize("NFKD", text).casefold()
    return "".join(sign for sign in spelled if sign.isalnum())


def _nearest(said: str, quote: str, expected: int) -> tuple[int, int] | None:
    """Where the quote stands; of several places, the one that is nearest to where it should."""
    if not quote:
        return None
    starts = []
    start = said.find(quote)
    while start >= 0:
        starts.append(start)
        start = said.find(quote, start + 1)
    best = min(starts, key=lambda one: abs(one - expected), default=None)
    return None if best is None else (best, best + len(quote))


def _alike(said: str, quote: str, least: float) -> tuple[int, int] | None:
    """Where most of the quote stands, if some signs of it are spelled otherwise."""
    if not quote or least == 1.0 or len(said) > _LONGEST_COMPARED or len(quote) > _LONGEST_COMPARED:
        return None
    matched = SequenceMatcher(None, said, quote, autojunk=False).get_matching_blocks()
    pieces = deque(piece for piece in matched if piece.size)
    while len(pieces) > 1 and _are_apart(pieces[0], pieces[1]):
        pieces.popleft()
    while len(pieces) > 1 and _are_apart(pieces[-2], pieces[-1]):
        pieces.pop()
    if sum(piece.size for piece in pieces) < least * len(quote):
        return None
    return pieces[0].a, pieces[-1].a + pieces[-1].size


def _are_apart(one: Match, other: Match) -> bool:
    """Whether far more stands between two pieces than the quote has there."""
    return (other.a - one.a) - (other.b - one.b) > _FAR


def _with_signs(first: int, last: int, quote: str, letters: Letters, inside: Sequence[int]) -> list[int]:
    """From the first to the last of these, with the brackets, marks and stops that the quote begins and ends with."""
    start, end = bisect_left(inside, first), bisect_left(inside, last)
    for sign in reversed(_signs(quote)):
        start -= start > 0 and letters.texts[inside[start - 1]] == sign
    for sign in reversed(_signs(quote[::-1])):
        end += end + 1 < len(inside) and letters.texts[inside[end + 1]] == sign
    return [index for index in inside[start : end + 1] if letters.texts[index].strip()]


def _signs(text: str) -> list[str]:
    """What a text begins with before its first letter or digit."""
    return [sign for sign in takewhile(lambda sign: not sign.isalnum(), text) if not sign.isspace()]


def _lines(marked: Sequence[int], letters: Letters) -> Iterator[list[int]]:
    line: list[int] = []
    for index in marked:
        if line and not _is_beside(letters.boxes[line[-1]], letters.boxes[index]):
            yield line
            line = []
        line.append(index)
    if line:
        yield line


def _is_beside(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    shared = min(one[3], other[3]) - max(one[1], other[1])
    return bool(shared > _SAME_LINE * min(one[3] - one[1], other[3] - other[1]))


def _around(line: Sequence[int], letters: Letters, wanted: Wanted, page: int) -> Box:
    """A line's own box is cut only where it begins and ends."""
    boxes, whole = letters.boxes[list(line)], wanted.box
    left, top = boxes[:, :2].min(axis=0).tolist()
    right, bottom = boxes[:, 2:].max(axis=0).tolist()
    if wanted.is_line and letters.is_upright[line[0]]:
        middles = (boxes[:, 1] + boxes[:, 3]) / 2
        top, bottom = min(whole.top, float(middles.min())), max(whole.bottom, float(middles.max()))
    elif wanted.is_line:
        left, right = whole.left, whole.right
    return Box(page, *(round(one, 2) for one in (left, top, right, bottom)))
