"""The words of a page, as a text layer over its picture needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.facsimile.marking import Letters

    Placed = tuple[str, float, float, float, float]

MOST_WORDS = 10_000
"""Of a page. One with more is a map or an attack."""
_HYPHEN = "\u00ad"
_LARGEST_GAP = 0.5
"""Within a word, in heights of its letters."""
_SAME_SIZE = 0.85


def words_of(letters: Letters, width: float, height: float) -> Iterator[Placed]:
    """Words that stand on a page of this size, in the order of its text layer, the first of them if they are many."""
    count = 0
    for indices in _parted(letters):
        boxes = letters.boxes[indices]
        left, top = boxes[:, :2].min(axis=0).clip(0, (width, height)).tolist()
        right, bottom = boxes[:, 2:].max(axis=0).clip(0, (width, height)).tolist()
        if right > left and bottom > top:
            text = "".join(letters.texts[index] for index in indices).replace(_HYPHEN, "-")
            yield text, *(round(one, 2) for one in (left, top, right, bottom))
            count += 1
        if count == MOST_WORDS:
            return


def _parted(letters: Letters) -> Iterator[list[int]]:
    word: list[int] = []
    for index, text in enumerate(letters.texts):
        if word and (not text.strip() or _is_apart(letters, word[-1], index)):
            yield word
            word = []
        if text.strip():
            word.append(index)
    if word:
        yield word


def _is_apart(letters: Letters, one: int, other: int) -> bool:
    """Whether a character stands on another line than the one before, far from it, or in another size, as notes do."""
    across = letters.is_upright[one]
    left, top, right, bottom = _turned(letters, one, across)
    next_left, next_top, next_right, next_bottom = _turned(letters, other, across)
    beside, off = max(next_left - right, left - next_right), max(next_top - bottom, top - next_bottom)
    small, large = sorted((letters.sizes[one], letters.sizes[other]))
    return beside > _LARGEST_GAP * (bottom - top) or off > 0 or small < _SAME_SIZE * large


def _turned(letters: Letters, index: int, across: bool) -> tuple[float, float, float, float]:  # noqa: FBT001
    """A character's box along the way that its text runs."""
    left, top, right, bottom = letters.boxes[index].tolist()
    return (left, top, right, bottom) if across else (top, left, bottom, right)
