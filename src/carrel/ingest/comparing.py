"""Which texts of the library are where they were, which have moved, changed or gone, and which files are news."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel.types import Part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.catalogs import PaperRow
    from carrel.ingest.adding import Workplace
    from carrel.ingest.scanning import Scene, Seen


@dataclass
class Comparison:
    moved: dict[str, str] = field(default_factory=dict)
    """Old path and new one of texts whose file is where it was not."""
    held: dict[str, str] = field(default_factory=dict)
    """By path: the paper whose text the library has from there already."""
    news: list[Seen] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    """By paper: the path at which its text is no longer, nor anywhere else."""
    changed: dict[str, str] = field(default_factory=dict)
    """By paper: the path of its file, which has another content."""


def compare(scene: Scene, place: Workplace) -> Comparison:
    """A text is its content: it stays with its file, and goes where the content goes when the file is gone."""
    rows = place.stores.catalog.papers()
    homes, digests = _homes(rows, scene, place), _digests(rows, place)
    now = {name: place.digest(place.absolute(name), seen.file.digest) for name, seen in scene.texts.items()}
    done = Comparison()
    staying = {paper: home for paper, home in homes.items() if _stays(home, digests[paper], now, scene, place)}
    _follow(homes, digests, now, set(staying.values()), done)
    away = {*done.left, *done.changed}
    holders = {digest: paper for paper, digest in digests.items() if paper not in away}
    for name, seen in scene.texts.items():
        if name in scene.young:
            continue
        before = _dealt_with(name, seen, scene, homes)
        # A copy of what its paper held until now has the text for itself.
        is_free = before in done.left or digests.get(before) == now[name]
        if paper := holders.get(now[name]) or ("" if is_free else before):
            done.held[name] = paper
        else:
            done.news.append(seen)
    return done


def _homes(rows: Sequence[PaperRow], scene: Scene, place: Workplace) -> dict[str, str]:
    """By paper: the path of its text's file, where that is one that is followed; no copy that the library keeps."""
    homes = {row.reference.id: row.sources[0] for row in rows if row.sources}
    followed = {paper: home for paper, home in homes.items() if home in scene.known or scene.owner(home, place)}
    return {paper: home for paper, home in followed.items() if not place.is_own(home)}


def _digests(rows: Sequence[PaperRow], place: Workplace) -> dict[str, str]:
    """By paper: the digest of its text."""
    present = {row.reference.id for row in rows}
    held = place.stores.catalog.digests()
    return {paper: digest for (paper, part), digest in held.items() if part == Part.BODY and paper in present}


def _stays(home: str, digest: str, now: Mapping[str, str], scene: Scene, place: Workplace) -> bool:
    return home in scene.young or now.get(home) == digest or scene.is_unknown(place.absolute(home))


def _follow(
    homes: Mapping[str, str], digests: Mapping[str, str], now: Mapping[str, str], taken: set[str], done: Comparison
) -> None:
    """See where each text went whose file is not as it was; `taken` are the files that are."""
    known = set(digests.values())
    displaced = {paper: home for paper, home in homes.items() if home not in taken}
    places: dict[str, list[str]] = {}
    for name in sorted(now):
        places.setdefault(now[name], []).append(name)
    for paper, home in sorted(displaced.items()):
        # A file with new content is an edited file, even if a copy of the old one lies elsewhere.
        if home in now and now[home] not in known:
            done.changed[paper] = home
        elif target := next((name for name in places.get(digests[paper], ()) if name not in taken), ""):
            taken.add(target)
            done.moved[home] = target
        else:
            done.left[paper] = home


def _dealt_with(name: str, seen: Seen, scene: Scene, homes: Mapping[str, str]) -> str:
    """The paper as which this very content was read before; another file has its text since, or it was removed."""
    before = scene.known.get(name)
    if before is None or before.digest != seen.file.digest or homes.get(before.paper_id) == name:
        return ""
    return before.paper_id
