"""How the graph of concepts leads from a question to a passage."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from carrel.types.graph import Predicate, Role


class Match(StrEnum):
    """How a question names a concept."""

    NAME = "name"
    ALIAS = "alias"
    SPELLING = "spelling"
    """But for a letter or two."""


@dataclass(frozen=True, slots=True)
class Named:
    """A concept that a question names."""

    said: str
    concept: str
    match: Match = Match.NAME

    def as_dict(self) -> dict[str, str]:
        return {"said": self.said, "concept": self.concept, "match": self.match.value}


@dataclass(frozen=True, slots=True)
class Link:
    """A step to a concept: by what is said of it and the one before or, without that, by a passage that names both."""

    concept: str
    predicate: Predicate | None = None
    is_forward: bool = True
    """Whether the concept is what the predicate leads to, not where it comes from."""
    address: str = ""
    """Of the passage that names both."""

    def __str__(self) -> str:
        if self.predicate is None:
            return f" — in {self.address} — {self.concept}"
        line = f" —{self.predicate.value}→ " if self.is_forward else f" ←{self.predicate.value}— "
        return f"{line}{self.concept}"

    def as_dict(self) -> dict[str, Any]:
        by = {"address": self.address} if self.predicate is None else {"predicate": self.predicate.value}
        return {"concept": self.concept, **by, "forward": self.is_forward}


@dataclass(frozen=True, slots=True)
class ConceptPath:
    """From a concept, which the question names or a surer passage speaks of, to a passage that speaks of the last."""

    start: str
    role: Role
    links: tuple[Link, ...] = ()
    source: str = ""
    """Address of the surer passage; empty if it is the question that names the concept."""

    def __str__(self) -> str:
        before = f"{self.source} — " if self.source else ""
        return f"{before}{self.start}{''.join(map(str, self.links))} — {_HERE[self.role.value]}"

    def as_dict(self) -> dict[str, Any]:
        links = [link.as_dict() for link in self.links]
        return {"source": self.source or None, "start": self.start, "links": links, "role": self.role.value}


_HERE = {
    "MENTIONS": "mentioned here",
    "DISCUSSES": "discussed here",
    "CODE_EXAMPLE_FOR": "with code here",
    "FORMULA_FOR": "with a formula here",
}
