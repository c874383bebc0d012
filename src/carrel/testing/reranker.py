"""A reranker that counts words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Candidate

_WORD = re.compile(r"\w+")


class SharedWords:
    """The share of the query's words that stand in a candidate's heading or text. Calibrated it is not."""

    name = "shared-words"

    def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        asked = _words(query)
        return [len(asked & _words(candidate.chunk.embedded_text)) / max(1, len(asked)) for candidate in candidates]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
