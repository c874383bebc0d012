"""A database in a schema of a PostgreSQL server, for SQL that others understand, too."""

from __future__ import annotations

import logging
from contextlib import closing, contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors, sql
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from carrel.databases.sessions import AT_ONCE, clean
from carrel.errors import CarrelError, InvalidInput, LibraryTooNew, ReadOnlyLibrary, StorageFull, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.databases.sessions import Row

    Connection = psycopg.Connection[Row]

# What it says of lost connections is said by the errors, too.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

_PATIENCE = 10
"""Seconds that a server may take to answer the first time."""
_TURN = 10.0
"""Seconds that are waited for a connection while others have them all."""
_CONNECTIONS = 10
_SETTINGS: dict[str, Any] = {
    "autocommit": True,
    "connect_timeout": _PATIENCE,
    "application_name": "carrel",
    # A server that is no longer there is noticed in half a minute.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtext('carrel'))"
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_NOW = """SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '+00:00'"""


@dataclass(frozen=True, slots=True)
class Tables:
    """What is kept in a schema."""

    what: str
    """As it is called, and as the settings that name its server begin."""
    steps: Sequence[str]
    """Step n makes version n."""


class Server:
    """Connected when it is first needed, and again when the server was lost and is back."""

    def __init__(self, address: str, namespace: str, password: str, tables: Tables) -> None:
        self._address = address
        self._namespace = namespace
        self._password = password
        self._tables = tables
        self._opened: ConnectionPool[Connection] | None = None
        self._lock = RLock()

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        with self._reporting(), self._connection() as connection:
            return PostgresqlSession(connection).rows(statement, values)

    @contextmanager
    def reading(self) -> Iterator[PostgresqlSession]:
        with self._reporting(), self._connection() as connection:
            connection.execute(_SNAPSHOT)
            try:
                yield PostgresqlSession(connection)
            finally:
                if not connection.closed:
                    connection.execute("ROLLBACK")

    @contextmanager
    def writing(self, *alone: str, hurried: bool = False) -> Iterator[PostgresqlSession]:
        """Nothing is hurried: who writes elsewhere keeps nobody from writing here."""
        with self._reporting(), self._connection() as connection, connection.transaction():
            for table in alone:
                lock = sql.SQL("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE")
                connection.execute(lock.format(sql.Identifier(table)))
            yield PostgresqlSession(connection)

    def close(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, None
        if opened:
            opened.close()

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        pool, connection = self._taken()
        try:
            yield connection
        finally:
            if connection.broken:
                self._abandon(pool)
            pool.putconn(connection)

    def _taken(self) -> tuple[ConnectionPool[Connection], Connection]:
        """A connection that answers, and where it belongs; a server that was lost is looked for, not waited for."""
        pool = self._pool()
        try:
            connection = pool.getconn()
        except PoolClosed:
            # Somebody else saw that the server was lost.
            pool = self._pool()
            return pool, pool.getconn()
        except PoolTimeout:
            self._explain_waiting(pool)
            raise
        if _answers(connection):
            return pool, connection
        self._abandon(pool)
        pool.putconn(connection)
        pool = self._pool()
        return pool, pool.getconn()

    def _explain_waiting(self, pool: ConnectionPool[Connection]) -> None:
        """Fails where it was for the server that was waited, and not for others who have all connections."""
        try:
            self._arrive()
        except psycopg.Error:
            self._abandon(pool)
            raise

    def _pool(self) -> ConnectionPool[Connection]:
        opened = self._opened
        if opened is None:
            self._arrive()
            with self._lock:
                opened = self._opened = self._opened or self._made()
        return opened

    def _made(self) -> ConnectionPool[Connection]:
        return ConnectionPool(
            self._address,
            kwargs={**_SETTINGS, "password": self._password or None},
            min_size=0,
            max_size=_CONNECTIONS,
            timeout=_TURN,
            reconnect_timeout=1.0,
            num_workers=1,
            configure=self._enter,
            open=True,
        )

    def _abandon(self, pool: ConnectionPool[Connection]) -> None:
        """All of its connections were lost with the one; the next who needs one looks for the server first."""
        with self._lock:
            if self._opened is pool:
                self._opened = None
        pool.close(timeout=0.1)

    def _arrive(self) -> None:
        """See that the server is there, and that the schema is of this version."""
        connection: Connection = psycopg.connect(self._address, password=self._password or None, **_SETTINGS)
        with closing(connection), connection.transaction():
            connection.execute(_ONE_AT_A_TIME)
            schema = sql.Identifier(self._namespace)
            connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
            self._enter(connection)
            self._migrate(connection)

    def _enter(self, connection: Connection) -> None:
        connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(self._namespace)))

    def _migrate(self, connection: Connection) -> None:
        versions = sql.Identifier(f"{self._tables.what}_version")
        connection.execute(sql.SQL("CREATE TABLE IF NOT EXISTS {} (version INTEGER)").format(versions))
        version = len(connection.execute(sql.SQL("SELECT version FROM {}").format(versions)).fetchall())
        if version > len(self._tables.steps):
            raise LibraryTooNew(
                f"the {self._tables.what} {self._namespace!r} on {self._address!r} was written by a newer Carrel "
                f"(version {version})",
                hint="Upgrade Carrel: pip install --upgrade carrel.",
            )
        for number, step in enumerate(self._tables.steps[version:], start=version + 1):
            connection.execute(step.encode())
            connection.execute(sql.SQL("INSERT INTO {} VALUES (%s)").format(versions), [number])

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise self._explained(error) from error

    def _explained(self, error: psycopg.Error) -> CarrelError:
        what = self._tables.what
        reason = f"cannot use the {what} on {self._address!r}: {_reason(error)}"
        if isinstance(error, errors.DiskFull):
            return StorageFull(reason, hint="Free some space on the server and run the same command again.")
        if isinstance(error, errors.ReadOnlySqlTransaction | errors.InsufficientPrivilege):
            return ReadOnlyLibrary(reason, hint="Give that user the right to write, or name another.")
        if isinstance(error, errors.ProgramLimitExceeded):
            return InvalidInput(reason, hint="Something there is longer than the server can look up: shorten it.")
        if "password" in reason or "authentication" in reason:
            setting = f"{what}_password"
            hint = f"Set {setting}, or CARREL_{setting.upper()}, to that user's password."
            return StoreUnavailable(reason, hint=hint)
        hint = f"See that the server runs and the setting {what} names it; or set {what} = 'sqlite'."
        return StoreUnavailable(reason, hint=hint)


