"""Errors as bodies, for `/v1/` in the form that clients of OpenAI's API read. What was not foreseen is never told."""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route

from carrel.errors import CarrelError, ModelNotInstalled, ModelRefused, OutOfTime, Unavailable
from carrel.http.shapes import FAULT, Problem
from carrel.telemetry import log
from carrel.types.service import LOCAL

if TYPE_CHECKING:
    from fastapi import FastAPI, Request

_CODES = {400: "VALIDATION_ERROR", 404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}
_KINDS = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
"""As OpenAI calls them."""
_PASSING = frozenset({408, 429, 503, 504})
"""Statuses that may be others soon."""
_LASTING = (ModelNotInstalled, ModelRefused)
_SOON = "5"
"""Seconds."""
_GONE = 499


def install(app: FastAPI) -> None:
    app.add_exception_handler(CarrelError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(ClientDisconnect, _gone)


def body(error: CarrelError) -> Problem:
    return Problem(error=error.code, message=error.message, details={"hint": error.hint} if error.hint else None)


def answer(status: int, problem: Problem, headers: dict[str, str] | None = None, *, path: str = "") -> JSONResponse:
    """The response of a request to this path."""
    content = problem.model_dump(by_alias=True, exclude_none=True)
    return JSONResponse(as_openai(status, problem) if path.startswith("/v1/") else content, status, headers)


def as_openai(status: int, problem: Problem) -> dict[str, Any]:
    kind = _KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")
    hint = problem.details.get("hint", "") if isinstance(problem.details, dict) else ""
    message = f"{problem.message}. {hint}" if hint else problem.message
    return {"error": {"message": message, "type": kind, "param": _parameter(problem), "code": problem.error}}


def _parameter(problem: Problem) -> str | None:
    field = problem.details[0]["field"] if isinstance(problem.details, list) and problem.details else "body"
    return None if field == "body" else field


def is_passing(error: CarrelError) -> bool:
    """Whether the same request may succeed in a while."""
    return error.http_status in _PASSING and not isinstance(error, _LASTING)


def told(error: Exception, request_id: str, *, local: bool) -> CarrelError:
    """What is said of an error. Of what failed inside, others than the user hear only what kind of thing it was.

    Messages name files, servers and what these said; the log has them under the request's id.
    """
    if not isinstance(error, CarrelError):
        return CarrelError(unforeseen(error, request_id).message)
    if error.http_status < 500 or isinstance(error, Unavailable | OutOfTime):
        return error
    log("http", logging.WARNING, "failed", request_id=request_id, code=error.code, reason=error.message)
    if local:
        return error
    kind = (type(error).__doc__ or error.code.replace("_", " ").lower()).splitlines()[0].rstrip(".")
    return type(error)(f"{kind}; the log has it under {request_id}")


def unforeseen(error: Exception, request_id: str) -> Problem:
    """Something went wrong that nobody thought of: the log says what, its reader only that."""
    trace = "".join(traceback.format_exception(error))
    log("http", logging.ERROR, "unforeseen", request_id=request_id, error=repr(error), trace=trace)
    return Problem(error=CarrelError.code, message=f"something went wrong; the log has it under {request_id}")


async def _ours(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, CarrelError):
        raise error
    headers = {"Retry-After": _SOON} if is_passing(error) else None
    is_local = request.scope.get("carrel.caller", LOCAL) == LOCAL
    fit = told(error, request.scope["state"]["request_id"], local=is_local)
    return answer(error.http_status, body(fit), headers, path=request.url.path)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    faults = [{"field": _field(fault["loc"]), "message": fault["msg"]} for fault in error.errors()]
    whole = next((fault["msg"] for fault in error.errors() if fault["type"] == FAULT), "")
    first = f"{faults[0]['field']}: {faults[0]['message']}" if faults else "the request cannot be read"
    problem = Problem(error="VALIDATION_ERROR", message=whole or first, details=faults)
    return answer(400, problem, path=request.url.path)


def _field(steps: tuple[Any, ...]) -> str:
    return ".".join(str(step) for step in steps[1:]) or str(steps[0])


async def _plain(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    problem = Problem(error=_CODES.get(error.status_code, "ERROR"), message=str(error.detail))
    headers = {**(error.headers or {}), **({"Allow": _allowed(request)} if error.status_code == 405 else {})}
    return answer(error.status_code, problem, headers, path=request.url.path)


def _allowed(request: Request) -> str:
    """The methods of every route that a path has: Starlette names those of the first."""
    routes = (one for one in request.app.routes if isinstance(one, Route))
    fitting = (one for one in routes if one.matches(request.scope)[0] != Match.NONE)
    return ", ".join(sorted({method for one in fitting for method in one.methods or ()}))


async def _gone(_request: Request, _error: Exception) -> Response:
    """Nobody reads it."""
    return Response(status_code=_GONE)
