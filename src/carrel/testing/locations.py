"""Locations in dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from carrel.catalogs.locations import KnownEntry, KnownFile, Location


class MemoryLocations:
    def __init__(self) -> None:
        self._locations: dict[str, Location] = {}
        self._files: dict[str, KnownFile] = {}
        self._entries: dict[str, dict[str, KnownEntry]] = {}

    def all(self) -> list[Location]:
        return [self._locations[path] for path in sorted(self._locations)]

    def put(self, location: Location) -> None:
        self._locations[location.path] = location

    def forget(self, path: str) -> None:
        self._locations.pop(path, None)
        self.forget_files([file.path for file in self._files.values() if file.location == path])

    def files(self) -> dict[str, KnownFile]:
        return {path: self._files[path] for path in sorted(self._files)}

    def put_files(self, files: Sequence[KnownFile]) -> None:
        self._files |= {file.path: file for file in files}

    def forget_files(self, paths: Collection[str]) -> None:
        for path in paths:
            self._files.pop(path, None)
            self._entries.pop(path, None)

    def entries(self, path: str) -> dict[str, str]:
        return {digest: entry.paper_id for digest, entry in self._entries.get(path, {}).items()}

    def records(self, path: str, digests: Collection[str]) -> list[KnownEntry]:
        return [entry for digest, entry in sorted(self._entries.get(path, {}).items()) if digest in digests]

    def put_entries(self, path: str, entries: Iterable[KnownEntry]) -> None:
        self._entries.setdefault(path, {}).update((entry.digest, entry) for entry in entries)

    def forget_entries(self, path: str, digests: Collection[str]) -> None:
        for digest in digests:
            self._entries.get(path, {}).pop(digest, None)

    def papers_listed(self) -> dict[str, frozenset[str]]:
        listed: dict[str, set[str]] = {}
        for path, entries in self._entries.items():
            for entry in entries.values():
                listed.setdefault(entry.paper_id, set()).add(path)
        return {paper_id: frozenset(paths) for paper_id, paths in listed.items()}
