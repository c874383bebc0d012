"""What is at the known locations now."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from carrel.catalogs.locations import Location
from carrel.ingest import adding, finding, following
from carrel.references.zotero_api import is_address
from carrel.types import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.catalogs.locations import KnownFile
    from carrel.ingest.adding import Tally, Workplace
    from carrel.types import Progress


YOUNG = "it was written a moment ago; its turn comes when it is quiet"


class Seen(NamedTuple):
    """A file or address that is there."""

    source: Path | str
    location: Location
    file: KnownFile
    paper_id: str = ""
    """Of a file that a reference named: whose it is."""


@dataclass
class Scene:
    locations: list[Location]
    known: dict[str, KnownFile]
    """What was there before, by path; so are the next two."""
    texts: dict[str, Seen] = field(default_factory=dict)
    lists: dict[str, Seen] = field(default_factory=dict)
    """Files and addresses of references."""
    absent: list[Location] = field(default_factory=list)
    unreadable: list[Path] = field(default_factory=list)
    """Folders and files of which nothing can be said."""
    young: set[str] = field(default_factory=set)
    """Files that may still be being written."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Locations that are a single file, under their old and their new path."""

    def owner(self, path: str, place: Workplace) -> Location | None:
        return following.owner_of(path, self.locations, place)

    def is_unknown(self, path: Path) -> bool:
        """Whether nothing can be said of a file, not even that it is gone."""
        return any(path.is_relative_to(one) for one in self.unreadable)


def scan(place: Workplace, tally: Tally, *, quiet: float, progress: Progress | None) -> Scene:
    """Look everywhere. Files younger than `quiet` seconds are left alone."""
    shelf = place.stores.catalog.locations
    scene = Scene(shelf.all(), shelf.files())
    found = [one for location in list(scene.locations) for one in _found(location, scene, place, tally)]
    found += [(place.absolute(path), True) for path in _attached(scene, place)]
    for number, (source, is_document) in enumerate(dict.fromkeys(found), start=1):
        _see(source, scene, place, tally, quiet=quiet, is_document=is_document)
        if progress:
            progress("looking", number, len(found))
    return scene


def _found(location: Location, scene: Scene, place: Workplace, tally: Tally) -> list[tuple[Path | str, bool]]:
    if is_address(location.path):
        return [(location.path, False)]
    path = place.absolute(location.path)
    try:
        if not path.exists():
            path = _followed(location, path, scene, place)
        if path.is_dir():
            return list(_inside(path, scene, place, tally))
        return list(adding.found_at([path], place, tally)) if path.exists() else []
    except OSError as error:
        tally.failed.append(Problem(str(path), error.strerror or str(error)))
        scene.unreadable.append(path)
        return []


def _inside(folder: Path, scene: Scene, place: Workplace, tally: Tally) -> Iterator[tuple[Path | str, bool]]:
    """The files of a folder; those that are as they were are not opened to see what they are."""
    for path in finding.inside(folder):
        known = scene.known.get(place.relative(path))
        if known and following.vouches(known, path):
            yield path, bool(known.paper_id)
        else:
            yield from finding.told_apart([path], place.parsers, tally.skipped, named=False)


def _followed(location: Location, path: Path, scene: Scene, place: Workplace) -> Path:
    """Where a single file went that is not at its place: to another name in its folder, by its content."""
    known = scene.known.get(location.path)
    beside = sorted(path.parent.iterdir()) if known and known.digest and path.parent.is_dir() else []
    for other in beside:
        is_like = other.suffix == path.suffix and other.is_file() and not other.is_symlink()
        if known and is_like and other.stat().st_size == following.size_of(known):
            now = following.look(other, place)
            if now.digest == known.digest and now.path not in scene.known:
                scene.renamed[location.path] = now.path
                scene.locations.append(replace(location, path=now.path))
                return other
    scene.absent.append(location)
    return path


def _attached(scene: Scene, place: Workplace) -> list[str]:
    """Files beyond every location that were taken in because a reference named them."""
    elsewhere = [path for path, file in scene.known.items() if file.paper_id and not scene.owner(path, place)]
    return [path for path in elsewhere if place.absolute(path).is_file()]


def _see(source: Path | str, scene: Scene, place: Workplace, tally: Tally, *, quiet: float, is_document: bool) -> None:
    name = source if isinstance(source, str) else place.relative(source)
    before = scene.known.get(name)
    try:
        file = following.look(source, place, before)
        if isinstance(source, Path) and 0 <= time.time() - source.stat().st_mtime < quiet:
            tally.skipped.append(Problem(str(source), YOUNG))
            scene.young.add(name)
    except OSError as error:
        tally.failed.append(Problem(str(source), error.strerror or str(error)))
        scene.unreadable.append(Path(source))
        return
    owner = scene.owner(name, place)
    location = owner or Location(before.location if before else "")
    owned = before.paper_id if before and not owner else ""
    (scene.texts if is_document else scene.lists)[name] = Seen(source, location, file, owned)
