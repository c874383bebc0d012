"""Where vectors are kept and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from carrel.errors import DimensionMismatchError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from carrel.types import Chunk, Filter, Hit, Matrix, Vector


@runtime_checkable
class VectorStore(Protocol):
    """Unit vectors of one model, found by cosine similarity.

    One process writes at a time; any number read, and see either all of a `put` or nothing of it.
    A store that cannot answer raises `StoreUnavailable`: an empty list means that nothing matched.
    """

    model: str
    """Name of the embedder whose vectors these are."""
    dim: int

    def put(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        """Store whole papers: row i is chunk i's. All that these papers had before is replaced, in one step."""
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

    def addresses(self) -> set[str]:
        """Every address held: what health checks compare with the catalog."""
        ...

    def clear(self, *, model: str, dim: int) -> None:
        """Forget everything and hold this model's vectors from now on."""
        ...

    def close(self) -> None: ...


def check_dimension(vector: Vector, *, model: str, dim: int) -> None:
    """Refuse a query vector that cannot be compared with the stored ones."""
    if vector.shape != (dim,):
        raise DimensionMismatchError(
            f"Query embedding dimension mismatch: {vector.shape[-1]} != {dim}. The index holds {model!r} ({dim}D)",
            hint=f"Set embedder back to {model!r}, or run 'carrel index build --force' to re-index.",
        )
