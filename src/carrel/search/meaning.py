"""Questions and passages as vectors: what the vector arm goes by, and the second round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from carrel.search.begun import Begun
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
        self._begun = lru_cache(maxsize=_REMEMBERED)(lambda question: Begun(lambda: embedder.embed_query(question)))

    def begin(self, question: str) -> None:
        """Embed a question while something else is being done; whoever asks for its vector then need not wait long."""
        if self._begun(question).has_failed:
            # Of an earlier search that did without: what failed may succeed now.
            self._begun.cache_clear()
            self._begun(question)

    def of_question(self, question: str) -> Vector:
        try:
            vector: Vector = self._begun(question).outcome()
        except BaseException:
            # What failed may succeed the next time.
            self._begun.cache_clear()
            raise
        return vector

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
        return dict(_scored(self.question, self.passages))

    def drawn_to(self, best: Sequence[Passage], *, weight: float) -> list[Hit]:
        """The passages by how near they are to the question and the middle of the best of them together."""
        known = [self.passages[one.chunk.address] for one in best if one.chunk.address in self.passages]
        if not known:
            return _nearest(self.question, self.passages)
        drawn = self.question + weight * np.mean(known, axis=0)
        return _nearest(drawn / np.linalg.norm(drawn), self.passages)


def _nearest(vector: Vector, passages: Mapping[str, Vector]) -> list[Hit]:
    return sorted(_scored(vector, passages), key=lambda hit: (-hit.score, hit.address))


def _scored(vector: Vector, passages: Mapping[str, Vector]) -> list[Hit]:
    if not passages:
        return []
    similarities = np.vecdot(np.stack(list(passages.values())), vector).astype(np.float64).round(6)
    return [Hit(*pair) for pair in zip(passages, similarities.tolist(), strict=True)]
