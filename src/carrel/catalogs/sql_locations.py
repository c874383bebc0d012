"""The locations in the catalog's database."""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import TYPE_CHECKING

from carrel.catalogs.locations import KnownEntry, KnownFile, Location
from carrel.databases.sessions import gather

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from carrel.databases.sessions import Database, Row

_PUT_LOCATION = """
    INSERT INTO locations (path, folder, tags, attached) VALUES (?, ?, ?, ?)
    ON CONFLICT (path) DO UPDATE SET folder = excluded.folder, tags = excluded.tags, attached = excluded.attached"""
_LOCATIONS = "SELECT path, folder, tags, attached FROM locations ORDER BY path"
_FILES = "SELECT path, location, digest, mark, paper_id FROM known_files ORDER BY path"
_PUT_FILE = """
    INSERT INTO known_files (path, location, digest, mark, paper_id) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (path) DO UPDATE SET location = excluded.location, digest = excluded.digest, mark = excluded.mark,
        paper_id = excluded.paper_id"""
_RECORDS = "SELECT digest, paper_id, record FROM known_entries WHERE digest IN ({marks}) AND path = ? ORDER BY digest"
_PUT_ENTRY = """
    INSERT INTO known_entries (path, digest, paper_id, record) VALUES (?, ?, ?, ?)
    ON CONFLICT (path, digest) DO UPDATE SET paper_id = excluded.paper_id, record = excluded.record"""


class SqlLocations:
    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Location]:
        return [_location(row) for row in self._database.rows(_LOCATIONS)]

    def put(self, location: Location) -> None:
        with self._database.writing() as session:
            values = [location.path, location.folder, json.dumps(location.tags), location.attached]
            session.write(_PUT_LOCATION, [values])

    def forget(self, path: str) -> None:
        self._write("DELETE FROM locations WHERE path = ?", [[path]])

    def files(self) -> dict[str, KnownFile]:
        return {row[0]: KnownFile(*row) for row in self._database.rows(_FILES)}

    def put_files(self, files: Sequence[KnownFile]) -> None:
        self._write(_PUT_FILE, [astuple(file) for file in files])

    def forget_files(self, paths: Collection[str]) -> None:
        self._write("DELETE FROM known_files WHERE path = ?", [[path] for path in paths])

    def entries(self, path: str) -> dict[str, str]:
        rows = self._database.rows("SELECT digest, paper_id FROM known_entries WHERE path = ?", [path])
        return {digest: paper_id for digest, paper_id in rows}  # noqa: C416

    def records(self, path: str, digests: Collection[str]) -> list[KnownEntry]:
        with self._database.reading() as session:
            return [KnownEntry(*row) for row in gather(session, _RECORDS, digests, path)]

    def put_entries(self, path: str, entries: Iterable[KnownEntry]) -> None:
        self._write(_PUT_ENTRY, [(path, *entry) for entry in entries])

    def forget_entries(self, path: str, digests: Collection[str]) -> None:
        self._write("DELETE FROM known_entries WHERE path = ? AND digest = ?", [[path, digest] for digest in digests])

    def papers_listed(self) -> dict[str, frozenset[str]]:
        listed: dict[str, set[str]] = {}
        for paper_id, path in self._database.rows("SELECT DISTINCT paper_id, path FROM known_entries"):
            listed.setdefault(paper_id, set()).add(path)
        return {paper_id: frozenset(paths) for paper_id, paths in listed.items()}

    def _write(self, sql: str, many: Sequence[Sequence[object]]) -> None:
        with self._database.writing() as session:
            session.write(sql, many)


def _location(row: Row) -> Location:
    path, folder, tags, attached = row
    return Location(path, bool(folder), tuple(json.loads(tags)), bool(attached))
