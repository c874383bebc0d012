"""The page: the same shell for every view of it, and the files that it is made of.

There is nothing of the library in them, so nobody is asked who they are; what the shell shows it asks for like any
other client.
"""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Request, Response

from carrel.errors import NotFound
from carrel.http import statics
from carrel.http.statics import Static

router = APIRouter(include_in_schema=False)

VIEWS = ("/", "/ask", "/search", "/library", "/paper/{paper:path}", "/proof/{address:path}", "/graph", "/health")
"""Every view has an address of its own; the shell knows what to show there."""
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)
_REFUSED = re.compile(r"q=0(\.0*)?", re.IGNORECASE)


async def shell(request: Request) -> Response:
    return _sent(statics.find("index.html"), request, {"Content-Security-Policy": _POLICY})


for view in VIEWS:
    router.add_api_route(view, shell, methods=["GET", "HEAD"])


@router.api_route("/favicon.ico", methods=["GET", "HEAD"])
async def icon(request: Request) -> Response:
    return _sent(statics.find("icon.svg"), request)


@router.api_route("/static/{name:path}", methods=["GET", "HEAD"])
async def file(name: Annotated[str, "As the shell names it."], request: Request) -> Response:
    return _sent(statics.find(name), request)


def _sent(found: Static | None, request: Request, headers: dict[str, str] | None = None) -> Response:
    if found is None:
        raise NotFound("the page has no such file", hint="Load it anew: it may be of an older release.")
    told = {"ETag": found.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding", **(headers or {})}
    if found.etag in _listed(request, "if-none-match"):
        return Response(status_code=304, headers=told)
    if found.packed and _takes_gzip(request):
        return Response(found.packed, headers={**told, "Content-Encoding": "gzip"}, media_type=found.kind)
    return Response(found.content, headers=told, media_type=found.kind)


def _takes_gzip(request: Request) -> bool:
    for coding in _listed(request, "accept-encoding"):
        name, _, quality = coding.partition(";")
        if name.strip().lower() == "gzip":
            return not _REFUSED.fullmatch(quality.replace(" ", ""))
    return False


def _listed(request: Request, header: str) -> list[str]:
    return [one.strip() for one in request.headers.get(header, "").split(",")]
