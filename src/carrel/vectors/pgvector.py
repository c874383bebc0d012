"""Vectors on PostgreSQL with pgvector: beside the catalog and in one transaction with it, or on a server of their own.

A small set is compared row by row. A large one has an index, which finds most of the nearest; all that it finds is
compared once more with the vectors as they were put.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager, suppress
from copy import copy
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

import numpy as np
from psycopg import OperationalError, errors

from carrel.databases import facts
from carrel.databases.postgresql import kept_on
from carrel.databases.sessions import marks, text
from carrel.errors import InvalidInput, StorageFull, StoreUnavailable
from carrel.telemetry import log
from carrel.types import EVERYTHING, Filter, Hit
from carrel.vectors import check_model, check_query, check_rows
from carrel.vectors import pgvector_sets as sets
from carrel.vectors.pgvector_packing import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from carrel.databases.postgresql_session import PostgresqlSession
    from carrel.databases.sessions import Database, Row, Session
    from carrel.types import Chunk, Matrix, Vector
    from carrel.vectors import VectorStore
    from carrel.vectors.pgvector_sets import VectorSet

Told = TypeVar("Told")

_LARGE = 50_000
"""Rows from which on there is an index."""
_LOOKS = 5
"""For a set that others exchange meanwhile."""
_BUCKETS = 256
_MORE = 16
"""So many more than asked are looked at: the last digits may change their order."""
_COMPARED = 1_000
"""Hits that are compared once more; of a longer list, the server's own figures suffice."""
_FEW_PAPERS = 64
"""What so many papers have is sooner compared than searched for."""
_LEAST_EFFORT, _MOST_EFFORT = 200, 1_000
"""Neighbours that the index keeps in sight: the more rows there are, the more, for the nearest lie closer together."""

# Two that put the same paper do so one after the other. Few locks, for a server has not many.
_TURN = "SELECT pg_advisory_xact_lock(hashtext(?), bucket) FROM unnest(?::int[]) AS bucket"
_DELETE = "DELETE FROM {table} WHERE paper_id = ANY(?::text[])"
_PUT = f"INSERT INTO {{table}} ({', '.join(facts.COLUMNS)}, embedding) VALUES ({marks(facts.COLUMNS)}, ?)"
_LAST = "SELECT coalesce(max(id), 0) FROM {table}"
_COUNT = "SELECT count(*) FROM {table}"
_MANY = "SELECT address, embedding FROM {table} WHERE address = ANY(?::text[])"
# Kept apart by the offset: else each would be compared twice.
_EXACT = """
    SELECT address, -distance FROM (
        SELECT address, embedding::vector <#> ?::vector AS distance FROM {table} WHERE {allowed} OFFSET 0) AS compared
    ORDER BY greatest(round(distance * 1000000), -1000000), address LIMIT ?"""
_NEAR = """
    SELECT address, -(embedding::vector <#> ?::vector) FROM (
        SELECT address, embedding FROM {table} WHERE {allowed} ORDER BY {column} <#> ?::{type} LIMIT ?) AS near"""
# What a filter leaves out is made up for by searching on, until it were sooner done to compare all.
_SEARCHING = """
    SELECT set_config('hnsw.ef_search', greatest(?, least(?, reltuples / 1500))::int::text, true),
        set_config('hnsw.iterative_scan', 'strict_order', true),
        set_config('hnsw.max_scan_tuples', greatest(1000, reltuples / 64)::int::text, true),
        set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)
    FROM pg_class WHERE oid = ?::regclass"""


