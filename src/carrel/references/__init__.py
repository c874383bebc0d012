"""Reading and writing reference libraries, one file a format."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from carrel.identifiers import normalise_doi, unused
from carrel.types import Problem, Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Found(NamedTuple):
    """What a reader made of a file: the good entries, and why each of the others is not one."""

    references: list[Reference]
    problems: list[Problem]
    remarks: Sequence[Problem] = ()
    """What was left out of entries that are good otherwise."""


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

    def find(self, reference: Reference) -> str | None:
        origin = (reference.source.type, reference.source.id)
        known = self._by_source.get(origin) if reference.source.id else None
        known = known or self._by_doi.get(normalise_doi(reference.doi))
        return known or (reference.id if reference.id in self._ids else None)


class Merged(NamedTuple):
    """What incoming references change in a library."""

    changed: dict[str, Reference]
    """By id: the records to write."""
    new: list[str]
    updated: list[str]
    unchanged: int


def merge_all(known: Mapping[str, Reference], incoming: Iterable[Reference]) -> Merged:
    """Each incoming record as a new one, or as an update of the one it is recognised as."""
    matcher, taken = Matcher(known.values()), set(known)
    changed: dict[str, Reference] = {}
    new: list[str] = []
    updated: dict[str, None] = {}
    unchanged = 0
    for reference in incoming:
        paper_id = matcher.find(reference)
        before = changed.get(paper_id) or known[paper_id] if paper_id else None
        if paper_id is None or before is None or _are_different(before, reference):
            added = replace(reference, id=unused(reference.id, taken))
            taken.add(added.id)
            changed[added.id] = added
            new.append(added.id)
            matcher.learn(added)
            continue
        after = merge(before, reference)
        if after == before:
            unchanged += 1
            continue
        changed[paper_id] = after
        if paper_id in known:
            updated[paper_id] = None
    return Merged(changed, new, list(updated), unchanged)


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
