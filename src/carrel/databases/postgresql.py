"""A database in a schema of a PostgreSQL server, for SQL that others understand, too."""

from __future__ import annotations

import logging
from contextlib import closing, contextmanager
from dataclasses import dataclass
from threading import RLock, local
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors, sql
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from carrel.databases.absence import Absence
from carrel.databases.extensions import schema_of
from carrel.databases.postgresql_session import PostgresqlSession
from carrel.errors import (
    CarrelError,
    InvalidInput,
    LibraryTooNew,
    ReadOnlyLibrary,
    StorageFull,
    StoreUnavailable,
    password_hint,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.databases.extensions import Extension
    from carrel.databases.sessions import Database, Row

    Connection = psycopg.Connection[Row]
    Pool = ConnectionPool[Connection]

# What it says of lost connections is said by the errors, too.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

_PATIENCE = 10
"""Seconds that a server may take to answer the first time."""
_TURN = 10.0
"""Seconds that are waited for a connection while others have them all."""
_CONNECTIONS = 10
CONNECTING: dict[str, Any] = {
    "autocommit": True,
    "connect_timeout": _PATIENCE,
    "application_name": "carrel",
    # A server that is no longer there is noticed in half a minute.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
"""How every connection is made."""
_KEPT_ALIVE = {"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "4"}
_WATCHED = """
    SELECT set_config(name, value, false)
    FROM pg_settings JOIN unnest(%s::text[], %s::text[]) AS wanted (name, value) USING (name)"""
_STALLED = "60s"
"""What was begun and is not gone on with for so long is undone: a process that is halted keeps nobody from writing."""
_STALLED_TOGETHER = "10min"
"""The same, while other stores are written, too, which may be slow."""
_MAY_STALL = "SELECT set_config('idle_in_transaction_session_timeout', %s, true)"
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtext('carrel'))"
_SOON = "SET LOCAL lock_timeout = '5s'"
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


@dataclass(frozen=True, slots=True)
class Tables:
    """What is kept in a schema."""

    what: str
    """As it is called, and as the settings that name its server begin."""
    steps: Sequence[str]
    """Step n makes version n."""
    instead: str = "sqlite"
    """What needs no server."""
    extension: Extension | None = None
    """What the server needs for it."""


class _Link:
    """The connections to a server, of all that is kept there."""

    def __init__(self) -> None:
        self.pool: Pool | None = None
        self.lock = RLock()
        self.absence = Absence()
        self._here = local()

    @property
    def held(self) -> Connection | None:
        """In which this thread writes together."""
        found: Connection | None = getattr(self._here, "connection", None)
        return found

    @contextmanager
    def holding(self, connection: Connection) -> Iterator[None]:
        self._here.connection = connection
        try:
            yield
        finally:
            self._here.connection = None

    def abandon(self, pool: Pool) -> None:
        """All of its connections were lost with the one; the next who needs one looks for the server first."""
        with self.lock:
            if self.pool is pool:
                self.pool = None
        pool.close(timeout=0.1)


class Server:
    """Connected when it is first needed, and again when the server was lost and is back."""

    def __init__(
        self, address: str, namespace: str, password: str, tables: Tables, *, beside: Server | None = None
    ) -> None:
        """Beside another, it has the other's connections, and writes together with it."""
        self.address = address
        self.namespace = namespace
        self._password = password
        self._tables = tables
        self._beside = beside
        self._link: _Link = beside._link if beside else _Link()
        self._arrived: Pool | None = None
        self._path: sql.Composable = sql.Identifier(namespace)

    def beside(self, namespace: str, tables: Tables) -> Server:
        return Server(self.address, namespace, self._password, tables, beside=self)

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        with self._reporting(), self._connection() as connection:
            return PostgresqlSession(connection).rows(statement, values)

    @contextmanager
    def reading(self) -> Iterator[PostgresqlSession]:
        with self._reporting(), self._connection() as connection:
            if self._link.held:
                with connection.transaction():
                    yield PostgresqlSession(connection)
                return
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
            _lock(connection, alone)
            yield PostgresqlSession(connection)

    @contextmanager
    def apart(self, *alone: str) -> Iterator[PostgresqlSession]:
        """Written by itself, whatever becomes of what this thread writes together.

        It fails soon where that is in its way, for neither could go on.
        """
        with self._reporting(), self._waiting(), self._pooled() as connection, connection.transaction():
            connection.execute(_SOON)
            _lock(connection, alone)
            yield PostgresqlSession(connection)

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """What is written together waits for what is written apart: for an index, half an hour perhaps."""
        held = self._link.held
        if held is None:
            yield
            return
        held.execute(_MAY_STALL, ["0"])
        try:
            yield
        finally:
            held.execute(_MAY_STALL, [_STALLED_TOGETHER])

    @contextmanager
    def together(self) -> Iterator[None]:
        if self._link.held:
            yield
            return
        with (
            self._reporting(),
            self._pooled() as connection,
            connection.transaction(),
            self._link.holding(connection),
        ):
            connection.execute(_MAY_STALL, [_STALLED_TOGETHER])
            yield

    def close(self) -> None:
        self._arrived = None
        if self._beside:
            return
        with self._link.lock:
            opened, self._link.pool = self._link.pool, None
        if opened:
            opened.close()

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        held = self._link.held
        if held is None:
            with self._pooled() as connection:
                yield connection
        else:
            self._pool()
            self._enter(held)
            yield held

    @contextmanager
    def _pooled(self) -> Iterator[Connection]:
        pool, connection = self._taken()
        try:
            yield connection
        finally:
            if connection.broken:
                self._link.abandon(pool)
            pool.putconn(connection)

    def _taken(self) -> tuple[Pool, Connection]:
        """A connection that answers, and where it belongs; a server that was lost is looked for, not waited for."""
        pool = self._pool()
        try:
            connection = pool.getconn()
        except PoolClosed:
            # Somebody else saw that the server was lost.
            return self._first()
        except PoolTimeout:
            self._explain_waiting(pool)
            raise
        try:
            self._enter(connection)
        except psycopg.OperationalError:
            self._link.abandon(pool)
            pool.putconn(connection)
            return self._first()
        return pool, connection

    def _first(self) -> tuple[Pool, Connection]:
        pool = self._pool()
        connection = pool.getconn()
        try:
            self._enter(connection)
        except BaseException:
            pool.putconn(connection)
            raise
        return pool, connection

    def _explain_waiting(self, pool: Pool) -> None:
        """Fails where it was for the server that was waited, and not for others who have all connections."""
        try:
            self._arrive()
        except psycopg.Error:
            self._link.abandon(pool)
            raise

    def _pool(self) -> Pool:
        opened = self._link.pool
        if opened is None or opened is not self._arrived:
            self._arrive()
            with self._link.lock:
                opened = self._arrived = self._link.pool = self._link.pool or self._made()
        return opened

    def _made(self) -> Pool:
        return ConnectionPool(
            self.address,
            kwargs={**CONNECTING, "password": self._password or None},
            configure=_prepare,
            min_size=0,
            max_size=_CONNECTIONS,
            timeout=_TURN,
            reconnect_timeout=1.0,
            num_workers=1,
            open=True,
        )

    def _arrive(self) -> None:
        """See that the server is there, and that the schema is of this version."""
        with self._link.absence.looked_for(_PATIENCE) as patience:
            connecting = {**CONNECTING, "password": self._password or None, "connect_timeout": patience}
            connection: Connection = psycopg.connect(self.address, **connecting)
        with closing(connection):
            self._settle_in(connection)

    def _settle_in(self, connection: Connection) -> None:
        _prepare(connection)
        with connection.transaction():
            connection.execute(_ONE_AT_A_TIME)
            own = sql.Identifier(self.namespace)
            connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(own))
            needed = self._tables.extension
            found = [sql.Identifier(schema_of(needed, connection, self.address))] if needed else []
            self._path = sql.SQL(", ").join([own, *found])
            self._enter(connection)
            self._migrate(connection)

    def _enter(self, connection: Connection) -> None:
        """Asked each time: it also shows whether the server answers."""
        connection.execute(sql.SQL("SET search_path TO {}").format(self._path))

    def _migrate(self, connection: Connection) -> None:
        versions = sql.Identifier(f"{self._tables.what}_version")
        connection.execute(sql.SQL("CREATE TABLE IF NOT EXISTS {} (version INTEGER)").format(versions))
        version = len(connection.execute(sql.SQL("SELECT version FROM {}").format(versions)).fetchall())
        if version > len(self._tables.steps):
            raise LibraryTooNew(
                f"the {self._tables.what} {self.namespace!r} on {self.address!r} was written by a newer Carrel "
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
        reason = f"cannot use the {what} on {self.address!r}: {_reason(error)}"
        if isinstance(error, errors.DiskFull):
            return StorageFull(reason, hint="Free some space on the server and run the same command again.")
        if isinstance(error, errors.ReadOnlySqlTransaction | errors.InsufficientPrivilege):
            return ReadOnlyLibrary(reason, hint="Give that user the right to write, or name another.")
        if isinstance(error, errors.ProgramLimitExceeded):
            return InvalidInput(reason, hint="Something there is longer than the server can look up: shorten it.")
        named = self._beside._tables.what if self._beside else what
        if "password" in reason or "authentication" in reason:
            return StoreUnavailable(reason, hint=password_hint(named))
        hint = f"See that the server runs and the setting {named} names it; or set {what} = '{self._tables.instead}'."
        return StoreUnavailable(reason, hint=hint)


def kept_on(database: Database | None, address: str, namespace: str, password: str, tables: Tables) -> Server:
    """On the server of that address; on the catalog's own, and together with it, if it is the same or none is named."""
    catalog = database if isinstance(database, Server) else None
    if catalog and address in ("", catalog.address):
        return catalog.beside(namespace, tables)
    if address:
        return Server(address, namespace, password, tables)
    raise InvalidInput(
        f"the {tables.what} cannot be kept beside a catalog that is not on PostgreSQL",
        hint=f"Set catalog = 'postgresql://user@host/database', or {tables.what} to such an address; "
        f"or set {tables.what} = '{tables.instead}'.",
    )


def watch(connection: Connection, **settings: str) -> None:
    """Have the server notice who is cut off, as the server is noticed, and go by these settings."""
    wanted = {**_KEPT_ALIVE, **settings}
    connection.execute(_WATCHED, [list(wanted), list(wanted.values())])


def _prepare(connection: Connection) -> None:
    # Who has waited for a lock looks at what is there then, whatever the server's default.
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
    watch(connection, idle_in_transaction_session_timeout=_STALLED)


def _lock(connection: Connection, tables: Sequence[str]) -> None:
    for table in tables:
        lock = sql.SQL("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE")
        connection.execute(lock.format(sql.Identifier(table)))


def _reason(error: psycopg.Error) -> str:
    """In one line, without the values that a statement had."""
    told = (error.diag.message_primary or str(error)).strip().splitlines()
    return next((line.strip(" -") for line in told if not line.endswith(":")), type(error).__name__)
