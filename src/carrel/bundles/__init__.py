"""An answer as a file: what was said, the quotes that prove it, and all it takes to check them elsewhere and later."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from carrel.references import jsonl

# Not for type checking alone: pydantic looks them up when it reads a bundle.
from carrel.types import Box, Confidence, Degradation, Flag, Part, Reference, Statement, Unsupported  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = "carrel-answer"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Quote:
    """A citation: the words, and where they stand in a source."""

    id: int
    address: str
    paper_id: str
    part: Part
    quote: str
    start: int
    end: int
    page: int | None = None
    boxes: tuple[Box, ...] = ()
    section_path: tuple[str, ...] = ()
    score: float = 0.0
    url: str = ""
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """The text that quotes count their offsets in, as it was when the answer was given."""

    paper_id: str
    part: Part
    sha256: str
    """Of the text in UTF-8."""
    characters: int
    digest: str
    format: str
    name: str
    """Of the file that it was read from, without its folder; empty for an abstract."""


@dataclass(frozen=True, slots=True)
class Near:
    """A passage that was not sure enough to answer from."""

    address: str
    paper_id: str
    title: str
    score: float
    text: str


@dataclass(frozen=True, slots=True)
class Made:
    """When, where and by what an answer was made."""

    time: str
    """UTC, as ISO 8601 has it."""
    library: str
    """The name of its folder."""
    carrel: str
    """The version of the program."""
    embedder: str
    reranker: str
    generator: str
    settings: dict[str, Any] = field(default_factory=dict)
    """What is not at its default, secrets and folders of this machine left out."""


@dataclass(frozen=True, slots=True)
class Bundle:
    question: str
    asked: str
    """What was searched for: the question, made whole from earlier ones where it needed that."""
    answer: str
    statements: tuple[Statement, ...]
    citations: tuple[Quote, ...]
    documents: tuple[Source, ...]
    references: tuple[Reference, ...]
    """Of the cited papers, without abstracts and the reader's own words."""
    confidence: Confidence
    has_insufficient_evidence: bool
    probability: float | None
    threshold: float
    missing: tuple[str, ...]
    near_misses: tuple[Near, ...]
    unsupported: tuple[Unsupported, ...]
    strategy: str
    degraded: tuple[Degradation, ...]
    query_id: str
    made: Made

    @property
    def papers(self) -> dict[str, Reference]:
        return {reference.id: reference for reference in self.references}

    def as_dict(self) -> dict[str, Any]:
        """The file's content; its last entry is a hash of all the others."""
        references = [_record(reference) for reference in self.references]
        content = {"format": FORMAT, "version": VERSION, **asdict(self), "references": references}
        # Plain types only, and whole characters: what a shell passes on may hold halves.
        record = json.loads(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))
        return {**record, "sha256": seal(record)}


def seal(record: Mapping[str, Any]) -> str:
    """A hash of a file's content, whatever the order of its keys and the white space between."""
    rest = {key: value for key, value in record.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def hashed(text: str) -> str:
    """What tells one source text from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _record(reference: Reference) -> dict[str, Any]:
    return {key: value for key, value in jsonl.as_record(reference).items() if value and key != "source"}
