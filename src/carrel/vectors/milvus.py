"""Vectors on a Milvus server.

Rows are found by HNSW, and their scores computed here once more from the vectors themselves, so that they and their
order are as `flat` has them. Milvus has no transactions: a put writes the new rows of a paper in one request, which
readers see all at once, and then deletes those of its old ones that were not replaced.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from pymilvus import CollectionSchema, DataType, FieldSchema
from pymilvus.milvus_client import IndexParams

from carrel import telemetry
from carrel.databases.milvus import MilvusServer, both, condition, fact_fields, facts_of, one_of
from carrel.databases.milvus_rows import AT_ONCE, MOST, Found, Rows, best, groups, in_order
from carrel.databases.milvus_versions import FEW, Columns, Versions
from carrel.databases.sessions import text
from carrel.errors import StoreUnavailable
from carrel.types import EVERYTHING, Filter, Hit
from carrel.vectors import check_model, check_query, check_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from carrel.databases.milvus_versions import Version
    from carrel.types import Chunk, Matrix, Vector
    from carrel.vectors import VectorStore

_INDEX = {"M": 16, "efConstruction": 200}
_BREADTH = 200
"""How many rows HNSW keeps in sight at least (`ef`)."""
_BYTES = 1 << 25
"""Of vectors in one message."""
_TIE = 2e-5
"""Scores that are nearer than this may be in another order than the server has them."""
_NARROW = 2
_WIDER = 15
"""Times as many rows are looked at as are wanted, where a filter is to be met: fewer, where most rows meet it."""
_FEW = 500
"""Rows that are rather compared one by one."""
_BUCKETS = 16
"""Shares of all rows, so small that Milvus compares the rows of one with a filter one by one: those under 7 %."""
_TOGETHER = 8
"""Of these shares, how many are asked for at a time."""
_FIELDS = ("chunk_id", "vector", "venue")
_PAGE = 1000


class MilvusVectors:
    """`milvus://user@host:19530/collection`, or `milvus+s://…` for TLS."""

    def __init__(
        self, kind: str, argument: str, *, model: str, dim: int, namespace: str = "carrel", password: str = ""
    ) -> None:
        self._place = (kind, argument, namespace, password)
        server = MilvusServer(kind, argument, password=password, setting="vectors", instead="flat")
        self._versions = Versions(server, server.name(namespace), _columns, marks=["model"])
        self._rows = Rows(self._versions, self._look)
        self._beside = ""
        self._wanted = (model, dim)
        self.model, self.dim = model, dim
        # Who asks first is told of a server that is not there: there is more in a library than its vectors.
        with suppress(StoreUnavailable):
            self._look()

    def put(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        if chunks:
            self._rows.insisting(lambda: self._put(chunks, vectors))

    @contextmanager
    def filling(self) -> Iterator[None]:
        """At the end what is left is sealed, so that the server's index has all of it."""
        yield
        self._rows.reading(self._versions.seal, None)

    def delete(self, paper_ids: Collection[str]) -> None:
        if paper_ids:
            self._rows.reading(lambda version: self._rows.forget(version, paper_ids), None)

    def search(self, vector: Vector, *, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        def nearest(version: Version) -> list[Hit]:
            check_query(vector, limit, self)
            papers = groups(sorted(where.paper_ids), AT_ONCE) or [()]
            filters = [replace(where, paper_ids=frozenset(some)) for some in papers]
            return in_order(hit for one in filters for hit in self._nearest(version, vector, limit, one))[:limit]

        found = self._rows.reading(nearest, None)
        if found is None:
            check_query(vector, limit, self)
        return found or []

    def get(self, address: str) -> Vector | None:
        return self.many([address]).get(address)

    def many(self, addresses: Collection[str]) -> dict[str, Vector]:
        # What the server cannot hold as it is, it does not hold.
        wanted = sorted({address for address in addresses if address == text(address)})

        def found(version: Version) -> dict[str, Vector]:
            rows = self._vectors(version, wanted)
            return {row["chunk_id"]: np.asarray(row["vector"], dtype=np.float32) for row in rows}

        return self._rows.reading(found, {})

    def count(self) -> int:
        return self._rows.reading(self._rows.count, 0)

    def unindexed(self) -> int:
        def waiting(version: Version) -> int:
            if self._rows.server.is_lite:
                return 0  # It compares all.
            held = self._rows.count(version)
            growing = held - self._rows.count(version, ignore_growing=True)
            # Of the indexed ones, some may have been replaced by such as are not.
            rows = max(growing, held - self._versions.indexed(version))
            return rows if rows > FEW else 0

        return self._rows.reading(waiting, 0)

    def addresses(self) -> set[str]:
        return self._rows.reading(self._rows.addresses, set())

    def clear(self, *, model: str, dim: int) -> None:
        self.model, self.dim = self._wanted = model, dim
        made = self._versions.another(self._facts)
        if self._beside:
            self._beside = made.name
        else:
            self._versions.turn_to(made)
            self._versions.sweep()

    def beside(self, *, model: str, dim: int) -> VectorStore:
        kind, argument, namespace, password = self._place
        made = MilvusVectors(kind, argument, model=model, dim=dim, namespace=namespace, password=password)
        made._beside = self._versions.beside(made._facts).name
        made.model, made.dim = model, dim
        return made

    def adopt(self, other: VectorStore) -> None:
        if not isinstance(other, MilvusVectors) or other._versions.name != self._versions.name or not other._beside:
            raise ValueError("only what was made beside this store can be adopted")
        self._versions.turn_to(other._built())
        self.model, self.dim = self._wanted = other.model, other.dim
        other.close()
        try:
            self._versions.sweep()
        except StoreUnavailable as error:
            # The new vectors are in use: what is left of the old ones goes with the next change.
            telemetry.log("vectors", logging.WARNING, "the replaced vectors were not dropped", reason=str(error))

    def close(self) -> None:
        self._rows.server.close()

    @property
    def _facts(self) -> dict[str, str]:
        model, dim = self._wanted
        return {"model": model, "dim": str(dim)}

    @property
    def _in_a_message(self) -> int:
        """How many vectors are."""
        return max(1, _BYTES // (4 * self.dim))

    def _look(self) -> Version | None:
        """The collection as it is now: whoever else writes may have put another in its place."""
        version = self._built() if self._beside else self._versions.current()
        facts = version.facts if version else self._facts
        self.model, self.dim = facts["model"], int(facts["dim"])
        return version

    def _built(self) -> Version:
        """What is beside the collection that is searched, and never that one instead."""
        version = self._versions.at(self._beside)
        if version is None:
            raise StoreUnavailable(
                f"the collection {self._beside!r} in {self._rows.server.address!r} was dropped meanwhile",
                hint="Run 'carrel index build' again.",
            )
        return version

    def _put(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        version = self._look()
        check_model(self, self._wanted)
        check_rows(chunks, vectors, self.dim)
        rows = [{**facts_of(chunk), "vector": vectors[row]} for row, chunk in enumerate(chunks)]
        rows = [{**row, "bucket": crc32(str(row["chunk_id"]).encode()) % _BUCKETS} for row in rows]
        if version is None:
            version = self._versions.first(self._facts)
            self._look()
            check_model(self, self._wanted)
        self._rows.put(version, rows, self._in_a_message)

    def _vectors(self, version: Version, addresses: Sequence[str]) -> list[Any]:
        said = [one_of("chunk_id", some) for some in groups(addresses, min(AT_ONCE, self._in_a_message))]
        return [row for one in said for row in self._rows.query(version, one, _FIELDS)]

    def _nearest(self, version: Version, vector: Vector, limit: int, where: Filter) -> list[Hit]:
        """HNSW misses up to every fifth of the rows of a filter that allows some, but not most."""
        if where == EVERYTHING:
            return self._best(version, vector, limit, where, "")
        said = condition(where, has_infix=bool(where.venue) and self._rows.server.has_infix)
        # Whoever asks for passages asks for kinds, which nearly every row is of.
        for times in (_NARROW, _WIDER) if where == Filter(kinds=where.kinds) else (_WIDER,):
            found = self._among_the_nearest(version, vector, limit, where, said, times)
            if found is not None:
                return found
        if not said or self._rows.count(version, said) <= max(_FEW, limit):
            return self._nearest_of_all(version, vector, limit, where, said)
        shares = [both(said, f"bucket == {bucket}") for bucket in range(_BUCKETS)]
        # As long as something is written each waits for the server's clock: not one after the other.
        with ThreadPoolExecutor(_TOGETHER) as pool:
            nearest = pool.map(partial(self._best, version, vector, limit, where), shares)
            return in_order(hit for hits in nearest for hit in hits)[:limit]

    def _among_the_nearest(
        self, version: Version, vector: Vector, limit: int, where: Filter, said: str, times: int
    ) -> list[Hit] | None:
        """Those of the nearest rows that the filter allows; nothing where it allows too few, or none that are near."""
        wide = times * (limit + _WIDER)
        if wide > MOST:
            return None
        found = self._fetched(version, vector, "", wide, ["chunk_id"])
        near = self._allowed(version, found, where, said)
        kept = near[: limit + _WIDER]
        hits = _hits(self._vectors(version, [one.row["chunk_id"] for one in kept]), vector, where)
        is_cut = len(kept) < len(near)
        # What is not compared is no nearer than the last of these.
        enough = len(hits) >= limit and hits[limit - 1].score - (kept if is_cut else found)[-1].score > _TIE
        return hits[:limit] if enough or (len(found) < wide and not is_cut) else None

    def _allowed(self, version: Version, found: Sequence[Found], where: Filter, said: str) -> list[Found]:
        if not found:
            return []
        asked = both(one_of("chunk_id", (one.row["chunk_id"] for one in found)), said)
        rows = self._rows.query(version, asked, ["chunk_id", "venue"])
        allowed = {row["chunk_id"] for row in rows if where.allows_venue(row["venue"])}
        return [one for one in found if one.row["chunk_id"] in allowed]

    def _best(self, version: Version, vector: Vector, limit: int, where: Filter, said: str) -> list[Hit]:
        found = best(
            partial(self._fetched, version, vector, said),
            lambda found: _hits([one.row for one in found], vector, where),
            limit=limit,
            most=min(MOST, self._in_a_message),
            tie=_TIE,
        )
        return found.hits if found.is_all else self._nearest_of_all(version, vector, limit, where, said)

    def _fetched(
        self, version: Version, vector: Vector, said: str, count: int, fields: Sequence[str] = _FIELDS
    ) -> list[Found]:
        breadth = {"params": {"ef": max(_BREADTH, 2 * count)}}
        options = {"anns_field": "vector", "output_fields": list(fields), "search_params": breadth}
        (found,) = self._rows.search(version, [np.asarray(vector, dtype=np.float32)], said, count, **options)
        return found

    def _nearest_of_all(self, version: Version, vector: Vector, limit: int, where: Filter, said: str) -> list[Hit]:
        """By comparing every row that the filter allows: for more than the server finds at a time."""
        nearest: list[Hit] = []
        for page in self._rows.pages(version, said, _FIELDS, min(_PAGE, self._in_a_message)):
            nearest = in_order([*nearest, *_hits(page, vector, where)])[:limit]
        return nearest


def _columns(facts: Mapping[str, str]) -> Columns:
    bucket = FieldSchema("bucket", DataType.INT64)
    vector = FieldSchema("vector", DataType.FLOAT_VECTOR, dim=int(facts["dim"]))
    indexes = IndexParams()
    indexes.add_index("vector", index_type="HNSW", metric_type="COSINE", params=_INDEX)
    return Columns(CollectionSchema([*fact_fields(), bucket, vector]), indexes)


def _hits(rows: Sequence[Mapping[str, object]], vector: Vector, where: Filter) -> list[Hit]:
    """The rows that the filter allows, with their exact scores, in order."""
    allowed = [row for row in rows if where.allows_venue(str(row["venue"]))]
    if not allowed:
        return []
    held = np.asarray([row["vector"] for row in allowed], dtype=np.float32)
    scores = np.vecdot(held, vector.astype(np.float32)).astype(np.float64).clip(-1.0, 1.0).round(6).tolist()
    return in_order(map(Hit, (str(row["chunk_id"]) for row in allowed), scores))
