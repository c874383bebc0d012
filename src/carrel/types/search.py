"""What a search may return, and what it finds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from carrel.types.papers import ANY_YEAR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.types.papers import Chunk, ChunkKind
    from carrel.types.paths import ConceptPath, Named


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

    def as_dict(self) -> dict[str, Any]:
        """What restricts, alone."""
        chosen = {name: getattr(self, name) for name in self.__slots__}
        return {
            name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in chosen.items()
            if value not in (None, "", frozenset())
        }

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


class Hit(NamedTuple):
    """One arm's finding. Higher scores are better; their scale is the arm's own."""

    address: str
    score: float


class ArmScore(NamedTuple):
    rank: int
    score: float


class Fused(NamedTuple):
    """An address after fusion, with what each arm said of it."""

    address: str
    score: float
    arms: Mapping[str, ArmScore]
    shares: Mapping[str, float] = MappingProxyType({})
    """What each arm gave to the score."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a reranker may look at."""

    chunk: Chunk
    fused: Fused
    signals: Mapping[str, float] = field(default_factory=dict)
    """What is known of it by now, by name: whatever could not be told is not among them."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A search result: a chunk and why it is here."""

    rank: int
    chunk: Chunk
    score: float
    """The reranker's probability, or the fusion score of a passage that no reranker has scored."""
    fused: Fused
    probability: float | None = None
    signals: Mapping[str, float] = field(default_factory=dict)
    """What the reranker went by."""
    duplicates: tuple[str, ...] = ()
    """Addresses of the passages that say the same and are not shown for that."""
    others: tuple[Passage, ...] = ()
    """By paper: what else was found of this one, best first."""
    path: ConceptPath | None = None
    """How the graph leads here; None where it does not."""

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
            "arms": {name: arm._asdict() for name, arm in self.fused.arms.items()},
            "fusion_score": self.fused.score,
            "fusion_shares": dict(self.fused.shares),
            "signals": dict(self.signals),
            "probability": self.probability,
            "duplicates": list(self.duplicates),
            "path": self.path.as_dict() if self.path else None,
        }

    def paper_as_dict(self) -> dict[str, Any]:
        """Standing for its paper: with the others, which have ranks of no list that is shown."""
        others = [{name: value for name, value in one.as_dict().items() if name != "rank"} for one in self.others]
        return {**self.as_dict(), "passages": others}


@dataclass(frozen=True, slots=True)
class Degradation:
    """A part of the pipeline that did not do its work, and why."""

    arm: str
    reason: str


class StepKind(StrEnum):
    """What can be recognised in a query."""

    LANGUAGE = "language"
    FIELD = "field"
    PHRASE = "phrase"
    SPELLING = "spelling"
    ACRONYM = "acronym"


@dataclass(frozen=True, slots=True)
class Step:
    """Something that was recognised in a query, and what was made of it."""

    kind: StepKind
    found: str
    taken: str
    is_told: bool = False
    """Whether it may surprise, so that a reader should hear of it unasked."""

    def as_dict(self) -> dict[str, str]:
        return {"kind": self.kind.value, "from": self.found, "to": self.taken}


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
    matched: int | None = None
    """How many passages there are with any word of the query, or all its phrases; None when words were not searched."""
    where: Filter = EVERYTHING
    """What could be found at all."""
    understood: tuple[Step, ...] = ()
    """What was recognised in the query."""
    concepts: tuple[Named, ...] = ()
    """What the query names of the graph."""
    no_concepts: str = ""
    """Why the graph had nothing to say, where it was to be asked and did not fail."""
    by_paper: bool = False
    """Whether each passage stands for its paper, with the `others` that were found of it."""
    next_cursor: str | None = None
    """Leads to the next page; None when there is none."""

    @property
    def rerank_degraded(self) -> bool:
        return any(part.arm == "rerank" for part in self.degraded)

    def as_dict(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "mode": self.mode.value,
            "strategy": self.strategy.value,
            "degraded": [asdict(part) for part in self.degraded],
            "rerank_degraded": self.rerank_degraded,
            "results": [one.paper_as_dict() if self.by_paper else one.as_dict() for one in self.passages],
            "total": len(self.passages),
            "matched": self.matched,
            "filters": self.where.as_dict(),
            "understood": [step.as_dict() for step in self.understood],
            "concepts": [named.as_dict() for named in self.concepts],
            "no_concepts": self.no_concepts or None,
            "by_paper": self.by_paper,
            "next_cursor": self.next_cursor,
            "timings": dict(self.timings),
            "counts": dict(self.counts),
        }
