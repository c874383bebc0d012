"""Work that goes on beside other work.

Threads are kept for the next piece: to start one takes longer than much of what they do, and a search needs six. They
are daemons, so that one that hangs keeps no program from ending.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

from carrel.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from carrel.errors import CarrelError

    Inbox = SimpleQueue[Callable[[], None]]

Outcome = TypeVar("Outcome")

_idle: deque[Inbox] = deque()
"""The inboxes of threads that have nothing to do."""
# A forked process has none of its parent's threads.
os.register_at_fork(after_in_child=_idle.clear)


class Begun(Generic[Outcome]):
    """Work that goes on in a thread of its own until somebody wants to know what it came to."""

    def __init__(self, work: Callable[[], Outcome]) -> None:
        self._work = work
        self._outcomes: list[Outcome] = []
        self._errors: list[BaseException] = []
        self._done = threading.Event()
        _inbox().put(self._run)

    @property
    def is_over(self) -> bool:
        return self._done.is_set()

    @property
    def has_failed(self) -> bool:
        return bool(self._errors)

    def outcome(self, seconds: float | None = None, late: CarrelError | None = None) -> Outcome:
        """What it came to, if that is not too late; it may go on unheard."""
        self._done.wait(seconds)
        for error in self._errors:
            raise error
        if not self._outcomes:
            raise late or StoreUnavailable(f"no answer within {seconds:g} s")
        return self._outcomes[0]

    def _run(self) -> None:
        try:
            self._outcomes.append(self._work())
        except BaseException as error:
            self._errors.append(error)
        finally:
            self._done.set()


def within(seconds: float, work: Callable[[], Outcome], late: CarrelError | None = None) -> Outcome:
    return Begun(work).outcome(seconds, late)


def _inbox() -> Inbox:
    try:
        return _idle.pop()
    except IndexError:
        inbox: Inbox = SimpleQueue()
        threading.Thread(target=_serve, args=[inbox], daemon=True).start()
        return inbox


def _serve(inbox: Inbox) -> None:
    while True:
        inbox.get()()
        _idle.append(inbox)
