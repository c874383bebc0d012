"""The nouns of Carrel: frozen, typed, and known to every layer above.

A `Reference` says what a paper is, a `Paper` what was read of it, a `Chunk` is the piece that is searched.
A `Hit` is where one arm of the search found something, a `Passage` what a reader is shown of it,
a `Citation` the proof of a `Statement`, an `Answer` all of them together.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

# As text, so that naming a type does not load numpy.
Vector: TypeAlias = "NDArray[np.float32]"
"""One unit row."""
Matrix: TypeAlias = "NDArray[np.float32]"
"""Unit rows, one a text."""
Progress: TypeAlias = "Callable[[str, int, int], None]"
"""Told the stage, the work done and the whole of it, in units that pass at an even pace."""

ANY_YEAR = 0
"""The year of a reference that has none."""


class Part(StrEnum):
    """Which text of a paper a chunk is cut from."""

    ABSTRACT = "abstract"
    BODY = "body"


class BlockKind(StrEnum):
    HEADING = "heading"
    TEXT = "text"
    LIST = "list"
    CODE = "code"
    FORMULA = "formula"
    TABLE = "table"


ATOMIC = frozenset({BlockKind.CODE, BlockKind.FORMULA, BlockKind.TABLE})
"""Blocks that are never split: what went in comes out."""


class ChunkKind(StrEnum):
    ABSTRACT = "abstract"
    PASSAGE = "passage"


class Mode(StrEnum):
    """Which arms a search uses."""

    HYBRID = "hybrid"
    VECTOR = "vector"
    KEYWORD = "keyword"
    GRAPH = "graph"


class Strategy(StrEnum):
    """Which arms a search really used."""

    HYBRID = "hybrid"
    VECTOR_ONLY = "vector_only"
    KEYWORD_ONLY = "keyword_only"
    GRAPH_ONLY = "graph_only"
    DEGRADED = "degraded"


class Confidence(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INSUFFICIENT = "insufficient"


class Predicate(StrEnum):
    """How one concept stands to another."""

    PREREQUISITE = "PREREQUISITE"
    RELATED_TO = "RELATED_TO"
    COMPARED_TO = "COMPARED_TO"
    PART_OF = "PART_OF"
    USES = "USES"
    IMPLEMENTS = "IMPLEMENTS"
    EXAMPLE_OF = "EXAMPLE_OF"


# What a paper is


@dataclass(frozen=True, slots=True)
class Author:
    last: str
    first: str = ""
    orcid: str = ""

    def __str__(self) -> str:
        return f"{self.first} {self.last}".strip()


@dataclass(frozen=True, slots=True)
class Published:
    year: int = ANY_YEAR
    month: int = 0
    day: int = 0


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a reference came from: the kind of source and its id there."""

    type: str = "manual"
    id: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """One bibliographic record: a line of refs.jsonl."""

    id: str
    title: str
    doi: str = ""
    authors: tuple[Author, ...] = ()
    abstract: str = ""
    venue: str = ""
    note: str = ""
    published: Published = Published()
    pdf_path: str = ""
    supplement_paths: tuple[str, ...] = ()
    source: Origin = Origin()
    tags: tuple[str, ...] = ()
    supersedes: str = ""
    pmid: str = ""
    pmcid: str = ""
    arxiv_id: str = ""
    s2_id: str = ""


