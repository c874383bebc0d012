"""An embedder without a model: texts are near when they share words."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Matrix, Vector

_WORD = re.compile(r"\w+")


class HashedWords:
    """A window is the normalised count of its words, each counted at the place its hash names."""

    def __init__(self, dim: int = 64, max_tokens: int = 128) -> None:
        # Both change the vectors, and a name stands for its vectors.
        self.name = f"hashed-words-{dim}-{max_tokens}"
        self.dim = dim
        self.max_tokens = max_tokens

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        rows: Matrix = np.array([self.embed_query(text) for text in texts], dtype=np.float32)
        return rows.reshape(len(texts), self.dim)

    def embed_query(self, text: str) -> Vector:
        # A text without words is one empty word: it has a direction too.
        words = _words(text) or [""]
        windows = [words[start : start + self.max_tokens] for start in range(0, len(words), self.max_tokens)]
        return _unit(np.sum([len(window) * self._window(window) for window in windows], axis=0))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(_words(text)) for text in texts]

    def _window(self, words: Sequence[str]) -> Vector:
        places = [_hash(word) % self.dim for word in words]
        return _unit(np.bincount(places, minlength=self.dim).astype(np.float32))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _hash(word: str) -> int:
    """The same in every process, unlike Python's own."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())


def _unit(row: Vector) -> Vector:
    unit: Vector = row / np.linalg.norm(row)
    return unit
