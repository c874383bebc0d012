"""Structured logs on stderr, off unless asked for: one JSON object a line, so that no value can forge another."""

from __future__ import annotations

import json
import logging
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping

_ROOT = "carrel"
logging.getLogger(_ROOT).addHandler(logging.NullHandler())


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


def configure(level: str) -> None:
    """Send Carrel's log to stderr from `level` on; `off` leaves it to the program that uses Carrel."""
    logger = logging.getLogger(_ROOT)
    logger.propagate = level == "off"
    logger.handlers = [logging.NullHandler()] if level == "off" else [logging.StreamHandler(sys.stderr)]
    logger.handlers[0].setFormatter(JsonLines())
    logger.setLevel(logging.NOTSET if level == "off" else level.upper())


def log(name: str, level: int, event: str, **fields: object) -> None:
    logging.getLogger(f"{_ROOT}.{name}").log(level, event, extra={"fields": fields})


@contextmanager
def timed(timings: MutableMapping[str, float], stage: str) -> Iterator[None]:
    """Note how many milliseconds a stage took, all its turns together, also when it failed."""
    start = time.perf_counter()
    try:
        yield
    finally:
        timings[stage] = round(timings.get(stage, 0.0) + (time.perf_counter() - start) * 1000, 3)
