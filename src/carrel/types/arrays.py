"""Numbers, and the word of progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

# As text, so that naming a type does not load numpy.
Vector: TypeAlias = "NDArray[np.float32]"
"""One unit row."""

Matrix: TypeAlias = "NDArray[np.float32]"
"""Unit rows, one a text."""

Progress: TypeAlias = "Callable[[str, int, int], None]"
"""Told the stage, the work done and the whole of it, in units that pass at an even pace."""
