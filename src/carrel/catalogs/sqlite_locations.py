"""The locations in the catalog's database."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from carrel.catalogs.locations import KnownEntry, KnownFile, Location

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Sequence
    from contextlib import AbstractContextManager

    Read = Callable[..., list[sqlite3.Row]]
    Transaction = Callable[[], AbstractContextManager[sqlite3.Connection]]

_PUT_LOCATION = """
    INSERT INTO locations VALUES (:path, :folder, :tags, :attached)
    ON CONFLICT (path) DO UPDATE SET folder = excluded.folder, tags = excluded.tags, attached = excluded.attached"""
_PUT_FILE = """
    INSERT INTO known_files VALUES (:path, :location, :digest, :mark, :paper_id)
    ON CONFLICT (path) DO UPDATE SET location = excluded.location, digest = excluded.digest, mark = excluded.mark,
        paper_id = excluded.paper_id"""
_RECORDS = """
    SELECT digest, paper_id, record FROM known_entries
    WHERE path = ? AND digest IN (SELECT value FROM json_each(?)) ORDER BY digest"""
_FORGET_ENTRIES = "DELETE FROM known_entries WHERE path = ? AND digest IN (SELECT value FROM json_each(?))"


class SqliteLocations:
    def __init__(self, read: Read, transaction: Transaction) -> None:
        self._read = read
        self._transaction = transaction

    def all(self) -> list[Location]:
        rows = self._read("SELECT * FROM locations ORDER BY path")
        return [_location(row) for row in rows]

    def put(self, location: Location) -> None:
        with self._transaction() as connection:
            connection.execute(_PUT_LOCATION, {**asdict(location), "tags": json.dumps(location.tags)})

    def forget(self, path: str) -> None:
        with self._transaction() as connection:
            connection.execute("DELETE FROM locations WHERE path = ?", [path])

    def files(self) -> dict[str, KnownFile]:
        rows = self._read("SELECT * FROM known_files ORDER BY path")
        return {row["path"]: KnownFile(**dict(row)) for row in rows}

    def put_files(self, files: Sequence[KnownFile]) -> None:
        with self._transaction() as connection:
            connection.executemany(_PUT_FILE, [asdict(file) for file in files])

    def forget_files(self, paths: Collection[str]) -> None:
        with self._transaction() as connection:
            connection.executemany("DELETE FROM known_files WHERE path = ?", [(path,) for path in paths])

    def entries(self, path: str) -> dict[str, str]:
        rows = self._read("SELECT digest, paper_id FROM known_entries WHERE path = ?", path)
        return {row["digest"]: row["paper_id"] for row in rows}

    def records(self, path: str, digests: Collection[str]) -> list[KnownEntry]:
        return [KnownEntry(*row) for row in self._read(_RECORDS, path, json.dumps(list(digests)))]

    def put_entries(self, path: str, entries: Iterable[KnownEntry]) -> None:
        with self._transaction() as connection:
            rows = ((path, *entry) for entry in entries)
            connection.executemany("INSERT OR REPLACE INTO known_entries VALUES (?, ?, ?, ?)", rows)

    def forget_entries(self, path: str, digests: Collection[str]) -> None:
        with self._transaction() as connection:
            connection.execute(_FORGET_ENTRIES, [path, json.dumps(list(digests))])

    def papers_listed(self) -> dict[str, frozenset[str]]:
        listed: dict[str, set[str]] = {}
        for row in self._read("SELECT DISTINCT paper_id, path FROM known_entries"):
            listed.setdefault(row["paper_id"], set()).add(row["path"])
        return {paper_id: frozenset(paths) for paper_id, paths in listed.items()}


def _location(row: sqlite3.Row) -> Location:
    return Location(row["path"], bool(row["folder"]), tuple(json.loads(row["tags"])), bool(row["attached"]))
