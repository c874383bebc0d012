"""The sentences that are said to IRIS, and a chunk as a row of its table.

IRIS compares texts without case, and without spaces at their end, unless it is told otherwise: what has to be told
apart is compared by a digest. What comes back as it was, addresses and vectors, is kept in letters that no setting of a
server changes. `DOUBLE` is not quoted, because a quoted one is taken for one more parameter.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from carrel.types import Chunk, Filter, Vector

COMMITTED = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
MAKE_SETS = """CREATE TABLE IF NOT EXISTS RAG.VectorSets (set_owner VARCHAR(40), set_part VARCHAR(10),
    set_table VARCHAR(100), set_model VARCHAR(1000), set_dim INTEGER, PRIMARY KEY (set_owner, set_part))"""
LOCK = "LOCK TABLE RAG.VectorSets IN EXCLUSIVE MODE"
SETS = "SELECT set_part, set_table, set_model, set_dim FROM RAG.VectorSets WHERE set_owner = ?"
FORGET_SET = "DELETE FROM RAG.VectorSets WHERE set_owner = ? AND set_part = ?"
PUT_SET = """INSERT INTO RAG.VectorSets (set_owner, set_part, set_table, set_model, set_dim)
    VALUES (?, ?, ?, ?, ?)"""
MAKE = """CREATE TABLE IF NOT EXISTS {table} (id VARCHAR(255) PRIMARY KEY, text_content LONGVARCHAR,
    embedding VECTOR(DOUBLE, {dim}), metadata VARCHAR(65535), created_timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    packed VARCHAR(262144), doc_paper VARCHAR(40), doc_kind VARCHAR(40), doc_year BIGINT, doc_venue VARCHAR(65535),
    doc_tags VARCHAR(65535), doc_topic VARCHAR(40), doc_chapter BIGINT, doc_section BIGINT)"""
INDEX = "CREATE INDEX {name} ON {table} (doc_paper)"
DROP = "DROP TABLE IF EXISTS {table}"
PUT = """INSERT INTO {table} (id, text_content, embedding, metadata, packed, doc_paper, doc_kind, doc_year, doc_venue,
    doc_tags, doc_topic, doc_chapter, doc_section) VALUES (?, ?, TO_VECTOR(?, DOUBLE), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
DELETE = "DELETE FROM {table} WHERE doc_paper IN ({marks})"
# A number of Carrel's own, not a text: servers differ in whether they take a parameter there.
SEARCH = """SELECT TOP {most} metadata, packed, VECTOR_DOT_PRODUCT(embedding, TO_VECTOR(?, DOUBLE)) AS score
    FROM {table} WHERE embedding IS NOT NULL{conditions} ORDER BY score DESC"""
MANY = "SELECT metadata, packed FROM {table} WHERE id IN ({marks})"
COUNT = "SELECT COUNT(*) FROM {table} WHERE embedding IS NOT NULL"
ADDRESSES = "SELECT metadata FROM {table}"


def marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def digest(text: str) -> str:
    """The letter before it keeps it from being taken for a number."""
    return f"c{blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def table_of(owner: str, letter: str) -> str:
    """Each library has two, of which one is in use."""
    return f"RAG.SourceDocuments{owner}{letter}"


def row(chunk: Chunk, vector: Vector) -> tuple[object, ...]:
    """In the order of `PUT`."""
    metadata = json.dumps({"address": chunk.address, "paper_id": chunk.paper_id, "title": chunk.title})
    return (
        digest(chunk.address),
        _text(chunk.text),
        values_of(vector),
        metadata,
        b64encode(vector.astype("<f4").tobytes()).decode(),
        digest(chunk.paper_id),
        str(chunk.kind),
        chunk.year,
        _text(chunk.venue.casefold()),
        _tag_line(chunk.tags),
        digest(chunk.topic),
        chunk.chapter,
        chunk.section,
    )


def values_of(vector: Vector) -> str:
    """As TO_VECTOR reads it; as many digits as tell two numbers apart."""
    return ",".join(map(repr, vector.tolist()))


def address_of(metadata: str) -> str:
    address: str = json.loads(metadata)["address"]
    return address


def vector_of(packed: str) -> Vector:
    return np.frombuffer(b64decode(packed), dtype="<f4").astype(np.float32)


def conditions(where: Filter) -> tuple[str, list[object]]:
    found = list(_conditions(where))
    return "".join(f" AND ({sql})" for sql, _ in found), [value for _, values in found for value in values]


def _conditions(where: Filter) -> Iterator[tuple[str, list[object]]]:
    if where.paper_ids:
        yield f"doc_paper IN ({marks(sorted(where.paper_ids))})", [digest(paper) for paper in sorted(where.paper_ids)]
    if where.kinds:
        yield f"doc_kind IN ({marks(sorted(where.kinds))})", [str(kind) for kind in sorted(where.kinds)]
    if where.year_min is not None:
        yield "doc_year >= ?", [where.year_min]
    if where.year_max is not None:
        # A chunk without a year, which is 0, is not from before any year.
        yield "doc_year BETWEEN 1 AND ?", [where.year_max]
    if where.venue:
        yield "POSITION(? IN doc_venue) > 0", [_text(where.venue.casefold())]
    if where.tags:
        tags = sorted(where.tags)
        yield " OR ".join(["POSITION(? IN doc_tags) > 0"] * len(tags)), [_tag_line([tag]) for tag in tags]
    if where.topic:
        yield "doc_topic = ?", [digest(where.topic)]
    if where.chapter is not None:
        yield "doc_chapter = ?", [where.chapter]
    if where.section is not None:
        yield "doc_section = ?", [where.section]


def _tag_line(tags: Iterable[str]) -> str:
    """All tags as one text, in which each can be looked for: no tag has a space of its own in a digest."""
    return "".join(f" {digest(tag)} " for tag in tags)


def _text(value: str) -> str:
    """Without what no server takes: zeros, and halves of characters."""
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
