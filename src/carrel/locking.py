"""One writer at a time, whichever processes there are."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from carrel.errors import LibraryBusy
from carrel.files import writing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filelock import BaseFileLock

    from carrel.types import Progress


@contextmanager
def held(path: Path, *, timeout: float, progress: Progress | None = None) -> Iterator[None]:
    """Be the one who writes while the block lasts. A process that dies lets go."""
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=0)
    with writing(path):
        try:
            lock.acquire()
        except Timeout:
            if progress:
                progress("waiting for another process to finish writing", 0, 0)
            _wait(lock, path, timeout)
    try:
        yield
    finally:
        lock.release()


def _wait(lock: BaseFileLock, path: Path, timeout: float) -> None:
    from filelock import Timeout

    try:
        lock.acquire(timeout=timeout)
    except Timeout as error:
        raise LibraryBusy(
            f"another process is writing to {str(path.parent)!r}",
            hint=f"Waited {timeout:g} s (setting lock_timeout). Try again when it has finished.",
        ) from error


def is_held(path: Path) -> bool:
    """Whether somebody is writing at this moment."""
    from filelock import FileLock, Timeout

    if not path.exists():
        return False
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        # On a read-only disk nobody writes.
        return False
