"""Papers, their texts, chunks, exhibits, bibliographies and places as rows of a database."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import astuple
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from carrel.catalogs import CitationRow, ExhibitRow, PaperRow
from carrel.catalogs.citing import doi_lookup, title_key, title_lookup
from carrel.identifiers import normalise_doi
from carrel.references import jsonl
from carrel.types import (
    Box,
    Chunk,
    ChunkKind,
    Cited,
    Document,
    Exhibit,
    ExhibitKind,
    Part,
    Place,
    SectionStart,
    facts_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.catalogs import Entry
    from carrel.databases.sessions import Row
    from carrel.types import Reference

_REMEMBERED = 1024
_ASCII = re.compile(r"[\x20-\x7e]*")
PAPER = (
    "id", "title", "year", "doi", "doi_key", "title_key", "record", "listed", "state", "added_at", "updated_at",
    "added",
)  # fmt: skip
TEXT = ("paper_id", "part", "text", "digest", "source", "format", "remarks", "topic", "places")
CHUNK = (
    "address", "paper_id", "part", "kind", "text", "start", '"end"', "position", "chapter", "section", "section_path",
    "sections", "language", "token_count", "has_code", "has_formula", "has_table", "page_start", "page_end", "exhibits",
)  # fmt: skip
EXHIBIT = ("address", "paper_id", "part", "number", "kind", "label", "caption", "description", "image", "box")
CITATION = ("paper_id", "part", "position", "text", "title", "title_key", "doi", "year")
_CHUNK_FIELDS = tuple(name.strip('"') for name in CHUNK)


def paper_values(entry: Entry, now: str) -> tuple[Any, ...]:
    reference = entry.reference
    facts = (reference.id, reference.title, reference.published.year, reference.doi)
    lookups = (doi_lookup(reference.doi), title_lookup(reference.title))
    return (*facts, *lookups, jsonl.dump(reference), entry.listed, now, now)


def paper(row: Row) -> PaperRow:
    record, listed, state, *sources, chunk_count, figure_count, added = row
    texts = {part: source for part, source in zip(Part, sources, strict=True) if source is not None}
    return PaperRow(
        reference=_reference(record),
        listed=bool(listed),
        indexed=state == "active",
        parts=tuple(texts),
        sources=tuple(source for source in texts.values() if source),
        chunk_count=chunk_count,
        figure_count=figure_count,
        added=added,
    )


def text_values(entry: Entry) -> tuple[Any, ...]:
    document = entry.document
    told = (document.paper_id, document.part, document.text, document.digest, document.source, document.format)
    topic = entry.chunks[0].topic if entry.chunks else ""
    return (*told, json.dumps(document.remarks, ensure_ascii=False), topic, packed(entry.places))


def document(row: Row) -> Document:
    paper_id, part, text, digest, source, form, remarks, *_ = row
    return Document(paper_id, Part(part), text, digest, source, form, words(remarks))


def chunk_values(chunk: Chunk) -> list[Any]:
    values = {name: getattr(chunk, name) for name in _CHUNK_FIELDS}
    lists = {name: json.dumps(values[name]) for name in ("section_path", "sections", "exhibits")}
    return [*{**values, **lists}.values()]


def chunk(row: Row) -> Chunk:
    *values, record, topic = row
    told = dict(zip(_CHUNK_FIELDS, values, strict=True))
    kind = told["kind"] = ChunkKind(told["kind"])
    told["part"] = Part(told["part"])
    for name in ("has_code", "has_formula", "has_table"):
        told[name] = bool(told[name])
    for name in ("section_path", "exhibits"):
        told[name] = words(told[name])
    told["sections"] = _sections(told["sections"])
    return Chunk(**told, **_facts(record, kind), topic=topic)


def words(listed: str) -> tuple[str, ...]:
    return tuple(json.loads(listed)) if listed != "[]" else ()


def _sections(listed: str) -> tuple[SectionStart, ...]:
    # Few chunks have any, and many are read.
    return tuple(SectionStart(start, tuple(path)) for start, path in json.loads(listed)) if listed != "[]" else ()


@lru_cache(maxsize=_REMEMBERED)
def _facts(record: str, kind: ChunkKind) -> dict[str, Any]:
    return facts_of(_reference(record), kind)


@lru_cache(maxsize=_REMEMBERED)
def _reference(record: str) -> Reference:
    """The chunks of a paper share its record, and the same papers are found again and again."""
    return jsonl.from_own(json.loads(record))


def exhibit_values(entry: Entry) -> Iterator[tuple[Any, ...]]:
    paper_id, part = entry.document.paper_id, entry.document.part
    for number, one in enumerate(entry.exhibits, start=1):
        box = json.dumps(astuple(one.box)) if one.box else None
        place = (f"{paper_id}/fig{number}", paper_id, part, number)
        yield (*place, one.kind, one.label, one.caption, one.description, one.image, box)


def exhibit(row: Row) -> ExhibitRow:
    address, paper_id, _, _, kind, label, caption, description, image, box, start, end = row
    where = Box(*json.loads(box)) if box else None
    return ExhibitRow(
        address, paper_id, Exhibit(ExhibitKind(kind), start, end, label, caption, description, image, where)
    )


def citation_values(entry: Entry) -> Iterator[tuple[Any, ...]]:
    paper_id, part = entry.document.paper_id, entry.document.part
    for position, cited in enumerate(entry.cited):
        yield paper_id, part, position, cited.text, cited.title, title_key(cited.title), cited.doi, cited.year


def citation(row: Row) -> CitationRow:
    paper_id, position, text, title, doi, year = row
    return CitationRow(paper_id, position, Cited(text=text, title=title, doi=doi, year=year))


def alike(title: str, doi: str) -> tuple[str, str]:
    """What entries for a paper may have: the key of its title, and a pattern for its DOI."""
    plain = _ASCII.match(normalise_doi(doi))
    # Databases differ in what a small letter is beyond these.
    sought = re.sub(r"[!%_]", r"!\g<0>", plain.group()) if plain else ""
    return title_key(title), f"%{sought}%" if sought else ""


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
