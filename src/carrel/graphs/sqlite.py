"""The graph in SQLite tables, walked by recursive queries."""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from carrel.databases import connect, transaction
from carrel.errors import StoreUnavailable
from carrel.files import writing
from carrel.graphs import ALL_RELATIONS
from carrel.types import EVERYTHING, Concept, Filter, Hit, Predicate, Subgraph, Triple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from carrel.types import Chunk, Mention

_TABLES = """
    CREATE TABLE names (paper_id TEXT, key TEXT, name TEXT, definition TEXT, category TEXT) STRICT;
    CREATE INDEX names_key ON names (key);
    CREATE INDEX names_paper ON names (paper_id);
    CREATE TABLE aliases (paper_id TEXT, key TEXT, alias TEXT, alias_key TEXT) STRICT;
    CREATE INDEX aliases_key ON aliases (key);
    CREATE INDEX aliases_alias ON aliases (alias_key);
    CREATE INDEX aliases_paper ON aliases (paper_id);
    CREATE TABLE places (address TEXT PRIMARY KEY, paper_id TEXT, kind TEXT, year INTEGER, venue TEXT, tags TEXT,
        topic TEXT, chapter INTEGER, section INTEGER) STRICT;
    CREATE INDEX places_paper ON places (paper_id);
    CREATE TABLE mentions (paper_id TEXT, key TEXT, address TEXT, count INTEGER, relevance REAL) STRICT;
    CREATE INDEX mentions_key ON mentions (key);
    CREATE INDEX mentions_paper ON mentions (paper_id);
    CREATE TABLE triples (paper_id TEXT, subject TEXT, predicate TEXT, object TEXT, confidence REAL, address TEXT,
        evidence TEXT) STRICT;
    CREATE INDEX triples_subject ON triples (subject);
    CREATE INDEX triples_object ON triples (object);
    CREATE INDEX triples_paper ON triples (paper_id);"""
_OWNED = ("names", "aliases", "places", "mentions", "triples")
_FIND = """
    SELECT key, min(rank) AS rank FROM (
        SELECT key, CASE WHEN key = :text THEN 0 ELSE 1 END AS rank FROM names WHERE instr(key, :text)
        UNION ALL
        SELECT key, CASE WHEN alias_key = :text THEN 0 ELSE 1 END FROM aliases WHERE instr(alias_key, :text))
    GROUP BY key ORDER BY min(rank), length(key), key LIMIT :limit"""
_WALK = """
    WITH RECURSIVE walk (key, depth) AS (
        SELECT value, 0 FROM json_each(:seeds)
        UNION
        SELECT triples.object, depth + 1 FROM walk JOIN triples ON triples.subject = walk.key
            WHERE depth < :hops AND predicate IN (SELECT value FROM json_each(:relations))
        UNION
        SELECT triples.subject, depth + 1 FROM walk JOIN triples ON triples.object = walk.key
            WHERE depth < :hops AND predicate IN (SELECT value FROM json_each(:relations))),
    reached (key, depth) AS (SELECT key, min(depth) FROM walk GROUP BY key)"""
_REACHED = f"{_WALK} SELECT key, depth FROM reached WHERE key IN (SELECT key FROM names)"
_TRIPLES = f"""{_WALK} SELECT triples.* FROM triples
    WHERE subject IN (SELECT key FROM reached) AND object IN (SELECT key FROM reached)
        AND predicate IN (SELECT value FROM json_each(:relations))
    ORDER BY subject, predicate, object, address, evidence"""
_CHUNKS = f"""{_WALK}
    SELECT mentions.address, round(sum(mentions.relevance / (1.0 + depth)), 6) AS score
    FROM reached JOIN mentions ON mentions.key = reached.key JOIN places ON places.address = mentions.address
    WHERE (:paper_ids IS NULL OR places.paper_id IN (SELECT value FROM json_each(:paper_ids)))
        AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
        AND (:year_min IS NULL OR year >= :year_min)
        AND (:year_max IS NULL OR year BETWEEN 1 AND :year_max)
        AND (:venue = '' OR instr(venue, :venue))
        AND (:tags IS NULL OR EXISTS (SELECT 1 FROM json_each(places.tags) AS held, json_each(:tags) AS asked
            WHERE held.value = asked.value))
        AND (:topic = '' OR topic = :topic)
        AND (:chapter IS NULL OR chapter = :chapter)
        AND (:section IS NULL OR section = :section)
    GROUP BY mentions.address ORDER BY score DESC, mentions.address LIMIT :limit"""


