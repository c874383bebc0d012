"""What is written to one PostgreSQL database together: all of it, or nothing."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psycopg
import pytest

from carrel import Library
from carrel.catalogs import Entry
from carrel.catalogs.postgresql import PostgresqlCatalog
from carrel.catalogs.sqlite import SqliteCatalog
from carrel.databases.sessions import Database
from carrel.errors import InvalidInput, StoreUnavailable
from carrel.ingest import indexing
from carrel.keywords.postgresql import PostgresqlKeywords
from carrel.testing import HashedWords
from carrel.types import EVERYTHING, Document, Part, Reference
from carrel.vectors.pgvector import PgVectors
from tests import servers
from tests.builders import make_chunk

ROW = np.eye(4, dtype=np.float32)[:1]
CHUNK = make_chunk("a", text="Dense retrieval.")
_STOP_OTHERS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'carrel' AND state = 'idle in transaction'"""


@dataclass(frozen=True)
class Shelf:
    """A catalog with one paper that waits for its indexes, and both indexes beside it."""

    catalog: PostgresqlCatalog
    vectors: PgVectors
    keywords: PostgresqlKeywords

    def put(self) -> None:
        self.vectors.put([CHUNK], ROW)
        self.keywords.put([CHUNK])

    def held(self) -> tuple[int, int, int, list[bool]]:
        is_indexed = [row.indexed for row in self.catalog.papers()]
        return self.vectors.count(), self.keywords.count(), len(self.vectors.addresses()), is_indexed


NOTHING = (0, 0, 0, [False])
ALL = (1, 1, 1, [True])


def opened(address: str, name: str, *, vectors_at: str = "", keywords_at: str = "") -> Shelf:
    catalog = PostgresqlCatalog(argument(address), namespace=f"carrel_catalog_{name}", password=servers.PASSWORD)
    return Shelf(
        catalog,
        vectors(name, catalog.database, vectors_at),
        PostgresqlKeywords(
            namespace=f"carrel_keywords_{name}", argument=argument(keywords_at), database=catalog.database
        ),
    )


def vectors(name: str, database: Database | None, address: str = "") -> PgVectors:
    return PgVectors(
        kind="postgresql" if address else "pgvector",
        argument=argument(address),
        namespace=f"carrel_vectors_{name}",
        password=servers.PASSWORD,
        database=database,
        model="model-a",
        dim=4,
    )


def argument(address: str) -> str:
    return address.removeprefix("postgresql:")


def waiting(shelf: Shelf) -> Shelf:
    shelf.catalog.put([Entry(Reference(id="a", title="A"), Document("a", Part.BODY, "t", "d"), ())])
    return shelf


@pytest.fixture
def shelf(postgresql_server: servers.Server) -> Iterator[Shelf]:
    made = opened(postgresql_server.address, uuid.uuid4().hex)
    with closing(made.catalog):
        yield waiting(made)


def test_what_is_written_together_is_there_when_all_of_it_is(shelf: Shelf) -> None:
    with shelf.catalog.together():
        shelf.put()
        shelf.catalog.activate(["a"])
    assert shelf.held() == ALL


def test_an_error_undoes_all_that_was_written_together(shelf: Shelf) -> None:
    with pytest.raises(ZeroDivisionError), shelf.catalog.together():
        shelf.put()
        shelf.catalog.activate(["a"])
        raise ZeroDivisionError
    assert shelf.held() == NOTHING
    with shelf.catalog.together():
        shelf.put()
        shelf.catalog.activate(["a"])
    assert shelf.held() == ALL


def test_a_connection_that_is_lost_before_the_paper_is_active_leaves_no_vectors(
    shelf: Shelf, postgresql_server: servers.Server
) -> None:
    with (
        psycopg.connect(postgresql_server.address, password=servers.PASSWORD) as other,
        pytest.raises(StoreUnavailable, match="cannot use the catalog"),
        shelf.catalog.together(),
    ):
        shelf.put()
        assert other.execute(_STOP_OTHERS.encode()).fetchall() == [(True,)]
        shelf.catalog.activate(["a"])
    assert shelf.held() == NOTHING


def test_a_server_that_is_killed_before_the_paper_is_active_leaves_no_vectors(stoppable: servers.Postgresql) -> None:
    shelf = waiting(opened(stoppable.address, uuid.uuid4().hex))
    with closing(shelf.catalog):
        with pytest.raises(StoreUnavailable), shelf.catalog.together():
            shelf.put()
            stoppable.stop()
            shelf.catalog.activate(["a"])
        stoppable.start()
        assert shelf.held() == NOTHING


def test_who_writes_together_sees_what_others_see_only_at_the_end(
    shelf: Shelf, postgresql_server: servers.Server
) -> None:
    name = shelf.catalog.database.namespace.removeprefix("carrel_catalog_")  # type: ignore[attr-defined]
    other = opened(postgresql_server.address, name)
    with closing(other.catalog):
        with shelf.catalog.together():
            shelf.put()
            shelf.catalog.activate(["a"])
            assert (shelf.held(), other.held()) == (ALL, NOTHING)
            assert [hit.address for hit in shelf.keywords.search("retrieval", limit=1, where=EVERYTHING)]
        assert other.held() == ALL


