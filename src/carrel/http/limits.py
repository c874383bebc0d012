"""How often a client may ask, how much it may send, and how long it may take to send it."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from carrel.errors import CarrelError, SlowRequest, TooLarge, TooManyRequests

if TYPE_CHECKING:
    from starlette.types import Message, Receive

    from carrel.http.heads import Head
    from carrel.settings import Serve

_MOST_CLIENTS = 10_000
"""That are remembered; who has not asked for longest is forgotten, and starts with a clean slate."""
_AROUND = 100_000
"""Bytes that a form may add to the file in it."""
_GONE: Message = {"type": "http.disconnect"}


class Rates:
    """A full minute's worth at once, after that as many as come back in time."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """By client: how many requests were left, and when."""

    @property
    def wait(self) -> int:
        """Seconds after which another request is welcome."""
        return math.ceil(60 / self._per_minute)

    def charge(self, client: str) -> None:
        if not self._per_minute:
            return
        now = time.monotonic()
        left, since = self._left.pop(client, (float(self._per_minute), now))
        left = min(self._per_minute, left + (now - since) * self._per_minute / 60)
        self._left[client] = (max(left - 1, 0.0), now)
        if len(self._left) > _MOST_CLIENTS:
            self._left.popitem(last=False)
        if left < 1:
            raise TooManyRequests(
                f"more than {self._per_minute} requests a minute", hint=f"Wait {self.wait} s, then ask again."
            )


def most_bytes(head: Head, chosen: Serve) -> int:
    """Of a request's body; only files that are to be taken in may be large."""
    is_upload = head.path == "/api/ingest" and head.one("content-type").lower().startswith("multipart/form-data")
    return chosen.upload_megabytes * 1_000_000 + _AROUND if is_upload else chosen.body_kilobytes * 1000


class Body:
    """What a client sends, counted and timed as it comes. Who sends too much, or too slowly, is heard no further."""

    def __init__(self, receive: Receive, head: Head, chosen: Serve) -> None:
        self.failure: CarrelError | None = None
        self._receive = receive
        self._most = most_bytes(head, chosen)
        self._piece = chosen.body_kilobytes * 1000
        self._seconds = chosen.body_seconds
        self._began: float | None = None
        self._received = 0
        self._is_whole = False
        if head.length > self._most:
            self._fail_by_size()

    async def receive(self) -> Message:
        if self._is_whole:
            # From now on only the client's leaving is waited for.
            return await self._receive()
        if self.failure is None:
            try:
                async with asyncio.timeout_at(self._deadline):
                    message = await self._receive()
                return self._counted(message)
            except TimeoutError:
                self._fail_by_time()
        return _GONE

    @property
    def _deadline(self) -> float:
        """So many seconds for an ordinary body, and again for each further piece of that size in a large one."""
        if self._began is None:
            self._began = asyncio.get_running_loop().time()
        return self._began + self._seconds * (1 + self._received // self._piece)

    def _counted(self, message: Message) -> Message:
        self._received += len(message.get("body", b""))
        if self._received > self._most:
            self._fail_by_size()
            return _GONE
        self._is_whole = not message.get("more_body", False)
        return message

    def _fail_by_size(self) -> None:
        self.failure = TooLarge(
            f"the request's body has more than {self._most} bytes",
            hint="Send less, or raise serve.body_kilobytes or serve.upload_megabytes.",
        )

    def _fail_by_time(self) -> None:
        self.failure = SlowRequest(
            f"the request's body did not come within {self._seconds:g} s",
            hint="Send it again, or raise serve.body_seconds.",
        )
