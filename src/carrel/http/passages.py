"""What a search is asked and what it finds, over the wire."""

from __future__ import annotations

import re
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, Strict, field_validator

from carrel.http import bounds
from carrel.http.shapes import Shape, Wish
from carrel.search import LONGEST_QUERY
from carrel.selecting import Criteria
from carrel.types import ChunkKind, Filter, Match, Mode, Predicate, Role, StepKind, Strategy
from carrel.types.service import IN_THE_LOG

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from carrel.library import Library
    from carrel.reading.chunks import Around
    from carrel.types import Chunk, SearchResult

MOST = 100
"""Results that one page can have."""
LONGEST_NAME = 500
_MOST_NAMES = 50
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)
# No database keeps a NUL in a text.
Text = Annotated[str, Field(max_length=LONGEST_NAME, pattern=r"^[^\x00]*$")]
Named = Annotated[Text, Field(min_length=1)]
Texts = Annotated[list[Text], Field(max_length=_MOST_NAMES)]
_WORDS = {"true": True, "false": False}


def _meant(said: object) -> object:
    """In a query string everything is words. In JSON a number is no yes or no, and neither of these is a number."""
    if isinstance(said, float) and said.is_integer():
        return int(said)
    if not isinstance(said, str):
        return said
    return int(said) if _WHOLE.fullmatch(said) else _WORDS.get(said.lower(), said)


YesNo = Annotated[bool, Strict(), BeforeValidator(_meant)]
Whole = Annotated[int, Strict(), BeforeValidator(_meant)]
Year = Annotated[Whole, Field(ge=-9999, le=9999)]
Number = Annotated[Whole, Field(ge=0, le=1_000_000)]
Limit = Annotated[Whole, Field(ge=1, le=MOST, description="How many at most.")]
Cursor = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9_-]*$",
        description="The next page: `nextCursor` of the page before; all else stays the same.",
    ),
]
Asked = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_QUERY,
        description="Words or a question.",
        examples=["dense passage retrieval"],
    ),
]


class Narrowing(Wish):
    """What a search may return; what is left out does not restrict."""

    paper: Texts = Field(default=[], description="Only these papers, by id or title.")
    year_min: Year | None = None
    year_max: Year | None = None
    venue: Text = Field(default="", description="Only venues whose name contains this.")
    tag: Texts = Field(default=[], description="Only papers with any of these tags.")

    def where(self, library: Library) -> Filter:
        ids = (row.reference.id for row in library.find(*self.paper)) if self.paper else ()
        return Filter(
            paper_ids=frozenset(ids),
            year_min=self.year_min,
            year_max=self.year_max,
            venue=self.venue,
            tags=frozenset(self.tag),
        )


class Choosing(Narrowing):
    """What can be asked of a paper's record."""

    author: Texts = Field(default=[], description="Only papers by all of these: `Yu`, `Tim Yu` or `Yu, Tim`.")
    title: Text = Field(default="", description="Only papers with these words in their title.")
    doi: Text = Field(default="", description="Only the paper with this DOI.")

    @property
    def criteria(self) -> Criteria | None:
        chosen = Criteria(tuple(self.author), self.title, self.doi)
        return chosen if chosen != Criteria() else None


class Arm(Shape):
    rank: int
    score: float


is_user: ContextVar[bool] = ContextVar("is_user", default=True)
"""Whether a request is the user's own."""


class Degraded(Shape):
    """A part of the search that did not do its work."""

    arm: str = Field(examples=["rerank"])
    reason: str

    @field_validator("reason")
    @classmethod
    def _told(cls, reason: str) -> str:
        return reason if is_user.get() else IN_THE_LOG


class Understood(Shape):
    """Something that was recognised in the query, and what was made of it."""

    kind: StepKind
    from_: str = Field(alias="from")
    to: str


class NamedConcept(Shape):
    """A concept that the query names."""

    said: str
    concept: str
    match: Match


class Link(Shape):
    """A step from concept to concept: by what is said of the two, or by a passage that names both."""

    concept: str
    predicate: Predicate | None = None
    address: str | None = None
    forward: bool


