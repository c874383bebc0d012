"""Stores that go by an index, as they are set: how much of what is nearest they find once it has every row."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
from lancedb.query import LanceVectorQueryBuilder

from carrel import registry
from carrel.databases.milvus_versions import FEW
from carrel.databases.postgresql_session import PostgresqlSession
from carrel.types import EVERYTHING, Chunk, Filter, Matrix, Vector
from carrel.vectors import VectorStore
from carrel.vectors.flat import FlatVectors
from carrel.vectors.milvus import MilvusVectors
from tests import servers
from tests.builders import make_chunk
from tests.vectors.clusters import clustered

ROWS = 12_000
"""Lance makes its index from 10,000 rows on; of more than 4,000 Milvus goes by its own."""
LARGE = 10_000
"""From so many on pgvector is told to make one here, instead of 50,000, which would take a minute."""
AT_ONCE = 4000
IN_A_PAPER = 10
DIM = 32
QUERIES = 20
LIMIT = 10
PATIENCE = 180.0
WHERE = (EVERYTHING, Filter(year_min=2015), Filter(venue="Nature", year_max=2004), Filter(tags=frozenset({"read"})))


@cache
def vectors() -> Matrix:
    """The rows, and after them what is asked for."""
    return clustered(ROWS + QUERIES, DIM)


@cache
def chunks() -> tuple[Chunk, ...]:
    chance = np.random.default_rng(4)
    years, venues = chance.integers(1990, 2021, ROWS), chance.choice(["Nature", "Science", "Cell"], ROWS)
    read = chance.random(ROWS) < 0.1
    return tuple(
        make_chunk(
            f"p{number // IN_A_PAPER}",
            number,
            year=int(years[number]),
            venue=str(venues[number]),
            tags=("read",) if read[number] else (),
        )
        for number in range(ROWS)
    )


@dataclass(frozen=True)
class Filled:
    kind: str
    exact: FlatVectors
    store: VectorStore


@pytest.fixture(scope="module", params=["lance", "pgvector", "milvus"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    folder = tmp_path_factory.mktemp("recall")
    with (
        closing(FlatVectors(folder / "flat", model="clusters", dim=DIM)) as exact,
        closing(made(request.param, folder / "store", request)) as store,
    ):
        for one in (exact, store):
            fill(one)
        yield Filled(request.param, exact, store)


def made(kind: str, folder: Path, request: pytest.FixtureRequest) -> VectorStore:
    name, offered = kind, dict[str, Any]()
    if kind != "lance":
        served: servers.Server = request.getfixturevalue("milvus_server" if kind == "milvus" else "postgresql_server")
        name = f"{served.address}/recall" if kind == "milvus" else served.address
        offered = {"password": servers.PASSWORD, "large": LARGE, "namespace": "carrel_vectors_recall"}
    store: VectorStore = registry.make(
        "vectors", name, directory=folder, model="clusters", dim=DIM, half=False, **offered
    )
    return store


def fill(store: VectorStore) -> None:
    """As a move does, and until the store says that its index has everything."""
    with store.filling():
        for start in range(0, ROWS, AT_ONCE):
            store.put(chunks()[start : start + AT_ONCE], vectors()[start : start + AT_ONCE])
    deadline = time.monotonic() + PATIENCE
    while store.unindexed():
        assert time.monotonic() < deadline, f"{store.unindexed()} rows are in no index"
        time.sleep(0.2)


@contextmanager
def explained(filled: Filled) -> Iterator[list[str]]:
    """How each of the store's own queries is answered, in the words of what answers it."""
    told: list[str] = []
    to_arrow, rows = LanceVectorQueryBuilder.to_arrow, PostgresqlSession.rows

    def lance(query: LanceVectorQueryBuilder, **options: Any) -> Any:
        told.append(query.explain_plan())
        return to_arrow(query, **options)

    def postgresql(session: PostgresqlSession, sql: str, *values: Any, **options: Any) -> Any:
        if "<#>" in sql:
            told.append("\n".join(line for (line,) in rows(session, f"EXPLAIN {sql}", *values)))
        return rows(session, sql, *values, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LanceVectorQueryBuilder, "to_arrow", lance)
        patch.setattr(PostgresqlSession, "rows", postgresql)
        yield told
    if isinstance(filled.store, MilvusVectors):
        told.extend(segments(filled.store))


def segments(store: MilvusVectors) -> list[str]:
    """Milvus explains nothing: what its searches go by are the segments that it has loaded, but for a few rows."""
    version = store._versions.current()
    assert version
    loaded = store._rows.server.call("list_loaded_segments", version.name)
    by_index = sum(one.num_rows for one in loaded if one.index_name == "vector")
    return ["by the index" if by_index >= ROWS - FEW else f"{by_index} rows alone"]


INDEX = {"lance": "ANNSubIndex", "pgvector": "Index Scan using vectors_1_embedding", "milvus": "by the index"}


def test_the_nearest_of_all_are_found_by_the_index(filled: Filled) -> None:
    with explained(filled) as told:
        for vector in questions()[:3]:
            filled.store.search(vector, limit=LIMIT, where=EVERYTHING)
    assert told
    assert [plan for plan in told if INDEX[filled.kind] not in plan] == []


def questions() -> Sequence[Vector]:
    return list(vectors()[ROWS:])


@pytest.mark.parametrize("where", WHERE, ids=["all", "years", "venue", "tag"])
def test_what_is_nearest_is_found(filled: Filled, where: Filter) -> None:
    assert mean(_share(filled, vector, where) for vector in questions()) >= 0.98


def _share(filled: Filled, vector: Vector, where: Filter) -> float:
    found = filled.store.search(vector, limit=LIMIT, where=where)
    exact = {hit.address: hit.score for hit in filled.exact.search(vector, limit=ROWS, where=where)}
    # A leak would have no score here.
    assert [hit.score for hit in found] == pytest.approx([exact[hit.address] for hit in found], abs=1e-5)
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    expected = list(exact)[:LIMIT]
    return len({*expected} & {hit.address for hit in found}) / len(expected)


def test_the_rows_are_all_there_once(filled: Filled) -> None:
    assert filled.store.count() == ROWS
    assert filled.store.addresses() == filled.exact.addresses()
