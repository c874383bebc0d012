"""From what a format says of an entry to a record that can be stored."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.identifiers import (
    normalise_arxiv,
    normalise_doi,
    normalise_pmcid,
    normalise_pmid,
    paper_of,
    slug,
)
from carrel.references import Found, jsonl, paths, texts
from carrel.types import Author, Origin, Problem, Published, Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NO_TITLE = "[no title]"
_LONGEST_ID = 200
# A line of refs.jsonl holds a million characters, in which escapes count twice.
_LONGEST_TEXT = 400_000
_LONGEST_RECORD = 990_000
_MOST_TAGS = 1_000
_WORD = re.compile(r"\w+")
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]+")
_UNDATED, _NOWHERE = Published(), Origin()
_SAID_IN_NOTE = re.compile(
    r"^[ \t]{0,8}(DOI|PMID|PMCID|arXiv)[ \t]{0,8}:[ \t]{0,8}(\S+)[ \t\r]{0,8}$", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Draft:
    """What a file says of one entry, in its own words."""

    id: str = ""
    title: str = ""
    authors: tuple[Author, ...] = ()
    published: Published = _UNDATED
    venue: str = ""
    abstract: str = ""
    note: str = ""
    doi: str = ""
    arxiv: str = ""
    pmid: str = ""
    pmcid: str = ""
    links: tuple[str, ...] = ()
    """Addresses, in which identifiers may hide."""
    files: tuple[str, ...] = ()
    """The first PDF of them is the paper."""
    supplements: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    source: Origin = _NOWHERE


class Collector:
    """Takes the drafts of one file in; gives the records and what is wrong with the others."""

    def __init__(self, path: Path | str, kind: str, *, folder: Path | None = None) -> None:
        self._path = path
        self._kind = kind
        self._folder = path.parent if isinstance(path, Path) else folder
        self._references: list[Reference] = []
        self._problems: list[Problem] = []
        self._remarks: list[Problem] = []
        self._by_id: dict[str, Reference] = {}
        self._numbers: dict[str, int] = {}
        self._shared: dict[Any, Any] = {}

    def found(self) -> Found:
        return Found(self._references, self._problems, self._remarks, self._folder)

    def report(self, place: str | int, reason: str) -> None:
        self._problems.append(Problem(f"{self._path}:{texts.line(str(place))}", texts.line(reason)))

    def remark(self, place: str | int, reason: str) -> None:
        """Say what was left out of an entry that is kept."""
        self._remarks.append(Problem(f"{self._path}:{texts.line(str(place))}", texts.line(reason)))

    def take(self, draft: Draft, place: str | int) -> None:
        """Keep the record of a draft, or the reason why there is none."""
        try:
            files, supplements = self._inside(draft.files, place), self._inside(draft.supplements, place)
            record = _record(draft, self._kind, files, supplements)
            for name in [name for name in ("abstract", "note") if len(record[name]) > _LONGEST_TEXT]:
                self.remark(place, f"the {name} has {len(record[name]):,} characters, too many; left out")
                record[name] = ""
            reference = jsonl.from_record(record)
            _refuse_the_endless(reference)
        except ValueError as error:
            self.report(place, str(error))
            return
        reference = replace(self._sharing(reference), id=self._own_id(reference))
        self._by_id.setdefault(reference.id, reference)
        self._references.append(reference)

    def _sharing(self, reference: Reference) -> Reference:
        """The same record. What thousands of papers have in common, as authors and journals, is in memory once."""
        one = self._shared.setdefault
        return replace(
            reference,
            authors=tuple(one(author, author) for author in reference.authors),
            venue=one(reference.venue, reference.venue),
            published=one(reference.published, reference.published),
            source=one(reference.source, reference.source),
            tags=tuple(one(tag, tag) for tag in reference.tags),
        )

    def _own_id(self, reference: Reference) -> str:
        """Its id, with `-2`, `-3` … if another paper of the file has it already."""
        wanted = reference.id
        earlier = self._by_id.get(wanted)
        if earlier is None or _are_one(earlier, reference):
            return wanted
        # Counted on from the last, so that a file of one id only does not take forever.
        number = self._numbers.get(wanted, 1) + 1
        while f"{wanted}-{number}" in self._by_id:
            number += 1
        self._numbers[wanted] = number
        return f"{wanted}-{number}"

    def _inside(self, files: Iterable[str], place: str | int) -> list[str]:
        kept: dict[str, None] = {}
        for file in files:
            try:
                if not paths.is_address(file):
                    kept[paths.inside(file, self._folder)] = None
            except paths.RefusedPath as error:
                self.remark(place, f"{error}; the entry is kept without it")
        return list(kept)


def _are_one(earlier: Reference, later: Reference) -> bool:
    """Whether two entries of one id are the same paper: by source, by DOI, or in every word."""
    if earlier.source.id or later.source.id:
        return earlier.source == later.source
    if earlier.doi or later.doi:
        return earlier.doi == later.doi
    return earlier == later


def _refuse_the_endless(reference: Reference) -> None:
    """What refs.jsonl could not read back is not taken in."""
    # The exact size only where it matters: a line has at most two characters for one of the text.
    if len(repr(reference)) < _LONGEST_RECORD // 2:
        return
    size = len(jsonl.dump(reference))
    if size > _LONGEST_RECORD:
        longest = max(("title", "venue", "authors", "tags"), key=lambda name: len(str(getattr(reference, name))))
        raise ValueError(f"its record has {size:,} characters, more than {_LONGEST_RECORD:,}, most of them {longest}")


def _record(draft: Draft, kind: str, files: list[str], supplements: list[str]) -> dict[str, Any]:
    title, note = texts.line(draft.title), texts.paragraphs(draft.note)
    authors = [author for author in draft.authors if author.last.strip()]
    names = _identifiers(draft)
    if not (title or authors or draft.published.year or names["doi"]):
        raise ValueError("it has no title, author, year or DOI")
    pdfs = [file for file in files if paths.is_pdf(file)]
    main = pdfs[0] if pdfs else ""
    venue = texts.line(draft.venue)
    incomplete = () if title else (f"{kind}:incomplete",)
    return {
        "id": _id(draft, title),
        "title": title or NO_TITLE,
        "authors": [{"first": author.first, "last": author.last, "orcid": author.orcid} for author in authors],
        "abstract": texts.paragraphs(draft.abstract),
        "venue": "" if venue.casefold() == title.casefold() else venue,
        "note": note,
        "published": {
            "year": draft.published.year, "month": draft.published.month, "day": draft.published.day,
        },
        "pdf_path": main,
        "supplement_paths": [file for file in dict.fromkeys([*files, *supplements]) if file != main],
        "source": {"type": draft.source.type, "id": draft.source.id},
        "tags": _tags((*draft.tags, *incomplete)),
        **names,
    }  # fmt: skip


def _identifiers(draft: Draft) -> dict[str, str]:
    said = {name.lower(): value for name, value in _SAID_IN_NOTE.findall(draft.note)}
    links = [link for link in draft.links if link]
    arxiv = normalise_arxiv(draft.arxiv) or normalise_arxiv(said.get("arxiv", ""))
    linked = (normalise_arxiv(link) for link in (draft.doi, *links) if "arxiv" in link.lower())
    return {
        "doi": normalise_doi(draft.doi) or normalise_doi(said.get("doi", "")) or _first(normalise_doi, links, "doi"),
        "arxiv_id": arxiv or next((found for found in linked if found), ""),
        "pmid": normalise_pmid(draft.pmid or said.get("pmid", "")) or _first(normalise_pmid, links, "pubmed"),
        "pmcid": normalise_pmcid(_pmc(draft.pmcid or said.get("pmcid", ""))) or _first(normalise_pmcid, links, "/pmc"),
    }


def _pmc(text: str) -> str:
    return f"PMC{text}" if text.isdigit() else text


def _first(normalise: Any, links: Iterable[str], sign: str) -> str:  # noqa: ANN401
    found = (normalise(link) for link in links if sign in link.lower())
    return next((name for name in found if name), "")


def _tags(tags: Iterable[str]) -> list[str]:
    clean = (texts.line(tag) for tag in tags)
    return list(dict.fromkeys(tag for tag in clean if tag))[:_MOST_TAGS]


def _id(draft: Draft, title: str) -> str:
    """The entry's own name; else one made of author, year and title."""
    own = _SPACE.sub("-", draft.id.strip())[:_LONGEST_ID]
    if not own:
        author = draft.authors[0].last if draft.authors else ""
        year = draft.published.year or ""
        words = "-".join(_WORD.findall(title[:_LONGEST_ID])[:3])
        own = slug(f"{author[:_LONGEST_ID]}{year}-{words}")[:_LONGEST_ID].strip("-")
    # An id that reads as an address inside another paper would lead there.
    return own if paper_of(own) == own else own.replace("/", ":")


def text_of(record: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that says something, as text; whatever else stands there is silence."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, list) and value and isinstance(value[0], str):
            return value[0]
    return ""


def dicts_of(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of a list; whatever else stands there is left out."""
    value = record.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def words_of(record: Mapping[str, Any], name: str) -> list[str]:
    value = record.get(name)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
