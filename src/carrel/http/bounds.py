"""How large an answer may become, whatever papers say of themselves: less than a megabyte.

Titles, lists of authors and abstracts have no bounds of their own. Where a list is not told whole, a count beside it
says how much there is; what is not whole of a text ends in `…`.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Item = TypeVar("Item")

_WIDEST = 6
"""Bytes that JSON needs for one character at most."""
_CUT = "…"


def size(value: object) -> int:
    """Bytes that a value takes as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def cut(text: str, most: int) -> str:
    """The text, or as much of its beginning as takes so many bytes."""
    if len(text) * _WIDEST <= most or (len(text) <= most and size(text) <= most):
        return text
    lengths = range(min(len(text), most) + 1)
    fitting = bisect_right(lengths, most, key=lambda length: size(f"{text[:length]}{_CUT}"))
    return f"{text[: max(0, fitting - 1)]}{_CUT}"


def first(items: Iterable[Item], most: int) -> list[Item]:
    """As many of the first as take so many bytes together."""
    taken: list[Item] = []
    for item in items:
        most -= size(item) + 1
        if most < 0:
            break
        taken.append(item)
    return taken


def texts(given: Sequence[str], most: int, *, longest: int = 300) -> list[str]:
    """As many of the first as take so many bytes together, none of them more than the longest may."""
    return first((cut(one, longest) for one in given), most)


def with_texts(record: dict[str, Any], **longest: int) -> dict[str, Any]:
    """A record, of which these texts take so many bytes at most."""
    return {**record, **{name: cut(record[name], most) for name, most in longest.items()}}
