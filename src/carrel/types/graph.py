"""What the graph of concepts holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Predicate(StrEnum):
    """How one concept stands to another."""

    PREREQUISITE = "PREREQUISITE"
    RELATED_TO = "RELATED_TO"
    COMPARED_TO = "COMPARED_TO"
    PART_OF = "PART_OF"
    USES = "USES"
    IMPLEMENTS = "IMPLEMENTS"
    EXAMPLE_OF = "EXAMPLE_OF"


@dataclass(frozen=True, slots=True)
class Concept:
    name: str
    aliases: tuple[str, ...] = ()
    definition: str = ""
    category: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """That a chunk speaks of a concept, how often, and how centrally (0–1)."""

    concept: str
    address: str
    count: int = 1
    relevance: float = 1.0


@dataclass(frozen=True, slots=True)
class Triple:
    """A relation that a sentence of a chunk states."""

    subject: str
    predicate: Predicate
    object: str
    confidence: float
    address: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Concepts with their distance from where the walk began, and the relations among them."""

    depths: Mapping[str, int]
    triples: tuple[Triple, ...]
