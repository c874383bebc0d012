"""Errors as bodies. What was not foreseen is logged under the request's id and never told."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from carrel.errors import CarrelError
from carrel.http.shapes import Problem
from carrel.telemetry import log

if TYPE_CHECKING:
    from fastapi import FastAPI, Request

_CODES = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}


def install(app: FastAPI) -> None:
    app.add_exception_handler(CarrelError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(Exception, _unforeseen)


def body(error: CarrelError) -> Problem:
    return Problem(error=error.code, message=error.message, details={"hint": error.hint} if error.hint else None)


def answer(status: int, problem: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(problem.model_dump(by_alias=True, exclude_none=True), status, headers)


async def _ours(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, CarrelError):
        raise error
    return answer(error.http_status, body(error))


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    faults = [{"field": _field(fault["loc"]), "message": fault["msg"]} for fault in error.errors()]
    message = f"{faults[0]['field']}: {faults[0]['message']}" if faults else "the request cannot be read"
    return answer(400, Problem(error="VALIDATION_ERROR", message=message, details=faults))


def _field(steps: tuple[Any, ...]) -> str:
    return ".".join(str(step) for step in steps[1:]) or str(steps[0])


async def _plain(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    code = _CODES.get(error.status_code, "ERROR")
    return answer(error.status_code, Problem(error=code, message=str(error.detail)), dict(error.headers or {}))


async def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    request_id = getattr(request.state, "request_id", "")
    log("http", logging.ERROR, "unforeseen", request_id=request_id, error=repr(error))
    problem = Problem(error="INTERNAL_ERROR", message=f"something went wrong; the log has it under {request_id}")
    return answer(500, problem)
