"""The graph of concepts."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from carrel.errors import NotFound
from carrel.http import concepts as shapes
from carrel.http.declaring import errors
from carrel.http.passages import Cursor, Limit, Named, Text
from carrel.http.service import Serving

router = APIRouter(tags=["concepts"])


@router.get("/api/concepts", summary="List the concepts the papers speak of", responses=errors())
def concepts(
    service: Serving,
    query: Annotated[Text, Query(description="Only those whose name or alias has this in it.")] = "",
    limit: Annotated[Limit, Query()] = 50,
    cursor: Annotated[Cursor, Query()] = "",
) -> shapes.Concepts:
    return shapes.Concepts.of(service.library.concepts(query, limit=limit, cursor=cursor))


@router.get(
    "/api/graph",
    summary="What lies around a concept",
    description="Without a name: the map of the library's main concepts.",
    responses=errors(NotFound),
)
def graph(
    service: Serving,
    name: Annotated[Text, Query(description="The concept's, or an alias.", examples=["Dense retrieval"])] = "",
    hops: Annotated[int, Query(ge=1, le=3, description="How far to go.")] = 1,
    limit: Annotated[int, Query(ge=1, le=500, description="Concepts at most.")] = 60,
) -> shapes.Graph:
    library = service.library
    shown = library.graph(name, hops=hops, limit=limit)
    return shapes.Graph.of(shown, library.concept(name) if name else None)


@router.get(
    "/api/path",
    summary="What to study before a concept, in order",
    responses=errors(NotFound),
)
def path(
    service: Serving,
    name: Annotated[Named, Query(description="The concept's, or an alias.", examples=["Dense retrieval"])],
    limit: Annotated[int, Query(ge=1, le=100, description="Concepts before it, at most.")] = 12,
) -> shapes.Study:
    return shapes.Study.of(service.library.path(name, limit=limit))
