"""Vectors in Lance tables: in a folder of the library, or on an object store that many machines share.

A put comes in two commits. The first adds its rows, which nobody sees; the second, in one step, lets them live and has
all that their papers had before die. In a folder one writes at a time. On an object store two that put the same paper
touch the same rows in their second commit, so that Lance has one of them do it again: the later wins, whole.

A small table is compared row by row. A large one has an index (IVF_SQ), which finds most of the nearest, and what it
does not hold yet is compared row by row; all that is found is compared once more with the vectors as they were put.
"""

from __future__ import annotations

import random
import time
from contextlib import nullcontext, suppress
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, TypeVar, cast

from carrel.errors import StoreUnavailable
from carrel.types import EVERYTHING, Filter, Hit
from carrel.vectors import check_model, check_query, check_rows
from carrel.vectors import lance_upkeep as upkeep
from carrel.vectors.lance_rows import (
    LIVE,
    VECTOR,
    among,
    check_names,
    condition,
    nearest,
    quoted,
    rows,
    schema,
    vectors_in,
)
from carrel.vectors.lance_tables import LanceError, Named, Place, Pointer, is_there_already, patience

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pyarrow as pa
    from lancedb.query import LanceVectorQueryBuilder
    from lancedb.table import Table

    from carrel.types import Chunk, Matrix, Vector
    from carrel.vectors import VectorStore

Told = TypeVar("Told")

_NAMES = _CURRENT, _BESIDE = "current", "beside"
_MORE = 16
"""So many more than asked are looked at: the last digits may change their order."""
_REFINE = 2
"""Of so many times as many the index's estimates are compared with the vectors."""
_TIE = 1e-6
"""Scores nearer than this are one score: a product may differ in its last bits."""
_PAUSES = (0.01, 0.05, 0.2, 0.5)
"""Seconds before another try; from the last one on, always the same."""
_TRIES = 4
"""At least, however long one takes: what is swept while it is read for a minute is there in another version."""


