"""A vector beside every row of large matrices: what all of it waits for is the memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Matrix, Vector

    Piece = tuple[Matrix, Vector]
    """Rows, and where their similarities are to be written."""

_MANY = 32_768
"""Rows that two cores are quicker with than one."""


def compare_all(pieces: Sequence[Piece], vector: Vector) -> None:
    """The similarity of each row to the vector."""
    count = sum(len(rows) for rows, _ in pieces)
    if count < _MANY:
        _compare(pieces, vector)
        return
    first, second = _halved(pieces, count // 2)
    with ThreadPoolExecutor(1) as beside:
        other = beside.submit(_compare, first, vector)
        _compare(second, vector)
        other.result()


def _compare(pieces: Sequence[Piece], vector: Vector) -> None:
    # Row by row: a matrix product wakes a thread on every core, which then waits for more to do at full speed, and
    # takes 30 ms of the cores' time from the rest of a search.
    for rows, into in pieces:
        np.vecdot(rows, vector, into)


def _halved(pieces: Sequence[Piece], middle: int) -> tuple[list[Piece], list[Piece]]:
    """So many rows, and the rest."""
    first: list[Piece] = []
    second: list[Piece] = []
    for rows, into in pieces:
        cut = min(max(middle, 0), len(rows))
        first.append((rows[:cut], into[:cut]))
        second.append((rows[cut:], into[cut:]))
        middle -= len(rows)
    return first, second
