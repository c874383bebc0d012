"""A question that is answered in a thread of its own and heard on the event loop."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager, closing, suppress
from typing import TYPE_CHECKING

from carrel.answer.listening import Left, leaving
from carrel.errors import QueryTimeout

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Generator

    from carrel.http.gate import Gate
    from carrel.types import Event

_PATIENCE = 5.0
"""Seconds that a place is kept for work that nobody wants any longer, until it has seen that."""


class _End:
    def __init__(self, error: Exception | None) -> None:
        self.error = error


class Telling:
    """The events of an answer, as they come. Who leaves stops the work, also while it waits for a slow generator."""

    def __init__(self, begin: Callable[[], Generator[Event]]) -> None:
        self._loop = asyncio.get_running_loop()
        self._heard: asyncio.Queue[Event | _End] = asyncio.Queue()
        self._leaves, self._over = threading.Event(), asyncio.Event()
        threading.Thread(target=self._work, args=[begin], daemon=True, name="carrel-answer").start()

    def __aiter__(self) -> Telling:
        return self

    async def __anext__(self) -> Event:
        event = await self._heard.get()
        if not isinstance(event, _End):
            return event
        if event.error is not None:
            raise event.error
        raise StopAsyncIteration

    async def leave(self) -> None:
        """Stop, and wait until that is so."""
        self._leaves.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._over.wait()

    def _work(self, begin: Callable[[], Generator[Event]]) -> None:
        end = _End(None)
        try:
            with leaving(self._leaves), closing(begin()) as events:
                for event in events:
                    if self._leaves.is_set():
                        break
                    self._tell(event)
        except Left:
            pass
        # Whatever a part of somebody's own raises, it ends this answer and not the server.
        except BaseException as error:
            end = _End(error if isinstance(error, Exception) else RuntimeError(repr(error)))
        self._tell(end)

    def _tell(self, event: Event | _End) -> None:
        # The loop may be gone, and with it everybody who could hear.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._hear, event)

    def _hear(self, event: Event | _End) -> None:
        self._heard.put_nowait(event)
        if isinstance(event, _End):
            self._over.set()


@asynccontextmanager
async def told(begin: Callable[[], Generator[Event]], gate: Gate, seconds: float) -> AsyncIterator[Telling]:
    """An answer that has a place from its beginning to its end and takes so many seconds at most, waiting included."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit, gate.place():
            telling = Telling(begin)
            try:
                yield telling
            finally:
                await telling.leave()
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise QueryTimeout(
            f"the question was not answered within {seconds:g} s",
            hint="Ask again later, or raise the setting serve.query_seconds.",
        ) from error