class Path(Shape):
    """How the graph leads from the query to the passage."""

    source: str | None
    start: str
    links: list[Link]
    role: Role


class Neighbour(Shape):
    address: str
    preview: str


class Passage(Shape):
    address: str = Field(description="What `/api/chunks/{address}` shows.", examples=["smith2020/ch1/s2/p3"])
    paper_id: str
    title: str
    year: int | None
    score: float
    text: str = Field(description="The beginning of a very long one; `/api/chunks/{address}` has more.")
    page: int | None
    section_path: list[str]
    arms: dict[str, Arm] = Field(description="Rank and score by each arm that found it.")
    probability: float | None = Field(description="The reranker's; null where none scored it.")
    duplicates: list[str] = Field(description="Addresses of what says the same and is not shown for that.")
    path: Path | None
    fusion_score: float | None = Field(default=None, description="With `explain`.")
    fusion_shares: dict[str, float] | None = Field(default=None, description="What each arm gave; with `explain`.")
    signals: dict[str, float] | None = Field(default=None, description="What the reranker went by; with `explain`.")
    previous: Neighbour | None = Field(default=None, description="What stands before it; with `context`.")
    next: Neighbour | None = Field(default=None, description="What stands after it; with `context`.")


class Result(Passage):
    rank: int
    notice: str | None = Field(default=None, description="`RETRACTED`, or what else became of the paper.")
    passages: list[Passage] | None = Field(default=None, description="With `byPaper`: what else was found of it.")


class Filters(Shape):
    """What could be found at all, the fields of the query included; null where nothing restricts."""

    paper_ids: list[str] | None = None
    kinds: list[ChunkKind] | None = None
    year_min: int | None = None
    year_max: int | None = None
    venue: str | None = None
    tags: list[str] | None = None
    topic: str | None = None
    chapter: int | None = None
    section: int | None = None


class Found(Shape):
    query: str
    mode: Mode
    strategy: Strategy = Field(description="What really happened.")
    degraded: list[Degraded]
    rerank_degraded: bool
    results: list[Result]
    total: int = Field(description="Results on this page.")
    matched: int | None = Field(description="Passages with any word of the query; null when words were not searched.")
    filters: Filters
    understood: list[Understood]
    concepts: list[NamedConcept]
    no_concepts: str | None
    by_paper: bool
    next_cursor: str | None = Field(description="Leads to the next page; null when there is none.")
    timings: dict[str, float] = Field(description="Milliseconds, by stage.")
    counts: dict[str, int] = Field(description="Candidates, by arm.")

    @classmethod
    def of(
        cls, result: SearchResult, notices: Mapping[str, str], around: Mapping[str, Around], *, explain: bool
    ) -> Found:
        shown = result.as_dict()
        longest = max(_LEAST_TEXT, _TEXTS // (sum(1 for _ in chunks_of(result)) or 1))
        telling = _Telling(notices, around, explain, longest)
        return cls.model_validate({**shown, "results": [telling.result(one) for one in shown["results"]]})


_EXPLAINING = frozenset({"fusion_score", "fusion_shares", "signals"})
_TEXTS = 600_000
"""Bytes of the texts of all passages; of each at least so many, which is more than most have."""
_LEAST_TEXT = 6000
_TITLE = 800


@dataclass(frozen=True)
class _Telling:
    notices: Mapping[str, str]
    around: Mapping[str, Around]
    explain: bool
    longest: int

    def result(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        others = [self._passage(one) for one in shown["passages"]] if "passages" in shown else None
        return {**self._passage(shown), "passages": others, "notice": self.notices.get(shown["paper_id"])}

    def _passage(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        address = shown["address"]
        beside = self.around[address].as_dict() if address in self.around else {}
        told = {name: value for name, value in shown.items() if self.explain or name not in _EXPLAINING}
        lists = {
            "section_path": bounds.texts(shown["section_path"], _TITLE),
            "duplicates": bounds.first(shown["duplicates"], _TITLE),
        }
        return bounds.with_texts({**told, **lists, **beside}, text=self.longest, title=_TITLE)


def chunks_of(result: SearchResult) -> Iterable[Chunk]:
    for passage in result.passages:
        yield from (one.chunk for one in (passage, *passage.others))
