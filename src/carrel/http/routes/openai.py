"""What OpenAI's clients ask for, so that chat front ends plug in."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi import Request as Received
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from carrel.errors import NotFound
from carrel.http import answers, chats
from carrel.http.declaring import errors
from carrel.http.leaving import unless_gone
from carrel.http.questions import Question, answered
from carrel.http.routes.query import FAILURES
from carrel.http.service import Calling, RequestId, Serving
from carrel.http.streaming import EventStream

router = APIRouter(tags=["openai"])


class Model(BaseModel):
    id: str = Field(examples=[chats.MODEL])
    object: str = "model"
    created: int = 0
    owned_by: str = chats.MODEL


class Models(BaseModel):
    object: str = "list"
    data: list[Model]


class Error(BaseModel):
    message: str
    type: str = Field(examples=["invalid_request_error"])
    param: str | None
    code: str = Field(examples=["VALIDATION_ERROR"])


class Failure(BaseModel):
    """Errors as OpenAI has them."""

    error: Error


class Completion(BaseModel):
    """OpenAI's, with the proof beside it."""

    model_config = ConfigDict(extra="allow")

    id: str
    object: str
    created: int
    model: str
    choices: list[dict[str, Any]]
    usage: dict[str, int]
    citations: list[answers.Citation] = Field(description="The proof of each [n].")
    carrel: dict[str, Any] = Field(description="`queryId`, `confidence`, `hasInsufficientEvidence`.")


def _failures(responses: dict[int | str, dict[str, Any]]) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Failure, "description": one["description"]} for status, one in responses.items()}


@router.get("/v1/models", summary="What can be asked: the library", responses=_failures(errors()))
async def models() -> Models:
    return Models(data=[Model(id=chats.MODEL)])


@router.get("/v1/models/{model}", summary="The library as a model", responses=_failures(errors(NotFound)))
async def model(model: str) -> Model:
    return Model(id=_known(model))


@router.post(
    "/v1/chat/completions",
    summary="Ask as one asks a chat model",
    response_model=Completion,
    responses={
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
        **_failures({**FAILURES, **errors(NotFound)}),
    },
)
async def complete(
    asked: chats.Request, received: Received, service: Serving, caller: Calling, request_id: RequestId
) -> Response:
    _known(asked.model)
    question = Question(asked.question, caller.name, earlier=asked.earlier)
    if asked.stream:
        return EventStream(question, service, chats.Chunks(question, request_id, with_usage=asked.wants_usage))
    answer = await unless_gone(answered(question, service), received.receive)
    return JSONResponse(chats.completion(question, answer))


def _known(model: str) -> str:
    if model != chats.MODEL:
        raise NotFound(f"there is no model {model[:100]!r}", hint=f"It is called {chats.MODEL!r}.")
    return model
