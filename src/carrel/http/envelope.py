"""What every response says of its request: an id by which the log knows it, and how long it took."""

from __future__ import annotations

import logging
import re
import time
import uuid
from typing import TYPE_CHECKING

from carrel.http import problems
from carrel.telemetry import log

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from carrel.http.gate import Gate

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_THROTTLED = ("/api/query", "/v1/chat/")


class Envelope:
    """Middleware that also catches what nobody foresaw, so that no text of it leaves the server."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id, began, status = _request_id(scope), time.perf_counter(), 0
        scope.setdefault("state", {})["request_id"] = request_id

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = self._headers(scope["path"], request_id, began)
                message = {**message, "headers": [*message.get("headers", ()), *headers]}
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            problem = problems.unforeseen(error, request_id)
            if not status:
                await problems.answer(500, problem, path=scope["path"])(scope, receive, sending)
        finally:
            told = {"method": scope["method"], "path": scope["path"], "status": status}
            log("http", logging.INFO, "request", request_id=request_id, milliseconds=_since(began), **told)

    def _headers(self, path: str, request_id: str, began: float) -> list[tuple[bytes, bytes]]:
        told = {"x-request-id": request_id, "x-response-time": f"{_since(began):g}ms"}
        if path.startswith(_THROTTLED):
            told |= {"x-throttle-active": str(self._gate.active), "x-throttle-queued": str(self._gate.queued)}
        return [(name.encode(), value.encode()) for name, value in told.items()]


def _request_id(scope: Scope) -> str:
    """The client's own, where it sends one that can be told again safely."""
    given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"").decode("latin-1")
    return given if _ID.fullmatch(given) else str(uuid.uuid4())


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 1)
