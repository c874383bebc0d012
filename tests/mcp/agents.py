"""An agent: the client of the SDK, asking one thing at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from mcp_types import CallToolResult

from carrel import Library
from carrel.mcp.server import Desk
from mcp import Client

Outcome = TypeVar("Outcome")


def with_agent(server: Any, talk: Callable[[Client], Awaitable[Outcome]], *, mode: str = "auto") -> Outcome:
    async def talked() -> Outcome:
        async with Client(server, mode=mode) as client:
            return await talk(client)

    return anyio.run(talked)


def call(library: Library, tool: str, *, allow_add: bool = False, **arguments: Any) -> CallToolResult:
    """What a tool gives or says, in this process."""
    desk = Desk(lambda: library, allow_add=allow_add)
    return with_agent(desk.server(), lambda client: client.call_tool(tool, arguments))


def result(library: Library, tool: str, **arguments: Any) -> dict[str, Any]:
    done = call(library, tool, **arguments)
    assert not done.is_error, done.content
    return structured(done)


def refusal(library: Library, tool: str, **arguments: Any) -> str:
    done = call(library, tool, **arguments)
    assert done.is_error
    assert done.structured_content is None
    return text(done)


def structured(done: CallToolResult) -> dict[str, Any]:
    assert isinstance(done.structured_content, dict)
    return done.structured_content


def asked(server: Any, question: str, *, mode: str = "auto") -> tuple[dict[str, Any], list[str | None]]:
    """An answer, and what was told while it was made."""
    told: list[str | None] = []

    async def talk(client: Client) -> dict[str, Any]:
        async def heard(progress: float, total: float | None, message: str | None) -> None:
            told.append(message)

        return structured(await client.call_tool("ask", {"question": question}, progress_callback=heard))

    return with_agent(server, talk, mode=mode), told


def text(done: CallToolResult) -> str:
    assert done.content[0].type == "text"
    return done.content[0].text
