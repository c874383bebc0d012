"""The API's description of itself, without what is not so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import FastAPI

_TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "A token of `carrel token create`; on the server's own machine none is needed unless it is set so.",
}
_HEADERS = {
    "X-Request-ID": {
        "description": "By which the server's log knows the request.",
        "required": True,
        "schema": {"type": "string"},
    },
    "X-Response-Time": {
        "description": "Until the answer began.",
        "required": True,
        "schema": {"type": "string", "examples": ["12.3ms"]},
    },
}
_EVENT = {
    "type": "object",
    "description": "One event of the stream: `event: …`, `id: …` and `data: …`, each on a line of its own.",
    "required": ["data"],
    "properties": {
        "event": {"type": "string"},
        "id": {"type": "string"},
        "retry": {"type": "integer"},
        "data": {"type": "string", "description": "JSON."},
    },
}


def install(app: FastAPI) -> None:
    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]  # FastAPI's own way to it


def _described(app: FastAPI) -> dict[str, Any]:
    made = get_openapi(
        title=app.title,
        version=app.version,
        openapi_version=app.openapi_version,
        description=app.description,
        routes=app.routes,
        tags=app.openapi_tags,
    )
    components = made.setdefault("components", {})
    for operation in _operations(made):
        _mend(operation)
    for name in ("HTTPValidationError", "ValidationError"):
        components.get("schemas", {}).pop(name, None)
    components.setdefault("schemas", {})["ServerSentEvent"] = _EVENT
    components["securitySchemes"] = {"token": _TOKEN}
    made["security"] = [{"token": []}, {}]
    return made


def _operations(made: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in made.get("paths", {}).values():
        yield from path.values()


def _mend(operation: dict[str, Any]) -> None:
    """What FastAPI would answer with 422 is answered with 400 here, and every answer says which it is."""
    responses = operation["responses"]
    if "HTTPValidationError" in str(responses.get("422", "")):
        del responses["422"]
    for response in responses.values():
        response.setdefault("headers", {}).update(_HEADERS)
        if stream := response.get("content", {}).get("text/event-stream"):
            stream["schema"] = {"$ref": "#/components/schemas/ServerSentEvent"}