# What was read of it


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in points from its top left corner."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Block:
    """A structural piece of a text: `text[start:end]` of its paper."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: str = ""
    """Of a heading: its words without the markup."""
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Paper:
    """What a parser read: the record it found, the text, and the text's structure in reading order."""

    reference: Reference
    text: str
    blocks: tuple[Block, ...]
    format: str
    topic: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The piece that is embedded, searched and cited: `text[start:end]` of one part of a paper.

    It carries what a `Filter` asks, so that every store can filter without asking another.
    """

    address: str
    paper_id: str
    part: Part
    kind: ChunkKind
    text: str
    start: int
    end: int
    position: int = 0
    """Reading order within its part, from 0."""
    chapter: int = 0
    section: int = 0
    section_path: tuple[str, ...] = ()
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int = ANY_YEAR
    venue: str = ""
    tags: tuple[str, ...] = ()
    topic: str = ""
    language: str = ""
    token_count: int = 0
    has_code: bool = False
    has_formula: bool = False
    has_table: bool = False
    page_start: int | None = None
    page_end: int | None = None

    def with_facts(self, reference: Reference) -> Chunk:
        """The same chunk, with what its paper's record says."""
        return replace(
            self,
            title=reference.title,
            authors=tuple(str(author) for author in reference.authors),
            year=reference.published.year,
            venue=reference.venue,
            tags=reference.tags,
        )

    @property
    def heading(self) -> str:
        return " — ".join((self.title, *self.section_path))

    @property
    def embedded_text(self) -> str:
        # Joined by a space: line breaks cost the bundled model half a point of nDCG on SciFact.
        return f"{self.heading} {self.text}".strip()

    @property
    def text_hash(self) -> str:
        return hashlib.sha256(self.embedded_text.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Document:
    """The stored source text of one part of a paper, and where it came from."""

    paper_id: str
    part: Part
    text: str
    digest: str
    """Of all that its chunks are made from; equal digests need no work."""
    source: str = ""
    """Path of the file it was read from; empty for an abstract."""
    format: str = "reference"


# What a search finds


@dataclass(frozen=True, slots=True)
class Filter:
    """What a search may return. Empty fields do not restrict; several tags or papers mean any of them."""

    paper_ids: frozenset[str] = frozenset()
    kinds: frozenset[ChunkKind] = frozenset()
    year_min: int | None = None
    year_max: int | None = None
    venue: str = ""
    tags: frozenset[str] = frozenset()
    topic: str = ""
    chapter: int | None = None
    section: int | None = None

    def allows_venue(self, venue: str) -> bool:
        """A part of the venue's name suffices, in any case."""
        return self.venue.casefold() in venue.casefold()

    def matches(self, chunk: Chunk) -> bool:
        """The meaning of a filter, that each store translates into its own language."""
        return (
            (not self.paper_ids or chunk.paper_id in self.paper_ids)
            and (not self.kinds or chunk.kind in self.kinds)
            and (self.year_min is None or chunk.year >= self.year_min)
            and (self.year_max is None or ANY_YEAR < chunk.year <= self.year_max)
            and self.allows_venue(chunk.venue)
            and (not self.tags or not self.tags.isdisjoint(chunk.tags))
            and (not self.topic or chunk.topic == self.topic)
            and (self.chapter is None or chunk.chapter == self.chapter)
            and (self.section is None or chunk.section == self.section)
        )


EVERYTHING = Filter()


@dataclass(frozen=True, slots=True)
class Hit:
    """One arm's finding. Higher scores are better; their scale is the arm's own."""

    address: str
    score: float


@dataclass(frozen=True, slots=True)
class ArmScore:
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Fused:
    """An address after fusion, with what each arm said of it."""

    address: str
    score: float
    arms: Mapping[str, ArmScore]


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a reranker may look at."""

    chunk: Chunk
    fused: Fused


@dataclass(frozen=True, slots=True)
class Passage:
    """A search result: a chunk and why it is here."""

    rank: int
    chunk: Chunk
    score: float
    """The reranker's probability, or the fusion score when there was no reranker."""
    fused: Fused
    probability: float | None = None

    def as_dict(self) -> dict[str, Any]:
        chunk = self.chunk
        return {
            "rank": self.rank,
            "address": chunk.address,
            "paper_id": chunk.paper_id,
            "title": chunk.title,
            "year": chunk.year or None,
            "score": self.score,
            "text": chunk.text,
            "page": chunk.page_start,
            "section_path": list(chunk.section_path),
            "arms": {name: asdict(arm) for name, arm in self.fused.arms.items()},
            "fusion_score": self.fused.score,
            "probability": self.probability,
        }


@dataclass(frozen=True, slots=True)
class Degradation:
    """A part of the pipeline that did not do its work, and why."""

    arm: str
    reason: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    query: str
    mode: Mode
    strategy: Strategy
    passages: tuple[Passage, ...]
    degraded: tuple[Degradation, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds by stage."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Candidates by arm."""

    @property
    def rerank_degraded(self) -> bool:
        return any(part.arm == "rerank" for part in self.degraded)

    def as_dict(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "mode": self.mode.value,
            "strategy": self.strategy.value,
            "degraded": [asdict(part) for part in self.degraded],
            "results": [passage.as_dict() for passage in self.passages],
            "total": len(self.passages),
            "timings": dict(self.timings),
            "counts": dict(self.counts),
        }


# What an answer is


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
            "page": chunk.page_start,
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


# What the graph holds


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


# What the verbs report


@dataclass(frozen=True, slots=True)
class Problem:
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class AddReport:
    """What became of everything that was offered."""

    new: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: tuple[Problem, ...] = ()
    failed: tuple[Problem, ...] = ()
    papers: tuple[str, ...] = ()
    """The papers that are new or updated."""
    chunks_embedded: int = 0
    dry_run: bool = False

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "papers": list(self.papers)}
