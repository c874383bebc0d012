"""The verb `cited`: what a paper cites, who cites it, and what many cite that the library does not have."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from carrel.catalogs.citing import title_key
from carrel.errors import InvalidInput
from carrel.identifiers import normalise_doi
from carrel.types import ANY_YEAR, Cited

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from carrel.catalogs import Catalog, CitationRow
    from carrel.types import Reference

Value = TypeVar("Value", str, int)

_SEVERAL = 2
"""Papers that must cite a work before it is missed."""


@dataclass(frozen=True, slots=True)
class Bibliography:
    source: Reference
    entries: tuple[CitationRow, ...]

    @property
    def in_library(self) -> int:
        return sum(bool(entry.known_as) for entry in self.entries)

    def as_dict(self) -> dict[str, Any]:
        return {
            "paper": _named(self.source),
            "entries": [
                {"position": entry.position, **_entry(entry.cited), "known_as": entry.known_as or None}
                for entry in self.entries
            ],
            "total": len(self.entries),
            "in_library": self.in_library,
        }


@dataclass(frozen=True, slots=True)
class CitedBy:
    source: Reference
    papers: tuple[tuple[Reference, Cited], ...]
    """Each paper that cites it, with its entry for it."""

    def as_dict(self) -> dict[str, Any]:
        papers = [
            {
                **_named(paper),
                "authors": [str(author) for author in paper.authors],
                "year": _year(paper.published.year),
                "entry": cited.text,
            }
            for paper, cited in self.papers
        ]
        return {"paper": _named(self.source), "papers": papers, "total": len(papers)}


@dataclass(frozen=True, slots=True)
class Work:
    """A work that papers of the library cite."""

    cited: Cited
    """What most of their entries say of it."""
    cited_by: tuple[str, ...]
    """Their ids, in order."""

    def as_dict(self) -> dict[str, Any]:
        return {**_entry(self.cited), "count": len(self.cited_by), "cited_by": list(self.cited_by)}


@dataclass(frozen=True, slots=True)
class Missing:
    works: tuple[Work, ...]
    total: int
    """How many there are without the limit."""
    unread: int
    """Entries with neither a DOI nor a title that could be read, which are not counted."""

    def as_dict(self) -> dict[str, Any]:
        return {"works": [work.as_dict() for work in self.works], "total": self.total, "unread": self.unread}


def bibliography(source: Reference, catalog: Catalog) -> Bibliography:
    return Bibliography(source, tuple(catalog.citations([source.id])))


def cited_by(source: Reference, catalog: Catalog) -> CitedBy:
    """The papers of the library that cite one of its own."""
    entries: dict[str, Cited] = {}
    for row in catalog.citing(source.id):
        entries.setdefault(row.paper_id, row.cited)
    return CitedBy(source, tuple((row.reference, entries[row.reference.id]) for row in catalog.papers(list(entries))))


def missing(catalog: Catalog, *, limit: int) -> Missing:
    """Works that several papers of the library cite and that it does not have, the most cited first."""
    if limit < 0:
        raise InvalidInput(f"limit must not be negative, got {limit}", hint="0 means all.")
    rows = [row for row in catalog.citations() if not row.known_as]
    groups, unread = _grouped(rows)
    works = (_work(group) for group in groups)
    several = [work for work in works if len(work.cited_by) >= _SEVERAL]
    several.sort(key=lambda work: (-len(work.cited_by), work.cited.title or work.cited.text))
    return Missing(tuple(several[: limit or None]), len(several), unread)


def _grouped(rows: Sequence[CitationRow]) -> tuple[Iterable[list[CitationRow]], int]:
    """Entries of one work together: by DOI, else by title. A title whose DOI another entry tells is that work's."""
    keys = [(normalise_doi(row.cited.doi), title_key(row.cited.title)) for row in rows]
    dois = {title: doi for doi, title in reversed(keys) if doi and title}
    groups: dict[tuple[str, str], list[CitationRow]] = {}
    for row, (doi, title) in zip(rows, keys, strict=True):
        told = doi or dois.get(title, "")
        groups.setdefault((told, "" if told else title), []).append(row)
    unread = groups.pop(("", ""), [])
    return groups.values(), len(unread)


def _work(group: Sequence[CitationRow]) -> Work:
    entries = [row.cited for row in group]
    said = Cited(
        text=entries[0].text,
        title=_usual([entry.title for entry in entries], ""),
        doi=_usual([normalise_doi(entry.doi) for entry in entries], ""),
        year=_usual([entry.year for entry in entries], ANY_YEAR),
    )
    return Work(said, tuple(sorted({row.paper_id for row in group})))


def _usual(values: Iterable[Value], nothing: Value) -> Value:
    """What most say; of those that say something."""
    counted = Counter(value for value in values if value != nothing).most_common(1)
    return counted[0][0] if counted else nothing


def _named(reference: Reference) -> dict[str, str]:
    return {"id": reference.id, "title": reference.title}


def _entry(cited: Cited) -> dict[str, Any]:
    return {"text": cited.text, "title": cited.title, "year": _year(cited.year), "doi": cited.doi}


def _year(year: int) -> int | None:
    return None if year == ANY_YEAR else year
