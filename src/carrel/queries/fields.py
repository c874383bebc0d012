"""`author:Yu year:2016-2019`: what a query asks of the papers' records."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from carrel.types import Step, StepKind

_YEAR = re.compile(r"(?P<sign>[<>]=?)?(?P<first>\d{4})?(?P<to>-|–|:|\.\.)?(?P<last>\d{4})?")


@dataclass(frozen=True, slots=True)
class Fields:
    """What the papers' records must say; empty ones do not restrict."""

    authors: tuple[str, ...] = ()
    """All of them are meant."""
    title: str = ""
    venues: tuple[str, ...] = ()
    """All of them are meant: each is a part of the name."""
    tags: frozenset[str] = frozenset()
    """Any of them suffices."""
    year_min: int | None = None
    year_max: int | None = None

    def __bool__(self) -> bool:
        return self != NO_FIELDS


NO_FIELDS = Fields()


def take(fields: Fields, name: str, value: str) -> tuple[Fields, Step] | None:
    """The fields with one more, and what it was taken for; None if this is no field, or not one of its values."""
    value = value.strip()
    match name.casefold():
        case _ if not any(character.isalnum() for character in value):
            return None
        case "author":
            taken = replace(fields, authors=(*fields.authors, value))
        case "title":
            taken = replace(fields, title=f"{fields.title} {value}".strip())
        case "venue":
            taken = replace(fields, venues=(*fields.venues, value))
        case "tag":
            taken = replace(fields, tags=fields.tags | {value})
        case "year":
            return _with_years(fields, value)
        case _:
            return None
    return taken, Step(StepKind.FIELD, f"{name}:{value}", f"{name.casefold()} {value}")


def _with_years(fields: Fields, text: str) -> tuple[Fields, Step] | None:
    span = _years(text)
    if span is None:
        return None
    first, last = span
    least = max((year for year in (fields.year_min, first) if year is not None), default=None)
    most = min((year for year in (fields.year_max, last) if year is not None), default=None)
    shown = str(first) if first == last else f"{first or ''}:{last or ''}"
    return replace(fields, year_min=least, year_max=most), Step(StepKind.FIELD, f"year:{text}", f"year {shown}")


def _years(text: str) -> tuple[int | None, int | None] | None:
    """`2019`, `2016-2019`, `2016:`, `:2019`, `>2018` and `<=2018` as the first and last year that are meant."""
    read = _YEAR.fullmatch(text)
    if read is None:
        return None
    sign, to = read["sign"], read["to"]
    first, last = (int(year) if year else None for year in (read["first"], read["last"]))
    if sign:
        return None if to or last or first is None else _compared(sign, first)
    if not to:
        return None if first is None or last else (first, first)
    if first and last:
        return min(first, last), max(first, last)
    return (first, last) if first or last else None


def _compared(sign: str, year: int) -> tuple[int | None, int | None]:
    own = 0 if sign.endswith("=") else 1
    return (year + own, None) if sign.startswith(">") else (None, year - own)
