"""So many questions at a time, so many waiting: the rest are told to come back."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from carrel.errors import QueueFull, QueueTimeout, ShuttingDown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Gate:
    """Who is let in holds a place until the block is left, however that happens."""

    def __init__(self, *, concurrent: int, queued: int, seconds: float) -> None:
        self.concurrent = concurrent
        self.most_queued = queued
        self.active = 0
        self.queued = 0
        self.closed = False
        self._seconds = seconds
        self._places = asyncio.Semaphore(concurrent)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        await self._enter()
        try:
            yield
        finally:
            self.active -= 1
            self._places.release()

    async def _enter(self) -> None:
        if self.closed:
            raise ShuttingDown("the service is about to stop", hint="Ask again when it is back.")
        if self._places.locked() and self.queued >= self.most_queued:
            raise QueueFull(f"{self.queued} questions are waiting already", hint="Ask again in a while.")
        self.queued += 1
        try:
            await asyncio.wait_for(self._places.acquire(), self._seconds)
        except TimeoutError as error:
            raise QueueTimeout(f"no place became free within {self._seconds:g} s", hint="Ask again later.") from error
        finally:
            self.queued -= 1
        self.active += 1