class LanceVectors:
    def __init__(
        self,
        directory: Path,
        *,
        model: str,
        dim: int,
        half: bool = False,
        argument: str = "",
        namespace: str = "",
        pointer: str = _CURRENT,
    ) -> None:
        self._beside = partial(
            LanceVectors, directory, half=half, argument=argument, namespace=namespace, pointer=_BESIDE
        )
        self._place = Place(directory, argument, namespace)
        self._pointer = Pointer(self._place, pointer)
        self._is_beside = pointer == _BESIDE
        self._half = half
        self._opened: Table | None = None
        self._wanted = (model, dim)
        self.model, self.dim = model, dim
        # What is damaged is told to the first that asks: there is more in a library than its vectors.
        with suppress(StoreUnavailable):
            self._insist(self._follow)

    def put(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        if chunks:
            with self._place.turn():
                self._insist(partial(self._put, chunks, vectors))

    def filling(self) -> AbstractContextManager[None]:
        return nullcontext()

    def delete(self, paper_ids: Collection[str]) -> None:
        # A turn would make the folder.
        if self._insist(self._follow) is not None:
            with self._place.turn():
                self._insist(partial(self._delete, paper_ids))

    def search(self, vector: Vector, *, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        return self._insist(partial(self._search, vector, limit, where))

    def get(self, address: str) -> Vector | None:
        return self.many([address]).get(address)

    def many(self, addresses: Collection[str]) -> dict[str, Vector]:
        found = self._insist(partial(self._select, ["chunk_id", VECTOR], among("chunk_id", addresses)))
        return {} if found is None else dict(zip(_addresses(found), vectors_in(found), strict=True))

    def count(self) -> int:
        def count() -> int:
            table = self._follow()
            return 0 if table is None else table.count_rows(LIVE)

        return self._insist(count)

    def unindexed(self) -> int:
        return 0

    def addresses(self) -> set[str]:
        return set(_addresses(self._insist(partial(self._select, ["chunk_id"]))))

    def clear(self, *, model: str, dim: int) -> None:
        self.model, self.dim = self._wanted = model, dim
        with self._place.turn():
            self._insist(lambda: self._point(Named(self._make().name, model, dim)))

    def beside(self, *, model: str, dim: int) -> VectorStore:
        made = self._beside(model=model, dim=dim)
        with self._place.turn():
            self._insist(partial(self._part_from, made))
        if (made.model, made.dim) != (model, dim):
            made.clear(model=model, dim=dim)
        return made

    def adopt(self, other: VectorStore) -> None:
        if not isinstance(other, LanceVectors) or other._place.address != self._place.address or not other._is_beside:
            raise ValueError("only what was made beside this store can be adopted")
        # Known before anything is changed: each step may be done again.
        with self._place.turn():
            named = other._insist(other._named)
            self._wanted = (named.model, named.dim)
            self._insist(partial(self._point, named))
            other._insist(partial(other._pointer.write, None))
        other.close()

    def close(self) -> None:
        self._opened = None
        self._pointer.forget()
        self._place.close()

    def _put(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        table = self._follow()
        check_model(self, self._wanted)
        check_rows(chunks, vectors, self.dim)
        check_names(chunks)
        # Not `or`: a table without rows is none that is false.
        table = self._first() if table is None else table
        before, put = table.version, upkeep.stamp()
        table.add(rows(chunks, vectors, put, table.schema))
        own = f"put = {quoted(put)}"
        # Also those that are still coming: two that put the same paper are to meet here.
        papers = among("paper_id", {chunk.paper_id for chunk in chunks})
        table.update(
            where=f"({LIVE} OR coming) AND {papers}", values_sql={LIVE: own, "coming": f"coming AND NOT {own}"}
        )
        now = self._follow()
        if now is None or now.name != table.name:
            # Another process has exchanged the tables meanwhile.
            self._put(chunks, vectors)
        elif upkeep.is_due(table, before):
            upkeep.tidy(table, is_served=self._place.is_served)

    def _delete(self, paper_ids: Collection[str]) -> None:
        table = self._follow()
        gone = f"NOT coming AND {among('paper_id', paper_ids)}"
        if table is not None and table.count_rows(gone):
            before = table.version
            table.delete(gone)
            if upkeep.is_due(table, before):
                upkeep.tidy(table, is_served=self._place.is_served)

    def _search(self, vector: Vector, limit: int, where: Filter) -> list[Hit]:
        table = self._follow()
        check_query(vector, limit, self)
        if table is None:
            return []
        asked = limit + _MORE
        while True:
            hits = nearest(_nearest(table, vector, asked, where), vector)
            if len(hits) < asked or hits[limit - 1].score - hits[-1].score > _TIE:
                return hits[:limit]
            # As near as the last one that is wanted may be others, and the first by address are.
            asked *= 4

    def _select(self, columns: list[str], where: str = "true") -> pa.Table | None:
        table = self._follow()
        return None if table is None else table.search().where(f"{LIVE} AND {where}").select(columns).to_arrow()

    def _named(self) -> Named:
        """What is pointed to; where nothing is, an empty table."""
        return self._pointer.read() or Named(self._make().name, *self._wanted)

    def _part_from(self, made: LanceVectors) -> None:
        """An adoption may have been interrupted when this store had the table and the one beside it still had it."""
        named = made._pointer.read()
        if named and named == self._pointer.read():
            made._pointer.write(None)

    def _make(self) -> Table:
        return self._place.make(schema(self._wanted[1], half=self._half))

    def _first(self) -> Table:
        """The table that the first put makes, or what another's first put has made just now."""
        made = self._make()
        try:
            self._pointer.begin(Named(made.name, *self._wanted))
        except LanceError as error:
            if not is_there_already(error):
                self._place.drop(made.name)
                raise
        found = self._follow()
        if found is None:
            raise RuntimeError("the table that was just made is not found")
        if found.name != made.name:
            self._place.drop(made.name)
        return found

    def _point(self, named: Named) -> None:
        """To a table, from now on; what was pointed to before is forgotten."""
        before = self._pointer.read()
        self._pointer.write(named)
        if before and before.table != named.table:
            self._place.drop(before.table)
        self._place.sweep({found.table for found in (Pointer(self._place, name).read() for name in _NAMES) if found})
        self._follow()

    def _follow(self) -> Table | None:
        """The table that is pointed to now."""
        named = self._pointer.read()
        self.model, self.dim = (named.model, named.dim) if named else self._wanted
        if named is None:
            return None
        # Taken once: another thread may forget it in between.
        opened = self._opened
        if opened is None or opened.name != named.table:
            self._opened = opened = self._place.connection().open_table(named.table)
        return opened

    def _insist(self, work: Callable[[], Told]) -> Told:
        """Do it, and begin anew where another process came in between."""
        begun, pauses = time.monotonic(), chain(_PAUSES, repeat(_PAUSES[-1]))
        with self._place.reporting():
            tries = 0
            while True:
                tries += 1
                try:
                    return work()
                except LanceError as error:
                    is_late = tries >= _TRIES and time.monotonic() - begun >= patience(error)
                    if is_late or not patience(error):
                        raise
                self._opened = None
                self._pointer.forget()
                time.sleep(random.uniform(0.5, 1.0) * next(pauses))  # noqa: S311


def _nearest(table: Table, vector: Vector, asked: int, where: Filter) -> pa.Table:
    query = cast("LanceVectorQueryBuilder", table.search(vector, vector_column_name=VECTOR))
    query = query.where(condition(where), prefilter=True).select(["chunk_id", VECTOR, "_distance"]).limit(asked)
    if upkeep.is_indexed(table):
        query = query.nprobes(upkeep.EVERY).refine_factor(_REFINE)
    else:
        query = query.distance_type("dot")
    return query.to_arrow()


def _addresses(found: pa.Table | None) -> list[str]:
    return [] if found is None else found.column("chunk_id").to_pylist()
