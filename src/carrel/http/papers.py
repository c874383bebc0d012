"""Papers, their places and their figures, over the wire. Paths of files stay at home."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from pydantic import Field

from carrel.http import records
from carrel.http.answers import Box, Flag
from carrel.http.passages import Degraded, Neighbour, Understood
from carrel.http.shapes import Shape
from carrel.reading import Chapter, ChunkView, FigureView, PaperView, Section
from carrel.retractions import headline
from carrel.types import ChunkKind, ExhibitKind, Mode, Part, Strategy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.likeness import SemanticResult, SimilarResult
    from carrel.reading import View
    from carrel.reading.figures import FiguresFound
    from carrel.reading.papers import Listing
    from carrel.types import Standing


_MOST_DOCUMENTS = 100


class PaperSummary(Shape):
    id: str = Field(examples=["smith2020"])
    title: str
    authors: list[str] = Field(description="The first of very many; `authorCount` says how many there are.")
    author_count: int
    year: int | None
    venue: str
    doi: str
    tags: list[str] = Field(description="The first of very many.")
    tag_count: int
    parts: list[Part] = Field(description="Which texts of it there are.")
    chunk_count: int
    figure_count: int
    listed: bool = Field(description="Whether refs.jsonl has it.")
    indexed: bool = Field(description="Whether every index has it by now.")
    notice: str | None = Field(default=None, description="`RETRACTED`, or what else became of it.")


class Papers(Shape):
    papers: list[PaperSummary]
    total: int = Field(description="Papers that fit, on all pages.")
    next_cursor: str | None

    @classmethod
    def of(cls, listing: Listing, notices: Mapping[str, str]) -> Papers:
        papers = [
            {**records.listed(paper.as_dict()), "notice": notices.get(paper.row.reference.id)}
            for paper in listing.papers
        ]
        return cls.model_validate({"papers": papers, "total": listing.total, "next_cursor": listing.next_cursor})


class SectionOutline(Shape):
    section: int
    section_title: str
    address: str
    chunk_count: int
    figure_count: int
    summary: str = Field(description="Its first sentence.")


class ChapterOutline(Shape):
    chapter: int
    chapter_title: str
    address: str
    chunk_count: int
    figure_count: int
    figures: list[str] = Field(description="Addresses of its figures, tables and algorithms.")
    sections: list[SectionOutline]


class Bibliography(Shape):
    cited: int = Field(description="Works that the paper cites.")
    in_library: int = Field(description="Those of them that are here.")


class PaperDetail(PaperSummary):
    abstract: str = Field(description="The beginning of a very long one; `/api/text/{paper}/abstract` has it whole.")
    chapters: list[ChapterOutline]
    sections_left_out: int = Field(description="The last of a very long paper, which `chapters` do not have.")
    bibliography: Bibliography
    concepts: list[str] | None = Field(description="What it speaks of most; null where the graph cannot be asked.")
    remarks: list[str] = Field(description="What its reader should know, as of hidden text that was left out.")
    flags: list[Flag]
    document_ids: list[str] = Field(description="The documents it was taken in as, for `/api/ingest`.")

    @classmethod
    def of(cls, view: PaperView, standing: Standing, document_ids: Sequence[str]) -> PaperDetail:
        told = {"flags": [asdict(flag) for flag in standing.flags], "notice": headline(standing.flags) or None}
        shown = records.alone({**view.as_dict(), **told})
        return cls.model_validate({**shown, "document_ids": document_ids[:_MOST_DOCUMENTS]})


class Position(Shape):
    chunk_in_section: int = Field(description="From 0.")
    total_chunks_in_section: int
    total_sections_in_chapter: int
    total_chapters_in_paper: int
    is_first_in_section: bool
    is_last_in_section: bool


class FigureMention(Shape):
    address: str
    preview: str


class FigureSummary(Shape):
    address: str
    figure_kind: ExhibitKind
    label: str
    caption: str
    description: str
    page: int | None


class ChunkDetail(Shape):
    kind: Literal["chunk"]
    address: str
    paper_id: str
    part: Part
    chunk_kind: ChunkKind
    text: str = Field(description="The beginning of a very long one.")
    start: int = Field(description="It is `text[start:end]` of what `/api/text/{address}` gives.")
    end: int
    position: Position
    chapter: int
    section: int
    section_path: list[str]
    chapter_title: str
    section_title: str
    title: str
    authors: list[str]
    year: int | None
    venue: str
    tags: list[str]
    topic: str
    language: str
    token_count: int
    has_code: bool
    has_formula: bool
    has_table: bool
    is_oversized: bool
    page_start: int | None
    page_end: int | None
    previous: Neighbour | None
    next: Neighbour | None
    figures: list[FigureSummary] = Field(description="Those it mentions.")
    boxes: list[Box]


class SectionChunk(Shape):
    address: str
    text: str
    page_start: int | None
    page_end: int | None
    token_count: int
    figures: list[str]


class SectionDetail(SectionOutline):
    kind: Literal["section"]
    paper_id: str
    chapter: int
    chapter_title: str
    chunks: list[SectionChunk]
    total: int
    figures: list[str]


class SectionInside(SectionOutline):
    chunks: list[SectionChunk]


class ChapterDetail(Shape):
    kind: Literal["chapter"]
    paper_id: str
    chapter: int
    chapter_title: str
    address: str
    chunk_count: int
    figure_count: int
    figures: list[str]
    sections: list[SectionInside]
    total: int


class FigureDetail(FigureSummary):
    kind: Literal["figure"]
    paper_id: str
    title: str
    year: int | None
    chapter: int
    section: int
    section_path: list[str]
    text: str
    start: int
    end: int
    box: Box | None
    image_url: str | None = Field(description="Where its picture is; null where there is none.")
    referenced_by: list[FigureMention]


class FigureFound(FigureDetail):
    rank: int
    score: float
    similarity: float | None = Field(description="Of meaning; null when it was found by its words alone.")
    probability: float | None


class Figures(Shape):
    query: str
    mode: Mode
    strategy: Strategy
    degraded: list[Degraded]
    understood: list[Understood]
    figure_type: ExhibitKind | None
    results: list[FigureFound]
    total: int = Field(description="Results on this page.")
    next_cursor: str | None
    timings: dict[str, float]

    @classmethod
    def of(cls, found: FiguresFound) -> Figures:
        many = len(found.figures)
        results = [_with_address_of_image(records.figure(one.as_dict(), among=many)) for one in found.figures]
        shown = {**found.as_dict(), "results": results, "next_cursor": found.result.next_cursor}
        return cls.model_validate(shown)


Place = ChunkDetail | SectionDetail | ChapterDetail | FigureDetail


def place(view: View) -> Place | None:
    """What an address names inside a paper; None for a whole one."""
    match view:
        case ChunkView():
            return ChunkDetail.model_validate(records.chunk(view.as_dict()))
        case Section():
            return SectionDetail.model_validate(records.section(view.as_dict()))
        case Chapter():
            return ChapterDetail.model_validate(records.chapter(view.as_dict()))
        case FigureView():
            return FigureDetail.model_validate(_with_address_of_image(records.figure(view.as_dict())))
        case PaperView():
            return None


def _with_address_of_image(shown: Mapping[str, Any]) -> dict[str, Any]:
    return {**shown, "image_url": f"/api/figures/{quote(shown['address'])}/image" if shown["image"] else None}


class SourceText(Shape):
    address: str
    start: int
    end: int
    length: int = Field(description="Characters of the whole text.")
    text: str


class Author(Shape):
    first: str
    last: str


class Near(Shape):
    """A paper, and how near it is."""

    id: str
    title: str
    authors: list[Author] = Field(description="The first of very many; `authorCount` says how many there are.")
    author_count: int
    year: int | None
    similarity: float = Field(ge=0, description="Of meaning, from 0 to 1.")


class NearQuery(Near):
    abstract: str
    matched: ChunkKind = Field(description="What was near: the paper's abstract, or the reader's note on it.")


class Semantic(Shape):
    query: str
    results: list[NearQuery]
    total: int
    threshold: float = Field(description="The least similarity.")
    model: str
    nearest: float | None = Field(description="Of the nearest paper, whether that suffices or not.")

    @classmethod
    def of(cls, found: SemanticResult) -> Semantic:
        shown = found.as_dict()
        return cls.model_validate({**shown, "results": list(map(_dated, shown["results"]))})


class Source(Shape):
    id: str
    title: str


class Similar(Shape):
    source: Source
    similar: list[Near]
    total: int
    model: str

    @classmethod
    def of(cls, found: SimilarResult) -> Similar:
        shown = found.as_dict()
        return cls.model_validate({**shown, "similar": list(map(_dated, shown["similar"]))})


def _dated(paper: Mapping[str, Any]) -> dict[str, Any]:
    """Elsewhere a year that is not known is none."""
    return {**records.near(dict(paper)), "year": paper["year"] or None}


class Tag(Shape):
    tag: str
    papers: int = Field(description="How many have it.")


class Tags(Shape):
    tags: list[Tag]
    total: int
    next_cursor: str | None


class Venue(Shape):
    venue: str
    papers: int = Field(description="How many appeared there.")


class Venues(Shape):
    venues: list[Venue]
    total: int


class Removed(Shape):
    success: bool
    paper_id: str
