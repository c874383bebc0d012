"""The graph in an SQLite file."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING

from carrel.databases import connect, transaction
from carrel.errors import StoreUnavailable
from carrel.files import writing
from carrel.graphs import said
from carrel.graphs.sql import SqlGraph
from carrel.graphs.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from carrel.graphs.sessions import Row

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
        self._opened: sqlite3.Connection | None = None
        self._lock = RLock()

    @contextmanager
    def reading(self) -> Iterator[_Session]:
        with self._lock, self._reporting():
            if not self._path.exists():
                yield _Session(_nothing())
                return
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                yield _Session(connection)
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[_Session]:
        with self._lock, self._reporting():
            connection = self._connection()
            with transaction(connection):
                yield _Session(connection)

    def close(self) -> None:
        with self._lock:
            if self._opened:
                self._opened.close()
            self._opened = None

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreUnavailable(
                f"cannot use graph {str(self._path)!r}: {error}",
                hint="It is derived: delete that file and run 'carrel index build'.",
            ) from error

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            with writing(self._path):
                self._path.parent.mkdir(parents=True, exist_ok=True)
            self._opened = connect(self._path, _STEPS)
        return self._opened


class _Session:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        return self._connection.execute(sql, _clean(values)).fetchall()

    def each(self, sql: str, many: Sequence[Sequence[object]]) -> list[list[Row]]:
        return [self.rows(sql, values) for values in many]

    def write(self, sql: str, many: Sequence[Sequence[object]]) -> None:
        self._connection.executemany(sql, map(_clean, many))


def _clean(values: Sequence[object]) -> list[object]:
    return [said.text(value) if isinstance(value, str) else value for value in values]


def _nothing() -> sqlite3.Connection:
    """What a graph that was never written says: the tables, empty."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(_TABLES)
    return connection
