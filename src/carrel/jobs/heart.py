"""A worker's signs of life, and whether the silence of others tells anything."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from carrel.errors import CarrelError
from carrel.telemetry import log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BEAT = 5.0
SILENT = 20.0
"""Seconds without a beat after which a worker is taken to be dead."""
_LAST = 5.0
"""Seconds that the last beat may take."""


class Heart:
    """Beats in a thread of its own, whatever else the worker waits for."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._last = 0.0
        self._trusting = 0.0

    @property
    def is_heard(self) -> bool:
        """Whether others who are not heard are dead: they have had the time to be heard since we are."""
        now = time.monotonic()
        return not self._is_late(now) and now >= self._trusting

    def distrust(self) -> None:
        self._trusting = time.monotonic() + SILENT

    def beat(self) -> None:
        self._tell()
        now = time.monotonic()
        if self._last and self._is_late(now):
            self.distrust()
        self._last = now

    def _is_late(self, now: float) -> bool:
        """What keeps us from beating for so long may keep others, too."""
        return now - self._last >= SILENT / 2

    @contextmanager
    def beating(self) -> Iterator[None]:
        self.beat()
        over = threading.Event()
        thread = threading.Thread(target=self._beat_until, args=[over], name="carrel-heart", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(_LAST)

    def _beat_until(self, over: threading.Event) -> None:
        while not over.wait(BEAT):
            try:
                self.beat()
            except CarrelError as error:
                log("jobs", logging.WARNING, "not heard", reason=error.message)
