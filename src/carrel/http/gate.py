"""So many questions at a time, so many waiting: the rest are told to come back."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, cast

from carrel.errors import QueueFull, QueueTimeout, ShuttingDown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class Gate:
    """Who is let in holds a place until the block is left, however that happens. First come, first served."""

    def __init__(self, *, concurrent: int, queued: int, seconds: float) -> None:
        self.concurrent = concurrent
        self.most_queued = queued
        self.active = 0
        self.closed = False
        self._seconds = seconds
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._inside: set[asyncio.Task[Any]] = set()
        self._expelled: set[asyncio.Task[Any]] = set()

    @property
    def queued(self) -> int:
        return len(self._waiting)

    @asynccontextmanager
    async def place(self, seconds: float | None = None) -> AsyncIterator[None]:
        """A place, waited for as long as the gate lets wait, and no longer than `seconds`."""
        await self._enter(self._seconds if seconds is None else min(seconds, self._seconds))
        try:
            with self._counted():
                yield
        finally:
            self._leave()

    def close(self) -> None:
        """Let nobody in any longer; who waits is told so, who is in stays."""
        self.closed = True
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(_closed())

    def expel(self) -> None:
        """Have everybody leave now, with the word that the service stops."""
        self.close()
        for task in self._inside - self._expelled:
            self._expelled.add(task)
            task.cancel()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._inside.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if task not in self._expelled:
                raise
            task.uncancel()
            raise _closed() from None
        finally:
            self._inside.discard(task)
            self._expelled.discard(task)

    async def _enter(self, seconds: float) -> None:
        if self.closed:
            raise _closed()
        if self.active < self.concurrent:
            self.active += 1
        elif self.queued >= self.most_queued:
            raise QueueFull(f"{self.queued} questions are waiting already", hint="Ask again in a while.")
        else:
            await self._wait(seconds)

    async def _wait(self, seconds: float) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(seconds):
                await turn
        except BaseException as error:
            self._forgo(turn)
            if isinstance(error, TimeoutError):
                raise QueueTimeout(f"no place became free within {seconds:g} s", hint="Ask again later.") from error
            raise

    def _forgo(self, turn: asyncio.Future[None]) -> None:
        """Leave the queue; a place that was given in the same moment goes to the next."""
        if turn in self._waiting:
            self._waiting.remove(turn)
        elif turn.done() and not turn.cancelled() and turn.exception() is None:
            self._leave()

    def _leave(self) -> None:
        self.active -= 1
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                self.active += 1
                turn.set_result(None)
                return


def _closed() -> ShuttingDown:
    return ShuttingDown("the service is about to stop", hint="Ask again when it is back.")
