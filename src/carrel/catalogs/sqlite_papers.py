"""Exhibits, bibliographies and places as rows of SQLite."""

from __future__ import annotations

import json
import zlib
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from carrel.catalogs import CitationRow, ExhibitRow
from carrel.catalogs.citing import title_key
from carrel.types import Box, Cited, Exhibit, ExhibitKind, Place

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from carrel.catalogs import Entry

_EXHIBIT_TEXTS = ("label", "caption", "description", "image")


def exhibit_values(entry: Entry) -> Iterator[dict[str, Any]]:
    document = entry.document
    for number, exhibit in enumerate(entry.exhibits, start=1):
        yield {
            "address": f"{document.paper_id}/fig{number}",
            "paper_id": document.paper_id,
            "part": document.part,
            "number": number,
            "kind": exhibit.kind,
            "box": json.dumps(astuple(exhibit.box)) if exhibit.box else None,
            **{name: getattr(exhibit, name) for name in _EXHIBIT_TEXTS},
        }


def exhibit(row: sqlite3.Row) -> ExhibitRow:
    texts = {name: row[name] for name in _EXHIBIT_TEXTS}
    box = Box(*json.loads(row["box"])) if row["box"] else None
    made = Exhibit(kind=ExhibitKind(row["kind"]), start=row["start"], end=row["end"], box=box, **texts)
    return ExhibitRow(row["address"], row["paper_id"], made)


def citation_values(entry: Entry) -> Iterator[dict[str, Any]]:
    for position, cited in enumerate(entry.cited):
        yield {
            "paper_id": entry.document.paper_id,
            "part": entry.document.part,
            "position": position,
            "text": cited.text,
            "title": cited.title,
            "title_key": title_key(cited.title),
            "doi": cited.doi,
            "year": cited.year,
        }


def citation(row: sqlite3.Row) -> CitationRow:
    cited = Cited(text=row["text"], title=row["title"], doi=row["doi"], year=row["year"])
    return CitationRow(row["paper_id"], row["position"], cited)


def packed(places: Sequence[Place]) -> bytes | None:
    """A tenth of their size, and quick to read whole."""
    if not places:
        return None
    rows = [(place.start, place.end, place.box.page, *_rounded(place.box)) for place in places]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), 6)


def _rounded(box: Box) -> Iterator[float]:
    """To a hundredth of a point, which nobody sees."""
    return (round(edge, 2) for edge in (box.left, box.top, box.right, box.bottom))


def unpacked(content: bytes | None) -> tuple[Place, ...]:
    rows = json.loads(zlib.decompress(content)) if content else ()
    return tuple(Place(start, end, Box(*box)) for start, end, *box in rows)
