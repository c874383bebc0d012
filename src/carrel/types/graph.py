"""What the graph of concepts holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from carrel.types.papers import Chunk


class Predicate(StrEnum):
    """How one concept stands to another."""

    PREREQUISITE = "PREREQUISITE"
    """The subject is to be understood before the object."""
    RELATED_TO = "RELATED_TO"
    COMPARED_TO = "COMPARED_TO"
    PART_OF = "PART_OF"
    USES = "USES"
    IMPLEMENTS = "IMPLEMENTS"
    EXAMPLE_OF = "EXAMPLE_OF"


class Role(StrEnum):
    """How a chunk stands to a concept."""

    MENTIONS = "MENTIONS"
    DISCUSSES = "DISCUSSES"
    """It is about the concept: under its heading, or defining it, or speaking of little else."""
    CODE_EXAMPLE_FOR = "CODE_EXAMPLE_FOR"
    FORMULA_FOR = "FORMULA_FOR"


@dataclass(frozen=True, slots=True)
class Concept:
    name: str
    aliases: tuple[str, ...] = ()
    definition: str = ""
    """A sentence that says what it is."""
    category: str = ""
    defined_at: str = ""
    """Address of the chunk that has the definition."""


@dataclass(frozen=True, slots=True)
class Mention:
    """That a chunk speaks of a concept, how often, and how centrally (0–1)."""

    concept: str
    address: str
    count: int = 1
    relevance: float = 1.0
    role: Role = Role.MENTIONS


@dataclass(frozen=True, slots=True)
class Triple:
    """A relation that a sentence states."""

    subject: str
    predicate: Predicate
    object: str
    confidence: float
    address: str
    """Of the chunk that has the sentence."""
    evidence: str
    start: int = 0
    end: int = 0
    """The evidence is `text[start:end]` of the part of the paper that the chunk is of."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a paper, or an entry of a bibliography, is known by; empty is unknown."""

    doi: str = ""
    title: str = ""

    def cites(self, other: Work) -> bool:
        """Whether this entry of a bibliography is that paper. Two DOIs that differ are two papers."""
        if self.doi and other.doi:
            return self.doi == other.doi
        return bool(self.title) and self.title == other.title


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one paper adds to the graph; it depends on no other paper, so that it can be taken back."""

    paper_id: str
    chunks: tuple[Chunk, ...] = ()
    """All of its chunks, in reading order."""
    concepts: tuple[Concept, ...] = ()
    mentions: tuple[Mention, ...] = ()
    triples: tuple[Triple, ...] = ()
    work: Work = Work()
    cites: tuple[Work, ...] = ()


class ConceptRow(NamedTuple):
    """A concept of the graph, and how much the papers make of it."""

    key: str
    """What all its spellings share."""
    concept: Concept
    papers: int = 0
    chunks: int = 0
    weight: float = 0.0
    """The sum of its mentions' relevance: what concepts are ranked by."""
    curated: bool = False


class Relation(NamedTuple):
    """All that is said of how two concepts stand to each other, in one predicate. Ends are keys."""

    subject: str
    predicate: Predicate
    object: str
    confidence: float
    """Of the surest statement."""
    statements: int = 1


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a concept, by its key, is spoken of."""

    key: str
    address: str
    count: int
    relevance: float
    role: Role


class GraphSize(NamedTuple):
    concepts: int = 0
    mentions: int = 0
    triples: int = 0
    chunks: int = 0
    papers: int = 0
