"""What an answer is made of."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.types.papers import Box, Chunk
    from carrel.types.search import Degradation, Passage, Strategy


class Confidence(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INSUFFICIENT = "insufficient"


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A numbered source in a prompt, its sentences ranked by what they say about the question."""

    number: int
    title: str
    text: str
    sentences: tuple[tuple[Span, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a generator is given: it knows sources by number and nothing of papers."""

    question: str
    excerpts: tuple[Excerpt, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """The proof of a statement: a quote and the very place it stands."""

    id: int
    chunk: Chunk
    quote: str
    start: int
    end: int
    score: float
    boxes: tuple[Box, ...] = ()

    @property
    def page(self) -> int | None:
        return self.boxes[0].page if self.boxes else self.chunk.page_start

    def as_dict(self) -> dict[str, Any]:
        chunk = self.chunk
        return {
            "id": self.id,
            "address": chunk.address,
            "paper_id": chunk.paper_id,
            "title": chunk.title,
            "authors": list(chunk.authors),
            "year": chunk.year or None,
            "quote": self.quote,
            "start": self.start,
            "end": self.end,
            "page": self.page,
            "boxes": [asdict(box) for box in self.boxes],
            "score": self.score,
        }


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A sequence of proved statements, or the honest word that the evidence does not suffice."""

    query_id: str
    question: str
    answer: str
    statements: tuple[Statement, ...]
    citations: tuple[Citation, ...]
    confidence: Confidence
    has_insufficient_evidence: bool
    near_misses: tuple[Passage, ...]
    unsupported: tuple[str, ...]
    strategy: Strategy
    generator: str
    degraded: tuple[Degradation, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            "query_id": self.query_id,
            "question": self.question,
            "answer": self.answer,
            "statements": [asdict(statement) for statement in self.statements],
            "citations": [citation.as_dict() for citation in self.citations],
            "confidence": self.confidence.value,
            "has_insufficient_evidence": self.has_insufficient_evidence,
            "near_misses": [
                {
                    "address": passage.chunk.address,
                    "title": passage.chunk.title,
                    "score": passage.score,
                    "text": passage.chunk.text,
                }
                for passage in self.near_misses
            ],
            "unsupported": list(self.unsupported),
            "strategy": self.strategy.value,
            "generator": self.generator,
            "degraded": [asdict(part) for part in self.degraded],
            "timings": dict(self.timings),
        }


@dataclass(frozen=True, slots=True)
class ConfidenceEvent:
    """The first word of an answer: how well the library supports one."""

    confidence: Confidence
    has_insufficient_evidence: bool
    top_score: float | None


@dataclass(frozen=True, slots=True)
class CitationEvent:
    """A source, told before the first statement that cites it."""

    citation: Citation


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """A piece of the answer whose proof was already checked."""

    text: str


@dataclass(frozen=True, slots=True)
class DoneEvent:
    answer: Answer


Event: TypeAlias = ConfidenceEvent | CitationEvent | TokenEvent | DoneEvent
