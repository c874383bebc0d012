"""Listening to a generator that may be slow, endless, or gone.

It speaks in a thread of its own, so that one that hangs holds up nobody: who listens no longer leaves at once, and it
is stopped, at once where its stream can be closed from another thread, else at its next word. Where the listener itself
waits in a thread, somebody else can tell by `leaving` that it need not any longer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from queue import Empty, Queue
from typing import TYPE_CHECKING

from carrel.errors import ModelTooSlow

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

_AHEAD = 4
"""Pieces that it may say before they are heard; more would be work for nothing if nobody listens any longer."""
_LONGEST = 50_000
"""Characters. Who has not come to an end by then will not."""


_POLL = 0.05
"""Seconds until somebody who waits for a word sees that nobody wants it any longer."""
_leaves: ContextVar[threading.Event | None] = ContextVar("_leaves", default=None)


class Left(GeneratorExit):
    """Who listened has left. No failure of the generator, so that nobody stands in for it."""


@contextmanager
def leaving(leaves: threading.Event) -> Iterator[None]:
    """Whoever listens in this block stops with `Left` once this is set, also while waiting for a word."""
    before = _leaves.set(leaves)
    try:
        yield
    finally:
        _leaves.reset(before)


class _End:
    """The last thing that is heard, and why it is."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def listen(name: str, speak: Callable[[], Iterator[str]], *, seconds: float) -> Generator[str]:
    """What a generator says, piece by piece, for so many seconds at most. What it raises is raised here."""
    heard: Queue[str | _End] = Queue(_AHEAD)
    stopped, speaking = threading.Event(), list[Iterator[str]]()
    told = (speak, speaking, heard, stopped)
    threading.Thread(target=_speak, args=told, daemon=True, name="carrel-generator").start()
    deadline, length = time.monotonic() + seconds, 0
    try:
        while length < _LONGEST:
            piece = _next(heard, deadline, name, seconds)
            if isinstance(piece, _End):
                if piece.error is not None:
                    raise piece.error
                return
            length += len(piece)
            yield piece
    finally:
        stopped.set()
        for pieces in speaking:
            _close(pieces)
        # One that waits for room to speak finds it, sees that it is stopped, and ends.
        while not heard.empty():
            heard.get_nowait()


def _next(heard: Queue[str | _End], deadline: float, name: str, seconds: float) -> str | _End:
    leaves = _leaves.get()
    while True:
        if leaves and leaves.is_set():
            raise Left
        left = deadline - time.monotonic()
        with suppress(Empty):
            return heard.get(timeout=max(min(left, _POLL) if leaves else left, 0.001))
        if left <= _POLL:
            raise ModelTooSlow(
                f"the generator {name!r} was still at work after {seconds:g} s",
                hint="The setting generation.seconds can be raised.",
            )


def _close(pieces: Iterator[str]) -> None:
    # What a plain generator raises that is at work in another thread.
    with suppress(ValueError):
        if close := getattr(pieces, "close", None):
            close()


def _speak(
    speak: Callable[[], Iterator[str]],
    speaking: list[Iterator[str]],
    heard: Queue[str | _End],
    stopped: threading.Event,
) -> None:
    try:
        speaking.append(speak())
        try:
            for piece in () if stopped.is_set() else speaking[0]:
                if stopped.is_set():
                    return
                heard.put(piece)
        finally:
            _close(speaking[0])
        heard.put(_End())
    except BaseException as error:
        heard.put(_End(error))
