"""What is gone from the known locations leaves the library, unless the location itself seems to be gone."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from carrel.ingest import relisting
from carrel.references import jsonl
from carrel.references.zotero_api import is_address
from carrel.types import Part, Problem
from carrel.types.papers import Action, Detail, Reason

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from carrel.catalogs.locations import Location
    from carrel.ingest.adding import Tally, Workplace
    from carrel.ingest.relisting import Lists
    from carrel.ingest.scanning import Scene
    from carrel.types import Reference

FEW = 3
"""So many may go at once; when more do and nothing is left, the disk is taken to be missing."""
_HINT = "nothing is retired; 'carrel sync --prune' does"


class Guard:
    """Tells what has been deleted from what is only out of reach."""

    def __init__(self, scene: Scene, place: Workplace, *, prune: bool) -> None:
        self._scene, self._place, self._prune = scene, place, prune
        files = [path for path in scene.known if not is_address(path)]
        self._before = _beneath(place.absolute(path) for path in files)
        self._now = _beneath(place.absolute(path) for path in (*scene.texts, *scene.lists) if not is_address(path))
        self.refused: dict[str, str] = {}
        """Folders of which nothing is believed to be deleted, and why."""

    def lets_go(self, name: str) -> bool:
        path = self._place.absolute(name)
        if self._scene.is_unknown(path):
            return False
        missing = self._missing(path, self._scene.owner(name, self._place))
        if missing is None or self._prune:
            return True
        self.refused.setdefault(str(missing), self._reason(missing))
        return False

    def lets_list_go(self, name: str, only_there: int) -> bool:
        """A list takes papers along that no other has: many of them only when that is asked for."""
        if not self.lets_go(name):
            return False
        if only_there <= FEW or self._prune:
            return True
        path = str(self._place.absolute(name))
        self.refused.setdefault(path, f"no such file, and {only_there} papers are in no other; {_HINT}")
        return False

    def _missing(self, path: Path, location: Location | None) -> Path | None:
        """The folder that was emptied as a whole, if there is one around a file."""
        root = self._place.absolute(location.path) if location else path.parent
        if location and not location.folder:
            # Others in its folder show that the folder is what it was.
            return None if path.parent.is_dir() and any(path.parent.iterdir()) else path
        if location and not root.is_dir():
            return root
        around = [folder for folder in path.parents if folder.is_relative_to(root) or not location]
        standing = [folder for folder in around if folder.is_dir()]
        suspects = standing if location else standing[:1]
        return next((one for one in reversed(suspects) if self._before[one] > FEW and not self._now[one]), None)

    def _reason(self, folder: Path) -> str:
        if not folder.exists():
            return f"no such file or folder; {_HINT}"
        return f"all {self._before[folder]} files that were here are gone at once; {_HINT}"


def _beneath(paths: Iterable[Path]) -> Counter[Path]:
    """How many files there are in each folder and those below it."""
    return Counter(folder for path in paths for folder in path.parents)


def retire_texts(left: Mapping[str, str], guard: Guard, place: Workplace, tally: Tally) -> set[str]:
    """Drop the texts whose file is gone; a paper that was no more than that file goes with it."""
    gone = [paper for paper, home in sorted(left.items()) if guard.lets_go(home)]
    rows = {row.reference.id: row for row in place.stores.catalog.papers(gone)}
    for paper_id, row in rows.items():
        action = Action.UPDATE if row.listed else Action.RETIRE
        tally.count([Detail(paper_id, action, row.reference.title, Reason.FILE_GONE)])
    if not tally.dry_run:
        for paper_id, row in rows.items():
            if row.listed:
                place.stores.catalog.drop(paper_id, Part.BODY)
        place.stores.catalog.retire([paper_id for paper_id, row in rows.items() if not row.listed])
    return set(rows)


def lost_lists(lists: Lists, scene: Scene, guard: Guard, place: Workplace) -> set[str]:
    """The files of references that are gone, their entries among those that have vanished."""
    missing = [
        path
        for path, file in scene.known.items()
        if not file.paper_id and path not in scene.lists and path not in lists.moved.values()
    ]
    gone = set()
    for name in missing:
        papers = relisting.papers_of(name, place)
        alone = [paper_id for paper_id in papers if paper_id not in lists.present and paper_id in lists.ours]
        if guard.lets_list_go(name, len(alone)):
            gone.add(name)
            for paper_id, entries in papers.items():
                lists.vanished.setdefault(paper_id, []).extend(entries)
        else:
            lists.present |= set(papers)
    return gone


def retire_references(lists: Lists, textless: Collection[str], place: Workplace, tally: Tally) -> None:
    """Take out of refs.jsonl what no file has any longer, unless the library has more of it than the file gave."""
    alone = [paper for paper in lists.vanished if paper not in lists.present and paper in lists.ours]
    rows = place.stores.catalog.papers(alone)
    with_text = {row.reference.id for row in rows if Part.BODY in row.parts} - set(textless)
    gone: dict[str, Reference] = {}
    for paper_id in alone:
        ours = lists.ours[paper_id]
        given = [replace(jsonl.load(entry.record), id=paper_id) for entry in lists.vanished[paper_id]]
        if paper_id in with_text:
            tally.skipped.append(Problem(paper_id, "no file lists it any longer; kept, because its text is here"))
        elif ours not in given:
            tally.skipped.append(Problem(paper_id, "no file lists it any longer; kept, because its record says more"))
        else:
            gone[paper_id] = ours
            tally.count([Detail(paper_id, Action.RETIRE, ours.title, Reason.ENTRY_GONE)])
    if gone and not tally.dry_run:
        jsonl.drop(place.refs, set(gone))
        with place.taking_in() if lists.complete else nullcontext():
            place.stores.catalog.retire(list(gone))
