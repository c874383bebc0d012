"""Whose turn it is to write, whichever processes and machines there are."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from carrel.errors import LibraryBusy
from carrel.files import writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from filelock import BaseFileLock

    from carrel.types import Progress

_LIBRARY = "library"


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


class Lock(NamedTuple):
    name: str
    is_shared: bool = False
    """Whether others may have it, too, who want no more than to share it."""


class Locks(Protocol):
    """Locks that every machine sees. Whoever dies, or is cut off, lets go."""

    def held(self, locks: Sequence[Lock], *, timeout: float) -> AbstractContextManager[Callable[[], None]]:
        """Have these, one after the other, or raise `LibraryBusy`. What is given raises once they are lost."""
        ...


@dataclass(frozen=True)
class LibraryLock:
    """Who may write to one library.

    Who writes alone waits for all others. Where every store can be written by several at once, others wait only for
    who is at the same paper; where one of them is of files, everybody writes alone.
    """

    path: Path
    """The file that writers in one folder lock."""
    locks: Locks | None = None
    """None where all writers are on one machine."""
    side_by_side: bool = False
    """Whether several can write to the stores at once."""

    @contextmanager
    def alone(self, *, timeout: float, progress: Progress | None = None) -> Iterator[Callable[[], None]]:
        """Given is what raises once the turn is lost, as on a server that was restarted."""
        with held(self.path, timeout=timeout, progress=progress):
            if self.locks is None:
                yield _nothing
                return
            with self.locks.held([Lock(_LIBRARY)], timeout=timeout) as check:
                yield check

    def beside(self, name: str, *, timeout: float) -> AbstractContextManager[Callable[[], None]]:
        """Be the one who is at something, beside others who are at something else."""
        if self.locks is None or not self.side_by_side:
            return self.alone(timeout=timeout)
        return self.locks.held([Lock(_LIBRARY, is_shared=True), Lock(name)], timeout=timeout)

    def further(self, name: str, *, timeout: float) -> AbstractContextManager[Callable[[], None]]:
        """The same, of who has a turn already: `beside` never waits for who waits for this."""
        if self.locks is None or not self.side_by_side:
            return _had()
        return self.locks.held([Lock(name)], timeout=timeout)


@contextmanager
def _had() -> Iterator[Callable[[], None]]:
    yield _nothing


def _nothing() -> None:
    """A lock on a file is not lost."""
