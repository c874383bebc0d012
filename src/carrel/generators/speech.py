"""What the generators share whose words come from a model."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from carrel.errors import CarrelError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from typing import Self

DEFAULT_CONTEXT = 8192
LEAST_ROOM = 256
_OPENS, _CLOSES = "<think>", "</think>"


class Speech:
    """What is said, piece by piece. It can be closed from another thread, while this one waits for the next piece."""

    def __init__(self, pieces: Generator[str], stop: Callable[[], None]) -> None:
        self._pieces = pieces
        self._stop = stop
        self._closed = threading.Event()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        if self._closed.is_set():
            raise StopIteration
        try:
            return next(self._pieces)
        except (CarrelError, ValueError):
            if self._closed.is_set():
                raise StopIteration from None
            raise

    def close(self) -> None:
        self._closed.set()
        self._stop()
        # Told by a generator that is at work in another thread; stopped, it comes to its end there.
        with suppress(ValueError):
            self._pieces.close()


def aloud(pieces: Iterable[str]) -> Iterator[str]:
    """What is meant to be heard: without the thoughts that some models put before their answer."""
    held, thinking, said = "", False, False
    for piece in pieces:
        if said:
            yield piece
            continue
        held = (held + piece).lstrip()
        if not thinking and _OPENS.startswith(held[: len(_OPENS)]):
            thinking = len(held) >= len(_OPENS)
        elif not thinking:
            said = True
            yield held
        if thinking:
            _, end, after = held.partition(_CLOSES)
            held = after.lstrip() if end else held[-len(_CLOSES) :]
            thinking = not end
    if held and not said and not thinking:
        yield held


def room(context: int, answer: int, instructions: int) -> int:
    """How many tokens of excerpts a context has room for beside the instructions and the answer."""
    return max(LEAST_ROOM, context - answer - instructions)
