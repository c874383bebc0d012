"""Questions and passages as vectors: what the vector arm goes by, and the second round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from carrel.types import Hit

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from carrel.embedders import Embedder
    from carrel.types import Passage, Vector
    from carrel.vectors import VectorStore

_REMEMBERED = 8
"""Questions whose vectors are kept: a search needs its own several times."""


class Meaning:
    """The vectors of one embedder."""

    def __init__(self, embedder: Embedder, vectors: VectorStore) -> None:
        self.embedder = embedder
        self.vectors = vectors
        self.of_question = lru_cache(maxsize=_REMEMBERED)(embedder.embed_query)

    def near(self, question: str, addresses: Collection[str]) -> Near:
        return Near(self.of_question(question), self.vectors.many(addresses))


@dataclass(frozen=True)
class Near:
    """A question and the passages that may answer it."""

    question: Vector
    passages: Mapping[str, Vector]

    @cached_property
    def similarities(self) -> dict[str, float]:
        """Of every passage to the question, also of those that the vector arm did not name."""
        return {hit.address: hit.score for hit in _nearest(self.question, self.passages)}

    def drawn_to(self, best: Sequence[Passage], *, weight: float) -> list[Hit]:
        """The passages by how near they are to the question and the middle of the best of them together."""
        known = [self.passages[one.chunk.address] for one in best if one.chunk.address in self.passages]
        if not known:
            return _nearest(self.question, self.passages)
        drawn = self.question + weight * np.mean(known, axis=0)
        return _nearest(drawn / np.linalg.norm(drawn), self.passages)


def _nearest(vector: Vector, passages: Mapping[str, Vector]) -> list[Hit]:
    if not passages:
        return []
    similarities = np.stack(list(passages.values())) @ vector
    hits = [Hit(address, round(float(one), 6)) for address, one in zip(passages, similarities, strict=True)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.address))
