"""A database in an SQLite file, for SQL that others understand, too."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from threading import BoundedSemaphore, Lock, RLock
from typing import TYPE_CHECKING

from carrel.databases import CACHE, PATIENCE, connect, transaction
from carrel.databases.sessions import AT_ONCE, clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from carrel.databases.sessions import Row
    from carrel.errors import CarrelError

_READERS = 4
"""That read at one time."""
_SPARE_CACHE = 4_096
"""Kilobytes of the file that each of them keeps but the first, which is the only one most of the time."""
_SHORTLY = 0.2
"""Seconds."""


class File:
    """Threads that read wait neither for each other nor for the one that writes."""

    def __init__(
        self, path: Path, steps: Sequence[str], explained: Callable[[sqlite3.Error, Path], CarrelError]
    ) -> None:
        self._path = path
        self._steps = steps
        self._explained = explained
        self._turn = RLock()
        self._readers = BoundedSemaphore(_READERS)
        self._idle: list[sqlite3.Connection] = []
        self._first: sqlite3.Connection | None = None
        self._guard = Lock()
        self._closed = False
        with self._reporting():
            self._writer = connect(path, steps)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        with self._reporting(), self._reader() as connection:
            return SqliteSession(connection).rows(sql, values)

    @contextmanager
    def reading(self) -> Iterator[SqliteSession]:
        with self._reporting(), self._reader() as connection:
            connection.execute("BEGIN")
            try:
                yield SqliteSession(connection)
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self, *_alone: str, hurried: bool = False) -> Iterator[SqliteSession]:
        """Nobody else writes to the file meanwhile."""
        patience = _SHORTLY if hurried else PATIENCE
        with self._turn, self._reporting(), self._patience(patience), transaction(self._writer):
            yield SqliteSession(self._writer)

    def together(self) -> AbstractContextManager[None]:
        """A file has one writer: it is not kept from the others while other stores are written."""
        return nullcontext()

    def close(self) -> None:
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in (*idle, self._writer):
            connection.close()

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        with self._readers:
            connection = self._taken()
            try:
                yield connection
            finally:
                self._give_back(connection)

    def _taken(self) -> sqlite3.Connection:
        with self._guard:
            if self._closed:
                raise sqlite3.ProgrammingError("it is closed")
            if self._idle:
                return self._idle.pop()
        if not self._path.exists():
            # Else it would be made anew, and empty.
            raise sqlite3.OperationalError("the file is gone")
        connection = connect(self._path, self._steps, cache=_SPARE_CACHE if self._first else CACHE)
        self._first = self._first or connection
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._guard:
            if not self._closed:
                self._idle.insert(len(self._idle) if connection is self._first else 0, connection)
                return
        connection.close()

    @contextmanager
    def _patience(self, seconds: float) -> Iterator[None]:
        """How long is waited for another process that writes."""
        self._writer.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")
        try:
            yield
        finally:
            self._writer.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._explained(error, self._path) from error


class SqliteSession:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        return self._connection.execute(sql, clean(values)).fetchall()

    def stream(self, sql: str, values: Sequence[object] = ()) -> Iterator[list[Row]]:
        cursor = self._connection.execute(sql, clean(values))
        while rows := cursor.fetchmany(AT_ONCE):
            yield rows

    def each(self, sql: str, many: Sequence[Sequence[object]]) -> list[list[Row]]:
        return [self.rows(sql, values) for values in many]

    def write(self, sql: str, many: Sequence[Sequence[object]]) -> int:
        return self._connection.executemany(sql, map(clean, many)).rowcount

    def now(self) -> str:
        return datetime.now(UTC).isoformat(timespec="microseconds")
