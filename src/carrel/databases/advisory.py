"""Locks on a PostgreSQL server, for writers on several machines.

Each has a connection of its own and ends with it, however it ends: by a process that dies, or by a machine that is cut
off, which the server notices in half a minute.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING

import psycopg
from psycopg import errors

from carrel.databases.postgresql import CONNECTING, watch
from carrel.errors import LibraryBusy, StoreUnavailable, password_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from carrel.databases.sessions import Row

    Connection = psycopg.Connection[Row]

_CONNECTING = {**CONNECTING, "application_name": "carrel lock"}
_WAIT = "SELECT set_config('lock_timeout', %s, false)"
_TAKE = "SELECT pg_advisory_lock(%s)"
_SHARE = "SELECT pg_advisory_lock_shared(%s)"
_SHORTEST = 1
"""Milliseconds: none at all would be for ever."""


class AdvisoryLocks:
    """Of one library: its namespace keeps them apart from those of others in the same database."""

    def __init__(self, address: str, namespace: str, password: str) -> None:
        self._address = address
        self._namespace = namespace
        self._password = password

    @contextmanager
    def held(self, locks: Sequence[tuple[str, bool]], *, timeout: float) -> Iterator[Callable[[], None]]:
        """Have these, each by its name and whether it is shared. What is given raises once they are lost."""
        with self._reporting(timeout):
            connection: Connection = psycopg.connect(self._address, password=self._password or None, **_CONNECTING)
        with closing(connection):
            with self._reporting(timeout):
                # Who is merely busy is left alone.
                watch(connection, idle_session_timeout="0")
                connection.execute(_WAIT, [f"{max(_SHORTEST, round(timeout * 1000))}ms"])
                for name, is_shared in locks:
                    connection.execute(_SHARE if is_shared else _TAKE, [self._key(name)])
            yield lambda: self._check(connection, timeout)

    def _key(self, name: str) -> int:
        """A number of 64 bits, as the server wants it."""
        digest = blake2b(f"{self._namespace}\0{name}".encode("utf-8", "replace"), digest_size=8).digest()
        return int.from_bytes(digest, signed=True)

    def _check(self, connection: Connection, timeout: float) -> None:
        with self._reporting(timeout):
            connection.execute("")

    @contextmanager
    def _reporting(self, timeout: float) -> Iterator[None]:
        try:
            yield
        except errors.LockNotAvailable as error:
            raise LibraryBusy(
                f"another process is writing to {self._namespace!r} on {self._address!r}",
                hint=f"Waited {timeout:g} s (setting lock_timeout). Try again when it has finished.",
            ) from error
        except psycopg.Error as error:
            told = (error.diag.message_primary or str(error)).strip().splitlines()
            reason = told[0] if told else type(error).__name__
            raise StoreUnavailable(
                f"cannot lock {self._namespace!r} on {self._address!r}: {reason}",
                hint=password_hint("catalog")
                if "password" in reason or "authentication" in reason
                else "See that the server runs and the setting catalog names it.",
            ) from error
