"""The graph in an SQLite file."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from carrel.databases.sqlite import File, SqliteSession
from carrel.errors import StoreUnavailable
from carrel.files import writing
from carrel.graphs.sql import SqlGraph
from carrel.graphs.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from carrel.databases.sessions import Row, Session

_TABLES = TABLES.format(text="TEXT", whole="INTEGER", real="REAL", strict=" STRICT")
_OLD_TABLES = ("names", "aliases", "places", "mentions", "triples")
_STEPS = (
    "".join(f"CREATE TABLE {table} (paper_id TEXT);" for table in _OLD_TABLES),
    "".join(f"DROP TABLE {table};" for table in _OLD_TABLES) + _TABLES,
)
"""The first kept what no later version reads; all of it comes back from the papers."""


class SqliteGraph(SqlGraph):
    def __init__(self, path: Path) -> None:
        super().__init__(_File(path))


class _File:
    """Opened when it is first needed; made when something is to be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: File | None = None
        self._lock = Lock()

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        with self.reading() as session:
            return session.rows(sql, values)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        if not self._path.exists():
            yield SqliteSession(_nothing())
            return
        with self._file().reading() as session:
            yield session

    @contextmanager
    def writing(self, *alone: str, hurried: bool = False) -> Iterator[Session]:
        with self._file().writing(*alone, hurried=hurried) as session:
            yield session

    def together(self) -> AbstractContextManager[None]:
        return self._file().together()

    def close(self) -> None:
        with self._lock:
            if self._opened:
                self._opened.close()
            self._opened = None

    def _file(self) -> File:
        with self._lock:
            if self._opened is None:
                with writing(self._path):
                    self._path.parent.mkdir(parents=True, exist_ok=True)
                self._opened = File(self._path, _STEPS, _explained)
            return self._opened


def _explained(error: sqlite3.Error, path: Path) -> StoreUnavailable:
    return StoreUnavailable(
        f"cannot use graph {str(path)!r}: {error}",
        hint="It is derived: delete that file and run 'carrel index build'.",
    )


def _nothing() -> sqlite3.Connection:
    """What a graph that was never written says: the tables, empty."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(_TABLES)
    return connection
