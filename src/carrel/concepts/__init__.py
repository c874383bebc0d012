"""From a paper's chunks to what it contributes to the graph of concepts; no model is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from carrel import naming
from carrel.concepts import terms, triples
from carrel.types import QUOTABLE, Contribution

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.types import Chunk, Concept, Reference, Triple, Work


class Extractor(Protocol):
    """Finds what a chunk says of how concepts stand to each other."""

    @property
    def remarks(self) -> Sequence[str]:
        """What the user should know of how it went."""
        ...

    def extract(self, chunk: Chunk, known: Mapping[str, str]) -> list[Triple]:
        """The chunk's triples; `known` are the paper's concepts, by the key of each of their names."""
        ...


class Rules:
    """By what explicit statements, lists and links look like."""

    remarks = ()

    def extract(self, chunk: Chunk, known: Mapping[str, str]) -> list[Triple]:
        return triples.extract(chunk, known)


def contribution(
    record: Reference, chunks: Sequence[Chunk], *, work: Work, cites: Sequence[Work], extractor: Extractor
) -> Contribution:
    """What a paper adds to the graph, told by its own chunks and record alone."""
    # A reader's notes lead to a paper, but prove nothing.
    written = [chunk for chunk in chunks if chunk.kind in QUOTABLE]
    found = terms.extract(written, record)
    known = names(found.concepts)
    return Contribution(
        paper_id=record.id,
        chunks=tuple(chunks),
        concepts=found.concepts,
        mentions=found.mentions,
        triples=tuple(triple for chunk in written for triple in extractor.extract(chunk, known)),
        work=work,
        cites=tuple(dict.fromkeys(cites)),
    )


def names(concepts: Sequence[Concept]) -> dict[str, str]:
    """The name of the concept that each key means; a name goes before another's alias."""
    aliases = {naming.key(alias): one.name for one in reversed(concepts) for alias in one.aliases}
    return {**aliases, **{naming.key(one.name): one.name for one in concepts}}