class PostgresqlSession:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        return self._connection.execute(_text(statement), clean(values)).fetchall()

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[list[Row]]:
        with self._connection.cursor("stream") as cursor:
            cursor.execute(_text(statement), clean(values))
            while rows := cursor.fetchmany(AT_ONCE):
                yield rows

    def each(self, statement: str, many: Sequence[Sequence[object]]) -> list[list[Row]]:
        if not many:
            return []
        with self._connection.cursor() as cursor:
            cursor.executemany(_text(statement), map(clean, many), returning=True)
            return [result.fetchall() for result in cursor.results()]

    def write(self, statement: str, many: Sequence[Sequence[object]]) -> int:
        with self._connection.cursor() as cursor:
            cursor.executemany(_text(statement), map(clean, many))
            return cursor.rowcount

    def now(self) -> str:
        return str(self._connection.execute(_NOW).fetchall()[0][0])


def _answers(connection: Connection) -> bool:
    try:
        connection.execute("")
    except psycopg.OperationalError:
        return False
    return True


def _reason(error: psycopg.Error) -> str:
    """In one line, without the values that a statement had."""
    told = (error.diag.message_primary or str(error)).strip().splitlines()
    return next((line.strip(" -") for line in told if not line.endswith(":")), type(error).__name__)


def _text(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()
