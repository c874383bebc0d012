"""Questions and passages as vectors: what the vector arm goes by, and the second round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from carrel.errors import DimensionMismatchError, InvalidInput
from carrel.search.begun import Begun
from carrel.types import Hit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from carrel.embedders import Embedder
    from carrel.types import Filter, Passage, Vector
    from carrel.vectors import VectorStore

_REMEMBERED = 8
"""Questions whose vectors are kept: a search needs its own several times."""
_TRIES = 3
Found = TypeVar("Found")


class Pair(Protocol):
    """An embedder, and the vectors that should be its own."""

    @property
    def embedder(self) -> Embedder: ...

    @property
    def vectors(self) -> VectorStore: ...


@dataclass(frozen=True)
class _Side:
    """One embedder with its vectors, and the questions that it was asked to embed."""

    embedder: Embedder
    vectors: VectorStore
    begun: Callable[[str], Begun[Vector]]
    forget: Callable[[], None]

    @classmethod
    def of(cls, embedder: Embedder, vectors: VectorStore) -> _Side:
        begun = lru_cache(maxsize=_REMEMBERED)(lambda question: Begun(lambda: embedder.embed_query(question)))
        return cls(embedder, vectors, begun, begun.cache_clear)

    def of_question(self, question: str) -> Vector:
        try:
            return self.begun(question).outcome()
        except BaseException:
            # What failed may succeed the next time.
            self.forget()
            raise

    @property
    def is_matching(self) -> bool:
        return (self.vectors.model, self.vectors.dim) == (self.embedder.name, self.embedder.dim)

    def check_model(self) -> None:
        held, asked = self.vectors.model, self.embedder.name
        if held != asked:
            raise InvalidInput(
                f"the index holds vectors of {held!r}, but queries are embedded by {asked!r}",
                hint=f"Set embedder back, or run 'carrel index build' to re-index with {asked!r}.",
            )


class Meaning:
    """The vectors of one embedder; of another as soon as the index is of that one and `follow` gives it."""

    def __init__(self, embedder: Embedder, vectors: VectorStore, follow: Callable[[], Pair] | None = None) -> None:
        self._follow = follow
        self._side = _Side.of(embedder, vectors)

    @property
    def embedder(self) -> Embedder:
        return self._side.embedder

    @property
    def vectors(self) -> VectorStore:
        return self._side.vectors

    def begin(self, question: str) -> None:
        """Embed a question while something else is being done; whoever asks for its vector then need not wait long."""
        side = self._side
        if side.begun(question).has_failed:
            # Of an earlier search that did without: what failed may succeed now.
            side.forget()
            side.begun(question)

    def of_question(self, question: str) -> Vector:
        return self._side.of_question(question)

    def search(self, question: str, *, limit: int, where: Filter) -> list[Hit]:
        return self._matched(lambda side: side.vectors.search(side.of_question(question), limit=limit, where=where))

    def near(self, question: str, addresses: Collection[str]) -> Near:
        return self._matched(lambda side: Near(side.of_question(question), side.vectors.many(addresses)))

    def _matched(self, ask: Callable[[_Side], Found]) -> Found:
        """What comes of comparing a question with vectors of the same model.

        They may be replaced by another process's at any moment, which is seen only when they are read.
        """
        for _ in range(_TRIES):
            side = self._current()
            try:
                found = ask(side)
            except DimensionMismatchError:
                if side.is_matching or self._current() is side:
                    raise
                continue
            if side.is_matching:
                return found
        side.check_model()
        return found

    def _current(self) -> _Side:
        side = self._side
        if not side.is_matching and self._follow:
            pair = self._follow()
            if pair.embedder is not side.embedder:
                self._side = side = _Side.of(pair.embedder, pair.vectors)
        side.check_model()
        return side


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
