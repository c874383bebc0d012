"""The catalog in one SQLite file, in WAL mode: readers never wait for the writer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.catalogs.migrations import steps
from carrel.catalogs.sql import SqlCatalog
from carrel.databases.sqlite import File
from carrel.errors import CarrelError, ReadOnlyLibrary, StorageFull, StoreUnavailable

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


class SqliteCatalog(SqlCatalog):
    def __init__(self, path: Path) -> None:
        super().__init__(File(path, steps("sqlite"), _explained))


def _explained(error: sqlite3.Error, path: Path) -> CarrelError:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_FULL") or "disk is full" in str(error):
        return StorageFull(
            f"no space left to write {str(path)!r}", hint="Free some space and run the same command again."
        )
    if name.startswith("SQLITE_READONLY"):
        return ReadOnlyLibrary(f"cannot write to {str(path)!r}: it is read-only", hint="Make the directory writable.")
    return StoreUnavailable(f"cannot use catalog {str(path)!r}: {error}", hint="Run `carrel doctor`.")
