"""The graph in a schema of a PostgreSQL database."""

from __future__ import annotations

from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql as composing

from carrel.errors import LibraryTooNew, StoreUnavailable
from carrel.graphs import said
from carrel.graphs.sql import SqlGraph
from carrel.graphs.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.graphs.sessions import Row

_PATIENCE = 10
"""Seconds that a server may take to answer the first time."""
# Texts are ordered by their characters, as everywhere else in Carrel, whatever the language of the database.
_STEPS = (TABLES.format(text='TEXT COLLATE "C"', whole="BIGINT", real="DOUBLE PRECISION", strict=""),)
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtext('carrel'))"
_VERSION = "CREATE TABLE IF NOT EXISTS graph_version (version INTEGER)"
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class PostgresqlGraph(SqlGraph):
    """`postgresql://user@host:5432/database`; each library has a schema of its own there."""

    def __init__(self, argument: str, *, namespace: str, password: str = "") -> None:
        super().__init__(_Server(f"postgresql:{argument}", namespace, password))


class _Server:
    """Connected when it is first needed, and again when the connection was lost."""

    def __init__(self, address: str, namespace: str, password: str) -> None:
        self._address = address
        self._namespace = namespace
        self._password = password
        self._opened: psycopg.Connection[Row] | None = None
        self._lock = RLock()

    @contextmanager
    def reading(self) -> Iterator[_Session]:
        with self._lock, self._reporting():
            connection = self._connection()
            connection.execute(_SNAPSHOT)
            try:
                yield _Session(connection)
            finally:
                if not connection.closed:
                    connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[_Session]:
        with self._lock, self._reporting():
            connection = self._connection()
            with connection.transaction():
                connection.execute("LOCK TABLE papers IN SHARE ROW EXCLUSIVE MODE")
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
        except psycopg.Error as error:
            reason = str(error).strip().splitlines()[-1]
            refused = "password" in reason or "authentication" in reason
            raise StoreUnavailable(
                f"cannot use the graph on {self._address!r}: {reason}",
                hint="Set graph_password, or CARREL_GRAPH_PASSWORD, to that user's password."
                if refused
                else "See that the server runs and the setting graph names it; or set graph = 'sqlite'.",
            ) from error

    def _connection(self) -> psycopg.Connection[Row]:
        if self._opened is None or self._opened.closed:
            self._opened = self._connect()
        return self._opened

    def _connect(self) -> psycopg.Connection[Row]:
        connection: psycopg.Connection[Row] = psycopg.connect(
            self._address, password=self._password or None, autocommit=True, connect_timeout=_PATIENCE
        )
        try:
            with connection.transaction():
                connection.execute(_ONE_AT_A_TIME)
                schema = composing.Identifier(self._namespace)
                connection.execute(composing.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
                connection.execute(composing.SQL("SET search_path TO {}").format(schema))
                self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: psycopg.Connection[Row]) -> None:
        connection.execute(_VERSION)
        version = len(connection.execute("SELECT version FROM graph_version").fetchall())
        if version > len(_STEPS):
            raise LibraryTooNew(
                f"the graph {self._namespace!r} on {self._address!r} was written by a newer Carrel (version {version})",
                hint="Upgrade Carrel: pip install --upgrade carrel.",
            )
        for number, step in enumerate(_STEPS[version:], start=version + 1):
            connection.execute(step.encode())
            connection.execute("INSERT INTO graph_version VALUES (%s)", [number])


class _Session:
    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        return self._connection.execute(_text(sql), _clean(values)).fetchall()

    def each(self, sql: str, many: Sequence[Sequence[object]]) -> list[list[Row]]:
        if not many:
            return []
        with self._connection.cursor() as cursor:
            cursor.executemany(_text(sql), [_clean(values) for values in many], returning=True)
            return [result.fetchall() for result in cursor.results()]

    def write(self, sql: str, many: Sequence[Sequence[object]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_text(sql), [_clean(values) for values in many])


def _text(sql: str) -> bytes:
    return sql.replace("?", "%s").encode()


def _clean(values: Sequence[object]) -> list[Any]:
    return [said.text(value) if isinstance(value, str) else value for value in values]
