"""How the library stands."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from carrel import status as library_status
from carrel.health import IndexState
from carrel.http.declaring import MODEL, errors
from carrel.http.service import Serving
from carrel.http.shapes import Shape

router = APIRouter(tags=["health"])


class ModelNames(Shape):
    embedder: str = Field(examples=["granite-embedding-30m-english"])
    reranker: str
    generator: str


class StoreKinds(Shape):
    catalog: str = Field(examples=["sqlite"])
    vectors: str
    keywords: str
    graph: str


class LibraryStatus(Shape):
    release: str = Field(description="Of Carrel.")
    library: str = Field(description="The name of its folder.")
    healthy: bool = Field(description="Whether the index is ready.")
    state: IndexState
    reasons: list[str] = Field(description="Why the index is not ready, as far as can be told without reading papers.")
    hint: str = Field(description="The next step; empty where there is none.")
    papers: int
    chunks: int = Field(description="Without the figures.")
    figures: int
    concepts: int | None = Field(description="Null where the graph cannot be asked.")
    index_created: str
    index_size_bytes: int
    models: ModelNames
    stores: StoreKinds


@router.get("/api/status", summary="Whether the index is current, and how much there is", responses=errors(*MODEL))
def status(service: Serving) -> LibraryStatus:
    return LibraryStatus.model_validate(library_status.of(service.library).as_dict())
