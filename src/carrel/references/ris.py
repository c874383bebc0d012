"""RIS: what publishers' pages, EndNote and Reference Manager write, a line a field."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from carrel.references import dates, names, texts
from carrel.references.drafts import Collector, Draft
from carrel.types import Author, Published

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from carrel.references import Found
    from carrel.references.texts import Tell

Fields = dict[str, list[list[str]]]
"""The values of an entry by tag, each as the lines it stands in."""

_LINE = re.compile(r"\ufeff?\s{0,3}(?P<tag>[A-Z][A-Z0-9]) {1,2}-(?: (?P<value>.*))?$", re.DOTALL)
_BOOKS = frozenset({"BOOK", "EDBOOK", "EBOOK", "RPRT", "THES", "SER"})


def read(path: Path, tell: Tell = texts.untold) -> Found:
    """Every entry between its TY and its ER; one whose ER is missing ends where the next begins."""
    collector = Collector(path, "ris")
    for line, fields in _entries(texts.lines(path, tell), collector):
        collector.take(_draft(fields), _first(fields, "ID") or line)
    return collector.found()


def _entries(lines: Iterable[str], collector: Collector) -> Iterator[tuple[int, Fields]]:
    fields: Fields = {}
    start = 0
    last = ""
    for number, line in enumerate(lines, start=1):
        found = _LINE.match(line.rstrip("\r\n"))
        tag = found["tag"] if found else ""
        if fields and tag in ("TY", "ER"):
            yield start, fields
            fields = {}
        if tag == "TY":
            start = number
        if found and tag != "ER" and (fields or tag == "TY"):
            fields.setdefault(tag, []).append([found["value"] or ""])
            last = tag
        elif found is None and fields:
            # A long value goes on in lines without a tag.
            fields[last][-1].append(line)
        elif found and tag != "ER":
            collector.report(number, f"line {number}: the field {tag} is outside of any entry")
    if fields:
        yield start, fields


def _values(fields: Fields, *tags: str) -> list[str]:
    found = ("\n".join(lines).strip() for tag in tags for lines in fields.get(tag, ()))
    return [value for value in found if value]


def _first(fields: Fields, *tags: str) -> str:
    return next((value for tag in tags for value in _values(fields, tag)), "")


def _draft(fields: Fields) -> Draft:
    kind = _first(fields, "TY").upper()
    is_book = kind in _BOOKS
    title = _first(fields, "TI", "T1", "CT") or _first(fields, "BT", "T2")
    return Draft(
        id=_first(fields, "ID"),
        title=title,
        authors=tuple(_authors(fields)),
        published=_published(fields),
        venue=_first(fields, "JF", "JO", "JA", "J2", "J1") if is_book else _venue(fields),
        abstract=_first(fields, "AB", "N2"),
        note="\n\n".join(_values(fields, "N1", "RN")),
        doi=_first(fields, "DO", "DI") or _first(fields, "M3"),
        pmid=_accession(fields),
        pmcid=_first(fields, "C2"),
        links=tuple(_values(fields, "UR", "LK", "L2")),
        files=tuple(_local(value) for value in _values(fields, "L1")),
        tags=tuple(tag for value in _values(fields, "KW") for tag in value.split(";")),
    )


def _venue(fields: Fields) -> str:
    return _first(fields, "JF", "JO", "T2", "BT", "JA", "J2", "J1", "C3", "T3")


def _authors(fields: Fields) -> list[Author]:
    for tags in (("AU", "A1"), ("ED", "A2"), ("A3", "A4")):
        if found := [names.inverted(value) for value in _values(fields, *tags)]:
            return found
    return []


def _published(fields: Fields) -> Published:
    """The most exact of what is said: PY often has the year alone, DA the day."""
    said = [dates.read(value) for value in _values(fields, "PY", "Y1", "DA")]
    years = [date for date in said if date.year]
    same_year = [date for date in years if date.year == years[0].year]
    return max(same_year, key=lambda date: (date.month > 0, date.day > 0), default=Published())


def _accession(fields: Fields) -> str:
    database = f"{_first(fields, 'DB')} {_first(fields, 'DP')}".lower()
    return _first(fields, "AN") if "pubmed" in database or "medline" in database or "nlm" in database else ""


def _local(value: str) -> str:
    """`file:` addresses as the paths they are; EndNote's own `internal-pdf://` lies in no folder we know."""
    return unquote(value.removeprefix("file://")) if value.startswith("file://") else value
