"""Reading and writing reference libraries, one file a format."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from carrel.identifiers import normalise_doi, unused
from carrel.types import Problem, Reference
from carrel.types.papers import Action, Detail, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path


class Found(NamedTuple):
    """What a reader made of a file: the good entries, and why each of the others is not one."""

    references: list[Reference]
    problems: list[Problem]
    remarks: Sequence[Problem] = ()
    """What was left out of entries that are good otherwise."""
    folder: Path | None = None
    """Where the paths of attached files start, if that is known."""


class Matcher:
    """Recognises a known paper under another name: by its source's id, then its DOI, then its own id."""

    def __init__(self, known: Iterable[Reference]) -> None:
        self._by_source: dict[tuple[str, str], str] = {}
        self._by_doi: dict[str, str] = {}
        self._ids: set[str] = set()
        for reference in known:
            self.learn(reference)

    def learn(self, reference: Reference) -> None:
        self._ids.add(reference.id)
        if reference.source.id:
            self._by_source.setdefault((reference.source.type, reference.source.id), reference.id)
        if doi := normalise_doi(reference.doi):
            self._by_doi.setdefault(doi, reference.id)

    def find(self, reference: Reference) -> tuple[str, Reason] | None:
        """The id of the known paper, and by what it was recognised."""
        origin = (reference.source.type, reference.source.id)
        if reference.source.id and (known := self._by_source.get(origin)):
            return known, Reason.SOURCE_ID_MATCH
        if known := self._by_doi.get(normalise_doi(reference.doi)):
            return known, Reason.DOI_MATCH
        return (reference.id, Reason.ID_MATCH) if reference.id in self._ids else None


@dataclass
class Merged:
    """What incoming references change in a library."""

    changed: dict[str, Reference] = field(default_factory=dict)
    """By id: the records to write."""
    details: list[Detail] = field(default_factory=list)
    """What becomes of each incoming reference, in their order."""

    @property
    def new(self) -> list[str]:
        return [detail.id for detail in self.details if detail.action == Action.ADD]

    @property
    def unchanged(self) -> int:
        return sum(detail.action == Action.SKIP for detail in self.details)

    @property
    def updated(self) -> list[str]:
        """Of the papers that were known before, those that have changed."""
        added = set(self.new)
        return [paper_id for paper_id in self.changed if paper_id not in added]


def merge_all(
    known: Mapping[str, Reference],
    incoming: Iterable[Reference],
    join: Callable[[Reference, Reference], Reference] | None = None,
) -> Merged:
    """Each incoming record as a new one, or as an update of the one it is recognised as.

    `join` makes one record of the known and the incoming one; otherwise `merge`.
    """
    matcher, taken, seen = Matcher(known.values()), set(known), set[str]()
    merged = Merged()
    for reference in incoming:
        found = matcher.find(reference)
        before = (merged.changed.get(found[0]) or known[found[0]]) if found else None
        if found is None or before is None or _are_different(before, reference):
            after = replace(reference, id=unused(reference.id, taken))
            action, reason = Action.ADD, Reason.ID_TAKEN if reference.id in taken else Reason.NEW
            taken.add(after.id)
            matcher.learn(after)
        else:
            after = (join or merge)(before, reference)
            action = Action.SKIP if after == before else Action.UPDATE
            reason = found[1] if action == Action.UPDATE else Reason.UNCHANGED
            reason = Reason.DUPLICATE_IN_BATCH if after.id in seen else reason
        if action != Action.SKIP:
            merged.changed[after.id] = after
        seen.add(after.id)
        merged.details.append(Detail(after.id, action, after.title, reason))
    return merged


def _are_different(one: Reference, other: Reference) -> bool:
    """Whether two records under one id say themselves that they are two papers."""
    dois = {normalise_doi(one.doi), normalise_doi(other.doi)} - {""}
    same_source = one.source == other.source and bool(one.source.id)
    return len(dois) == 2 and not same_source


def merge(old: Reference, new: Reference) -> Reference:
    """The new record under the old id; where the new one is silent, the old one speaks."""
    spoken = {
        name: value
        for name, field in Reference.__dataclass_fields__.items()
        if name != "id" and (value := getattr(new, name)) != field.default
    }
    return replace(old, **spoken)
