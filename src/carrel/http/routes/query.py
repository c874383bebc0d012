"""Questions, answered whole or as the answer grows."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response
from pydantic import Field

from carrel.errors import (
    ContextTooLong,
    DimensionMismatchError,
    MissingExtra,
    ModelNotInstalled,
    ModelServerUnavailable,
    ModelTooSlow,
    PaperNotFound,
    QueryTimeout,
    QueueFull,
    QueueTimeout,
    ShuttingDown,
)
from carrel.http import answers
from carrel.http.declaring import errors
from carrel.http.leaving import unless_gone
from carrel.http.questions import Question, answered
from carrel.http.service import Calling, RequestId, Service, Serving
from carrel.http.shapes import Shape
from carrel.http.streaming import Events, EventStream, resumed
from carrel.types.service import Caller

router = APIRouter(tags=["query"])

FAILURES = errors(
    PaperNotFound,
    QueueFull,
    ShuttingDown,
    QueueTimeout,
    QueryTimeout,
    ModelServerUnavailable,
    ModelNotInstalled,
    ModelTooSlow,
    MissingExtra,
    ContextTooLong,
    DimensionMismatchError,
)
_EXAMPLE = """event: confidence
data: {"type": "confidence", "level": "high", "hasInsufficientEvidence": false, "topScore": 0.93}
id: 5f0c9a4de1b7420c8f1f6f2f0f4f2a11/1

event: citation
data: {"type": "citation", "citation": {"id": 1, "address": "smith2020/ch1/s2/p3", "quote": "…"}}

event: token
data: {"type": "token", "content": "Dense retrieval compares vectors of meaning. [1]"}

event: metadata
data: {"type": "metadata", "metadata": {"queryId": "5f0c9a4de1b7420c8f1f6f2f0f4f2a11", "citationCount": 1}}

event: done
data: {"type": "done", "queryId": "5f0c9a4de1b7420c8f1f6f2f0f4f2a11", "response": {}}

"""
_STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer as it grows: `confidence`, then `citation`s and `token`s, `metadata`, and `done` or "
        "`error`. Each has an id to come back with. Lines that begin with a colon are signs of life.",
        "content": {"text/event-stream": {"schema": {"type": "string"}, "example": _EXAMPLE}},
    },
    204: {"description": "With `Last-Event-ID`: there is nothing more to tell."},
    **FAILURES,
}
_BACK = "The id of the last event that was seen, by who comes back to a stream that broke off."
LastEventId = Annotated[str | None, Header(max_length=100, description=_BACK)]


class Capacity(Shape):
    concurrent: int = Field(description="Questions that are answered at one time.", examples=[10])
    active: int
    most_queued: int = Field(description="Questions that may wait for their turn.", examples=[30])
    queued: int
    is_accepting: bool = Field(description="Whether a question asked now would be let in, or wait.")


class Counts(Shape):
    """Questions since the server began."""

    answered: int
    unanswered: int = Field(description="Of these: those that the library has no answer to.")
    left: int = Field(description="Whose askers did not wait.")
    turned_away: int
    timed_out: int
    failed: int
    mean_latency_ms: float | None = Field(description="Of the latest thousand answers.")


class Flags(Shape):
    is_open: bool = Field(description="Whether stores and models have been opened.")
    is_stopping: bool
    uptime_seconds: float


class Status(Shape):
    capacity: Capacity
    metrics: Counts
    health: Flags


@router.post("/api/query", summary="Ask, and get the whole answer", responses=FAILURES)
async def query(ask: answers.Ask, request: Request, service: Serving, caller: Calling) -> answers.Response:
    question = _question(ask, caller)
    answer = await unless_gone(answered(question, service), request.receive)
    return answers.Response.of(answer, question.milliseconds)


@router.post(
    "/api/query/stream", summary="Ask, and get the answer as it grows", response_class=Response, responses=_STREAMED
)
async def stream(
    ask: answers.Ask, service: Serving, caller: Calling, request_id: RequestId, last_event_id: LastEventId = None
) -> Response:
    return _stream(ask, service, caller, request_id, last_event_id)


@router.get(
    "/api/query/stream",
    summary="The same, for a browser's EventSource",
    response_class=Response,
    responses=_STREAMED,
)
async def event_source(
    ask: Annotated[answers.Ask, Query()],
    service: Serving,
    caller: Calling,
    request_id: RequestId,
    last_event_id: LastEventId = None,
) -> Response:
    return _stream(ask, service, caller, request_id, last_event_id)


@router.get("/api/query/status", summary="How many questions are being answered, and how they end", responses=errors())
async def status(service: Serving) -> Status:
    gate, tally = service.gate, service.tally
    free = gate.active < gate.concurrent or gate.queued < gate.most_queued
    return Status(
        capacity=Capacity(
            concurrent=gate.concurrent,
            active=gate.active,
            most_queued=gate.most_queued,
            queued=gate.queued,
            is_accepting=free and not gate.closed,
        ),
        metrics=Counts(
            answered=tally.answered,
            unanswered=tally.unanswered,
            left=tally.left,
            turned_away=tally.turned_away,
            timed_out=tally.timed_out,
            failed=tally.failed,
            mean_latency_ms=tally.mean_latency,
        ),
        health=Flags(
            is_open=service.is_open,
            is_stopping=gate.closed,
            uptime_seconds=round(time.monotonic() - service.began, 3),
        ),
    )


def _stream(ask: answers.Ask, service: Service, caller: Caller, request_id: str, last_id: str | None) -> Response:
    if last_id:
        return resumed(last_id, service, caller.name)
    question = _question(ask, caller)
    return EventStream(question, service, Events(question, service, request_id))


def _question(ask: answers.Ask, caller: Caller) -> Question:
    return Question(
        ask.query,
        caller.name,
        top_k=ask.top_k,
        graph=ask.include_graph,
        where=ask.filter,
        session_id=str(ask.session_id) if ask.session_id else "",
    )
