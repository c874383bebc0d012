"""Who changed what, and who was turned away: one JSON object a line, so that no value can forge another."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from carrel.errors import CarrelError
from carrel.files import writing
from carrel.locking import held
from carrel.telemetry import log

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST = 5_000_000
"""Bytes after which a new file is begun."""
_KEPT = 4
"""Full files that are kept; older ones go."""
_LONGEST = 300
"""Characters of a value: who sends more is known by the first of them."""
_PATIENCE = 2.0
"""Seconds."""
_REFUSALS = 120
"""In a minute: a flood of them must not wash away what else happened."""


class Audit:
    """Lines are only ever added. Failing to write one is told in the log and fails nothing else."""

    def __init__(self, path: Path, *, largest: int = _LARGEST) -> None:
        self._path = path
        self._largest = largest
        self._refusals = _Quota(_REFUSALS)

    def note(self, action: str, **fields: object) -> None:
        """Something was done. No fields may hold a secret, nor the words of a question."""
        self._add({"action": action, **fields})

    def refuse(self, reason: str, **fields: object) -> None:
        """Somebody was turned away; only so many a minute are written, and how many were not."""
        unwritten = self._refusals.take()
        if unwritten is not None:
            more = {"unwritten_before": unwritten} if unwritten else {}
            self._add({"action": "refused", "reason": reason, **fields, **more})

    def _add(self, fields: dict[str, object]) -> None:
        entry = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **fields}
        # ASCII alone: whatever a terminal or an editor takes for the end of a line is escaped.
        line = json.dumps({name: _short(value) for name, value in entry.items()}) + "\n"
        try:
            with held(self._path.with_suffix(".lock"), timeout=_PATIENCE), writing(self._path):
                self._rotate()
                self._append(line.encode())
        except CarrelError as error:
            log("audit", logging.ERROR, "not written", reason=error.message, **fields)

    def _append(self, line: bytes) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def _rotate(self) -> None:
        if not self._path.exists() or self._path.stat().st_size < self._largest:
            return
        for number in range(_KEPT - 1, 0, -1):
            if self._full(number).exists():
                self._full(number).replace(self._full(number + 1))
        self._path.replace(self._full(1))

    def _full(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.stem}.{number}{self._path.suffix}")


class _Quota:
    """So many in a minute."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._turn = threading.Lock()
        self._minute = -1
        self._taken = 0
        self._missed = 0

    def take(self) -> int | None:
        """How many were missed before this one; None if this one is."""
        with self._turn:
            minute = int(time.monotonic() // 60)
            if minute != self._minute:
                self._minute, self._taken = minute, 0
            if self._taken >= self._most:
                self._missed += 1
                return None
            self._taken += 1
            missed, self._missed = self._missed, 0
            return missed


def _short(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
