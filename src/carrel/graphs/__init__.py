"""Which concepts the papers speak of, and how these stand to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from carrel.types import Predicate

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from carrel.types import Chunk, Concept, Filter, Hit, Mention, Subgraph, Triple

ALL_RELATIONS = frozenset(Predicate)


@runtime_checkable
class GraphStore(Protocol):
    """A graph made of what each paper contributes, so that a paper can be taken out and leave no trace.

    A concept is known by its name in any case; what several papers say of it is one concept.
    """

    def put(
        self,
        paper_id: str,
        *,
        chunks: Sequence[Chunk],
        concepts: Sequence[Concept],
        mentions: Sequence[Mention],
        triples: Sequence[Triple],
    ) -> None:
        """Store what one paper contributes, instead of what it did before."""
        ...

    def delete(self, paper_ids: Collection[str]) -> None:
        """Take back what these papers contributed, and nothing else."""
        ...

    def find(self, text: str, *, limit: int) -> list[Concept]:
        """Concepts whose name or alias is the text, then those that contain it, shortest first."""
        ...

    def neighbours(
        self, names: Collection[str], *, hops: int, relations: Collection[Predicate] = ALL_RELATIONS
    ) -> Subgraph:
        """All within `hops` relations of these concepts, walked in either direction; cycles end."""
        ...

    def chunks(self, names: Collection[str], *, hops: int, limit: int, where: Filter) -> list[Hit]:
        """Chunks that mention these concepts or their neighbours: the sum of relevance / (1 + distance)."""
        ...

    def count(self) -> int:
        """How many concepts there are."""
        ...

    def clear(self) -> None: ...

    def close(self) -> None: ...
