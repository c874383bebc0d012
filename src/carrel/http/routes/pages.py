"""Looking: the pages of papers as they were printed, and quotes on them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from carrel.errors import (
    BudgetExceeded,
    InvalidInput,
    NotFound,
    PaperNotFound,
    ParserCrashed,
    Unavailable,
    WorkerUnavailable,
)
from carrel.http import pages as shapes
from carrel.http.declaring import errors
from carrel.http.passages import Named, Whole
from carrel.http.routes.papers import Placing
from carrel.http.service import Serving

router = APIRouter(tags=["pages"])

Naming = Annotated[Named, Path(description="Its id, or its title.", examples=["smith2020"])]
Number = Annotated[int, Path(ge=1, le=1_000_000, description="From 1.", examples=[1])]
Offset = Annotated[int | None, Query(ge=0, le=10**9)]
_DRAWING = errors(NotFound, PaperNotFound, ParserCrashed, BudgetExceeded, WorkerUnavailable, Unavailable)
_PNG = {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}}
_FOR_EVER = "private, max-age=31536000, immutable"
_ASK_AGAIN = "private, max-age=0, must-revalidate"


@router.get(
    "/api/pages/{paper:path}/{page}/image",
    summary="A page as it looks",
    description="With the `version` that `/api/pages/{paper}` gives, it need not be asked for again.",
    response_class=Response,
    responses={200: _PNG, 304: {"description": "It is the one of `If-None-Match`."}, **_DRAWING},
)
def image(
    paper: Naming,
    page: Number,
    service: Serving,
    request: Request,
    width: Annotated[Whole, Query(ge=200, le=2400, description="In pixels.")] = 1000,
    version: Annotated[str, Query(pattern=r"^[0-9a-f-]{0,80}$")] = "",
) -> Response:
    picture = service.library.page_image(paper, page, width, known=_known(request))
    is_meant = bool(version) and picture.mark.startswith(f"{version}-")
    headers = {"ETag": f'"{picture.mark}"', "Cache-Control": _FOR_EVER if is_meant else _ASK_AGAIN}
    if not picture.content:
        return Response(status_code=304, headers=headers)
    return Response(picture.content, media_type="image/png", headers=headers)


def _known(request: Request) -> list[str]:
    """The marks of what the client has already."""
    tags = request.headers.get("if-none-match", "").split(",")
    return [tag.strip().removeprefix("W/").strip('"') for tag in tags]


@router.get(
    "/api/pages/{paper:path}/{page}/words",
    summary="The words of a page, and where they stand",
    responses=_DRAWING,
)
def words(paper: Naming, page: Number, service: Serving) -> shapes.Words:
    return shapes.Words.of(service.library.page_words(paper, page))


@router.get("/api/pages/{paper:path}", summary="The pages of a paper and their sizes", responses=_DRAWING)
def pages(paper: Naming, service: Serving) -> shapes.Pages:
    return shapes.Pages.of(service.library.pages(paper))


@router.get(
    "/api/proof/{address:path}",
    summary="A quote where it stands, with what is around it",
    description="`text[start:end]` of the text that citations count in; all of the passage, if these are left out.",
    responses=errors(NotFound, PaperNotFound, InvalidInput),
)
def proof(address: Placing, service: Serving, start: Offset = None, end: Offset = None) -> shapes.Proof:
    return shapes.Proof.of(service.library.proof(address, start, end))