class SqliteGraph:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: sqlite3.Connection | None = None

    def put(
        self,
        paper_id: str,
        *,
        chunks: Sequence[Chunk],
        concepts: Sequence[Concept],
        mentions: Sequence[Mention],
        triples: Sequence[Triple],
    ) -> None:
        names = {_key(concept.name): concept.name for concept in concepts}
        related = [name for triple in triples for name in (triple.subject, triple.object)]
        implied = {_key(name): name for name in [*related, *(mention.concept for mention in mentions)]}
        bare = [Concept(name) for key, name in implied.items() if key not in names]
        with self._transaction() as connection:
            self._forget(connection, [paper_id])
            connection.executemany(
                "INSERT INTO names VALUES (?, ?, ?, ?, ?)",
                [(paper_id, _key(c.name), c.name, c.definition, c.category) for c in [*concepts, *bare]],
            )
            connection.executemany(
                "INSERT INTO aliases VALUES (?, ?, ?, ?)",
                [(paper_id, _key(c.name), alias, _key(alias)) for c in concepts for alias in c.aliases],
            )
            connection.executemany("INSERT INTO places VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_place, chunks))
            connection.executemany(
                "INSERT INTO mentions VALUES (?, ?, ?, ?, ?)",
                [(paper_id, _key(m.concept), m.address, m.count, m.relevance) for m in mentions],
            )
            connection.executemany(
                "INSERT INTO triples VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (paper_id, _key(t.subject), t.predicate, _key(t.object), t.confidence, t.address, t.evidence)
                    for t in triples
                ],
            )

    def delete(self, paper_ids: Collection[str]) -> None:
        if paper_ids and self._path.exists():
            with self._transaction() as connection:
                self._forget(connection, paper_ids)

    def find(self, text: str, *, limit: int) -> list[Concept]:
        asked = _key(text)
        if not asked:
            return []
        rows = self._all(_FIND, {"text": asked, "limit": limit})
        return [self._concept(key) for key, _ in rows]

    def neighbours(
        self, names: Collection[str], *, hops: int, relations: Collection[Predicate] = ALL_RELATIONS
    ) -> Subgraph:
        walk = _walk(names, hops, relations)
        titles: dict[str, str] = {}
        depths = {titles.setdefault(key, self._name(key)): depth for key, depth in self._all(_REACHED, walk)}
        triples = tuple(
            Triple(titles[subject], Predicate(predicate), titles[target], confidence, address, evidence)
            for _, subject, predicate, target, confidence, address, evidence in self._all(_TRIPLES, walk)
        )
        return Subgraph(depths, triples)

    def chunks(self, names: Collection[str], *, hops: int, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        rows = self._all(_CHUNKS, {**_walk(names, hops, ALL_RELATIONS), **_conditions(where), "limit": limit})
        return [Hit(address, score) for address, score in rows]

    def count(self) -> int:
        return int(self._all("SELECT count(DISTINCT key) FROM names", {})[0][0])

    def clear(self) -> None:
        if self._path.exists():
            with self._transaction() as connection:
                for table in _OWNED:
                    connection.execute(f"DELETE FROM {table}")

    def close(self) -> None:
        if self._opened:
            self._opened.close()
        self._opened = None

    def _forget(self, connection: sqlite3.Connection, paper_ids: Collection[str]) -> None:
        for table in _OWNED:
            connection.executemany(
                f"DELETE FROM {table} WHERE paper_id = ?",
                [(paper_id,) for paper_id in paper_ids],
            )

    def _concept(self, key: str) -> Concept:
        said = self._all("SELECT definition, category FROM names WHERE key = :key ORDER BY paper_id", {"key": key})
        aliases = self._all("SELECT DISTINCT alias FROM aliases WHERE key = :key ORDER BY alias", {"key": key})
        return Concept(
            name=self._name(key),
            aliases=tuple(alias for (alias,) in aliases),
            definition=next((definition for definition, _ in said if definition), ""),
            category=next((category for _, category in said if category), ""),
        )

    def _name(self, key: str) -> str:
        """The spelling most papers use."""
        spelling = "SELECT name FROM names WHERE key = :key GROUP BY name ORDER BY count(*) DESC, name LIMIT 1"
        return str(self._all(spelling, {"key": key})[0][0])

    def _all(self, sql: str, parameters: dict[str, object]) -> list[tuple[Any, ...]]:
        if not self._path.exists():
            return [(0,)] if sql.startswith("SELECT count") else []
        with self._reporting():
            return self._connection().execute(sql, parameters).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._reporting():
            connection = self._connection()
            with transaction(connection):
                yield connection

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreUnavailable(
                f"cannot use graph {str(self._path)!r}: {error}",
                hint="It is derived: delete that file and run 'carrel index build'.",
            ) from error

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            with writing(self._path):
                self._path.parent.mkdir(parents=True, exist_ok=True)
            self._opened = connect(self._path, [_TABLES])
        return self._opened


def _key(name: str) -> str:
    # What is no text, as an argument of the shell may be, is no name either; SQLite would refuse it.
    return " ".join(name.encode("utf-8", "replace").decode().casefold().split())


def _place(chunk: Chunk) -> tuple[object, ...]:
    facts = (chunk.kind, chunk.year, chunk.venue.casefold(), json.dumps(chunk.tags), chunk.topic)
    return (chunk.address, chunk.paper_id, *facts, chunk.chapter, chunk.section)


def _walk(names: Collection[str], hops: int, relations: Collection[Predicate]) -> dict[str, object]:
    seeds = json.dumps([_key(name) for name in names])
    return {"seeds": seeds, "hops": hops, "relations": json.dumps(sorted(relations))}


def _conditions(where: Filter) -> dict[str, object]:
    """The filter as the parameters of one sentence of SQL."""
    return {
        "paper_ids": json.dumps(sorted(where.paper_ids)) if where.paper_ids else None,
        "kinds": json.dumps(sorted(where.kinds)) if where.kinds else None,
        "tags": json.dumps(sorted(where.tags)) if where.tags else None,
        "year_min": where.year_min,
        "year_max": where.year_max,
        "venue": where.venue.casefold(),
        "topic": where.topic,
        "chapter": where.chapter,
        "section": where.section,
    }
