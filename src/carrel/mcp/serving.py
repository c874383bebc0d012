"""The two ways in: standard input and output, for agents on this machine, and HTTP."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse

from carrel.mcp.server import Desk

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from starlette.types import Receive, Scope, Send

    from carrel.library import Library
    from carrel.mcp.server import Turn

_MOST_SESSIONS = 1000
_OFFERED = frozenset({"POST", "DELETE"})


async def serve_stdio(desk: Desk) -> None:
    """Serve one agent until it closes our input. Nothing but the protocol gets to standard output meanwhile."""
    server = desk.server()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


class Endpoint:
    """The tools over HTTP, as an ASGI application for one path, behind the service's guard.

    It works inside `running()`. Who asks and whether they may is the guard's to say, by `scope["carrel.caller"]`;
    `turn` is the service's queue.
    """

    def __init__(self, library: Library, turn: Turn = nullcontext) -> None:
        chosen = library.settings
        desk = Desk(
            lambda: library,
            allow_add=chosen.mcp.allow_add,
            seconds=chosen.serve.query_seconds,
            turn=turn,
        )
        self._manager = StreamableHTTPSessionManager(
            desk.server(),
            # Foreign hosts and origins do not get past the guard, which knows those that the user allows.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=chosen.serve.body_kilobytes * 1024,
            max_sessions=_MOST_SESSIONS,
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in _OFFERED:
            # A stream that stays open for news: there are none.
            refusal = PlainTextResponse("POST messages here", 405, {"Allow": ", ".join(sorted(_OFFERED))})
            await refusal(scope, receive, send)
            return
        await self._manager.handle_request(scope, receive, send)
