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
    """The whole passage: spans are counted in it."""
    sentences: tuple[tuple[Span, float], ...] = ()
    """What may be quoted of it, each with how much it says about the question, in order of text."""
    offered: tuple[Span, ...] | None = None
    """The stretches of it that there is room for, in order of text; None for all of it."""
    nearest: float | None = None
    """The similarity of its nearest sentence to the question, of those that were compared."""

    @property
    def shown(self) -> str:
        """What a generator gets to read."""
        if self.offered is None:
            return self.text
        return " […] ".join(self.text[span.start : span.end] for span in self.offered)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a generator is given: it knows sources by number and nothing of papers."""

    question: str
    excerpts: tuple[Excerpt, ...]
    task: str = ""
    """What to do with them; if empty, to answer the question."""


class Notice(StrEnum):
    """What became of a paper after it was published."""

    RETRACTION = "retraction"
    CONCERN = "expression of concern"
    CORRECTION = "correction"
    REINSTATEMENT = "reinstatement"


@dataclass(frozen=True, slots=True)
class Flag:
    """A notice about a paper, and who says so."""

    notice: Notice
    source: str
    """As `Retraction Watch, as of 2026-11-01`, or `the tag 'retracted'`."""
    date: str = ""
    """When it was given, YYYY-MM-DD; empty where that is not known."""
    reason: str = ""
    doi: str = ""
    """Of the notice itself."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is to be known of a cited paper beside its words."""

    url: str = ""
    flags: tuple[Flag, ...] = ()


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
    standing: Standing = Standing()

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
            "url": self.standing.url or None,
            "flags": [asdict(flag) for flag in self.standing.flags],
            "score": self.score,
        }


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Unsupported:
    """What a generator said and nothing it was given proves."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Certainty:
    """How well the evidence that was found supports an answer."""

    probability: float | None
    """That what was found holds an answer; None when nothing could tell."""
    missing: tuple[str, ...] = ()
    """Words of the question that the evidence does not speak of."""


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
    unsupported: tuple[Unsupported, ...]
    strategy: Strategy
    generator: str
    """Who wrote it; not the one that was asked, where another had to stand in."""
    certainty: Certainty = Certainty(None)
    threshold: float = 0.0
    """The probability that was asked of the evidence."""
    asked: str = ""
    """The question as it was searched for, where it was made whole from an earlier one."""
    degraded: tuple[Degradation, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    """By arm of the search: how many passages it found."""
    context_tokens: int = 0
    """Length of the passages that it draws on."""

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
            "unsupported": [asdict(one) for one in self.unsupported],
            "probability": self.certainty.probability,
            "threshold": self.threshold,
            "missing": list(self.certainty.missing),
            "asked": self.asked or self.question,
            "strategy": self.strategy.value,
            "generator": self.generator,
            "degraded": [asdict(part) for part in self.degraded],
            "rerank_degraded": any(part.arm == "rerank" for part in self.degraded),
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
class MetadataEvent:
    """What is known once the last word is said: how it was found and how long each stage took."""

    query_id: str
    strategy: Strategy
    generator: str
    timings: Mapping[str, float]
    """Milliseconds; `first_token` counts from the question to the first proved word."""
    degraded: tuple[Degradation, ...] = ()


@dataclass(frozen=True, slots=True)
class DoneEvent:
    answer: Answer


Event: TypeAlias = ConfidenceEvent | CitationEvent | TokenEvent | MetadataEvent | DoneEvent
