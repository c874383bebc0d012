"""Stores that do not look at every row: how much of what is nearest in a real collection they find, as they are set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from statistics import mean
from typing import Any

import numpy as np
import pytest

from carrel import registry
from carrel.types import EVERYTHING, Chunk, Filter, Matrix
from carrel.vectors import VectorStore
from carrel.vectors.flat import FlatVectors
from tests import servers
from tests.builders import make_chunk
from tests.congruence import shelf

INDEXED_FROM = 1000
"""Rows: far fewer than the stores would begin to do without looking at every one."""
ROWS = 2000
QUERIES = 25
LIMIT = 10
WHERE = (EVERYTHING, Filter(year_min=2015), Filter(venue="Nature", year_max=2004), Filter(tags=frozenset({"read"})))


@cache
def rows() -> tuple[tuple[Chunk, ...], Matrix]:
    """Of some of the collection's abstracts."""
    texts, chance = shelf.texts()[:ROWS], np.random.default_rng(4)
    facts: list[dict[str, Any]] = [
        {
            "year": int(chance.integers(1990, 2021)),
            "venue": str(chance.choice(["Nature", "Science", "Cell"])),
            "tags": ("read",) if chance.random() < 0.1 else (),
        }
        for _ in texts
    ]
    chunks = tuple(make_chunk(paper_id, 1, **one) for (paper_id, *_), one in zip(texts, facts, strict=True))
    return chunks, shelf.embedder().embed_passages([f"{title}\n\n{text}" for _, title, text in texts])


@dataclass(frozen=True)
class Filled:
    exact: FlatVectors
    store: VectorStore


@pytest.fixture(scope="module", params=["lance", "pgvector", "milvus"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    offered: dict[str, Any] = {"model": "latent", "dim": shelf.embedder().dim, "namespace": "carrel_vectors_recall"}
    folder = tmp_path_factory.mktemp("recall")
    with pytest.MonkeyPatch.context() as patch:
        exact = FlatVectors(folder / "flat", model="latent", dim=shelf.embedder().dim)
        if request.param == "lance":
            patch.setattr("carrel.vectors.lance_upkeep.INDEXED_FROM", INDEXED_FROM)
            name = "lance"
        else:
            server: servers.Server = request.getfixturevalue(
                "milvus_server" if request.param == "milvus" else "postgresql_server"
            )
            name = f"{server.address}/recall" if request.param == "milvus" else server.address
            offered |= {"password": servers.PASSWORD, "large": INDEXED_FROM}
        store: VectorStore = registry.make("vectors", name, directory=folder / "store", half=False, **offered)
        chunks, vectors = rows()
        for start in range(0, len(chunks), INDEXED_FROM):
            for one in (exact, store):
                one.put(chunks[start : start + INDEXED_FROM], vectors[start : start + INDEXED_FROM])
        yield Filled(exact, store)
        store.close()
        exact.close()


def recall(filled: Filled, where: Filter) -> float:
    texts = [one["text"] for one in shelf._records("queries")][:QUERIES]
    vectors = shelf.embedder().embed_passages(texts)
    return mean(_share(filled, vector, where) for vector in vectors)


def _share(filled: Filled, vector: Any, where: Filter) -> float:
    expected, found = (one.search(vector, limit=LIMIT, where=where) for one in (filled.exact, filled.store))
    exact = {hit.address: hit.score for hit in filled.exact.search(vector, limit=len(rows()[0]), where=where)}
    # A leak would have no score here.
    assert all(hit.score == pytest.approx(exact[hit.address], abs=1e-5) for hit in found)
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    return len({hit.address for hit in expected} & {hit.address for hit in found}) / len(expected)


@pytest.mark.parametrize("where", WHERE, ids=["all", "years", "venue", "tag"])
def test_what_is_nearest_is_found(filled: Filled, where: Filter) -> None:
    assert recall(filled, where) >= 0.98


def test_the_rows_are_all_there_once(filled: Filled) -> None:
    assert filled.store.count() == len(rows()[0])
    assert filled.store.addresses() == filled.exact.addresses()
