"""What is asked and what is answered, over the wire."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote
from uuid import UUID

from pydantic import AfterValidator, Field

from carrel.http import bounds
from carrel.http.passages import Degraded, Narrowing, Text, Whole, YesNo
from carrel.http.shapes import Shape, fault
from carrel.queries.parsing import readable
from carrel.search import LONGEST_QUERY
from carrel.types import Confidence, Notice, Strategy

if TYPE_CHECKING:
    from carrel import types
    from carrel.library import Library

_MOST = 20
_SNIPPET = 300
_TITLE = 800
"""Bytes, as are the next two."""
_AUTHORS = 3000
_NEAR_MISS = 15_000
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)|[。！？]")
_FIRST_TOKEN_TARGET = 3000.0
"""Milliseconds."""


def checked(text: str) -> str:
    """A question that can be asked; for validators."""
    if not readable(text).strip():
        raise fault("Query cannot be empty")
    if len(text) > LONGEST_QUERY:
        raise fault("Query exceeds maximum length")
    return text


def _some(number: int) -> int:
    if not 1 <= number <= _MOST:
        raise fault(f"topK must be between 1 and {_MOST}")
    return number


Asked = Annotated[
    str,
    AfterValidator(checked),
    Field(
        description="The question.",
        examples=["What does dense retrieval compare?"],
        json_schema_extra={"minLength": 1, "maxLength": LONGEST_QUERY, "pattern": r"[^\s\x00-\x1f\x7f-\x9f]"},
    ),
]


class Ask(Narrowing):
    """A question, and where its answer may come from."""

    query: Asked
    session_id: UUID | None = Field(
        default=None, description="A conversation: what was asked in it within the last hour makes a follow-up whole."
    )
    top_k: Annotated[Whole, AfterValidator(_some)] | None = Field(
        default=None,
        description="Passages to draw on; if left out, the setting answer.top_k.",
        json_schema_extra={"minimum": 1, "maximum": _MOST},
    )
    include_graph: YesNo = Field(
        default=True, description="Whether to follow the concepts that lead from one passage to another."
    )
    topic_filter: Text = Field(default="", description="Only texts of this topic.")
    stream: YesNo | None = Field(default=None, description="No matter: the path says whether the answer is streamed.")

    def filter(self, library: Library) -> types.Filter:
        return replace(self.where(library), topic=self.topic_filter)


class Box(Shape):
    """A rectangle on a page, in points from its top left corner."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


class Flag(Shape):
    """A notice about a cited paper, and who says so."""

    notice: Notice
    source: str
    date: str
    reason: str
    doi: str


class Citation(Shape):
    """The proof of a statement: a quote that stands, character for character, at this place of the paper's text."""

    id: int = Field(description="The n of [n] in the answer.", examples=[1])
    address: str = Field(description="What `/api/chunks/{address}` shows.", examples=["smith2020/ch1/s2/p3"])
    paper_id: str
    title: str
    authors: list[str] = Field(description="The first of very many; `authorCount` says how many there are.")
    author_count: int
    year: int | None
    quote: str
    start: int = Field(description="Where the quote begins in what `/api/text/{paper}` gives.")
    end: int
    page: int | None
    boxes: list[Box]
    url: str | None
    flags: list[Flag]
    score: float
    chunk_id: str = Field(description="The same as `address`.")
    document_title: str = Field(description="The same as `title`.")
    document_url: str = Field(description="`url`, or where this server tells of the paper.")
    snippet: str = Field(description=f"The quote, in {_SNIPPET} characters at most.")
    relevance_score: float = Field(description="The same as `score`.")

    @classmethod
    def of(cls, citation: types.Citation) -> Citation:
        told = citation.as_dict()
        authors = {"authors": bounds.texts(told["authors"], _AUTHORS), "author_count": len(told["authors"])}
        shown = bounds.with_texts({**told, **authors}, title=_TITLE)
        return cls.model_validate(
            {
                **shown,
                "chunk_id": shown["address"],
                "document_title": shown["title"],
                "document_url": shown["url"] or f"/api/papers/{quote(shown['paper_id'], safe='')}",
                "snippet": _snippet(shown["quote"]),
                "relevance_score": shown["score"],
            }
        )


class Statement(Shape):
    text: str
    citations: list[int]


class NearMiss(Shape):
    """A passage that came close, where the evidence does not suffice."""

    address: str
    title: str
    score: float
    text: str


class Unsupported(Shape):
    """What the generator said and nothing proves: left out of the answer."""

    text: str
    reason: str


class Metadata(Shape):
    """How an answer came about."""

    query_id: str = Field(examples=["5f0c9a4de1b7420c8f1f6f2f0f4f2a11"])
    total_tokens: int = Field(description="Length of the passages it draws on.")
    citation_count: int
    confidence: Confidence
    vector_result_count: int
    keyword_result_count: int
    graph_result_count: int
    latency_ms: float = Field(description="From the question to the end of the answer, waiting included.")
    first_token_latency_ms: float | None = Field(description="Until its first word; null where it was not streamed.")
    first_token_target_met: bool | None = Field(description="Whether that was within 3 s.")
    strategy: Strategy = Field(description="What really happened.")
    generator: str = Field(examples=["extractive"])
    degraded: list[Degraded]
    rerank_degraded: bool
    timings: dict[str, float] = Field(description="Milliseconds, by stage.")

    @classmethod
    def of(cls, answer: types.Answer, latency: float, first_token: float | None) -> Metadata:
        counts = {f"{arm}_result_count": answer.counts.get(arm, 0) for arm in ("vector", "keyword", "graph")}
        return cls.model_validate(
            {
                **answer.as_dict(),
                **counts,
                "total_tokens": answer.context_tokens,
                "citation_count": len(answer.citations),
                "latency_ms": latency,
                "first_token_latency_ms": first_token,
                "first_token_target_met": None if first_token is None else first_token <= _FIRST_TOKEN_TARGET,
            }
        )


class Response(Shape):
    """An answer in which every statement is proved, or the word that the library does not have one."""

    query_id: str
    question: str
    asked: str = Field(description="The question as it was searched for: made whole where it went on with another.")
    answer: str = Field(examples=["Dense retrieval compares vectors of meaning. [1]"])
    statements: list[Statement]
    citations: list[Citation]
    confidence: Confidence
    has_insufficient_evidence: bool
    probability: float | None = Field(description="That what was found holds an answer; null when nothing could tell.")
    threshold: float = Field(description="The probability that was asked of the evidence.")
    missing: list[str] = Field(description="Words of the question that the evidence does not speak of.")
    near_misses: list[NearMiss]
    unsupported: list[Unsupported]
    metadata: Metadata

    @classmethod
    def of(cls, answer: types.Answer, latency: float, first_token: float | None = None) -> Response:
        citations = [Citation.of(one) for one in answer.citations]
        metadata = Metadata.of(answer, latency, first_token)
        told = answer.as_dict()
        near = [bounds.with_texts(one, text=_NEAR_MISS, title=_TITLE) for one in told["near_misses"]]
        return cls.model_validate({**told, "citations": citations, "near_misses": near, "metadata": metadata})


def _snippet(text: str) -> str:
    """Its beginning: whole sentences, if they are half of what fits, else words."""
    if len(text) <= _SNIPPET:
        return text
    start = text[: _SNIPPET - 1]
    ends = [match.end() for match in _SENTENCE_END.finditer(start)]
    if ends and ends[-1] > _SNIPPET // 2:
        return start[: ends[-1]]
    return f"{start.rsplit(maxsplit=1)[0] if ' ' in start else start}…"
