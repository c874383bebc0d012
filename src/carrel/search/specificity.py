"""How much it says of a passage that it speaks of a concept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.types import ConceptRow

_LEAST = 0.02
"""Of a concept that every passage speaks of."""


@dataclass(frozen=True, slots=True)
class Specificity:
    """By how few of the library's passages speak of it."""

    chunks: int
    """In all."""

    def of(self, row: ConceptRow) -> float:
        """1 for what one passage speaks of, next to nothing for what all do."""
        if self.chunks < 2:
            return 1.0
        return max(_LEAST, 1 - math.log(max(row.chunks, 1)) / math.log(self.chunks))
