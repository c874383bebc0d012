"""A guard, behind it an application that tells what came through, and requests that are no more than data."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from carrel import Library
from carrel.http.guard import Guard
from carrel.settings import Settings
from tests.http.serving import changed

HOME = {"host": "127.0.0.1:8080"}


@dataclass
class Answer:
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def error(self) -> str:
        return str(json.loads(self.body)["error"])


class Inside:
    """Reads its request to the end and says who asked."""

    def __init__(self) -> None:
        self.callers: list[str] = []
        self.received = b""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.callers.append(scope["carrel.caller"].name)
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ConnectionError("gone in the middle of /home/me/secret")
            self.received += message.get("body", b"")
            if not message.get("more_body"):
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": self.callers[-1].encode()})


@dataclass
class Door:
    library: Library
    inside: Inside = field(default_factory=Inside)
    guard: Guard | None = None

    def ask(
        self,
        path: str = "/api/tags",
        method: str = "GET",
        *,
        client: str = "127.0.0.1",
        pieces: tuple[bytes | float, ...] = (b"",),
        headers: dict[str, str] | None = None,
        all_headers: list[tuple[str, str]] | None = None,
    ) -> Answer:
        """`pieces` of a body, or seconds between them; when there are no more, nothing comes."""
        self.guard = self.guard or Guard(self.inside, self.library)
        pairs = list({**HOME, **(headers or {})}.items()) if all_headers is None else all_headers
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in pairs],
            "client": (client, 4711),
        }
        return asyncio.run(_conversation(self.guard, scope, list(pieces)))


async def _conversation(guard: Guard, scope: dict[str, Any], pieces: list[bytes | float]) -> Answer:
    answer = Answer()

    async def receive() -> Any:
        if not pieces:
            await asyncio.sleep(60)
        piece = pieces.pop(0)
        while isinstance(piece, float):
            await asyncio.sleep(piece)
            piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces) or piece == b"..."}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        answer.body += message.get("body", b"")

    await guard(scope, receive, send)
    return answer


Doors = Callable[..., Door]


def doors_of(library: Library) -> Doors:
    """Makes doors of this library, each under the defaults but for these settings of `serve`."""

    def made(**settings: Any) -> Door:
        library.settings = changed(Settings(), **settings)
        return Door(library)

    return made


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}
