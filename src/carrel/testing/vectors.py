"""A vector store that compares the query with everything it holds."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np

from carrel.types import EVERYTHING, Filter, Hit
from carrel.vectors import check_query, check_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from contextlib import AbstractContextManager

    from carrel.types import Chunk, Matrix, Vector
    from carrel.vectors import VectorStore


class MemoryVectors:
    def __init__(self, *, model: str, dim: int) -> None:
        self.model = model
        self.dim = dim
        self._rows: dict[str, tuple[Chunk, Vector]] = {}
        self._next: MemoryVectors | None = None

    def put(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        check_rows(chunks, vectors, self.dim)
        self.delete({chunk.paper_id for chunk in chunks})
        copies = np.array(vectors, dtype=np.float32)
        self._rows |= {chunk.address: (chunk, row) for chunk, row in zip(chunks, copies, strict=True)}

    def filling(self) -> AbstractContextManager[None]:
        return nullcontext()

    def delete(self, paper_ids: Collection[str]) -> None:
        self._rows = {address: row for address, row in self._rows.items() if row[0].paper_id not in paper_ids}

    def search(self, vector: Vector, *, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        check_query(vector, limit, self)
        hits = [Hit(chunk.address, _cosine(row, vector)) for chunk, row in self._rows.values() if where.matches(chunk)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.address))[:limit]

    def get(self, address: str) -> Vector | None:
        return self._rows[address][1] if address in self._rows else None

    def many(self, addresses: Collection[str]) -> dict[str, Vector]:
        return {address: self._rows[address][1].copy() for address in addresses if address in self._rows}

    def count(self) -> int:
        return len(self._rows)

    def unindexed(self) -> int:
        return 0

    def addresses(self) -> set[str]:
        return set(self._rows)

    def clear(self, *, model: str, dim: int) -> None:
        self.model, self.dim = model, dim
        self._rows = {}

    def beside(self, *, model: str, dim: int) -> VectorStore:
        if self._next is None or (self._next.model, self._next.dim) != (model, dim):
            self._next = MemoryVectors(model=model, dim=dim)
        return self._next

    def adopt(self, other: VectorStore) -> None:
        if self._next is None or other is not self._next:
            raise ValueError("only what was made beside this store can be adopted")
        self.model, self.dim, self._rows = self._next.model, self._next.dim, self._next._rows
        self._next = None

    def close(self) -> None:
        """Nothing is open."""


def _cosine(row: Vector, vector: Vector) -> float:
    # Rounded as the embedded store does: equal vectors are to score the same wherever they stand.
    return round(max(-1.0, min(1.0, float(row @ vector))), 6)
