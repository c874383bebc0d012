"""Answers that were given of late: held in memory for an hour, for whoever asked to save them, and never written."""

from __future__ import annotations

import time
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from carrel.errors import QueryNotFound

if TYPE_CHECKING:
    from carrel.types import Answer

_HOUR = 3600.0
_MOST = 500
_MOST_CHARACTERS = 20_000_000
"""Of the passages that all of them hold; a longer one is not kept."""


class Given:
    """Each belongs to whoever asked: to others it is not there. The oldest make room."""

    def __init__(self, *, most: int = _MOST, characters: int = _MOST_CHARACTERS, seconds: float = _HOUR) -> None:
        self._most = most
        self._characters = characters
        self._seconds = seconds
        self._held = 0
        self._turn = Lock()
        self._answers: OrderedDict[tuple[str, str], tuple[float, Answer]] = OrderedDict()

    def add(self, user: str, answer: Answer) -> None:
        size = _size(answer)
        if size > self._characters:
            return
        with self._turn:
            self._answers[user, answer.query_id] = (time.monotonic(), answer)
            self._held += size
            self._forget()

    def find(self, user: str, query_id: str) -> Answer:
        with self._turn:
            self._forget()
            found = self._answers.get((user, query_id))
        if found is None:
            raise QueryNotFound(
                f"there is no answer {query_id!r} of yours from the last hour", hint="Ask again, and save that answer."
            )
        return found[1]

    def _forget(self) -> None:
        oldest = time.monotonic() - self._seconds
        while self._answers:
            at, _ = next(iter(self._answers.values()))
            if len(self._answers) <= self._most and self._held <= self._characters and at >= oldest:
                return
            _, (_, gone) = self._answers.popitem(last=False)
            self._held -= _size(gone)


def _size(answer: Answer) -> int:
    chunks = (*(one.chunk for one in answer.citations), *(one.chunk for one in answer.near_misses))
    return len(answer.answer) + sum(len(chunk.text) for chunk in chunks)
