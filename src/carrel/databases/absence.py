"""A server that was waited for in vain: who asks next does not wait as long, and for a moment not at all."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_IN_VAIN = 1.0
"""Seconds: who is refused sooner has not waited."""
_MOMENT = 2.0
WHETHER_BACK = 3
"""Seconds that one which was lost may take to say that it is there."""
_A_WHILE = 60.0
"""Seconds after which it is given all the time again: it may be one that needs it."""


class Absence:
    def __init__(self) -> None:
        self._error: Exception | None = None
        self._until = 0.0
        self._waited = 0.0

    @contextmanager
    def looked_for(self, patience: int) -> Iterator[int]:
        """Given is how many seconds the server may take; raises at once where one waited for it just now."""
        last = self._error
        if last and time.monotonic() < self._until:
            raise last.with_traceback(None)
        start = time.monotonic()
        is_brief = last is not None and start - self._waited < _A_WHILE
        if not is_brief:
            self._waited = start
        try:
            yield WHETHER_BACK if is_brief else patience
        except Exception as error:
            now = time.monotonic()
            self._error, self._until = (error, now + _MOMENT) if now - start > _IN_VAIN else (None, 0.0)
            raise
        self._error = None
