"""What each request needs: one table for every way in."""

from __future__ import annotations

import re

from carrel.types.service import Scope

_READING = "GET|HEAD"
_NEEDED: tuple[tuple[str, str, Scope | None], ...] = (
    (_READING, r"/api/health/live", None),
    # The page has nothing of the library in it until it asks for it.
    (_READING, r"/(ask|search|library|graph|health|favicon\.ico)?", None),
    (_READING, r"/(paper|proof|static)/.+", None),
    (_READING, r"/api/health(/ready)?", Scope.READ),
    (_READING, r"/metrics", Scope.READ),
    (_READING, r"/openapi\.json", Scope.READ),
    ("POST", r"/api/query(/stream)?", Scope.READ),
    (_READING, r"/api/query/(stream|status)", Scope.READ),
    (_READING, r"/api/(search|semantic|similar|papers|figures|tags|concepts|graph)", Scope.READ),
    (_READING, r"/api/(venues|export|path|status)", Scope.READ),
    (_READING, r"/api/citations/.+", Scope.READ),
    (_READING, r"/api/answers/[^/]+/bundle", Scope.READ),
    (_READING, r"/api/(similar|papers|chunks|figures|text|concepts|graph|pages|proof)/.+", Scope.READ),
    ("POST", r"/api/feedback", Scope.READ),
    (_READING, r"/api/feedback/[^/]+", Scope.READ),
    ("POST", r"/v1/chat/completions", Scope.READ),
    (_READING, r"/v1/models(/.+)?", Scope.READ),
    # Its tools ask for more where they do more.
    ("POST|GET|DELETE", r"/mcp/?", Scope.READ),
    ("POST", r"/api/ingest", Scope.WRITE),
    (_READING, r"/api/ingest(/[^/]+/status)?", Scope.WRITE),
    ("POST", r"/api/ingest/[^/]+/cancel", Scope.WRITE),
    ("DELETE", r"/api/ingest/[^/]+", Scope.WRITE),
    ("DELETE", r"/api/papers/.+", Scope.WRITE),
    (_READING, r"/api/stats", Scope.ADMIN),
)
_TABLE = tuple((re.compile(methods), re.compile(path), scope) for methods, path, scope in _NEEDED)
_CHANGING = frozenset({"PUT", "PATCH", "DELETE", "POST"})


def needed(method: str, path: str) -> Scope | None:
    """What a caller must have; None for nothing at all. Whatever is not in the table is for the admin."""
    for methods, paths, scope in _TABLE:
        if methods.fullmatch(method) and paths.fullmatch(path):
            return scope
    return Scope.ADMIN


def changes(method: str, path: str) -> bool:
    """Whether it may change the library, so that it is written down who asked for it."""
    scope = needed(method, path)
    return method in _CHANGING and scope is not None and scope.includes(Scope.WRITE)
