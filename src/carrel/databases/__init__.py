"""SQLite files: opened for many readers and one writer, migrated by numbered steps, changed in whole transactions."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from carrel.errors import LibraryTooNew
from carrel.files import is_writable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


CACHE = 32_768
"""Kilobytes of a file that are kept in memory, once read. The usual 2,000 do not hold a large library's indexes."""
PATIENCE = 30.0
"""Seconds that a writer waits for another."""
_NAMED = 20
"""How many faults of a file are told."""


def connect(path: Path, steps: Sequence[str], *, cache: int = CACHE) -> sqlite3.Connection:
    """Open a file, of which step n makes version n, and bring it to the last; keep as much of it as `cache` says."""
    writable = is_writable(path.parent)
    # A database in WAL mode can be read without writing beside it only when it is declared unchanging.
    query = "" if writable else "?mode=ro&immutable=1"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}{query}", uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        if writable:
            # Refused while another process does the same; the mode is the file's, so that one of them suffices.
            with suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA cache_size = -{cache}")
        _migrate(connection, path, steps)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of what happens inside, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def faults(path: Path) -> list[str]:
    """What SQLite itself finds wrong in a file: pages, indexes, rows whose other half is gone."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=PATIENCE)) as connection:
            told = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_NAMED})")]
            lost = connection.execute("PRAGMA foreign_key_check").fetchmany(_NAMED)
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return [*(line for line in told if line != "ok"), *(f"a row of {row[0]} has lost its {row[2]}" for row in lost)]


def _migrate(connection: sqlite3.Connection, path: Path, steps: Sequence[str]) -> None:
    while _version(connection) < len(steps):
        with transaction(connection):
            # Asked again: another process may have taken the step meanwhile.
            if (version := _version(connection)) < len(steps):
                for statement in _statements(steps[version]):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version + 1}")
    version = _version(connection)
    if version > len(steps):
        raise LibraryTooNew(
            f"{str(path)!r} was written by a newer Carrel (version {version}, this one knows {len(steps)})",
            hint="Upgrade Carrel: pip install --upgrade carrel.",
        )


def _statements(script: str) -> Iterator[str]:
    """One at a time: a whole script would be run outside of the transaction."""
    begun = ""
    for piece in script.split(";"):
        begun += f"{piece};"
        if sqlite3.complete_statement(begun):
            yield begun
            begun = ""


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
