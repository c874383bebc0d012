"""BibTeX and biblatex: `.bib` as twenty years of programs and hands have written it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.references import bibtex_entries, dates, latex, names, texts
from carrel.references.bibtex_files import paths_in
from carrel.references.drafts import Collector, Draft

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from carrel.references import Found
    from carrel.references.bibtex_entries import Entry, Piece
    from carrel.references.texts import Tell
    from carrel.types import Author, Published

Fields = dict[str, str]
"""An entry's fields by name, macros expanded, LaTeX as it was."""

_NO_ENTRY = frozenset({"comment", "preamble", "string", "xdata", "control"})
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONGEST_MACRO = 10_000
_LONGEST_VALUE = 5_000_000
_MOST_EXPANDED = 100_000_000
_MOST_MACROS = 100_000
_DEEPEST_FAMILY = 4
_MOST_PARENTS = 8
_PARENTS = re.compile(r"\b(?:crossref|xdata)\s*=\s*[{\"]?\s*([^}\"\n]+)", re.IGNORECASE)
_FROM_A_PARENT = frozenset(
    [
        "booktitle",
        "journal",
        "journaltitle",
        "year",
        "date",
        "month",
        "day",
        "editor",
        "eventtitle",
        "booksubtitle",
        "maintitle",
    ]
)
_SEPARATED = {",": re.compile("[,\n]"), ";": re.compile(";")}
_BARE_COMMA = re.compile(r",(?=\S)")
_ESCAPED = re.compile(r"\\([_&%#$~{}])")
_PDF_FIELDS = re.compile(r"files?|local-(?:zo-)?url(?:-\d+)?|pdf|bdsk-file-\d+")
_LINKS = ("url", "ee", "bdsk-url-1", "bdsk-url-2", "biburl", "howpublished", "journal", "adsurl")


class Macros:
    """The file's abbreviations, with bounds: a few lines must not become gigabytes."""

    def __init__(self) -> None:
        self._texts = {month: month for month in _MONTHS}
        self._left = _MOST_EXPANDED

    def define(self, entry: Entry) -> None:
        for name, pieces in entry.fields.items():
            if len(self._texts) >= _MOST_MACROS:
                raise ValueError(f"it is one of more than {_MOST_MACROS:,} macros")
            text = self.expand(name, pieces)
            if len(text) > _LONGEST_MACRO:
                raise ValueError(f"the macro {name!r} has {len(text):,} characters, more than {_LONGEST_MACRO:,}")
            self._texts[name] = text

    def expand(self, name: str, pieces: Iterable[Piece]) -> str:
        """A macro that is not defined stands for its own name."""
        parts = [self._texts.get(piece.text.lower(), piece.text) if piece.is_macro else piece.text for piece in pieces]
        size = sum(len(part) for part in parts)
        if size > _LONGEST_VALUE:
            raise ValueError(f"the field {name!r} has {size:,} characters, more than {_LONGEST_VALUE:,}")
        if any(piece.is_macro for piece in pieces):
            self._left -= size
        if self._left < 0:
            raise ValueError(f"the macros of the file expand to more than {_MOST_EXPANDED:,} characters")
        return "".join(parts)


def read(path: Path, tell: Tell = texts.untold) -> Found:
    """Every entry of the file as a record, in its order."""
    collector = Collector(path, "bibtex")
    macros, parents = Macros(), _parents(path)
    for entry in bibtex_entries.read(texts.lines(path, tell)):
        place = entry.key or entry.line
        try:
            if entry.kind == "string":
                macros.define(entry)
            if entry.kind in _NO_ENTRY:
                continue
            fields = _with_family(_expanded(entry, macros), entry.kind, parents)
            draft = _draft(entry, fields)
        except ValueError as error:
            collector.report(place, f"line {entry.line}: {error}")
            continue
        for fault in entry.faults:
            collector.remark(place, f"line {entry.line}: {fault}")
        collector.take(draft, place)
    return collector.found()


def _expanded(entry: Entry, macros: Macros) -> Fields:
    return {name: macros.expand(name, pieces) for name, pieces in entry.fields.items()}


# Entries that speak for others


def _parents(path: Path) -> dict[str, Fields]:
    """The entries that others refer to, by key. The file is read for them alone, and only if there are such."""
    wanted = {
        key.strip().lower()
        for line in texts.lines(path)
        if "=" in line
        for found in _PARENTS.findall(line)
        for key in found.split(",")
    }
    found: dict[str, Fields] = {}
    macros = Macros()
    for entry in bibtex_entries.read(texts.lines(path)) if wanted else ():
        try:
            if entry.kind == "string":
                macros.define(entry)
            elif entry.key.lower() in wanted:
                found.setdefault(entry.key.lower(), _expanded(entry, macros))
        except ValueError:
            # Reported where the entry itself is read.
            continue
    return found


