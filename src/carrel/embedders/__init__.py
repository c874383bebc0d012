"""Text in, unit vectors out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Matrix, Vector


@runtime_checkable
class Embedder(Protocol):
    """Turns passages and queries into vectors that can be compared by dot product.

    The same text always gives the same vector, alone or in a batch (to 1e-4). A passage longer than
    `max_tokens` is embedded whole, as the normalised mean of its windows: nothing is cut off.
    Making an embedder is cheap; the model is loaded by the first call that needs it.
    """

    @property
    def name(self) -> str:
        """Identifies the vectors: two embedders with one name must give the same vectors."""
        ...

    @property
    def dim(self) -> int: ...

    @property
    def max_tokens(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One float32 row of unit length for each text, in their order; `(0, dim)` for none."""
        ...

    def embed_query(self, text: str) -> Vector:
        """The float32 unit vector of a question."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens of this model each text has, special tokens left out."""
        ...
