"""Whether the service works: for people, for load balancers, for whoever restarts it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import Field

from carrel.http.declaring import errors
from carrel.http.health import Watching
from carrel.http.service import Serving
from carrel.http.shapes import Shape

if TYPE_CHECKING:
    from carrel.http.declaring import Responses
    from carrel.http.health import Report

router = APIRouter(tags=["health"])


class ComponentState(Shape):
    healthy: bool
    latency_ms: float
    message: str = Field(examples=["answers"])
    essential: bool = Field(description="Whether nothing can be found without it.")


class HealthState(Shape):
    healthy: bool = Field(description="Whether every component works.")
    ready: bool = Field(
        description="Whether questions are taken: the essential components work, and it is not stopping."
    )
    components: dict[str, ComponentState]
    timestamp: str = Field(description="When this was found out; it is told again for a few seconds.")


class Alive(Shape):
    alive: bool


def _or_503(description: str) -> Responses:
    return {**errors(), 503: {"model": HealthState, "description": description}}


@router.get(
    "/api/health",
    summary="How every component is",
    description="Each is put to work: a dead reranker is not healthy, although answers go on without it.",
    response_model=HealthState,
    responses=_or_503("A component does not work."),
)
def health(service: Serving, watching: Watching) -> JSONResponse:
    state = _state(watching.report(), service)
    return _answer(state, is_well=state.healthy)


@router.get(
    "/api/health/ready",
    summary="Whether questions are taken",
    response_model=HealthState,
    responses=_or_503("An essential component does not work, or the service is about to stop."),
)
def ready(service: Serving, watching: Watching) -> JSONResponse:
    state = _state(watching.report(), service)
    return _answer(state, is_well=state.ready)


@router.get("/api/health/live", summary="Whether the process answers at all", responses=errors())
async def live() -> Alive:
    return Alive(alive=True)


def _state(report: Report, service: Serving) -> HealthState:
    components = {name: ComponentState.model_validate(asdict(one)) for name, one in report.components.items()}
    is_ready = report.able and not service.gate.closed
    return HealthState(healthy=report.healthy, ready=is_ready, components=components, timestamp=report.timestamp)


def _answer(state: HealthState, *, is_well: bool) -> JSONResponse:
    return JSONResponse(state.model_dump(mode="json", by_alias=True), 200 if is_well else 503)
