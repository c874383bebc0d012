"""Where vectors are kept and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from carrel.errors import DimensionMismatchError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from contextlib import AbstractContextManager

    from carrel.types import Chunk, Filter, Hit, Matrix, Vector


@runtime_checkable
class VectorStore(Protocol):
    """Unit vectors of one model, found by cosine similarity.

    One process writes at a time, or, to a store on a server, any number; whoever reads sees either all that a `put`
    has of a paper or nothing of it.
    A store that cannot answer raises `StoreUnavailable`: an empty list means that nothing matched.
    """

    model: str
    """Name of the embedder whose vectors these are."""
    dim: int

    def put(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        """Store whole papers: row i is chunk i's. All that these papers had before is replaced, in one step."""
        ...

    def filling(self) -> AbstractContextManager[None]:
        """For many puts, one after the other: what would slow down each of them may be done once, at the end."""
        ...

    def delete(self, paper_ids: Collection[str]) -> None:
        """Forget these papers. Unknown ids are no error."""
        ...

    def search(self, vector: Vector, *, limit: int, where: Filter) -> list[Hit]:
        """The nearest chunks that the filter allows, by falling cosine in [-1, 1], then by address."""
        ...

    def get(self, address: str) -> Vector | None:
        """The vector stored at an address."""
        ...

    def many(self, addresses: Collection[str]) -> dict[str, Vector]:
        """The vectors stored at these addresses; what is not held is not among them."""
        ...

    def count(self) -> int: ...

    def unindexed(self) -> int:
        """Vectors for which the store's index is not made yet: until it is, a search may miss some of them."""
        ...

    def addresses(self) -> set[str]:
        """Every address held: what health checks compare with the catalog."""
        ...

    def clear(self, *, model: str, dim: int) -> None:
        """Forget everything and hold this model's vectors from now on."""
        ...

    def beside(self, *, model: str, dim: int) -> VectorStore:
        """A store for another model's vectors, next to this one, in which nobody searches until it is adopted.

        What an interrupted build put there is still there, if it was of this model; else it is empty.
        """
        ...

    def adopt(self, other: VectorStore) -> None:
        """Hold from now on what the store beside this one holds, and forget what was here.

        In one step: who reads meanwhile, also in another process, has the old vectors or the new ones.
        """
        ...

    def close(self) -> None: ...


def check_dimension(vector: Vector, *, model: str, dim: int) -> None:
    """Refuse a query vector that cannot be compared with the stored ones."""
    if vector.shape != (dim,):
        raise DimensionMismatchError(
            f"Query embedding dimension mismatch: {vector.shape[-1]} != {dim}. The index holds {model!r} ({dim}D)",
            hint=f"Set embedder back to {model!r}, or run 'carrel index build --force' to re-index.",
        )


def check_query(vector: Vector, limit: int, store: VectorStore) -> None:
    """Refuse to look for what no store can find."""
    check_dimension(vector, model=store.model, dim=store.dim)
    if limit < 1:
        raise InvalidInput(f"limit must be a positive integer, got {limit}")
    if not np.isfinite(vector).all():
        raise InvalidInput("the query vector is not finite")


def check_rows(chunks: Sequence[Chunk], vectors: Matrix, dim: int) -> None:
    """Refuse what would not be found again."""
    if vectors.shape != (len(chunks), dim):
        raise InvalidInput(f"{len(chunks)} chunks need a ({len(chunks)}, {dim}) matrix, got {vectors.shape}")
    if not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3):
        raise InvalidInput("vectors must be finite and of unit length")
    if len({chunk.address for chunk in chunks}) != len(chunks):
        raise InvalidInput("one put names the same address twice")


def check_model(store: VectorStore, wanted: tuple[str, int]) -> None:
    """Refuse to put vectors beside those of another model."""
    if (store.model, store.dim) != wanted:
        raise InvalidInput(
            f"the index holds vectors of {store.model!r} ({store.dim}D), not of {wanted[0]!r}",
            hint="Run 'carrel index build' to embed everything with the new model.",
        )
