"""The application: its routes, and what every request passes through."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.routing import Route

from carrel.http import health, metrics, openapi, problems
from carrel.http.envelope import Envelope
from carrel.http.guard import Guard
from carrel.http.service import Service
from carrel.mcp.serving import Endpoint
from carrel.release import VERSION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fastapi import APIRouter

    from carrel.library import Library


def create(library: Library, host: str = "") -> FastAPI:
    """The service of one library, which stays the caller's to close; `host` goes before the setting."""
    app = FastAPI(
        title="Carrel",
        version=VERSION,
        description="Answers from your own papers, every sentence proved.",
        lifespan=_running,
        # Its pages fetch what they show from elsewhere.
        docs_url=None,
        redoc_url=None,
    )
    service = app.state.service = Service.of(library)
    app.state.agents = Endpoint(library, service.gate.place)
    app.router.routes.append(Route("/mcp", app.state.agents))
    problems.install(app)
    health.install(app)
    openapi.install(app)
    for router in _routers():
        app.include_router(router)
    # The last is the first that a request meets.
    app.add_middleware(Guard, library=library, host=host)
    app.add_middleware(Envelope, gate=service.gate)
    metrics.install(app)
    return app


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    with service.working():
        async with app.state.agents.running():
            yield


def _routers() -> list[APIRouter]:
    from carrel.http.routes import account, concepts, health, ingest, metrics, openai, papers, query, search

    return [part.router for part in (query, search, papers, concepts, ingest, account, openai, health, metrics)]
