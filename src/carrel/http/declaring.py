"""Which errors a route can answer with, as OpenAPI wants to know it."""

from __future__ import annotations

from collections import defaultdict
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from carrel.errors import (
    CarrelError,
    Forbidden,
    InvalidInput,
    LibraryBusy,
    MissingExtra,
    ModelNotInstalled,
    ModelServerUnavailable,
    ModelTooSlow,
    ReadOnlyLibrary,
    SlowRequest,
    StorageFull,
    StoreUnavailable,
    TooLarge,
    TooManyRequests,
    Unauthorized,
)
from carrel.http.shapes import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

Responses = dict[int | str, dict[str, Any]]

ANYWHERE = (
    InvalidInput, Unauthorized, Forbidden, SlowRequest, TooLarge, TooManyRequests, CarrelError, StoreUnavailable,
    MissingExtra,
)  # fmt: skip
"""What the way in of every route, and the stores behind it, can answer."""
CHANGING = (LibraryBusy, ReadOnlyLibrary, StorageFull)
"""What can come of changing the library, beside that."""

MODEL = (ModelNotInstalled, ModelServerUnavailable, ModelTooSlow)
"""What can come of asking a model."""


def errors(*kinds: type[CarrelError]) -> Responses:
    """For `responses=` of a route: these, and what can come of any. Each kind is an example of its status."""
    by_status: defaultdict[int, list[type[CarrelError]]] = defaultdict(list)
    every: list[type[CarrelError]] = [*kinds, *ANYWHERE]
    for kind in dict.fromkeys(every):
        by_status[kind.http_status].append(kind)
    return {status: _response(status, of_status) for status, of_status in sorted(by_status.items())}


def _response(status: int, kinds: Iterable[type[CarrelError]]) -> dict[str, Any]:
    examples = {kind.code: {"value": {"error": kind.code, "message": _said(kind)}} for kind in kinds}
    return {
        "model": Problem,
        "description": HTTPStatus(status).phrase,
        "content": {"application/json": {"examples": examples}},
    }


def _said(kind: type[CarrelError]) -> str:
    """What kind of thing is wrong; a real message names the thing, too."""
    first, *_ = (kind.__doc__ or kind.code.replace("_", " ").capitalize()).splitlines()
    return first.rstrip(".")
