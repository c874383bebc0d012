"""What papers cite, who cites them, and how to cite them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from carrel.errors import PaperNotFound
from carrel.http import citations as shapes
from carrel.http.declaring import errors
from carrel.http.passages import Cursor, Limit, Named
from carrel.http.service import Serving

router = APIRouter(tags=["papers"])

_MOST_EXPORTED = 200
_NEXT = "The next page of `citedBy`: `nextCiting` of the page before."


class CitationStyle(StrEnum):
    BIBTEX = "bibtex"
    CSL = "csl"


@router.get(
    "/api/citations/{paper:path}",
    summary="What a paper cites, and which papers of the library cite it",
    responses=errors(PaperNotFound),
)
def citations(
    paper: Annotated[Named, Path(description="Its id, or its title.")],
    service: Serving,
    limit: Annotated[Limit, Query(description="How many at most, of either.")] = 100,
    cursor: Annotated[Cursor, Query(description="The next page of `cites`: `nextCursor` of the page before.")] = "",
    citing: Annotated[Cursor, Query(description=_NEXT)] = "",
) -> shapes.Citations:
    library = service.library
    cites, cited_by = library.bibliography(paper), library.cited_by(paper)
    return shapes.Citations.of(cites, cited_by, limit=limit, cursor=cursor, citing=citing)


@router.get(
    "/api/export",
    summary="References for LaTeX and for citation processors",
    description="What a bibliography says of papers: no abstracts, no notes or tags of the reader, no files.",
    response_class=Response,
    responses={
        200: {"description": "BibTeX, or CSL-JSON.", "content": {"text/plain": {"schema": {"type": "string"}}}},
        **errors(PaperNotFound),
    },
)
def export(
    service: Serving,
    paper: Annotated[
        list[Named], Query(min_length=1, max_length=_MOST_EXPORTED, description="These papers, by id or title.")
    ],
    style: Annotated[CitationStyle, Query(description="How they are written.")] = CitationStyle.BIBTEX,
) -> Response:
    ids = [row.reference.id for row in service.library.find(*paper)]
    text = service.library.export(*ids, style=style.value, for_others=True)
    return Response(text, media_type="text/plain; charset=utf-8")
