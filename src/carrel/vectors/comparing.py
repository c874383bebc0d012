"""A vector beside every row of large matrices: what all of it waits for is the memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from carrel.vectors.codes import Codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Matrix, Vector

    Piece = tuple[Matrix | Codes, Vector, Vector]
    """Rows, and where to write the least and the most that their similarities can be."""

_MANY = 32_768
"""Rows that two cores are quicker with than one."""
_BLOCK = 16_384
"""Rows whose bounds stay in a core's own cache until they are done."""


def bound_all(pieces: Sequence[Piece], vector: Vector) -> None:
    """Between what bounds the similarity of each row to the vector lies; for plain rows both are the similarity."""
    count = sum(len(rows) for rows, _, _ in pieces)
    if count < _MANY:
        _bound(pieces, vector)
        return
    first, second = _halved(pieces, count // 2)
    with ThreadPoolExecutor(1) as beside:
        other = beside.submit(_bound, first, vector)
        _bound(second, vector)
        other.result()


def _bound(pieces: Sequence[Piece], vector: Vector) -> None:
    for rows, least, most in pieces:
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            _bound_block(rows[block], least[block], most[block], vector)


def _bound_block(rows: Matrix | Codes, least: Vector, most: Vector, vector: Vector) -> None:
    if isinstance(rows, Codes):
        rows.estimate(vector, least, most)
        return
    # Row by row: a matrix product wakes a thread on every core, which then waits for more to do at full speed, and
    # takes 30 ms of the cores' time from the rest of a search.
    np.vecdot(rows, vector, most)
    least[:] = most


def _halved(pieces: Sequence[Piece], middle: int) -> tuple[list[Piece], list[Piece]]:
    """So many rows, and the rest."""
    first: list[Piece] = []
    second: list[Piece] = []
    for rows, least, most in pieces:
        cut = min(max(middle, 0), len(rows))
        first.append((rows[:cut], least[:cut], most[:cut]))
        second.append((rows[cut:], least[cut:], most[cut:]))
        middle -= len(rows)
    return first, second
