"""Answers that were given, to be kept by who asked."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from carrel.errors import NotFound, QueryNotFound
from carrel.http.declaring import errors
from carrel.http.routes.account import QueryId
from carrel.http.service import Calling, Serving
from carrel.types.service import LOCAL

router = APIRouter(tags=["query"])

_NOT_IN_NAME = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 60


class BundleFormat(StrEnum):
    HTML = "html"
    JSON = "json"
    MARKDOWN = "markdown"


_SUFFIXES = {BundleFormat.HTML: ".html", BundleFormat.JSON: ".json", BundleFormat.MARKDOWN: ".md"}
_KINDS = {
    BundleFormat.HTML: "text/html; charset=utf-8",
    BundleFormat.JSON: "application/json",
    BundleFormat.MARKDOWN: "text/markdown; charset=utf-8",
}
_TYPES = {"text/html": "string", "application/json": "object", "text/markdown": "string"}


@router.get(
    "/api/answers/{query_id}/bundle",
    summary="An answer of the last hour as a file, with all it takes to check it later",
    description="Only for who asked. `carrel verify` checks it.",
    response_class=Response,
    responses={
        200: {"description": "The file.", "content": {kind: {"schema": {"type": of}} for kind, of in _TYPES.items()}},
        **errors(QueryNotFound, NotFound),
    },
)
def bundle(
    query_id: Annotated[QueryId, Path()],
    service: Serving,
    caller: Calling,
    form: Annotated[BundleFormat, Query(alias="format", description="What kind of file.")] = BundleFormat.HTML,
) -> Response:
    answer = service.given.find(caller.name, query_id)
    name = f"{_name(answer.question)}{_SUFFIXES[form]}"
    content = service.library.bundle(answer, _SUFFIXES[form], for_others=caller != LOCAL)
    return Response(content, media_type=_KINDS[form], headers=attachment(name))


def attachment(name: str) -> dict[str, str]:
    """For a browser to keep, and not to show. A name of plain letters needs no escaping."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _name(question: str) -> str:
    return _NOT_IN_NAME.sub("-", question.lower())[:_LONGEST_NAME].strip("-") or "answer"
