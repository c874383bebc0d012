"""What streams have said of late: who lost the connection and comes back is told the rest, and how it ended.

A browser's EventSource does so by itself, over and over, with the id of the last event it has seen.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from dataclasses import dataclass, field

_SECONDS = 300.0
_MOST = 100
_LARGEST = 300_000
"""Bytes of all frames of a stream; of a larger one only what comes first can be told again."""
_LAST_ID = re.compile(r"([0-9a-f]{32})/(\d{1,6}|end)")


@dataclass
class Replay:
    """The frames of a stream, numbered from 1."""

    user: str
    frames: list[bytes] = field(default_factory=list)
    latest: float = field(default_factory=time.monotonic)
    _size: int = 0

    def add(self, frame: bytes) -> None:
        self._size += len(frame)
        self.latest = time.monotonic()
        if self._size <= _LARGEST:
            self.frames.append(frame)


class Replays:
    def __init__(self, *, most: int = _MOST, seconds: float = _SECONDS) -> None:
        self._most = most
        self._seconds = seconds
        self._streams: OrderedDict[str, Replay] = OrderedDict()

    def begin(self, query_id: str, user: str) -> Replay:
        made = self._streams[query_id] = Replay(user)
        while len(self._streams) > self._most or self._is_old(next(iter(self._streams.values()))):
            self._streams.popitem(last=False)
        return made

    def after(self, last_id: str, user: str) -> list[bytes] | None:
        """What followed an event of a stream that this user has begun, if anything; None where it is not known."""
        query_id, number = parsed(last_id)
        if number == "end":
            return []
        found = self._streams.get(query_id)
        if found is None or found.user != user or self._is_old(found):
            return None
        return found.frames[int(number) :]

    def _is_old(self, replay: Replay) -> bool:
        return replay.latest < time.monotonic() - self._seconds


def parsed(last_id: str) -> tuple[str, str]:
    """The stream and the number; of what is no id of ours, one that does not exist."""
    match = _LAST_ID.fullmatch(last_id)
    return (match[1], match[2]) if match else ("0" * 32, "0")