class PgVectors:
    """`pgvector`, beside the catalog, or `postgresql://user@host:5432/database`; a schema for each library."""

    def __init__(
        self,
        *,
        model: str,
        dim: int,
        namespace: str,
        kind: str = "pgvector",
        argument: str = "",
        password: str = "",
        database: Database | None = None,
        half: bool = False,
        large: int = _LARGE,
    ) -> None:
        if argument and kind != "postgresql":
            raise InvalidInput(
                f"{kind!r} is kept beside the catalog and takes no {argument!r}",
                hint="Write vectors = 'pgvector' or vectors = 'postgresql://user@host/database'.",
            )
        address = f"{kind}:{argument}" if argument else ""
        self._server = kept_on(database, address, namespace, password, sets.TABLES)
        self._wanted = (model, dim)
        self._half = half
        self._large = large
        self._unindexed: set[int] = set()
        self._is_filling = False
        self._role = sets.CURRENT
        self.model, self.dim = model, dim
        # A server that is lost is told to the first that asks: there is more in a library than its vectors.
        with suppress(StoreUnavailable):
            self._read(lambda *_: None)

    def put(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        if not chunks:
            return
        self._index_what_is_large()
        with self._server.writing() as session:
            held = self._kept(session)
            check_model(self, self._wanted)
            check_rows(chunks, vectors, self.dim)
            self._forget(session, held, {chunk.paper_id for chunk in chunks})
            rows = zip(map(facts.values, chunks), vectors, strict=True)
            session.write(_PUT.format(table=held.table), [(*row, packed(vector, held.type)) for row, vector in rows])

    @contextmanager
    def filling(self) -> Iterator[None]:
        self._is_filling = True
        try:
            yield
        finally:
            self._is_filling = False
        self._index_what_is_large()

    def delete(self, paper_ids: Collection[str]) -> None:
        if not paper_ids:
            return
        with self._server.writing() as session:
            if held := sets.kept(session, self._role):
                self._forget(session, held, paper_ids)

    def search(self, vector: Vector, *, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        def nearest(session: PostgresqlSession, held: VectorSet | None) -> list[Hit]:
            check_query(vector, limit, self)
            return _nearest(session, held, vector, limit, where) if held else []

        hits = self._read(nearest)
        return sorted(hits, key=lambda hit: (-hit.score, hit.address))[:limit]

    def get(self, address: str) -> Vector | None:
        return self.many([address]).get(address)

    def many(self, addresses: Collection[str]) -> dict[str, Vector]:
        asked = {text(address): address for address in addresses}
        found = self._read(lambda session, held: _many(session, held, list(asked)) if held else {})
        return {asked[address]: vector for address, vector in found.items()}

    def count(self) -> int:
        rows = self._read(lambda session, held: session.rows(_COUNT.format(table=held.table)) if held else [(0,)])
        return int(rows[0][0])

    def unindexed(self) -> int:
        return 0

    def addresses(self) -> set[str]:
        rows = self._read(lambda session, held: session.rows(f"SELECT address FROM {held.table}") if held else [])
        return {address for (address,) in rows}

    def clear(self, *, model: str, dim: int) -> None:
        with self._server.writing("vector_sets") as session:
            self._hold(sets.made(session, self._role, model, dim, half=self._half))

    def beside(self, *, model: str, dim: int) -> VectorStore:
        other = copy(self)
        other._role = sets.BESIDE
        with self._server.writing("vector_sets") as session:
            begun = sets.found(session, sets.BESIDE)
            if begun is None or (begun.model, begun.dim, begun.half) != (model, dim, self._half):
                begun = sets.made(session, sets.BESIDE, model, dim, half=self._half)
            other._hold(begun)
        return other

    def adopt(self, other: VectorStore) -> None:
        if not isinstance(other, PgVectors) or other._place != (*self._place[:2], sets.BESIDE):
            raise ValueError("only what was made beside this store can be adopted")
        with self._server.writing("vector_sets") as session:
            self._hold(sets.adopt(session))

    def close(self) -> None:
        self._server.close()

    @property
    def _place(self) -> tuple[str, str, str]:
        return self._server.address, self._server.namespace, self._role

    def _hold(self, held: VectorSet) -> None:
        self.model, self.dim = self._wanted = held.model, held.dim

    def _follow(self, held: VectorSet | None) -> VectorSet | None:
        """Another process may have put another model's in its place."""
        self.model, self.dim = (held.model, held.dim) if held else self._wanted
        return held

    def _read(self, work: Callable[[PostgresqlSession, VectorSet | None], Told]) -> Told:
        for look in range(1, _LOOKS + 1):
            try:
                with self._server.reading() as session:
                    return work(session, self._follow(sets.found(session, self._role)))
            except StoreUnavailable as error:
                # A set that was exchanged since we looked for it: look again.
                if look == _LOOKS or not isinstance(error.__cause__, errors.UndefinedTable):
                    raise
        raise AssertionError("every look returns or raises")

    def _kept(self, session: Session) -> VectorSet:
        """The set that is written to."""
        while (held := sets.kept(session, self._role)) is None:
            # Apart, so that others who write need not wait for what this thread writes together.
            with self._server.apart("vector_sets") as other:
                if sets.found(other, self._role) is None:
                    sets.made(other, self._role, *self._wanted, half=self._half)
        self._follow(held)
        return held

    def _forget(self, session: Session, held: VectorSet, paper_ids: Collection[str]) -> None:
        papers = facts.texts(sorted(paper_ids))
        buckets = sorted({crc32(paper.encode()) % _BUCKETS for paper in papers})
        session.rows(_TURN, [f"{self._server.namespace}.{held.table}", buckets])
        session.write(_DELETE.format(table=held.table), [(papers,)])

    def _index_what_is_large(self) -> None:
        """Apart from what is being written: it takes a while, and is good for what others wrote, too."""
        if self._is_filling:
            return
        held = self._read(lambda session, held: held if held and self._is_large(session, held) else None)
        if held is None or held.id in self._unindexed:
            return
        try:
            with self._server.apart() as session:
                sets.index(session, held)
        except (StoreUnavailable, StorageFull) as error:
            log("vectors", logging.WARNING, "not indexed", table=held.table, reason=error.message)
            # A lost connection, a full disk and who else is in the way may pass: the next put tries again.
            if not isinstance(error.__cause__, OperationalError):
                self._unindexed.add(held.id)

    def _is_large(self, session: Session, held: VectorSet) -> bool:
        if held.indexed or not held.is_indexable:
            return False
        # Numbers are never used again: there are at most as many rows as the last one says.
        statements = (_LAST, _COUNT)
        return all(session.rows(sql.format(table=held.table))[0][0] >= self._large for sql in statements)


def _nearest(session: PostgresqlSession, held: VectorSet, vector: Vector, limit: int, where: Filter) -> list[Hit]:
    rows = _by_index(session, held, vector, limit, where) if held.indexed and not _is_narrow(where) else []
    if len(rows) < limit:
        rows = _one_by_one(session, held, vector, limit, where)
    found = _many(session, held, [address for address, _ in rows]) if len(rows) <= _COMPARED else {}
    # With the same arithmetic as the embedded store.
    nearness = np.vecdot(np.stack(list(found.values())), vector) if found else np.array([near for _, near in rows])
    scores = nearness.astype(np.float64).clip(-1.0, 1.0).round(6).tolist()
    return list(map(Hit, found or [address for address, _ in rows], scores))


def _is_narrow(where: Filter) -> bool:
    return 0 < len(where.paper_ids) <= _FEW_PAPERS


def _by_index(session: Session, held: VectorSet, vector: Vector, limit: int, where: Filter) -> list[Row]:
    session.rows(_SEARCHING, [max(_LEAST_EFFORT, min(2 * limit, _MOST_EFFORT)), _MOST_EFFORT, held.table])
    allowed, values = facts.allowed(where)
    sql = _NEAR.format(table=held.table, allowed=allowed, column=held.indexed_column, type=held.indexed_type)
    asked = packed(vector, held.indexed_type)
    rows = session.rows(sql, [packed(vector, "vector"), *values, asked, limit + _MORE])
    session.rows("SELECT set_config('enable_seqscan', 'on', true)")
    return rows


def _one_by_one(session: Session, held: VectorSet, vector: Vector, limit: int, where: Filter) -> list[Row]:
    allowed, values = facts.allowed(where)
    sql = _EXACT.format(table=held.table, allowed=allowed)
    return session.rows(sql, [packed(vector, "vector"), *values, limit + _MORE])


def _many(session: PostgresqlSession, held: VectorSet, addresses: Sequence[str]) -> dict[str, Vector]:
    rows = session.rows(_MANY.format(table=held.table), [list(addresses)], binary=True)
    return {address: unpacked(value, held.type) for address, value in rows}
