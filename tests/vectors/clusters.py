"""Vectors as real ones are, which random ones are not: nothing is near anything among those."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from carrel.types import Matrix


def clustered(count: int, dim: int, seed: int = 1) -> Matrix:
    """Unit rows of which some are near each other, and between the near and the far there is everything."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(40, dim))
    rows = centres[chance.integers(0, 40, count)] + chance.uniform(0.2, 1.5, (count, 1)) * chance.normal(
        size=(count, dim)
    )
    unit: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit
