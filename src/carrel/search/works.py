"""Which papers are one work: a preprint and what was published of it, or two versions of either."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel.identifiers import normalise_arxiv, normalise_doi, normalise_title

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from carrel.types import Reference

_SHORTEST_TITLE = 12
"""Of letters and digits: "Introduction" says too little to know a work by."""
_YEARS_APART = 3
"""Between a preprint and its publication."""
_VERSION = re.compile(r"[./]?v\d{1,2}$")
_PREPRINT_DOI = re.compile(
    r"10\.(?:48550|21203|26434|20944|31234|31219|2139|36227|22541)/"  # arXiv, Research Square, ChemRxiv, SSRN …
    r"|10\.1101/\d"  # bioRxiv and medRxiv; a journal of the same publisher has letters there.
)
_PREPRINT_VENUE = re.compile(r"\b(?:\w+rxiv|corr|ssrn|research square|preprints?)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Works:
    """Papers by the work they are a version of."""

    leaders: Mapping[str, str] = field(default_factory=dict)
    """By paper: the one that stands for its work."""
    finality: Mapping[str, tuple[bool, bool, bool, int]] = field(default_factory=dict)
    """By paper: the greater, the more it is the last version."""

    def of(self, paper_id: str) -> str:
        return self.leaders.get(paper_id, paper_id)

    def final(self, paper_id: str) -> tuple[bool, bool, bool, int]:
        return self.finality.get(paper_id, (False, False, False, 0))


def works(references: Sequence[Reference]) -> Works:
    leaders = {reference.id: reference.id for reference in references}
    for one, other in _same(references):
        leaders[_leader(other, leaders)] = _leader(one, leaders)
    return Works(
        {paper_id: _leader(paper_id, leaders) for paper_id in leaders},
        {reference.id: _finality(reference) for reference in references},
    )


def _leader(paper_id: str, leaders: Mapping[str, str]) -> str:
    while leaders[paper_id] != paper_id:
        paper_id = leaders[paper_id]
    return paper_id


def _same(references: Sequence[Reference]) -> Iterator[tuple[str, str]]:
    """Pairs of papers that are one work."""
    first: dict[str, str] = {}
    titled: dict[str, list[Reference]] = {}
    for reference in references:
        for name in _names(reference):
            yield first.setdefault(name, reference.id), reference.id
        alike = titled.setdefault(normalise_title(reference.title), [])
        yield from ((other.id, reference.id) for other in alike if _alike(other, reference))
        alike.append(reference)


def _names(reference: Reference) -> Iterator[str]:
    """What versions of one work share, or name of each other."""
    for doi in map(normalise_doi, (reference.doi, reference.supersedes)):
        if doi:
            yield f"arxiv:{normalise_arxiv(doi)}" if normalise_arxiv(doi) else _VERSION.sub("", doi)
    if arxiv := normalise_arxiv(reference.arxiv_id):
        yield f"arxiv:{arxiv}"


def _alike(one: Reference, other: Reference) -> bool:
    """Of two papers of one title: whether they are by the same people, about the same time."""
    years = one.published.year, other.published.year
    return (
        len(normalise_title(one.title)) >= _SHORTEST_TITLE
        and not _surnames(one).isdisjoint(_surnames(other))
        and (not all(years) or abs(years[0] - years[1]) <= _YEARS_APART)
    )


def _surnames(reference: Reference) -> set[str]:
    return {normalise_title(author.last) for author in reference.authors} - {""}


def _finality(reference: Reference) -> tuple[bool, bool, bool, int]:
    doi = normalise_doi(reference.doi)
    published = bool(doi or reference.venue) and not _is_preprint(doi, reference.venue)
    return published, bool(doi), bool(reference.venue), reference.published.year


def _is_preprint(doi: str, venue: str) -> bool:
    return bool(_PREPRINT_DOI.match(doi) or _PREPRINT_VENUE.search(venue))