def _with_family(
    fields: Fields, kind: str, parents: Mapping[str, Fields], seen: frozenset[str] = frozenset()
) -> Fields:
    """An entry and what it inherits: all of its `xdata`, of its `crossref` what a part has from its whole."""
    common = dict.fromkeys(key.strip().lower() for key in fields.get("xdata", "").split(","))
    for key in list(common)[:_MOST_PARENTS]:
        if key not in seen and len(seen) < _DEEPEST_FAMILY and (parent := parents.get(key)):
            fields = {**_with_family(parent, "xdata", parents, seen | {key}), **fields}
    key = fields.get("crossref", "").strip().lower()
    if key in seen or len(seen) >= _DEEPEST_FAMILY or key not in parents:
        return fields
    return {**_inherited(fields, kind, _with_family(parents[key], kind, parents, seen | {key})), **fields}


def _inherited(fields: Fields, kind: str, parent: Fields) -> Fields:
    found = {name: text for name, text in parent.items() if name in _FROM_A_PARENT}
    if "title" in parent and "journal" not in fields and "journaltitle" not in fields:
        found.setdefault("booktitle", parent["title"])
    if kind == "inbook" and "author" in parent:
        found["author"] = parent["author"]
    if "date" in fields or "year" in fields:
        found = {name: text for name, text in found.items() if name not in ("date", "year", "month", "day")}
    return found


# An entry's fields as a draft


def _draft(entry: Entry, fields: Fields) -> Draft:
    title = _titled(fields, "title", "subtitle") or _titled(fields, "booktitle", "booksubtitle")
    eprint = _verbatim(fields, "eprint") if _archive(fields) in ("", "arxiv") else ""
    return Draft(
        id=entry.key,
        title=title or _text(fields, "maintitle", "shorttitle"),
        authors=tuple(_authors(fields)),
        published=_published(fields),
        venue=_text(fields, "journaltitle", "journal", "booktitle", "eventtitle", "shortjournal"),
        abstract=latex.decode(fields.get("abstract", "")),
        note=_notes(fields),
        doi=_verbatim(fields, "doi"),
        arxiv=eprint or _verbatim(fields, "arxiv", "arxivid"),
        pmid=_verbatim(fields, "pmid") or (_verbatim(fields, "eprint") if _archive(fields) == "pubmed" else ""),
        pmcid=_verbatim(fields, "pmcid", "pmc"),
        links=tuple(_verbatim(fields, name) for name in _LINKS if name in fields),
        files=tuple(path for name, text in fields.items() if _PDF_FIELDS.fullmatch(name) for path in paths_in(text)),
        tags=tuple(_tags(fields)),
    )


def _text(fields: Fields, *wanted: str) -> str:
    """The first of these fields that says something, decoded."""
    decoded = (latex.decode(fields[name]).strip() for name in wanted if fields.get(name, "").strip())
    return next((text for text in decoded if text), "")


def _verbatim(fields: Fields, *wanted: str) -> str:
    """An identifier or address: no LaTeX but the escapes."""
    text = next((fields[name] for name in wanted if fields.get(name, "").strip()), "")
    return _ESCAPED.sub(r"\1", text).replace("{", "").replace("}", "").strip()


def _titled(fields: Fields, title: str, subtitle: str) -> str:
    main, sub = _text(fields, title), _text(fields, subtitle)
    separator = " " if main.endswith((":", "?", "!", ".")) else ": "
    return f"{main}{separator}{sub}" if main and sub else main


def _archive(fields: Fields) -> str:
    return _verbatim(fields, "eprinttype", "archiveprefix").lower()


def _authors(fields: Fields) -> list[Author]:
    """Who wrote it; of a collection who edited it, of a film who made it."""
    for role in ("author", "editor", "director", "editora", "holder"):
        if fields.get(role, "").strip() and (found := names.read_latex(fields[role])):
            return found
    return []


def _published(fields: Fields) -> Published:
    month, day = _text(fields, "month"), _text(fields, "day")
    said = (dates.read(_text(fields, name), month, day) for name in ("date", "year", "issued"))
    return next((date for date in said if date.year), dates.made(0))


def _notes(fields: Fields) -> str:
    said = (latex.decode(fields.get(name, "")).strip() for name in ("note", "annotation", "annote"))
    return "\n\n".join(dict.fromkeys(text for text in said if text))


def _tags(fields: Fields) -> list[str]:
    found: list[str] = []
    for name in ("keywords", "keyword", "tags", "mendeley-tags", "groups"):
        text = fields.get(name, "")
        found += (latex.decode(tag) for tag in _SEPARATED[_separator(text)].split(text.replace("\\;", ";")))
    return found


def _separator(text: str) -> str:
    """Better BibTeX joins keywords by bare commas, with semicolons inside; others by semicolons, with commas inside."""
    return "," if _BARE_COMMA.search(text) or ";" not in text else ";"
