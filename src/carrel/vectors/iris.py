"""Vectors in InterSystems IRIS, by its own DB-API driver.

A library has two tables of the shape of `RAG.SourceDocuments`, and a row of `RAG.VectorSets` says which of them is in
use. Another model's vectors go into the other one, and become the library's by a change of that row.
Not run against a live server so far: docs/iris.md says what was tried.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

import numpy as np
from iris import dbapi

from carrel.errors import InvalidInput, StoreUnavailable, password_hint
from carrel.telemetry import log
from carrel.types import EVERYTHING, Filter, Hit
from carrel.vectors import check_model, check_query, check_rows
from carrel.vectors import iris_sql as sql

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from contextlib import AbstractContextManager

    from carrel.types import Chunk, Matrix, Vector
    from carrel.vectors import VectorStore

_PATIENCE = 10
"""Seconds that a server may take to answer the first time."""
_PORT = 1972
_AT_ONCE = 500
"""Parameters of one sentence."""
_MORE = 50
"""Rows that are fetched beyond the limit, so that equal scores can be put in order."""
_TIE = 1e-6
_TRIES = 3
_CURRENT, _BESIDE = "current", "beside"
Told = TypeVar("Told")


class VectorSet(NamedTuple):
    """A table, and what it holds."""

    table: str
    model: str
    dim: int


class IrisVectors:
    """`iris://user@host:1972/NAMESPACE`."""

    def __init__(
        self,
        argument: str,
        *,
        model: str,
        dim: int,
        namespace: str,
        password: str = "",
        kind: str = "iris",
        part: str = _CURRENT,
    ) -> None:
        self._address = f"{kind}:{argument}"
        self._place = _place(self._address)
        self._options = {"argument": argument, "namespace": namespace, "password": password, "kind": kind}
        self._owner = sql.digest(namespace)
        self._password = password
        self._part = part
        self._wanted = (model, dim)
        self._lock = RLock()
        self._opened: dbapi.IRISConnection | None = None
        self.model, self.dim = model, dim
        # A server that is away is told of by the first who asks for something.
        with suppress(StoreUnavailable):
            self._read(lambda _ask, _held: None)

    def put(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        if not chunks:
            return
        with self._writing() as ask:
            held = self._held(ask)
            check_model(self, self._wanted)
            check_rows(chunks, vectors, self.dim)
            if held:
                self._delete(ask, held.table, {chunk.paper_id for chunk in chunks})
                ask.many(sql.PUT.format(table=held.table), list(map(sql.row, chunks, vectors)))
        if held is None:
            self._begin()
            self.put(chunks, vectors)

    def filling(self) -> AbstractContextManager[None]:
        return nullcontext()

    def delete(self, paper_ids: Collection[str]) -> None:
        if not paper_ids:
            return
        with self._writing() as ask:
            if held := self._held(ask):
                self._delete(ask, held.table, paper_ids)

    def search(self, vector: Vector, *, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        def nearest(ask: _Asking, held: VectorSet | None) -> list[Hit]:
            check_query(vector, limit, self)
            return _nearest(ask, held, vector, limit, where) if held else []

        return self._read(nearest)

    def get(self, address: str) -> Vector | None:
        return self.many([address]).get(address)

    def many(self, addresses: Collection[str]) -> dict[str, Vector]:
        keys = [sql.digest(address) for address in addresses]

        def read(ask: _Asking, held: VectorSet | None) -> dict[str, Vector]:
            rows = ask.in_batches(sql.MANY, held.table, keys) if held else []
            return {sql.address_of(metadata): sql.vector_of(packed) for metadata, packed in rows}

        return self._read(read)

    def count(self) -> int:
        return self._read(lambda ask, held: int(ask(sql.COUNT.format(table=held.table))[0][0]) if held else 0)

    def unindexed(self) -> int:
        return 0

    def addresses(self) -> set[str]:
        def read(ask: _Asking, held: VectorSet | None) -> set[str]:
            rows = ask(sql.ADDRESSES.format(table=held.table)) if held else []
            return {sql.address_of(metadata) for (metadata,) in rows}

        return self._read(read)

    def clear(self, *, model: str, dim: int) -> None:
        self._wanted = (model, dim)
        with self._alone() as ask:
            before = self._held(ask)
            made = self._make(ask, model, dim)
            ask.commit()
            if before and before.table != made.table:
                self._drop(ask, before)

    def beside(self, *, model: str, dim: int) -> VectorStore:
        made = IrisVectors(**self._options, model=model, dim=dim, part=_BESIDE)
        with made._alone() as ask:
            if made._held(ask) is None or (made.model, made.dim) != (model, dim):
                made._make(ask, model, dim)
        return made

    def adopt(self, other: VectorStore) -> None:
        if not isinstance(other, IrisVectors) or (other._part, other._owner) != (_BESIDE, self._owner):
            raise ValueError("only what was made beside this store can be adopted")
        with self._alone() as ask:
            before, new = self._held(ask), other._held(ask)
            if new is None:
                raise ValueError("nothing is beside this store any more")
            ask(sql.FORGET_SET, [self._owner, _BESIDE])
            self._point(ask, new)
            ask.commit()
            self._wanted = (new.model, new.dim)
            if before:
                self._drop(ask, before)
        other.close()

    def close(self) -> None:
        with self._lock, suppress(dbapi.Error):
            opened, self._opened = self._opened, None
            if opened:
                opened.close()

    def _begin(self) -> None:
        """A table for the first papers, unless another process has made one since we looked."""
        with self._alone() as ask:
            if self._held(ask) is None:
                self._make(ask, *self._wanted)

    def _make(self, ask: _Asking, model: str, dim: int) -> VectorSet:
        """An empty table that nobody uses, and from now on this one's."""
        sets = self._sets(ask)
        taken = {each.table for part, each in sets.items() if _CURRENT in (part, self._part)}
        table = next(name for letter in "ABC" if (name := sql.table_of(self._owner, letter)) not in taken)
        ask(sql.DROP.format(table=table))
        ask(sql.MAKE.format(table=table, dim=dim))
        ask(sql.INDEX.format(name=f"{table.partition('.')[2]}Paper", table=table))
        return self._point(ask, VectorSet(table, model, dim))

    def _point(self, ask: _Asking, to: VectorSet) -> VectorSet:
        ask(sql.FORGET_SET, [self._owner, self._part])
        ask(sql.PUT_SET, [self._owner, self._part, *to])
        self.model, self.dim = to.model, to.dim
        return to

    @staticmethod
    def _drop(ask: _Asking, held: VectorSet) -> None:
        """Whoever reads it at this moment sees that it is no longer the one in use, and reads again.

        What is left of it is dropped when its name is next needed.
        """
        try:
            ask(sql.DROP.format(table=held.table))
        except dbapi.Error as error:
            log("vectors", logging.WARNING, "not dropped", table=held.table, reason=_reason(error))

    @staticmethod
    def _delete(ask: _Asking, table: str, paper_ids: Collection[str]) -> None:
        ask.in_batches(sql.DELETE, table, [sql.digest(paper_id) for paper_id in sorted(paper_ids)])

    def _sets(self, ask: _Asking) -> dict[str, VectorSet]:
        return {part: VectorSet(table, model, int(dim)) for part, table, model, dim in ask(sql.SETS, [self._owner])}

    def _held(self, ask: _Asking) -> VectorSet | None:
        """What there is at this moment; whose it is, is this store's to tell."""
        held = self._sets(ask).get(self._part)
        self.model, self.dim = (held.model, held.dim) if held else self._wanted
        return held

    def _read(self, work: Callable[[_Asking, VectorSet | None], Told]) -> Told:
        """What was read of a table that was still the one in use afterwards."""
        for attempt in range(1, _TRIES + 1):
            try:
                with self._reading() as ask:
                    held = self._held(ask)
                    told = work(ask, held)
                    if self._held(ask) == held:
                        return told
            except dbapi.Error as error:
                # A connection that was lost is made anew; a table that is gone was replaced meanwhile.
                self.close()
                if attempt == _TRIES:
                    raise self._unavailable(error) from error
        raise self._unavailable(RuntimeError("its tables are replaced again and again"))

    @contextmanager
    def _reading(self) -> Iterator[_Asking]:
        with self._asking() as ask:
            try:
                yield ask
            finally:
                # The driver begins a transaction with the first sentence, and the server keeps it until it is ended.
                with suppress(dbapi.Error):
                    ask.rollback()

    @contextmanager
    def _alone(self) -> Iterator[_Asking]:
        """Written while nobody else changes which tables are in use."""
        with self._lock:
            try:
                with self._writing() as ask:
                    ask(sql.LOCK)
                    yield ask
            finally:
                # The server keeps such a lock beyond the transaction, until its connection ends.
                self.close()

    @contextmanager
    def _writing(self) -> Iterator[_Asking]:
        """All that is written inside, or nothing of it."""
        try:
            with self._asking() as ask:
                try:
                    yield ask
                    ask.commit()
                except BaseException:
                    with suppress(dbapi.Error):
                        ask.rollback()
                    raise
        except dbapi.Error as error:
            self.close()
            raise self._unavailable(error) from error

    @contextmanager
    def _asking(self) -> Iterator[_Asking]:
        # Threads may not share a connection.
        with self._lock:
            if self._opened is None or self._opened.isClosed():
                self._opened = self._connect()
            yield _Asking(self._opened)

    def _connect(self) -> dbapi.IRISConnection:
        try:
            connection = dbapi.connect(**self._place, password=self._password, timeout=_PATIENCE, autoCommit=False)
        except dbapi.Error as error:
            raise self._unavailable(error) from error
        try:
            ask = _Asking(connection)
            ask(sql.COMMITTED)
            ask(sql.MAKE_SETS)
            ask.commit()
        except BaseException:
            with suppress(dbapi.Error):
                connection.close()
            raise
        return connection

    def _unavailable(self, error: Exception) -> StoreUnavailable:
        reason = _reason(error)
        denied = "access denied" in reason.lower()
        return StoreUnavailable(
            f"cannot use the vectors on {self._address!r}: {reason}",
            hint=password_hint("vectors")
            if denied
            else "See that the server runs and the setting vectors names it; or set vectors = 'flat'.",
        )


