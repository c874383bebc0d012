"""A catalog moves to PostgreSQL and back, with every row."""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from carrel.catalogs.sqlite import SqliteCatalog
from carrel.catalogs.tables import COLUMNS, key
from carrel.errors import StoreUnavailable
from carrel.migrating import migrate
from carrel.types.service import Feedback, Job, Scope, Submission, Token
from tests import servers
from tests.cli.conftest import Carrel

DATABASE = Path(".carrel/carrel.db")
PAPER = "# Of trees\n\nA segment tree answers range queries.\n\n## Cost\n\nIt needs linear space. ![one](tree.png)\n"


@pytest.fixture
def server(postgresql_server: servers.Server, monkeypatch: pytest.MonkeyPatch) -> servers.Server:
    monkeypatch.setenv("CARREL_CATALOG_PASSWORD", servers.PASSWORD)
    monkeypatch.setenv("CARREL_CATALOG_NAMESPACE", uuid.uuid4().hex[:12])
    return postgresql_server


@pytest.fixture
def full(library: Carrel, tmp_path: Path) -> Carrel:
    """A library with something in every table."""
    (tmp_path / "tree.md").write_text(PAPER)
    assert library("add", "tree.md", "--tag", "trees").code == 0
    assert library("ask", "What does a segment tree answer?", "--session", "s").code in {0, 5}
    with closing(SqliteCatalog(DATABASE)) as catalog:
        with catalog.database.reading() as session:
            ((query, _),) = session.rows("SELECT id, timestamp FROM rag_queries LIMIT 1")
        catalog.analytics.rate(Feedback("f", query, 4, "good\0"))
        catalog.submissions.submit(Submission("d", "tree.md", metadata={"tags": ["ü"]}), Job("j", "d"))
        catalog.submissions.beat("worker")
        catalog.credentials.put(Token("t", "laptop", Scope.READ, "digest"))
    return library


def content() -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(DATABASE)) as connection:
        return {
            table: connection.execute(
                f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(key(table))}"
            ).fetchall()
            for table, columns in COLUMNS.items()
        }


def test_a_catalog_that_went_there_and_came_back_is_the_same_row_by_row(
    full: Carrel, server: servers.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content()
    assert {"papers", "texts", "chunks", "turns", "rag_queries", "documents", "tokens"} <= {
        table for table, rows in before.items() if rows
    }
    listed = full("list", "--json").json
    there = full("migrate", "--to", server.address, "--json")
    moved = there.json["moved"]["catalog"]
    assert (there.code, moved["source"], moved["target"]) == (0, "sqlite", server.address)
    assert moved["tables"] == {table: len(rows) for table, rows in before.items()}
    assert there.json["settings"] == {"catalog": server.address}
    DATABASE.rename("old.db")
    monkeypatch.setenv("CARREL_CATALOG", server.address)
    assert full("list", "--json").json == listed
    assert full("verify").code == 0
    assert not DATABASE.exists()
    back = full("migrate", "--to", "sqlite")
    assert (back.code, back.out.startswith("Copied and compared ")) == (0, True)
    assert content() == before


def test_the_library_is_searched_and_written_to_where_its_catalog_is(
    full: Carrel, server: servers.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = full("search", "segment tree", "--json").json["results"]
    assert full("migrate", "--to", server.address).code == 0
    DATABASE.unlink()
    monkeypatch.setenv("CARREL_CATALOG", server.address)
    assert full("search", "segment tree", "--json").json["results"] == found
    (tmp_path / "heap.md").write_text("# Of heaps\n\nA heap gives the least element at once.\n")
    assert full("add", "heap.md").code == 0
    assert full("search", "least element of a heap", "--json").json["results"][0]["paper_id"] == "heap"
    assert full("remove", "heap").code == 0
    assert full("index", "check").code == 0
    assert full("stats", "--json").json["queries"] == 4
    assert not DATABASE.exists()


def test_a_catalog_that_is_there_already_is_replaced_only_by_force(full: Carrel, server: servers.Server) -> None:
    assert full("migrate", "--to", server.address).code == 0
    assert full("remove", "tree").code == 0
    for _ in range(2):
        refused = full("migrate", "--to", server.address)
        assert refused.code == 1
        assert "there is another catalog already, with rows in meta 1, papers " in refused.err
        assert "--force" in refused.err
    forced = full("migrate", "--to", server.address, "--force", "--json")
    assert forced.json["moved"]["catalog"]["tables"]["papers"] == len(full("list", "--json").json["papers"])


def test_a_catalog_that_is_there_already_and_the_same_is_left_as_it_is(
    full: Carrel, server: servers.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the library's own one by another address, which would else wait for itself."""
    rows = full("migrate", "--to", server.address, "--json").json["moved"]["catalog"]["rows"]
    again = full("migrate", "--to", server.address, "--json").json["moved"]["catalog"]
    assert (again["rows"], again["already"]) == (rows, rows)
    monkeypatch.setenv("CARREL_CATALOG", server.address)
    alias = f"{server.address}?sslmode=prefer"
    for force in ([], ["--force"]):
        itself = full("migrate", "--to", alias, *force)
        assert (itself.code, f"{rows:,} of which were there already" in itself.out) == (0, True)
    assert full("list").code == 0


def test_what_is_interrupted_leaves_nothing_behind(full: Carrel, server: servers.Server, tmp_path: Path) -> None:
    before = content()

    def interrupt(_stage: str, done: int, total: int) -> None:
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        migrate(str(tmp_path), {}, {"catalog": server.address}, progress=interrupt)
    assert content() == before
    assert full("migrate", "--to", server.address).code == 0


def test_a_row_that_did_not_arrive_as_it_was_is_noticed_and_nothing_kept(
    full: Carrel, server: servers.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_CATALOG", server.address)
    assert full("list").code == 0
    monkeypatch.delenv("CARREL_CATALOG")
    with psycopg.connect(server.address, password=servers.PASSWORD) as connection:
        ((schema,),) = connection.execute(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE %s", ["carrel_catalog_%"]
        ).fetchall()[-1:]
        connection.execute(f"SET search_path TO {schema}".encode())
        connection.execute(
            "CREATE FUNCTION spoil() RETURNS trigger AS"
            " 'BEGIN NEW.answer := upper(NEW.answer); RETURN NEW; END' LANGUAGE plpgsql"
        )
        connection.execute("CREATE TRIGGER spoil BEFORE INSERT ON turns FOR EACH ROW EXECUTE FUNCTION spoil()")
    with pytest.raises(StoreUnavailable, match="of turns, s, 1 is not the same in both"):
        migrate(str(tmp_path), {}, {"catalog": server.address}, progress=lambda *_: None)
    with psycopg.connect(server.address, password=servers.PASSWORD) as connection:
        assert connection.execute(f"SELECT count(*) FROM {schema}.papers".encode()).fetchone() == (0,)


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("sqlite", "the catalog is in 'sqlite' already"),
        ("mysql://root@localhost/db", "no catalog is called 'mysql'"),
        ("postgresql://me:secret@127.0.0.1/db", "has a password in it"),
        ("postgresql://me@127.0.0.1:9/db", "cannot use the catalog on 'postgresql://me@127.0.0.1:9/db'"),
    ],
)
def test_a_place_that_cannot_be_is_refused_in_one_sentence(library: Carrel, to: str, said: str) -> None:
    refused = library("migrate", "--to", to)
    assert refused.code != 0
    assert said in refused.err
    assert "secret" not in refused.err
    assert "Traceback" not in refused.err
