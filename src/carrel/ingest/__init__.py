"""How papers come in, change and leave.

The catalog is told first, then every index, then the catalog again: a paper is `pending` in between. Whatever stops the
work half-way, `settle` finds what is pending or retired and finishes it, from the catalog alone.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_Item = TypeVar("_Item")


def batches(items: Sequence[_Item], size: int) -> Iterator[list[_Item]]:
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some
