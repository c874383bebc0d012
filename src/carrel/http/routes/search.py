"""Finding passages, papers and figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from carrel.errors import DimensionMismatchError, IndexNotFound, InvalidInput, NoUsableAbstract, PaperNotFound
from carrel.http.declaring import MODEL, errors
from carrel.http.papers import Figures, Semantic, Similar
from carrel.http.passages import (
    Asked,
    Choosing,
    Cursor,
    Found,
    Limit,
    Named,
    Number,
    Text,
    Texts,
    Year,
    YesNo,
    chunks_of,
)
from carrel.http.service import Calling, Serving
from carrel.http.shapes import Wish
from carrel.types import ExhibitKind, Filter, Mode

router = APIRouter(tags=["search"])


class Searching(Choosing):
    query: Asked
    mode: Mode = Field(default=Mode.HYBRID, description="Which arms to use.")
    limit: Limit | None = Field(default=None, description="Passages, or papers with `byPaper`; setting search.limit.")
    topic: Text = Field(default="", description="Only texts of this topic.")
    chapter: Number | None = Field(default=None, description="Only this chapter; needs `paper`.")
    section: Number | None = Field(default=None, description="Only this section; needs `chapter`.")
    by_paper: YesNo = Field(default=False, description="One result for each paper: its best passage, then its others.")
    diversity: float | None = Field(default=None, ge=0, le=1, description="How much results must be new, from 0 to 1.")
    cursor: Cursor = ""
    context: YesNo = Field(default=False, description="With what stands before and after each passage.")
    explain: YesNo = Field(default=False, description="With the fusion's shares and what the reranker went by.")

    def narrowed(self, where: Filter) -> Filter:
        if self.section is not None and self.chapter is None:
            raise InvalidInput("section requires chapter", hint="Add chapter=N.")
        if self.chapter is not None and not self.paper:
            raise InvalidInput("chapter requires paper", hint="Add paper=ID.")
        return replace(where, topic=self.topic, chapter=self.chapter, section=self.section)


@router.get(
    "/api/search",
    summary="Find passages, by meaning and by words",
    responses=errors(PaperNotFound, DimensionMismatchError, *MODEL),
)
def search(asked: Annotated[Searching, Query()], service: Serving, caller: Calling) -> Found:
    library = service.library
    result = library.search(
        asked.query,
        mode=asked.mode,
        limit=asked.limit,
        where=asked.narrowed(asked.where(library)),
        criteria=asked.criteria,
        by_paper=asked.by_paper,
        diversity=asked.diversity,
        cursor=asked.cursor,
        user=caller.name,
    )
    notices = library.headlines({passage.chunk.paper_id for passage in result.passages})
    around = library.around(chunks_of(result)) if asked.context else {}
    return Found.of(result, notices, around, explain=asked.explain)


class Meaning(Wish):
    query: Asked
    limit: Limit = 10
    threshold: float | None = Field(default=None, ge=0, le=1, description="The least similarity; what suits the model.")
    year_min: Year | None = None
    year_max: Year | None = None
    tag: Texts = Field(default=[], description="Only papers with any of these tags.")


@router.get(
    "/api/semantic",
    summary="Find papers by the meaning of their abstracts",
    responses=errors(IndexNotFound, DimensionMismatchError, *MODEL),
)
def semantic(asked: Annotated[Meaning, Query()], service: Serving) -> Semantic:
    where = Filter(year_min=asked.year_min, year_max=asked.year_max, tags=frozenset(asked.tag))
    found = service.library.semantic(asked.query, limit=asked.limit, threshold=asked.threshold, where=where)
    return Semantic.of(found)


_SIMILAR = errors(PaperNotFound, IndexNotFound, NoUsableAbstract)
Many = Annotated[Limit, Query()]


@router.get("/api/similar", summary="Find the papers nearest to one of your own", responses=_SIMILAR)
def similar(paper: Annotated[Named, Query(description="Its id.")], service: Serving, limit: Many = 10) -> Similar:
    return Similar.of(service.library.similar(paper, limit=limit))


@router.get("/api/similar/{paper:path}", summary="The same, with the paper in the path", responses=_SIMILAR)
def similar_to(paper: Annotated[Named, Path()], service: Serving, limit: Many = 10) -> Similar:
    return Similar.of(service.library.similar(paper, limit=limit))


class SeekingFigures(Choosing):
    query: Asked
    kind: ExhibitKind | None = Field(default=None, description="Only these.")
    mode: Mode = Field(default=Mode.HYBRID, description="Which arms to use.")
    limit: Limit = 10
    cursor: Cursor = ""


@router.get(
    "/api/figures",
    summary="Find figures, tables and algorithms",
    responses=errors(PaperNotFound, DimensionMismatchError, *MODEL),
)
def figures(asked: Annotated[SeekingFigures, Query()], service: Serving) -> Figures:
    library = service.library
    found = library.figures(
        asked.query,
        kind=asked.kind,
        mode=asked.mode,
        limit=asked.limit,
        where=asked.where(library),
        criteria=asked.criteria,
        cursor=asked.cursor,
    )
    return Figures.of(found)
