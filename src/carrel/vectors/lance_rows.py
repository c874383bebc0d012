"""Chunks as rows of a Lance table, and filters in its SQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from carrel.errors import InvalidInput
from carrel.types import ANY_YEAR, Hit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from carrel.types import Chunk, Filter, Matrix, Vector

LIVE = "live"
VECTOR = "vector"
_LARGEST = 2**63 - 1
_NULLABLE = ("page_start", "page_end")
_NUMBER = re.compile(r"/p(\d+)$")


def schema(dim: int, *, half: bool) -> pa.Schema:
    """A row is of the put `put`. It is `coming` until all of them are there, then `live` until it is replaced."""
    numbers = pa.float16() if half else pa.float32()
    columns = {
        "chunk_id": pa.string(),
        "paper_id": pa.string(),
        "kind": pa.string(),
        "chapter_idx": pa.int64(),
        "section_idx": pa.int64(),
        "year": pa.int64(),
        "venue": pa.string(),
        "venue_folded": pa.string(),
        "tags": pa.list_(pa.string()),
        "topic": pa.string(),
        "chapter_title": pa.string(),
        "section_title": pa.string(),
        "chunk_idx": pa.int64(),
        "depth": pa.string(),
        "text": pa.string(),
        "page_start": pa.int64(),
        "page_end": pa.int64(),
        "title": pa.string(),
        "authors": pa.list_(pa.string()),
        "figure_ids": pa.list_(pa.string()),
        VECTOR: pa.list_(numbers, dim),
        "put": pa.string(),
        "coming": pa.bool_(),
        LIVE: pa.bool_(),
    }
    return pa.schema([pa.field(name, kind, nullable=name in _NULLABLE) for name, kind in columns.items()])


def check_names(chunks: Sequence[Chunk]) -> None:
    """Refuse what could not be asked for again."""
    for chunk in chunks:
        for name in (chunk.address, chunk.paper_id):
            if name != _cleaned(name):
                raise InvalidInput(f"{name!r} has half a character in it and cannot be stored")


def rows(chunks: Sequence[Chunk], vectors: Matrix, put: str, fields: pa.Schema) -> pa.Table:
    """In the columns that the table has: one that was made before has none for other programs."""
    numbers = fields.field(VECTOR).type
    values = pa.array(np.ascontiguousarray(vectors, dtype=numbers.value_type.to_pandas_dtype()).ravel())
    columns = {
        "chunk_id": [chunk.address for chunk in chunks],
        "paper_id": [chunk.paper_id for chunk in chunks],
        "kind": [chunk.kind.value for chunk in chunks],
        "chapter_idx": [chunk.chapter for chunk in chunks],
        "section_idx": [chunk.section for chunk in chunks],
        "year": [chunk.year for chunk in chunks],
        "venue": [_cleaned(chunk.venue) for chunk in chunks],
        "venue_folded": [_cleaned(chunk.venue.casefold()) for chunk in chunks],
        "tags": [[_cleaned(tag) for tag in chunk.tags] for chunk in chunks],
        "topic": [_cleaned(chunk.topic) for chunk in chunks],
        **_for_others(chunks),
        VECTOR: pa.FixedSizeListArray.from_arrays(values, numbers.list_size),
        "put": [put] * len(chunks),
        "coming": [True] * len(chunks),
        LIVE: [False] * len(chunks),
    }
    return pa.table({name: columns[name] for name in fields.names}, schema=fields)


def _for_others(chunks: Sequence[Chunk]) -> dict[str, list[Any]]:
    """What no search reads: other programs find it as papers-rag has it."""
    return {
        "chapter_title": [_cleaned("".join(chunk.section_path[:1])) for chunk in chunks],
        # What stands before a chapter's first section is in none.
        "section_title": [_cleaned("".join(chunk.section_path[1:][-1:])) for chunk in chunks],
        "chunk_idx": [int(found[1]) if (found := _NUMBER.search(chunk.address)) else 0 for chunk in chunks],
        "depth": ["paragraph"] * len(chunks),
        "text": [_cleaned(chunk.text) for chunk in chunks],
        "page_start": [chunk.page_start for chunk in chunks],
        "page_end": [chunk.page_end for chunk in chunks],
        "title": [_cleaned(chunk.title) for chunk in chunks],
        "authors": [[_cleaned(author) for author in chunk.authors] for chunk in chunks],
        "figure_ids": [[_cleaned(address) for address in chunk.exhibits] for chunk in chunks],
    }


def vectors_in(found: pa.Table) -> Matrix:
    """One row for each of the table's."""
    column = found.column(VECTOR).combine_chunks()
    # A copy, for what Arrow holds cannot be written to.
    return np.array(column.flatten().to_numpy(), dtype=np.float32).reshape(len(found), column.type.list_size)


def nearest(found: pa.Table, vector: Vector) -> list[Hit]:
    """All of them with their exact scores, as the flat store has them, the best first."""
    scores = np.vecdot(vectors_in(found), vector).astype(np.float64).clip(-1.0, 1.0).round(6).tolist()
    hits = map(Hit, found.column("chunk_id").to_pylist(), scores)
    return sorted(hits, key=lambda hit: (-hit.score, hit.address))


def condition(where: Filter) -> str:
    """That holds for the live rows that the filter matches."""
    return " AND ".join([LIVE, *_conditions(where)])


def among(column: str, values: Collection[str]) -> str:
    """That one of these values stands in a column."""
    return _with(f"{column} IN ({{}})", values)


def quoted(value: str) -> str:
    """Only a quotation mark means something within quotation marks."""
    return "'" + value.replace("'", "''") + "'"


def _conditions(where: Filter) -> Iterator[str]:
    if where.paper_ids:
        yield among("paper_id", where.paper_ids)
    if where.kinds:
        yield among("kind", where.kinds)
    if where.year_min is not None:
        yield f"year >= {_number(where.year_min)}"
    if where.year_max is not None:
        yield f"year > {ANY_YEAR} AND year <= {_number(where.year_max)}"
    if where.venue:
        yield _with("contains(venue_folded, {})", [where.venue.casefold()])
    if where.tags:
        yield _with("array_has_any(tags, make_array({}))", where.tags)
    if where.topic:
        yield among("topic", [where.topic])
    if where.chapter is not None:
        yield f"chapter_idx = {_number(where.chapter)}"
    if where.section is not None:
        yield f"section_idx = {_number(where.section)}"


def _with(form: str, values: Iterable[str]) -> str:
    """A condition on those of the values that a table can hold."""
    spelt = ", ".join(quoted(value) for value in sorted(values) if value == _cleaned(value))
    return form.format(spelt) if spelt else "false"


def _cleaned(value: str) -> str:
    """Without halves of characters."""
    return value.encode("utf-8", "replace").decode()


def _number(value: int) -> int:
    return max(-_LARGEST, min(_LARGEST, value))