def test_another_thread_takes_no_part_in_it(shelf: Shelf) -> None:
    chunk = make_chunk("b")
    with ThreadPoolExecutor(1) as threads, pytest.raises(ZeroDivisionError), shelf.catalog.together():
        shelf.vectors.put([CHUNK], ROW)
        threads.submit(shelf.vectors.put, [chunk], ROW).result(timeout=20)
        raise ZeroDivisionError
    assert shelf.vectors.addresses() == {chunk.address}


def test_what_is_together_may_be_part_of_more(shelf: Shelf) -> None:
    with pytest.raises(ZeroDivisionError), shelf.catalog.together():
        with shelf.catalog.together():
            shelf.put()
        raise ZeroDivisionError
    assert shelf.held() == NOTHING


def test_of_a_write_that_was_refused_inside_nothing_is_left_and_the_rest_is(shelf: Shelf) -> None:
    with shelf.catalog.together():
        shelf.put()
        with pytest.raises(InvalidInput, match="unit length"):
            shelf.vectors.put([make_chunk("a", 2)], ROW * 2)
        shelf.catalog.activate(["a"])
    assert shelf.held() == ALL


def test_stores_at_the_catalogs_own_address_are_together_with_it(postgresql_server: servers.Server) -> None:
    here, name = postgresql_server.address, uuid.uuid4().hex
    shelf = waiting(opened(here, name, vectors_at=here, keywords_at=here))
    with closing(shelf.catalog):
        with pytest.raises(ZeroDivisionError), shelf.catalog.together():
            shelf.put()
            raise ZeroDivisionError
        assert shelf.held() == NOTHING


def test_a_store_at_another_address_is_not(postgresql_server: servers.Server) -> None:
    here = postgresql_server.address
    shelf = waiting(opened(here, uuid.uuid4().hex, vectors_at=here.replace("127.0.0.1", "localhost")))
    with closing(shelf.catalog), closing(shelf.vectors):
        with pytest.raises(ZeroDivisionError), shelf.catalog.together():
            shelf.put()
            raise ZeroDivisionError
        assert shelf.held() == (1, 0, 1, [False])


def test_closing_a_store_beside_the_catalog_closes_nothing_of_the_catalogs(shelf: Shelf) -> None:
    shelf.vectors.put([CHUNK], ROW)
    with shelf.catalog.together():
        shelf.vectors.close()
        shelf.catalog.activate(["a"])
    assert [row.indexed for row in shelf.catalog.papers()] == [True]
    assert shelf.vectors.count() == 1


def test_beside_a_catalog_of_files_both_are_refused_with_the_next_step(tmp_path: Path) -> None:
    with closing(SqliteCatalog(tmp_path / "carrel.db")) as catalog:
        with pytest.raises(InvalidInput, match="the vectors cannot be kept beside a catalog that is not on PostgreSQL"):
            vectors("x", catalog.database)
        with pytest.raises(InvalidInput, match="the keywords cannot be kept beside") as caught:
            PostgresqlKeywords(namespace="x", database=catalog.database)
    assert caught.value.hint == (
        "Set catalog = 'postgresql://user@host/database', or keywords to such an address; or set keywords = 'tantivy'."
    )


def test_an_address_behind_pgvector_is_refused_and_not_asked() -> None:
    with pytest.raises(InvalidInput, match="'pgvector' is kept beside the catalog and takes no '//elsewhere/db'"):
        PgVectors(argument="//elsewhere/db", namespace="x", model="model-a", dim=4)


def test_a_paper_of_a_library_that_cannot_be_declared_active_is_in_no_index(
    tmp_path: Path, postgresql_server: servers.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = uuid.uuid4().hex
    chosen = {"catalog": postgresql_server.address, "vectors": "pgvector", "keywords": "postgresql"}
    named = {f"{setting}_namespace": name for setting in chosen}
    monkeypatch.setenv("CARREL_CATALOG_PASSWORD", servers.PASSWORD)
    (tmp_path / "a.md").write_text("# Dense retrieval\n\nPassages are found by their vectors.\n")
    monkeypatch.setenv("CARREL_INGEST__ISOLATE", "false")
    overrides = {**chosen, **named, "concepts.extractor": "none"}
    with Library.init(tmp_path, embedder=HashedWords(), overrides=overrides) as library:
        library.add(tmp_path / "a.md")
        stores = library.stores
        (paper,) = stores.catalog.papers()
        indexing.start_over(stores)
        ready = indexing.prepare([paper.reference.id], stores)

        def crash(place: str) -> None:
            assert place != "indexes written"

        with pytest.raises(AssertionError):
            indexing.put(ready, stores, at=crash)
        assert (stores.vectors.count(), stores.keywords.count()) == (0, 0)
        indexing.put(ready, stores)
        assert (stores.vectors.count(), stores.keywords.count()) == (1, 1)
        assert [hit.chunk.paper_id for hit in library.search("dense passages").passages] == [paper.reference.id]
