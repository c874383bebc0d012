"""What agents get. What is not known is left out."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    model_config = ConfigDict(frozen=True)


class Passage(Shape):
    address: str
    paper_id: str
    title: str
    text: str
    year: int | None = None
    section: str | None = None
    page: int | None = None
    score: float | None = None
    also: tuple[str, ...] | None = None
    notice: str | None = None


class Found(Shape):
    results: tuple[Passage, ...]
    notes: tuple[str, ...] | None = None
    next_cursor: str | None = None


class Figure(Shape):
    address: str
    paper_id: str
    title: str
    kind: str
    label: str
    caption: str
    year: int | None = None
    page: int | None = None
    score: float | None = None
    mentioned_by: tuple[str, ...] | None = None


class FiguresFound(Shape):
    results: tuple[Figure, ...]
    notes: tuple[str, ...] | None = None
    next_cursor: str | None = None


class Citation(Shape):
    id: int
    address: str
    paper_id: str
    title: str
    quote: str
    start: int
    end: int
    authors: str | None = None
    year: int | None = None
    page: int | None = None
    url: str | None = None
    notices: tuple[str, ...] | None = None


class Answered(Shape):
    query_id: str
    answer: str
    confidence: str
    has_insufficient_evidence: bool
    citations: tuple[Citation, ...]
    near_misses: tuple[Passage, ...] | None = None
    notes: tuple[str, ...] | None = None


class Heading(Shape):
    address: str
    title: str


class Text(Shape):
    address: str
    text: str
    page: int | None = None


class Shown(Shape):
    kind: str
    address: str
    paper_id: str
    title: str
    authors: str | None = None
    year: int | None = None
    venue: str | None = None
    doi: str | None = None
    tags: tuple[str, ...] | None = None
    abstract: str | None = None
    notices: tuple[str, ...] | None = None
    concepts: tuple[str, ...] | None = None
    outline: tuple[Heading, ...] | None = None
    texts: tuple[Text, ...] | None = None
    figures: tuple[str, ...] | None = None
    before: str | None = None
    after: str | None = None
    mentioned_by: tuple[str, ...] | None = None
    next_cursor: str | None = None


class Paper(Shape):
    id: str
    title: str
    authors: str | None = None
    year: int | None = None
    venue: str | None = None
    tags: tuple[str, ...] | None = None
    has_text: bool | None = None
    similarity: float | None = None
    notice: str | None = None


class Papers(Shape):
    papers: tuple[Paper, ...]
    total: int
    next_cursor: str | None = None


class Tag(Shape):
    name: str
    papers: int


class Tags(Shape):
    tags: tuple[Tag, ...]
    total: int
    next_cursor: str | None = None


class Concept(Shape):
    name: str
    papers: int
    definition: str | None = None
    address: str | None = None


class Relation(Shape):
    phrase: str
    other: str
    evidence: tuple[Text, ...] | None = None


class ConceptsFound(Shape):
    concepts: tuple[Concept, ...]
    total: int
    relations: tuple[Relation, ...] | None = None
    passages: tuple[str, ...] | None = None
    next_cursor: str | None = None


class Added(Shape):
    new: int
    updated: int
    unchanged: int
    papers: tuple[str, ...]
    failed: tuple[str, ...] | None = None
    notes: tuple[str, ...] | None = None
