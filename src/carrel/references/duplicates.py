"""The same paper under several ids: found by its source's id, its DOI, or its title, year and first author."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from carrel.identifiers import normalise_doi, normalise_title
from carrel.references import merge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.types import Reference

_WEIGHTS = {"abstract": 5, "authors": 4, "venue": 3, "published": 2, "doi": 1}
_SHORTEST_TITLE = 12
"""Of letters and digits: "Introduction" says too little to know a paper by."""


@dataclass(frozen=True, slots=True)
class Group:
    """One paper's records: the one that stays, and those that are the same."""

    primary: Reference
    duplicates: tuple[Reference, ...]
    reason: str
    """What they share."""

    @property
    def merged(self) -> Reference:
        """The primary, completed by what only the others say."""
        whole = self.primary
        for other in self.duplicates:
            whole = merge(other, whole)
        tags = dict.fromkeys(tag for one in (self.primary, *self.duplicates) for tag in one.tags)
        return replace(whole, id=self.primary.id, tags=tuple(tags))


def find(references: Sequence[Reference]) -> list[Group]:
    """Every group of records that are one paper, in the order in which they first appear."""
    leaders: dict[str, str] = {}
    reasons: dict[str, str] = {}
    by_key: dict[tuple[str, str], str] = {}
    for reference in references:
        leaders[reference.id] = reference.id
        for reason, key in _keys(reference):
            other = by_key.setdefault((reason, key), reference.id)
            if _leader(other, leaders) != _leader(reference.id, leaders):
                leaders[_leader(reference.id, leaders)] = _leader(other, leaders)
                reasons.setdefault(_leader(other, leaders), reason)
    groups: dict[str, list[Reference]] = {}
    for reference in references:
        groups.setdefault(_leader(reference.id, leaders), []).append(reference)
    return [_group(members, reasons[leader]) for leader, members in groups.items() if len(members) > 1]


def _leader(paper_id: str, leaders: dict[str, str]) -> str:
    while leaders[paper_id] != paper_id:
        paper_id = leaders[paper_id]
    return paper_id


def _keys(reference: Reference) -> Iterator[tuple[str, str]]:
    if reference.source.id:
        yield "source", f"{reference.source.type}:{reference.source.id}"
    if doi := normalise_doi(reference.doi):
        yield "doi", doi
    title = normalise_title(reference.title)
    if len(title) >= _SHORTEST_TITLE and reference.published.year and reference.authors:
        yield "title", f"{title}/{reference.published.year}/{normalise_title(reference.authors[0].last)}"


def _group(members: Sequence[Reference], reason: str) -> Group:
    # Of equally complete records the first stays: it is the one whose id others may know.
    primary = max(members, key=_completeness)
    return Group(primary, tuple(one for one in members if one.id != primary.id), reason)


def _completeness(reference: Reference) -> int:
    filled = {
        "abstract": reference.abstract,
        "authors": reference.authors,
        "venue": reference.venue,
        "published": reference.published.year,
        "doi": reference.doi,
    }
    return sum(weight for name, weight in _WEIGHTS.items() if filled[name])
