"""Conversations over HTTP: held in memory for an hour, so that follow-ups can be made whole, and never written."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.catalogs.conversations import Turn

_HOUR = 3600.0
_MOST = 1000
"""Conversations; the one that was silent for longest makes room."""
_MOST_TURNS = 20


@dataclass
class _Session:
    turns: deque[Turn] = field(default_factory=lambda: deque(maxlen=_MOST_TURNS))
    latest: float = 0.0


class Sessions:
    """Each belongs to whoever began it: to others, the same id is another conversation."""

    def __init__(self, *, most: int = _MOST, seconds: float = _HOUR) -> None:
        self._most = most
        self._seconds = seconds
        self._sessions: OrderedDict[tuple[str, str], _Session] = OrderedDict()

    def __len__(self) -> int:
        self._forget()
        return len(self._sessions)

    def turns(self, user: str, session_id: str) -> Sequence[Turn]:
        self._forget()
        found = self._sessions.get((user, session_id))
        return tuple(found.turns) if found else ()

    def add(self, user: str, session_id: str, turn: Turn) -> None:
        session = self._sessions.setdefault((user, session_id), _Session())
        session.turns.append(turn)
        session.latest = time.monotonic()
        self._sessions.move_to_end((user, session_id))
        self._forget()

    def _forget(self) -> None:
        oldest = time.monotonic() - self._seconds
        while self._sessions:
            key, session = next(iter(self._sessions.items()))
            if len(self._sessions) <= self._most and session.latest >= oldest:
                return
            del self._sessions[key]
