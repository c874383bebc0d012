"""Which concepts the papers speak of, and how these stand to each other.

A store keeps what each paper contributes and adds nothing of its own: how the graph is walked and what a chunk scores
is the same for all of them (`carrel.search`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from carrel.types import Predicate

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from carrel.types import ConceptRow, Contribution, Filter, GraphSize, Relation, Spot, Triple

ALL_RELATIONS = frozenset(Predicate)
CURATED = ":curated"
"""The contributor of what the user's own files say, which is believed before any paper."""


@runtime_checkable
class GraphStore(Protocol):
    """A graph made of what each paper contributes, so that a paper can be taken out and leave no trace.

    A concept is known by its key (`carrel.naming.key` of its name): what several papers say of it is one concept.
    What is only mentioned or related is a concept, too. A name that is another's alias means that other concept:

    1. a key that a curated concept has is that concept's own;
    2. else one that a curated concept has as an alias is that concept's;
    3. else one that has aliases itself, or is nobody's alias, is its own;
    4. else it is the concept of which two thirds or more of the papers that give it as an alias say so; its own if
       there is none.

    Everything that is told of a concept includes what was said under the keys that mean it. A statement between two
    names of one concept is no relation. What several mentions say of one concept, chunk and role is one spot, the most
    relevant, and only chunks that papers contributed have any: what is curated of a paper's chunk waits for the paper.
    The curator is no paper in what is counted, but its mentions weigh.
    """

    def put(self, contributions: Sequence[Contribution]) -> None:
        """Store what some papers contribute, instead of what they did before; all of it or nothing."""
        ...

    def delete(self, paper_ids: Collection[str]) -> None:
        """Take back what these papers contributed, and nothing else."""
        ...

    def papers(self) -> set[str]:
        """Which papers have contributed."""
        ...

    def contributed(self, paper_ids: Collection[str]) -> list[Contribution]:
        """What these papers contributed, in the order of their ids; without chunks, which are the catalog's to give.

        Put again with them, it makes the same graph: each name is in the one spelling that was kept of it.
        """
        ...

    def resolve(self, names: Collection[str]) -> dict[str, str]:
        """The key of the concept that each of these names or aliases means; without those that mean none."""
        ...

    def near(self, name: str, *, edits: int, limit: int) -> list[str]:
        """Keys of concepts with a name or alias whose key is at most so many edits from this one's, nearest first.

        All that have such an alias, also where it means none of them.
        """
        ...

    def concepts(self, keys: Collection[str]) -> dict[str, ConceptRow]:
        """What is known of these concepts: the curated name, else the spelling most papers use, else the first of
        them; every alias of another key; the curated definition, else the first by paper."""
        ...

    def find(self, text: str, *, limit: int) -> list[ConceptRow]:
        """Concepts whose name or alias is the text, then those that contain it, each by weight, then key.

        Every concept for an empty text.
        """
        ...

    def relations(self, keys: Collection[str], *, predicates: Collection[Predicate] = ALL_RELATIONS) -> list[Relation]:
        """How these concepts stand to any other, in either direction, by subject, predicate and object."""
        ...

    def triples(self, keys: Collection[str], *, predicates: Collection[Predicate] = ALL_RELATIONS) -> list[Triple]:
        """The statements of which these concepts are both ends, under the concepts' names; surest first."""
        ...

    def spots(self, keys: Collection[str], *, limit: int, where: Filter) -> list[Spot]:
        """Where each of these concepts is spoken of: so many for each, by falling relevance, then address."""
        ...

    def spoken(self, addresses: Collection[str], *, of: Collection[str] | None = None) -> list[Spot]:
        """What these chunks speak of, all or of these concepts alone, by address, falling relevance, then key."""
        ...

    def citations(self, paper_ids: Collection[str] | None = None) -> set[tuple[str, str]]:
        """Which papers of the graph cite which others; of all, or with one of these at either end."""
        ...

    def size(self) -> GraphSize: ...

    def clear(self) -> None: ...

    def close(self) -> None: ...
