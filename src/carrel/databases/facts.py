"""What a filter asks of a chunk, as columns of a table on PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.databases.sessions import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from carrel.types import Chunk, Filter

COLUMNS = ("address", "paper_id", "kind", "venue", "tags", "topic", "year", "chapter", "section")
# Texts are ordered by their characters, as everywhere else in Carrel, whatever the language of the database.
TYPES = """
    address TEXT COLLATE "C" NOT NULL,
    paper_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    venue TEXT COLLATE "C" NOT NULL,
    tags TEXT[] COLLATE "C" NOT NULL,
    topic TEXT COLLATE "C" NOT NULL,
    year BIGINT NOT NULL,
    chapter BIGINT NOT NULL,
    section BIGINT NOT NULL"""
# By their hashes: a name may be longer than what an ordered index holds.
INDEXES = """
    CREATE INDEX ON {table} USING hash (address);
    CREATE INDEX ON {table} USING hash (paper_id);
    CREATE INDEX ON {table} (year);
    CREATE INDEX ON {table} USING gin (tags)"""


def values(chunk: Chunk) -> tuple[object, ...]:
    """In the order of the columns."""
    named = (chunk.address, chunk.paper_id, chunk.kind.value, chunk.venue.casefold())
    return (*named, texts(chunk.tags), chunk.topic, chunk.year, chunk.chapter, chunk.section)


def texts(some: Iterable[str]) -> list[str]:
    """As PostgreSQL takes them in a list."""
    return [text(one) for one in some]


def allowed(where: Filter) -> tuple[str, list[object]]:
    """A condition that holds for what the filter matches, and its values."""
    conditions = list(_conditions(where))
    return " AND ".join(["TRUE", *(sql for sql, _ in conditions)]), [value for _, value in conditions]


def _conditions(where: Filter) -> Iterator[tuple[str, object]]:
    if where.paper_ids:
        yield "paper_id = ANY(?::text[])", texts(sorted(where.paper_ids))
    if where.kinds:
        yield "kind = ANY(?::text[])", texts(sorted(where.kinds))
    if where.year_min is not None:
        yield "year >= ?", where.year_min
    if where.year_max is not None:
        # A chunk without a year, which is 0, is not from before any year.
        yield "year BETWEEN 1 AND ?", where.year_max
    if where.venue:
        yield "strpos(venue, ?) > 0", where.venue.casefold()
    if where.tags:
        yield "tags && ?::text[]", texts(sorted(where.tags))
    if where.topic:
        yield "topic = ?", where.topic
    if where.chapter is not None:
        yield "chapter = ?", where.chapter
    if where.section is not None:
        yield "section = ?", where.section
