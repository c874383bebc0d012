"""Rows in a quarter of their size, to tell which of them cannot be among the nearest.

A row is the mean of all, plus a vector of whole numbers times a scale, plus what that leaves out. How long that is, is
known, and so is how far at most an estimate is from the truth: a search that looks again at every row whose estimate
leaves room for doubt finds exactly what a search of all rows finds.

The file: the mean, the longest, the scales and the doubts as little-endian float32, then the numbers as int8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numkong
import numpy as np

from carrel.files import flush

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from carrel.types import Matrix, Vector

_LARGEST = 127
_ROUNDING = 1e-5
"""Of sums of a few hundred floats of about 1."""
_ROWS = 8192
"""That are encoded at a time."""


@dataclass(frozen=True, eq=False)
class Codes:
    numbers: NDArray[np.int8]
    scales: Vector
    doubts: Vector
    """Lengths of what is left out of each row."""
    mean: Vector
    longest: float
    """Length of the longest row, the mean taken off."""

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: slice) -> Codes:
        return Codes(self.numbers[rows], self.scales[rows], self.doubts[rows], self.mean, self.longest)

    def estimate(self, vector: Vector, least: Vector, most: Vector) -> None:
        """Write down between what bounds the similarity of each row to a vector of about unit length lies."""
        scale = np.float32(_scale(np.abs(vector).max()))
        numbers = np.rint(vector / scale)
        left_out = float(np.linalg.norm(vector - scale * numbers))
        numkong.cdist(numbers.astype(np.int8)[None], self.numbers, "dot", out=most[None])
        most *= self.scales
        most *= scale
        most += np.float32(vector @ self.mean)
        doubts = self.doubts * np.float32(np.linalg.norm(vector))
        doubts += np.float32(left_out * self.longest + _ROUNDING)
        np.subtract(most, doubts, out=least)
        most += doubts


def open_codes(path: Path, rows: int, dim: int) -> Codes | None:
    """None where there are none; of another length than so many rows have, ValueError."""
    if not path.exists():
        return None
    numbers_from = 4 * (dim + 1 + 2 * rows)
    found = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    if len(found) != numbers_from + rows * dim:
        raise ValueError(f"{path.parent.name}: {path.name} does not hold {rows} rows")
    mean, longest, scales, doubts = np.split(found[:numbers_from].view("<f4"), np.cumsum([dim, 1, rows]))
    return Codes(found[numbers_from:].view(np.int8).reshape(rows, dim), scales, doubts, mean, float(longest[0]))


def write_codes(path: Path, rows: Matrix) -> None:
    mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    parts = [_encoded(rows[start : start + _ROWS] - mean) for start in range(0, len(rows), _ROWS)]
    longest = np.float32(max(part[3] for part in parts))
    with path.open("wb") as file:
        for floats in (mean, longest, *(part[1] for part in parts), *(part[2] for part in parts)):
            file.write(floats.astype("<f4").tobytes())
        for part in parts:
            file.write(part[0].tobytes())
        flush(file)


def _encoded(centred: Matrix) -> tuple[NDArray[np.int8], Vector, Vector, float]:
    """The numbers, scales and doubts of rows, and the length of the longest."""
    scales = _scale(np.abs(centred).max(axis=1))
    numbers = np.rint(centred / scales[:, None])
    kept = numbers * scales[:, None]
    doubts: Vector = np.linalg.norm(centred - kept, axis=1)
    return numbers.astype(np.int8), scales, doubts, float(np.linalg.norm(kept, axis=1).max())


def _scale(largest: Vector) -> Vector:
    """So that the largest becomes the largest number; what is all zero has some scale, too."""
    return (np.maximum(largest, 1e-30) / _LARGEST).astype(np.float32)
