"""An embedder that is fitted to a collection in seconds: vectors shaped as a model's are, without a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from carrel.testing import HashedWords
from carrel.types import Matrix, Vector

PLACES = 768
"""That words are hashed into, before what they have in common is found."""


class Latent:
    """Latent semantic analysis: weighted counts of words, in the directions in which a collection varies most."""

    name = "latent-words"
    max_tokens = 4096

    def __init__(self, collection: Sequence[str], dim: int = 128) -> None:
        self.dim = dim
        self._words = HashedWords(PLACES, self.max_tokens)
        counts = np.sqrt(self._words.embed_passages(collection))
        self._weights = np.log((1 + len(counts)) / (1 + (counts > 0).sum(axis=0))).astype(np.float32)
        weighted = self._weighted(counts)
        _, directions = np.linalg.eigh(weighted.T @ weighted)
        self._directions: Matrix = np.ascontiguousarray(directions[:, -dim:], dtype=np.float32)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        rows = self._weighted(np.sqrt(self._words.embed_passages(texts))) @ self._directions
        rows[~rows.any(axis=1), 0] = 1.0
        return _unit(rows)

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed_passages([text])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._words.count_tokens(texts)

    def _weighted(self, counts: Matrix) -> Matrix:
        rows = counts * self._weights
        rows[~rows.any(axis=1), 0] = 1.0
        return _unit(rows)


def _unit(rows: Matrix) -> Matrix:
    made: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return made
