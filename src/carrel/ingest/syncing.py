"""The verb `sync`: every known location looked at again; what is new, changed or gone there is so in the library."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.errors import InvalidInput
from carrel.ingest import adding, attached, relisting, retiring
from carrel.ingest.adding import Tally
from carrel.ingest.attached import File
from carrel.ingest.comparing import Comparison, compare
from carrel.ingest.entries import Identities
from carrel.ingest.retiring import Guard
from carrel.ingest.scanning import Scene, scan
from carrel.references.zotero_api import is_address
from carrel.types import Problem
from carrel.types.papers import Action, Detail, Reason

if TYPE_CHECKING:
    from carrel.catalogs.locations import Location
    from carrel.ingest.adding import Workplace
    from carrel.ingest.relisting import Lists
    from carrel.types import AddReport, Progress


@dataclass(frozen=True)
class Request:
    dry_run: bool = False
    prune: bool = False
    """Retire what is gone even where a whole location is."""
    quiet: float = 0.0
    """Files younger than so many seconds are left alone: they may still be being written."""
    pdf_root: Path | None = None
    """Where files that references name are looked for, after the folder of the references."""


def sync(request: Request, place: Workplace, *, progress: Progress | None = None) -> AddReport:
    """Make the library say what its locations say. What is only out of reach stays."""
    tally = Tally(request.dry_run)
    scene = scan(place, tally, quiet=request.quiet, progress=progress)
    texts = compare(scene, place)
    if not request.dry_run:
        _move(scene, texts, place)
    lists = relisting.relist(scene, place, tally, progress)
    run = _Run(request, place, tally, scene, texts, lists)
    run.count_held()
    run.read(progress)
    run.retire()
    if not request.dry_run:
        run.note()
    tally.skipped = list(dict.fromkeys(tally.skipped))
    return adding.finish(place, tally, progress)


def forget(source: str | Path, place: Workplace) -> str:
    """Follow a location no longer; returns it as it was remembered."""
    shelf = place.stores.catalog.locations
    path = str(source) if is_address(str(source)) else place.relative(Path(source))
    known = {location.path for location in shelf.all()}
    name = next((name for name in (path, str(source)) if name in known), "")
    if not name:
        raise InvalidInput(f"{str(source)!r} is not followed", hint="'carrel sync --list' shows what is.")
    shelf.forget(name)
    return name


def _move(scene: Scene, texts: Comparison, place: Workplace) -> None:
    """Only the paths change: papers keep their ids, addresses and history."""
    place.stores.catalog.move(texts.moved)
    for location in scene.locations:
        if location.path in scene.renamed.values():
            place.stores.catalog.locations.put(location)


@dataclass
class _Run:
    request: Request
    place: Workplace
    tally: Tally
    scene: Scene
    texts: Comparison
    lists: Lists
    gone: set[str] = field(default_factory=set)
    """Paths of files that are believed to be deleted."""

    def __post_init__(self) -> None:
        catalog = self.place.stores.catalog
        self._identities = Identities.of_all(catalog, left=self.texts.left, changed=self.texts.changed)
        self._guard = Guard(self.scene, self.place, prune=self.request.prune)

    def count_held(self) -> None:
        rows = self.place.stores.catalog.papers(set(self.texts.held.values()))
        titles = {row.reference.id: row.reference.title for row in rows}
        targets = set(self.texts.moved.values())
        for name, paper_id in self.texts.held.items():
            reason = Reason.MOVED if name in targets else Reason.UNCHANGED
            self.tally.count([Detail(paper_id, Action.SKIP, titles.get(paper_id, ""), reason)])

    def read(self, progress: Progress | None) -> None:
        """Take in the files that are news, each with the tags of its location."""
        by_location: dict[Location, list[File]] = {}
        owners, wanted = self._named_files()
        # A known file first: new content that it shares with a new file is its own.
        edited = set(self.texts.changed.values())
        for seen in sorted(self.texts.news, key=lambda one: one.file.path not in edited):
            path = self.place.absolute(seen.file.path)
            by_location.setdefault(seen.location, []).append(File(path, seen.paper_id or owners.get(path, "")))
        for location, file in wanted:
            by_location.setdefault(location, []).append(file)
        for location, files in by_location.items():
            request = adding.Request((), tags=location.tags, dry_run=self.request.dry_run)
            adding.add_documents(files, request, self.place, self.tally, self._identities, progress)

    def _named_files(self) -> tuple[dict[Path, str], list[tuple[Location, File]]]:
        """Whose the files are that references name, and which are to be taken in although no location has them."""
        if not self.texts.news and not any(location.attached for location in self.scene.locations):
            return {}, []
        roots = (self.request.pdf_root,) if self.request.pdf_root else ()
        named: dict[str, attached.Named] = {}
        locations: dict[str, Location] = {}
        for paper_id, (reference, folder, file) in relisting.named(self.lists, self.scene, self.place):
            if reference.pdf_path or reference.supplement_paths:
                named.setdefault(paper_id, attached.Named(reference, (folder, *roots) if folder else roots))
                locations.setdefault(paper_id, self.scene.lists[file.path].location)
        files, absent = attached.find(named, self.place.parsers.keys())
        self.tally.skipped += [problem for problem in absent if locations[problem.source].attached]
        files = attached.without_text(files, self.place.stores.catalog)
        known = {self.place.absolute(name) for name in (*self.scene.known, *self.scene.texts)}
        wanted = [file for file in files if locations[file.paper_id].attached and file.path not in known]
        return dict(files), [(locations[file.paper_id], file) for file in wanted]

    def retire(self) -> None:
        """Let go what is gone, but for files that may be under way to another name."""
        for location in self.scene.absent:
            self._guard.lets_go(location.path)
        textless: set[str] = set()
        if not self.scene.young:
            textless = retiring.retire_texts(self._left(), self._guard, self.place, self.tally)
            self.gone = retiring.lost_lists(self.lists, self.scene, self._guard, self.place)
            seen = {*self.scene.texts, *self.scene.lists}
            texts = [path for path, file in self.scene.known.items() if file.paper_id and path not in seen]
            self.gone |= {path for path in texts if self._guard.lets_go(path)}
        self.tally.failed += [Problem(folder, reason) for folder, reason in self._guard.refused.items()]
        retiring.retire_references(self.lists, textless, self.place, self.tally)

    def _left(self) -> dict[str, str]:
        """By paper: where its text was that no file has, not even under another paper's name."""
        taken = {file.path for file in self.tally.read}
        edited = {paper: home for paper, home in self.texts.changed.items() if home in taken}
        learned = self._identities.learned
        return {paper: home for paper, home in (self.texts.left | edited).items() if paper not in learned}

    def note(self) -> None:
        """Write down what is where now."""
        shelf = self.place.stores.catalog.locations
        relisting.note(self.lists, self.place)
        shelf.forget_files(self.gone)
        for old in self.scene.renamed:
            shelf.forget(old)
        if self.request.prune:
            for location in self.scene.absent:
                shelf.forget(location.path)
        for name, paper_id in self.texts.held.items():
            self.tally.read.append(replace(self.scene.texts[name].file, paper_id=paper_id))
