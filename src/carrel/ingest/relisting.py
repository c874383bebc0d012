"""Files of references looked at again: what changed in them is put onto what the library says by now."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from carrel.ingest import adding, following
from carrel.ingest.adding import Incoming
from carrel.references import Merged, jsonl, merge, merge_all
from carrel.references.rebasing import rebase
from carrel.types import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from carrel.catalogs.locations import KnownEntry, KnownFile
    from carrel.ingest.adding import Tally, Workplace
    from carrel.ingest.scanning import Scene, Seen
    from carrel.types import Progress, Reference


class _Note(NamedTuple):
    """What is to be remembered of a file of references."""

    file: KnownFile
    entries: list[KnownEntry]
    gone: set[str]
    """Digests of entries that it no longer has."""


@dataclass
class Lists:
    ours: dict[str, Reference]
    """What refs.jsonl says once all is written."""
    complete: bool
    """Whether every line of refs.jsonl could be read."""
    moved: dict[str, str] = field(default_factory=dict)
    """New path and old one of files that have another name now."""
    present: set[str] = field(default_factory=set)
    """Papers that a file has."""
    vanished: dict[str, list[KnownEntry]] = field(default_factory=dict)
    """By paper: as which entries files had it that have it no longer."""
    notes: list[_Note] = field(default_factory=list)
    named: list[tuple[str, Incoming]] = field(default_factory=list)
    """Each paper that a list has, as the list has it."""


def relist(scene: Scene, place: Workplace, tally: Tally, progress: Progress | None) -> Lists:
    found = adding.read_refs(place.refs)
    tally.failed += found.problems
    before = {reference.id: reference for reference in found.references}
    lists = Lists(dict(before), not found.problems, _moved(scene))
    changed: dict[str, Reference] = {}
    for name, seen in scene.lists.items():
        if name not in scene.young:
            changed |= _reread(lists.moved.get(name, name), seen, lists, scene, place, tally, progress)
    if not tally.dry_run:
        adding.keep(Merged(changed), before, place, complete=lists.complete)
    return lists


def _moved(scene: Scene) -> dict[str, str]:
    """Files of references with the content of one that is gone."""
    gone = {
        file.digest: path
        for path, file in scene.known.items()
        if not file.paper_id and file.digest and path not in scene.lists
    }
    unknown = [name for name in scene.lists if name not in scene.known]
    return {name: old for name in unknown if (old := gone.pop(scene.lists[name].file.digest, ""))}


def _reread(
    name: str, seen: Seen, lists: Lists, scene: Scene, place: Workplace, tally: Tally, progress: Progress | None
) -> dict[str, Reference]:
    """The records that change; `name` is the one under which the file is known."""
    shelf = place.stores.catalog.locations
    before = shelf.entries(name)
    if before and seen.file.digest and seen.file.digest == scene.known[name].digest:
        tally.unchanged += len(before)
        lists.present |= set(before.values())
        lists.notes.append(_Note(replace(seen.file, location=seen.location.path), [], set()))
        return {}
    faults = len(tally.failed)
    incoming = list(adding.read_list(seen.source, seen.location.tags, place, tally, progress))
    entries = [following.entry(one.reference, "") for one in incoming]
    gone = before.keys() - {entry.digest for entry in entries}
    old = shelf.records(name, gone)
    news = [one.reference for one, entry in zip(incoming, entries, strict=True) if entry.digest not in before]
    merged = merge_all(lists.ours, news, _joining(old, name, tally))
    tally.count(merged.details)
    tally.unchanged += len(incoming) - len(news)
    lists.ours |= merged.changed
    ids = (detail.id for detail in merged.details)
    entries = [entry._replace(paper_id=before.get(entry.digest) or next(ids)) for entry in entries]
    lists.present |= {entry.paper_id for entry in entries}
    lists.named += [(entry.paper_id, one) for entry, one in zip(entries, incoming, strict=True)]
    if len(tally.failed) > faults:
        # The entries that cannot be read may be the ones that are missed.
        gone, old = set(), []
        lists.present |= set(before.values())
    for entry in old:
        lists.vanished.setdefault(entry.paper_id, []).append(entry)
    if incoming:
        lists.notes.append(_Note(replace(incoming[0].file, location=seen.location.path), entries, set(gone)))
    return merged.changed


def _joining(old: list[KnownEntry], name: str, tally: Tally) -> Callable[[Reference, Reference], Reference]:
    bases = {entry.paper_id: jsonl.load(entry.record) for entry in old}

    def join(ours: Reference, theirs: Reference) -> Reference:
        if ours.id not in bases:
            return merge(ours, theirs)
        after, disputed = rebase(ours, bases[ours.id], theirs)
        if disputed:
            reason = f"{' and '.join(disputed)} changed here and in {name}; what it says here is kept"
            tally.skipped.append(Problem(ours.id, reason))
        return after

    return join


def named(lists: Lists, scene: Scene, place: Workplace) -> Iterator[tuple[str, Incoming]]:
    """Every paper that a list has, those of unchanged lists as they were last read."""
    shelf = place.stores.catalog.locations
    yield from lists.named
    read = {one.file.path for _, one in lists.named}
    for name, seen in scene.lists.items():
        if name not in read:
            known = lists.moved.get(name, name)
            folder: Path | None = None if isinstance(seen.source, str) else seen.source.parent
            for entry in shelf.records(known, shelf.entries(known)):
                yield entry.paper_id, Incoming(jsonl.load(entry.record), folder, seen.file)


def note(lists: Lists, place: Workplace) -> None:
    """Write down what each file of references has now."""
    shelf = place.stores.catalog.locations
    for file, entries, gone in lists.notes:
        old = lists.moved.get(file.path)
        kept = shelf.records(old, shelf.entries(old)) if old else []
        shelf.put_files([file])
        shelf.put_entries(file.path, [*kept, *entries])
        shelf.forget_entries(file.path, gone)
    shelf.forget_files(list(lists.moved.values()))


def papers_of(name: str, place: Workplace) -> Mapping[str, list[KnownEntry]]:
    """By paper: the entries that a file of references had."""
    shelf = place.stores.catalog.locations
    papers: dict[str, list[KnownEntry]] = {}
    for entry in shelf.records(name, shelf.entries(name)):
        papers.setdefault(entry.paper_id, []).append(entry)
    return papers
