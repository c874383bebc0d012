"""From what a reader types to what it names: a paper by its id or title, or a place in one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from carrel.errors import PaperNotFound
from carrel.identifiers import normalise_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.catalogs import Catalog, PaperRow

_PLACE = re.compile(
    r"(?P<paper>.+)/(?:(?P<named>abstract|note)|fig(?P<figure>\d{1,9})"
    r"|ch(?P<chapter>\d{1,9})(?:/s(?P<section>\d{1,9})(?:/p(?P<chunk>\d{1,9}))?)?)",
    re.ASCII | re.DOTALL,
)
_LEAST_OF_A_TITLE = 3
_SHOWN = 5
_LONGEST_SHOWN = 80
_LONGEST_COMPARED = 300


@dataclass(frozen=True, slots=True)
class Address:
    """A place in a paper."""

    paper: str
    """Its id, or its title."""
    rest: str
    """What follows the slash, as the catalog spells it."""
    chapter: int | None = None
    section: int | None = None
    chunk: int | None = None

    @property
    def is_part(self) -> bool:
        """Whether it is a chapter or a section."""
        return self.chapter is not None and self.chunk is None


def parse(text: str) -> Address | None:
    """The place that a text names; None when it can only be a paper."""
    found = _PLACE.fullmatch(text)
    if found is None:
        return None
    if found["named"]:
        return Address(found["paper"], found["named"])
    numbers = {name: int(found[name]) for name in ("figure", "chapter", "section", "chunk") if found[name]}
    marks = {"figure": "fig", "chapter": "ch", "section": "s", "chunk": "p"}
    rest = "/".join(f"{marks[name]}{number}" for name, number in numbers.items())
    numbers.pop("figure", None)
    return Address(found["paper"], rest, **numbers)


def resolve(name: str, catalog: Catalog) -> PaperRow:
    return resolve_all([name], catalog)[0]


def resolve_all(names: Sequence[str], catalog: Catalog) -> list[PaperRow]:
    """The papers of these ids or titles. The whole catalog is read only for a name that is no id."""
    by_id = {row.reference.id: row for row in catalog.papers(names)}
    unknown = [name for name in names if name not in by_id]
    rows = catalog.papers() if unknown else []
    return [by_id.get(name) or _by_title(name, rows) for name in names]


def _by_title(name: str, rows: Sequence[PaperRow]) -> PaperRow:
    """The paper whose title this is, or is a part of; one paper, or an error that names those meant."""
    key = normalise_title(name)
    titles = [(normalise_title(row.reference.title), row) for row in rows] if len(key) >= _LEAST_OF_A_TITLE else []
    found = [row for title, row in titles if title == key] or [row for title, row in titles if key in title]
    if len(found) == 1:
        return found[0]
    asked = _short(name)
    if not found:
        near = _near(name, rows)
        others = f"; the nearest are {near}" if near else ""
        raise PaperNotFound(f"Paper {asked} not found in database{others}", hint="'carrel list' shows what there is.")
    raise PaperNotFound(f"{asked} is in the titles of {len(found)} papers: {_named(found)}", hint="Name one by its id.")


def _near(name: str, rows: Sequence[PaperRow]) -> str:
    """Papers whose id has this in it, or whose id or title is spelled nearly so."""
    asked = name.strip().casefold()
    if not asked or len(asked) > _LONGEST_COMPARED:
        return ""
    by_name = {row.reference.title.casefold(): row for row in rows}
    by_name |= {row.reference.id.casefold(): row for row in rows}
    parts = [row.reference.id.casefold() for row in rows if asked in row.reference.id.casefold()]
    close = [*parts, *get_close_matches(asked, by_name, n=_SHOWN, cutoff=0.7)]
    return _named(list({by_name[one].reference.id: by_name[one] for one in close}.values()))


def _named(rows: Sequence[PaperRow]) -> str:
    shown = [f"{row.reference.id} ({_short(row.reference.title)})" for row in rows[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else "")


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")