def _place(address: str) -> dict[str, Any]:
    """As the driver wants to be told it."""
    try:
        at = urlsplit(address)
        port = at.port or _PORT
    except ValueError as error:
        raise InvalidInput(
            f"{address!r} names no server: {error}", hint="Write vectors = 'iris://user@host:1972/NAMESPACE'."
        ) from error
    return {
        "hostname": at.hostname or "localhost",
        "port": port,
        "namespace": unquote(at.path.strip("/")) or "USER",
        "username": unquote(at.username or ""),
    }


def _reason(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class _Asking:
    """Asks a connection, one sentence after the other."""

    def __init__(self, connection: dbapi.IRISConnection) -> None:
        self._connection = connection
        self.commit: Callable[[], None] = connection.commit
        self.rollback: Callable[[], None] = connection.rollback

    def __call__(self, sentence: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sentence, list(values) or None)
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []

    def many(self, sentence: str, rows: Sequence[Sequence[object]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(sentence, [list(row) for row in rows])

    def in_batches(self, sentence: str, table: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        for start in range(0, len(values), _AT_ONCE):
            some = values[start : start + _AT_ONCE]
            found += self(sentence.format(table=table, marks=sql.marks(some)), some)
        return found


def _nearest(ask: _Asking, held: VectorSet, vector: Vector, limit: int, where: Filter) -> list[Hit]:
    """Asked for some papers at a time: one sentence takes only so many parameters."""
    papers = sorted(where.paper_ids)
    parts = [
        replace(where, paper_ids=frozenset(papers[start : start + _AT_ONCE]))
        for start in range(0, max(1, len(papers)), _AT_ONCE)
    ]
    hits = [hit for part in parts for hit in _nearest_of(ask, held, vector, limit, part)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.address))[:limit]


def _nearest_of(ask: _Asking, held: VectorSet, vector: Vector, limit: int, where: Filter) -> list[Hit]:
    """Fetched with some to spare, and compared once more, as exactly as they are stored."""
    conditions, values = sql.conditions(where)
    most = limit + _MORE
    while True:
        sentence = sql.SEARCH.format(most=most, table=held.table, conditions=conditions)
        rows = ask(sentence, [sql.values_of(vector), *values])
        if len(rows) < most or float(rows[limit - 1][2]) - float(rows[-1][2]) > _TIE:
            break
        # As many again and more are as near as the last that is wanted.
        most *= 4
    if not rows:
        log("search", logging.DEBUG, f"SQL query executed: {sentence}")
        return []
    stored = np.stack([sql.vector_of(packed) for _, packed, _ in rows])
    scores = np.vecdot(stored, vector).astype(np.float64).clip(-1.0, 1.0).round(6).tolist()
    return [Hit(sql.address_of(row[0]), score) for row, score in zip(rows, scores, strict=True)]
