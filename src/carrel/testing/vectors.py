"""A vector store that compares the query with everything it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from carrel.errors import InvalidInput
from carrel.types import EVERYTHING, Filter, Hit
from carrel.vectors import check_dimension

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from carrel.types import Chunk, Matrix, Vector


class MemoryVectors:
    def __init__(self, *, model: str, dim: int) -> None:
        self.model = model
        self.dim = dim
        self._rows: dict[str, tuple[Chunk, Vector]] = {}

    def put(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        self._check(chunks, vectors)
        self.delete({chunk.paper_id for chunk in chunks})
        copies = np.array(vectors, dtype=np.float32)
        self._rows |= {chunk.address: (chunk, row) for chunk, row in zip(chunks, copies, strict=True)}

    def delete(self, paper_ids: Collection[str]) -> None:
        self._rows = {address: row for address, row in self._rows.items() if row[0].paper_id not in paper_ids}

    def search(self, vector: Vector, *, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        check_dimension(vector, model=self.model, dim=self.dim)
        if limit < 1:
            raise InvalidInput(f"limit must be a positive integer, got {limit}")
        if not np.isfinite(vector).all():
            raise InvalidInput("the query vector is not finite")
        hits = [Hit(chunk.address, _cosine(row, vector)) for chunk, row in self._rows.values() if where.matches(chunk)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.address))[:limit]

    def get(self, address: str) -> Vector | None:
        return self._rows[address][1] if address in self._rows else None

    def many(self, addresses: Collection[str]) -> dict[str, Vector]:
        return {address: self._rows[address][1].copy() for address in addresses if address in self._rows}

    def count(self) -> int:
        return len(self._rows)

    def addresses(self) -> set[str]:
        return set(self._rows)

    def clear(self, *, model: str, dim: int) -> None:
        self.model, self.dim = model, dim
        self._rows = {}

    def close(self) -> None:
        """Nothing is open."""

    def _check(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        if vectors.shape != (len(chunks), self.dim):
            raise InvalidInput(f"{len(chunks)} chunks need a ({len(chunks)}, {self.dim}) matrix, got {vectors.shape}")
        if not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3):
            raise InvalidInput("vectors must be finite and of unit length")
        if len({chunk.address for chunk in chunks}) != len(chunks):
            raise InvalidInput("one put names the same address twice")


def _cosine(row: Vector, vector: Vector) -> float:
    # Rounded as the embedded store does: equal vectors are to score the same wherever they stand.
    return round(max(-1.0, min(1.0, float(row @ vector))), 6)
