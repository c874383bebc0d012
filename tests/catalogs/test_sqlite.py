"""What is the SQLite catalog's own: migrations, other processes, read-only places and damaged files."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import carrel
from carrel.catalogs import Entry, QueryRecord
from carrel.catalogs.conversations import Turn
from carrel.catalogs.migrations import steps
from carrel.catalogs.sqlite import SqliteCatalog
from carrel.errors import LibraryTooNew, StoreUnavailable
from carrel.types import Document, Part, Reference
from carrel.types.service import Share

NOBODY = "65534"
READ_ONLY = """
import sys
from pathlib import Path
from carrel.catalogs.sqlite import SqliteCatalog
from carrel.errors import ReadOnlyLibrary

catalog = SqliteCatalog(Path(sys.argv[1]))
print(*(row.reference.title for row in catalog.papers()))
try:
    catalog.activate(["a"])
except ReadOnlyLibrary as error:
    print(error.hint)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "carrel.db"


def one_paper() -> Entry:
    return Entry(Reference(id="a", title="Title"), Document("a", Part.BODY, "text", "digest"), ())


def tables(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    return names


def execute(path: Path, sql: str) -> object:
    connection = sqlite3.connect(path)
    found = connection.execute(sql).fetchone()
    connection.commit()
    connection.close()
    return found[0] if found else None


def test_a_new_file_is_brought_to_this_version(path: Path) -> None:
    SqliteCatalog(path).close()
    kept = {"meta", "papers", "texts", "chunks", "rag_queries", "retrieval_metrics"}
    service = {"documents", "ingestion_jobs", "workers", "analytics_sessions", "feedback_events", "tokens"}
    locations = {"locations", "known_files", "known_entries"}
    assert tables(path) == kept | {"embedding_metadata", "exhibits", "citations", "turns"} | locations | service
    assert execute(path, "PRAGMA user_version") == 8
    assert execute(path, "PRAGMA journal_mode") == "wal"


def test_a_file_of_the_first_version_is_brought_to_this_one_with_all_it_holds(path: Path) -> None:
    first = (Path(carrel.__file__).parent / "catalogs/migrations/sqlite/0001_papers_and_history.sql").read_text("utf-8")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{first} PRAGMA user_version = 1;")
        connection.execute(
            "INSERT INTO papers VALUES ('a', 'T', 0, '', '{\"id\":\"a\",\"title\":\"T\"}', 1, 'active', 'x', 'x')"
        )
        connection.execute("INSERT INTO documents VALUES ('a', 'body', 'text', 'd', 'a.md', 'markdown', '')")
        connection.execute(
            "INSERT INTO chunks VALUES"
            " ('a/ch0/s0/p0', 'a', 'body', 'passage', 'text', 0, 4, 0, 0, 0, '[]', 'en', 1, 0, 0, 0, NULL, NULL)"
        )
        connection.commit()
    with closing(SqliteCatalog(path)) as catalog:
        assert [(row.reference.title, row.indexed, row.chunk_count) for row in catalog.papers()] == [("T", True, 1)]
        (chunk,) = catalog.chunks(["a/ch0/s0/p0"])
        assert (chunk.text, chunk.exhibits, catalog.places("a", Part.BODY)) == ("text", (), ())
        assert catalog.remarks() == {}
    assert execute(path, "PRAGMA user_version") == 8


@pytest.mark.parametrize("version", range(1, 6))
def test_a_file_of_each_earlier_version_keeps_its_papers_in_order_and_its_history(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for step in steps("sqlite")[:version]:
            connection.executescript(step)
        connection.execute(f"PRAGMA user_version = {version}")
        for paper_id in ("b", "a"):
            record = f'{{"id":"{paper_id}","title":"T"}}'
            sql = "INSERT INTO papers VALUES (?, 'T', 0, '', ?, 1, 'pending', 'x', 'x')"
            connection.execute(sql, [paper_id, record])
        columns = "(id, timestamp, query_hash, execution_time_ms, strategy_used)"
        connection.execute(
            f"INSERT INTO rag_queries {columns} VALUES ('q', '2024-05-17T10:00:00.000+00:00', 'h', 7.5, 's')"
        )
        connection.execute("INSERT INTO retrieval_metrics (query_id, fusion_ms) VALUES ('q', 2.5)")
        connection.commit()
    with closing(SqliteCatalog(path)) as catalog:
        assert list(catalog.unfinished().pending) == ["b", "a"]
        catalog.put([one_paper()])
        assert [(row.reference.id, row.added) for row in catalog.papers()] == [("a", 2), ("b", 1)]
        told = catalog.analytics.statistics()
        assert (told.queries, told.by_day) == (1, (Share("2024-05-17", 1),))
        assert {stage: found["p50"] for stage, found in told.latency.items()} == {"total": 7.5, "fusion": 2.5}
        assert catalog.analytics.statistics(30).latency == {}
        assert catalog.analytics.forget(30) == 1


def test_threads_read_while_another_writes_and_see_what_was_there_before(path: Path) -> None:
    with closing(SqliteCatalog(path)) as catalog, ThreadPoolExecutor(8) as threads:
        catalog.put([one_paper()])
        with catalog.database.writing("papers") as session:
            session.write("UPDATE papers SET state = 'active'", [()])
            during = list(threads.map(lambda _: catalog.papers()[0].indexed, range(40), timeout=20))
        assert during == [False] * 40
        assert catalog.papers()[0].indexed


def test_a_catalog_that_is_deleted_under_those_who_read_it_is_reported_and_not_made_anew(path: Path) -> None:
    with closing(SqliteCatalog(path)) as catalog:
        catalog.put([one_paper()])
        for file in path.parent.glob("carrel.db*"):
            file.unlink()
        with pytest.raises(StoreUnavailable, match="the file is gone"):
            catalog.papers()
    assert not path.exists()


def test_a_closed_catalog_says_so(path: Path) -> None:
    catalog = SqliteCatalog(path)
    catalog.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        catalog.papers()


def test_what_was_put_is_there_when_it_is_opened_again(path: Path) -> None:
    before = SqliteCatalog(path)
    before.put([one_paper()])
    before.activate(["a"])
    before.close()
    after = SqliteCatalog(path)
    assert [(row.reference.title, row.indexed) for row in after.papers()] == [("Title", True)]
    after.close()


def test_the_salt_outlives_the_process(path: Path) -> None:
    for number in ("1", "2"):
        catalog = SqliteCatalog(path)
        catalog.analytics.record(QueryRecord(number, "secret", "hybrid", 1.0), keep_text=False)
        catalog.close()
    assert execute(path, "SELECT count(DISTINCT query_hash) FROM rag_queries") == 1


def test_a_catalog_of_a_newer_version_is_refused_untouched(path: Path) -> None:
    SqliteCatalog(path).close()
    execute(path, "PRAGMA user_version = 99")
    with pytest.raises(LibraryTooNew, match="version 99, this one knows 8") as caught:
        SqliteCatalog(path)
    assert caught.value.hint == "Upgrade Carrel: pip install --upgrade carrel."
    assert execute(path, "PRAGMA user_version") == 99


def test_many_that_open_a_new_catalog_at_once_all_succeed(path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        catalogs = list(pool.map(lambda _: SqliteCatalog(path), range(8)))
    catalogs[0].put([one_paper()])
    assert [catalog.papers()[0].reference.id for catalog in catalogs] == ["a"] * 8
    assert execute(path, "PRAGMA user_version") == 8
    for catalog in catalogs:
        catalog.close()


def test_a_reader_sees_the_old_state_until_a_write_is_whole(path: Path) -> None:
    writer, reader = SqliteCatalog(path), SqliteCatalog(path)
    broken = Entry(Reference(id="b", title="B"), Document("nobody", Part.BODY, "text", "digest"), ())
    with pytest.raises(StoreUnavailable):
        writer.put([one_paper(), broken])
    assert reader.papers() == writer.papers() == []
    writer.put([one_paper()])
    assert [row.reference.id for row in reader.papers()] == ["a"]
    writer.close()
    reader.close()


@pytest.mark.parametrize("content", [b"This is no database. " * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_reported_with_what_to_do(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreUnavailable, match=r"cannot use catalog .*carrel\.db") as caught:
        SqliteCatalog(path)
    assert caught.value.hint == "Run `carrel doctor`."
    assert path.read_bytes() == content


def test_a_truncated_catalog_is_reported_and_never_an_empty_one(path: Path) -> None:
    catalog = SqliteCatalog(path)
    catalog.put([one_paper()])
    catalog.close()
    os.truncate(path, 8192)
    with pytest.raises(StoreUnavailable, match="malformed"), closing(SqliteCatalog(path)) as damaged:
        damaged.papers()


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        SqliteCatalog(tmp_path / "nowhere" / "carrel.db")


def as_nobody(*command: str) -> list[str]:
    """The command as a user whom the system's permissions bind: root may write anywhere."""
    if os.geteuid() != 0:
        return list(command)
    if shutil.which("setpriv") is None:
        pytest.skip("run by root without setpriv: no directory is read-only to it")
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]


def reachable(folder: Path) -> Path:
    """The folder, after every one above it that pytest made for its owner alone is opened for reading."""
    for parent in (folder, *folder.parents):
        if parent.stat().st_uid == os.geteuid() and parent.stat().st_mode & 0o005 != 0o005:
            parent.chmod(parent.stat().st_mode | 0o005)
    return folder


def test_a_catalog_in_a_read_only_directory_can_still_be_read(tmp_path: Path) -> None:
    path = reachable(tmp_path) / "library" / "carrel.db"
    path.parent.mkdir()
    catalog = SqliteCatalog(path)
    catalog.put([one_paper()])
    catalog.close()
    path.chmod(0o444)
    path.parent.chmod(0o555)
    source = Path(carrel.__file__).parents[1]
    command = as_nobody(sys.executable, "-c", READ_ONLY, str(path))
    environment = {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    path.parent.chmod(0o755)
    if "Permission denied" in finished.stderr and not finished.stdout:
        pytest.skip(f"another user cannot run this Python: {finished.stderr.splitlines()[-1]}")
    assert (finished.stdout, finished.stderr) == ("Title\nMake the directory writable.\n", "")
    assert [entry.name for entry in path.parent.iterdir()] == ["carrel.db"]


TURNS = """
import sys
from pathlib import Path
from carrel.catalogs.conversations import Turn
from carrel.catalogs.sqlite import SqliteCatalog

catalog = SqliteCatalog(Path(sys.argv[1]))
for number in range(20):
    catalog.conversations.add("shared", Turn(f"{sys.argv[2]} {number}", "", ""))
"""


def test_turns_that_processes_and_threads_add_at_once_are_all_kept(path: Path) -> None:
    with closing(SqliteCatalog(path)) as catalog:
        running = [
            subprocess.Popen(
                [sys.executable, "-c", TURNS, str(path), name],
                env={**os.environ, "PYTHONPATH": str(Path(carrel.__file__).parent.parent)},
            )
            for name in ("one", "two")
        ]
        with ThreadPoolExecutor(4) as threads:
            turns = [Turn(f"here {number}", "", "") for number in range(20)]
            numbers = list(threads.map(lambda turn: catalog.conversations.add("shared", turn), turns))
        assert [process.wait(60) for process in running] == [0, 0]
        kept = [turn.question for turn in catalog.conversations.turns("shared")]
    assert len(set(numbers)) == 20
    assert sorted(kept) == sorted(f"{name} {number}" for name in ("here", "one", "two") for number in range(20))
