"""What `add` was pointed at and what was found there, written down for `sync`."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.catalogs.locations import KnownEntry, KnownFile, Location
from carrel.chunking import sha256
from carrel.errors import SourceError
from carrel.references import jsonl
from carrel.references.zotero_api import Place, is_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from carrel.ingest.adding import Incoming, Request, Workplace
    from carrel.types import Reference

_RACE = 2_000_000_000
"""Nanoseconds within which a file could change once more without its times telling."""


def follow(request: Request, place: Workplace) -> None:
    """Remember every location that is there; one inside a known folder only if it has tags of its own."""
    locations = place.stores.catalog.locations
    for source in request.sources:
        address = isinstance(source, str) and is_address(source)
        path = str(source) if address else place.relative(Path(source))
        if not (_is_zotero(path) if address else Path(source).exists() and not place.is_own(path)):
            continue
        known = {location.path: location for location in locations.all()}
        before = known.get(path, Location(path))
        tags = tuple(dict.fromkeys([*before.tags, *request.tags]))
        is_folder = not address and Path(source).is_dir()
        wanted = Location(path, is_folder, tags, before.attached or request.attached)
        if path in known or not any(_covers(other, wanted, place) for other in known.values()):
            locations.put(wanted)


def _is_zotero(address: str) -> bool:
    try:
        Place.of(address)
    except SourceError:
        return False
    return True


def tidy(place: Workplace) -> None:
    """Forget the locations that another one covers."""
    locations = place.stores.catalog.locations
    known = locations.all()
    covered = [one for one in known if any(_covers(other, one, place) for other in known)]
    names = {one.path for one in covered}
    kept = [one for one in known if one.path not in names]
    files = [file for file in locations.files().values() if file.location in names]
    moved = [replace(file, location=owner.path) for file in files if (owner := owner_of(file.path, kept, place))]
    locations.put_files(moved)
    for location in covered:
        locations.forget(location.path)


def _covers(folder: Location, inner: Location, place: Workplace) -> bool:
    """Whether looking at the folder does all that looking at what lies inside would."""
    if folder.path == inner.path or not folder.folder or is_address(inner.path):
        return False
    inside = place.absolute(inner.path)
    says_as_much = set(inner.tags) <= set(folder.tags) and inner.attached <= folder.attached
    hidden = any(part.startswith(".") for part in _below(inside, place.absolute(folder.path)))
    return says_as_much and inside.is_relative_to(place.absolute(folder.path)) and not hidden


def _below(path: Path, folder: Path) -> tuple[str, ...]:
    return path.relative_to(folder).parts if path.is_relative_to(folder) else ()


def owner_of(path: str, locations: Iterable[Location], place: Workplace) -> Location | None:
    """The innermost location that a file lies in."""
    absolute = place.absolute(path)
    around = [one for one in locations if one.path == path or absolute.is_relative_to(place.absolute(one.path))]
    return max(around, key=lambda one: len(one.path), default=None)


def note_lists(incoming: Iterable[tuple[str, Incoming]], place: Workplace) -> None:
    """Write down which papers each file of references has; what it had before stays for `sync` to retire."""
    locations = place.stores.catalog.locations
    known = locations.all()
    for file, some in groupby(incoming, key=lambda one: one[1].file):
        owner = owner_of(file.path, known, place)
        if owner is None:
            continue
        before = locations.entries(file.path)
        locations.put_files([replace(file, location=owner.path, digest="" if before else file.digest)])
        locations.put_entries(file.path, (entry(one.reference, paper_id) for paper_id, one in some))


def entry(reference: Reference, paper_id: str) -> KnownEntry:
    record = jsonl.dump(reference)
    return KnownEntry(sha256(record), paper_id, record)


def note_texts(files: Sequence[KnownFile], place: Workplace) -> None:
    """Write down of which paper each file is the text; an attached one belongs to where its reference stands."""
    locations = place.stores.catalog.locations
    known, noted = locations.all(), locations.files()
    listed = locations.papers_listed() if files else {}
    owned = []
    for file in files:
        lists = sorted(listed.get(file.paper_id, ()))
        owner = owner_of(file.path, known, place)
        location = owner.path if owner else next((noted[path].location for path in lists if path in noted), "")
        owned += [replace(file, location=location)] if location else []
    locations.put_files(owned)


def look(source: Path | str, place: Workplace, known: KnownFile | None = None) -> KnownFile:
    """A file as it is now; it is hashed only where its size and times do not vouch for what is known."""
    if isinstance(source, str):
        return KnownFile(source, "")
    if known and vouches(known, source):
        return known
    files = [source, *_logs(source)]
    mark = mark_of(files)
    return KnownFile(place.relative(source), "", content_digest(files), mark)


def vouches(known: KnownFile, path: Path) -> bool:
    """Whether a file's size and times say that it is as it was."""
    return bool(known.digest) and ":" in known.mark and known.mark == mark_of([path, *_logs(path)])


def mark_of(files: Sequence[Path]) -> str:
    """The size of these, and their times if none of them is so young that it could change unnoticed."""
    now, states = time.time_ns(), [file.stat() for file in files]
    size = sum(state.st_size for state in states)
    newest = max(max(state.st_mtime_ns, state.st_ctime_ns) for state in states)
    times = (f":{state.st_mtime_ns}:{state.st_ctime_ns}" for state in states)
    return f"{size}{''.join(times) if now - newest > _RACE else ''}"


def _logs(path: Path) -> list[Path]:
    """The log beside a database, which has what is newest in it."""
    log = Path(f"{path}-wal")
    return [log] if path.suffix.lower() in (".sqlite", ".sqlite3", ".db") and log.exists() else []


def content_digest(files: Sequence[Path]) -> str:
    whole = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                whole.update(block)
    return whole.hexdigest()


def size_of(file: KnownFile) -> int:
    return int(file.mark.partition(":")[0] or 0)
