"""Work for somebody who may leave before it is done."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.requests import ClientDisconnect

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from starlette.types import Receive

    Outcome = TypeVar("Outcome")


async def unless_gone(work: Coroutine[Any, Any, Outcome], receive: Receive, *, seconds: float | None = None) -> Outcome:
    """What the work comes to. It is stopped when the client leaves, and when the time is over; both are the same."""
    working, going = asyncio.create_task(work), asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait({working, going}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnect
    finally:
        working.cancel()
        going.cancel()
        # Only when it has really stopped is its place free for another.
        await asyncio.gather(working, going, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
