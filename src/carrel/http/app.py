"""The application: its routes, and what every request passes through."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from starlette.routing import Route

from carrel.errors import CarrelError
from carrel.http import health, metrics, openapi, problems
from carrel.http.envelope import Envelope
from carrel.http.guard import Guard
from carrel.http.service import Service
from carrel.mcp.serving import Endpoint
from carrel.release import VERSION
from carrel.telemetry import log

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fastapi import APIRouter

    from carrel.library import Library


FORGETTING = 3600.0
"""Seconds between two looks at what is too old to be kept."""


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
        forgetting = asyncio.create_task(_forget_old(service.library))
        async with app.state.agents.running():
            yield
        forgetting.cancel()


async def _forget_old(library: Library) -> None:
    """What is not to be kept for ever goes also where nobody asks anything."""
    while True:
        await asyncio.sleep(FORGETTING)
        try:
            await run_in_threadpool(library.forget_old)
        except CarrelError as error:
            log("http", logging.WARNING, "old queries not forgotten", reason=error.message)


def _routers() -> list[APIRouter]:
    from carrel.http.routes import (
        account,
        answers,
        citations,
        concepts,
        health,
        ingest,
        metrics,
        openai,
        page,
        pages,
        papers,
        query,
        search,
        status,
    )

    parts = (
        query,
        answers,
        search,
        papers,
        pages,
        citations,
        concepts,
        ingest,
        account,
        openai,
        health,
        status,
        metrics,
        page,
    )
    return [part.router for part in parts]
