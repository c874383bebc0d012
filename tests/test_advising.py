"""When a library is told to move, and where to."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from carrel import Library, doctor, locking
from carrel.advising import BOUNDS, Advice, Measured, advise, measured
from carrel.testing import HashedWords
from tests.test_robustness import refs

SMALL = Measured(
    papers=5_000,
    chunks=61_204,
    vectors=61_204,
    dim=384,
    graph_chunks=61_204,
    graph_bytes=310_000_000,
    workers=1,
    stores={"catalog": "sqlite", "vectors": "flat", "keywords": "tantivy", "graph": "sqlite"},
    memory=8_000_000_000,
    search_ms=3.4,
)
LANCE, MILVUS = "carrel migrate --vectors lance", "carrel migrate --vectors milvus://HOST:19530/COLLECTION"


def stored(**chosen: str) -> dict[str, str]:
    return {**SMALL.stores, **chosen}


def commands(found: Measured) -> list[str]:
    return [one.command for one in advise(found) if one.command]


def test_a_library_of_a_laptop_is_told_how_far_its_stores_reach() -> None:
    assert advise(SMALL) == [
        Advice("61,204 vectors, 94 MB, 3 ms a look: flat is right up to about 1,000,000"),
        Advice("a graph of 61,204 chunks, 310 MB: sqlite is right up to about 200,000"),
        Advice("5,000 papers, 1 worker at this moment: one file is right up to about 4 workers on one machine"),
    ]


@pytest.mark.parametrize(
    ("changed", "command"),
    [
        ({"vectors": 1_000_000}, ""),
        ({"vectors": 1_000_001}, LANCE),
        ({"vectors": 600_000, "dim": 768}, LANCE),
        ({"vectors": 30_000_000, "memory": None}, MILVUS),
        (
            {"vectors": 2_000_000, "stores": stored(catalog="postgresql://me@host/db")},
            "carrel migrate --vectors pgvector",
        ),
        ({"vectors": 6_000_000, "stores": stored(catalog="postgresql://me@host/db")}, MILVUS),
        ({"vectors": 4_000_000, "stores": stored(vectors="pgvector")}, ""),
        ({"vectors": 6_000_000, "stores": stored(vectors="postgresql://me@host/db")}, MILVUS),
        ({"search_ms": 151.0, "stores": stored(vectors="pgvector")}, MILVUS),
        ({"search_ms": 151.0}, LANCE),
        ({"search_ms": None}, ""),
        ({"memory": 150_000_000}, LANCE),
        ({"memory": None}, ""),
        ({"vectors": 4_000_000, "stores": stored(vectors="lance")}, ""),
        ({"vectors": 6_000_000, "stores": stored(vectors="lance")}, MILVUS),
        ({"vectors": 90_000_000, "stores": stored(vectors="milvus://host:19530/papers")}, ""),
        ({"chunks": 200_000, "stores": stored(keywords="postgresql")}, ""),
        (
            {"chunks": 200_001, "stores": stored(keywords="postgresql://me@host/db")},
            "carrel migrate --keywords milvus://HOST:19530/COLLECTION",
        ),
        ({"chunks": 90_000_000}, ""),
        ({"graph_chunks": 200_001}, "carrel migrate --graph neo4j://USER@HOST:7687"),
        (
            {"graph_chunks": 200_001, "stores": stored(catalog="postgresql://me@host/db")},
            "carrel migrate --graph postgresql://me@host/db",
        ),
        (
            {"graph_chunks": 6_000_000, "stores": stored(catalog="postgresql://h/d", graph="postgresql://h/d")},
            "carrel migrate --graph neo4j://USER@HOST:7687",
        ),
        ({"graph_chunks": 90_000_000, "stores": stored(graph="neo4j://me@host")}, ""),
        ({"graph_chunks": 0}, ""),
        ({"workers": 5}, "carrel migrate --catalog postgresql://USER@HOST/DATABASE"),
        ({"workers": 50, "stores": stored(catalog="postgresql://me@host/db")}, ""),
    ],
)
def test_what_is_outgrown_is_to_move_and_nothing_else(changed: dict[str, object], command: str) -> None:
    assert commands(replace(SMALL, **changed)) == ([command] if command else [])  # type: ignore[arg-type]


def test_vectors_that_wait_for_their_index_are_told_of() -> None:
    found = replace(SMALL, vectors=995_000, stores=stored(vectors="milvus://host:19530/papers"), unindexed=825_000)
    assert advise(found)[0] == Advice(
        "995,000 vectors, 1.5 GB, 3 ms a look in milvus, and has yet to index 825,000 of them: "
        "until then a search may miss some"
    )


def test_words_in_postgresql_are_told_how_far_they_reach() -> None:
    assert Advice("words of 61,204 chunks: postgresql is right up to about 200,000") in advise(
        replace(SMALL, stores=stored(keywords="postgresql"))
    )


def test_every_bound_says_where_it_comes_from() -> None:
    assert all(bound.most > 0 and len(bound.source) > 20 for bound in BOUNDS.values())


def test_a_real_library_is_measured(tmp_path: Path) -> None:
    with Library.init(tmp_path, embedder=HashedWords()) as library:
        library.add(refs(tmp_path / "refs.jsonl", "paper", 12))
        library.layout.workers.mkdir()
        with locking.held(library.layout.workers / "one.lock", timeout=1):
            (library.layout.workers / "gone.lock").touch()
            found = measured(library)
        assert (found.papers, found.chunks, found.vectors, found.dim, found.graph_chunks) == (12, 12, 12, 64, 12)
        assert found.workers == 1
        assert found.search_ms is not None
        assert 0 < found.search_ms < 10_000
        assert found.graph_bytes > 10_000
        assert found.memory is None or found.memory > 1_000_000
        library.remove(*(f"paper{number}" for number in range(12)))
        assert measured(library).search_ms is None


def test_the_doctor_says_so_and_finds_no_problem_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    with Library.init(tmp_path, embedder=HashedWords()) as library:
        library.add(refs(tmp_path / "refs.jsonl", "paper", 12))
    monkeypatch.setitem(BOUNDS, "flat vectors", BOUNDS["flat vectors"]._replace(most=1))
    checks = {check.name: check for check in doctor.examine(str(tmp_path), {})}
    assert checks["extras"].detail == "catalog: sqlite, vectors: flat, keywords: tantivy, graph: sqlite"
    size = checks["size"]
    assert (size.status, size.hint) == ("ok", f"Run '{LANCE}'.")
    assert size.detail.startswith("12 vectors, 0 MB, ")


def test_the_doctor_names_the_extra_that_a_store_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    Library.init(tmp_path).close()
    monkeypatch.setitem(sys.modules, "neo4j", None)
    monkeypatch.delitem(sys.modules, "carrel.graphs.neo4j", raising=False)
    checks = {check.name: check for check in doctor.examine(str(tmp_path), {"graph": "bolt://127.0.0.1:9"})}
    assert (checks["extras"].status, checks["extras"].detail) == (
        "problem",
        "'bolt' needs an extra: pip install 'carrel[neo4j]'",
    )
    assert (checks["size"].status, checks["size"].detail.startswith("not measured: ")) == ("ok", True)
