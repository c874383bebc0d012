"""Pictures of pages that were drawn already: derived, bounded, and done without where nothing can be written."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.errors import StoreUnavailable
from carrel.files import write_atomically
from carrel.telemetry import log

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 256_000_000
_LEFT = 0.9
"""How much stays when some has to go."""


@dataclass(frozen=True, slots=True)
class Kept:
    folder: Path
    most: int = MOST_BYTES

    def get(self, name: str) -> bytes | None:
        with suppress(OSError):
            return (self.folder / name).read_bytes()
        return None

    def put(self, name: str, content: bytes) -> None:
        """Keep a picture, and let the oldest go where they are too many; no picture is worth failing for."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / name, content, durable=False)
            self._bound()
        except (OSError, StoreUnavailable) as error:
            log("pages", logging.INFO, "picture not kept", reason=str(error))

    def _bound(self) -> None:
        with os.scandir(self.folder) as entries:
            seen = sorted(
                (status.st_mtime_ns, status.st_size, entry.path) for entry in entries if (status := entry.stat())
            )
        total = sum(size for _, size, _ in seen)
        if total <= self.most:
            return
        for _, size, path in seen:
            with suppress(FileNotFoundError):
                os.unlink(path)  # noqa: PTH108
            total -= size
            if total <= self.most * _LEFT:
                return
