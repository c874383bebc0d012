"""The application: its routes, and what every request passes through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI

from carrel.http import problems
from carrel.http.service import Service
from carrel.release import VERSION

if TYPE_CHECKING:
    from fastapi import APIRouter

    from carrel.library import Library


def create(library: Library) -> FastAPI:
    """The service of one library, which stays the caller's to close."""
    app = FastAPI(title="Carrel", version=VERSION, description="Answers from your own papers, every sentence proved.")
    app.state.service = Service.of(library)
    problems.install(app)
    for router in _routers():
        app.include_router(router)
    return app


def _routers() -> list[APIRouter]:
    return []
