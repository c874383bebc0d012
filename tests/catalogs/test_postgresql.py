"""What is the PostgreSQL catalog's own: many that write at once, a server that is lost, and who may see what."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Barrier
from typing import TypeVar

import psycopg
import pytest

from carrel.catalogs import Catalog, Entry, QueryRecord
from carrel.catalogs.conversations import Turn
from carrel.catalogs.migrations import steps
from carrel.catalogs.postgresql import PostgresqlCatalog
from carrel.catalogs.tables import COLUMNS
from carrel.databases import postgresql
from carrel.errors import InvalidInput, LibraryTooNew, StoreUnavailable
from carrel.types import Document, Part, Reference
from carrel.types.service import DocumentStatus, Feedback, Job, JobStatus, Scope, Submission, Token
from tests import servers

Made = TypeVar("Made")
AT_ONCE = 8


def opened(address: str, namespace: str, password: str = servers.PASSWORD) -> PostgresqlCatalog:
    return PostgresqlCatalog(address.removeprefix("postgresql:"), namespace=namespace, password=password)


def fresh_name() -> str:
    return f"carrel_catalog_{uuid.uuid4().hex[:12]}"


@pytest.fixture
def catalogs(postgresql_server: servers.Server) -> Iterator[list[Catalog]]:
    """The same catalog as several processes have it, each with its own connections."""
    namespace = fresh_name()
    with ExitStack() as stack:
        yield [stack.enter_context(closing(opened(postgresql_server.address, namespace))) for _ in range(AT_ONCE)]


def at_once(catalogs: list[Catalog], act: Callable[[int, Catalog], Made]) -> list[Made]:
    together = Barrier(len(catalogs))

    def begin(numbered: tuple[int, Catalog]) -> Made:
        together.wait()
        return act(*numbered)

    with ThreadPoolExecutor(len(catalogs)) as threads:
        return list(threads.map(begin, enumerate(catalogs)))


def paper(paper_id: str) -> Entry:
    return Entry(Reference(id=paper_id, title=f"Title of {paper_id}"), Document(paper_id, Part.BODY, "t", "d"), ())


def document(url: str) -> tuple[Submission, Job]:
    made = Submission(str(uuid.uuid4()), url)
    return made, Job(str(uuid.uuid4()), made.id)


def test_many_that_open_a_new_catalog_at_once_all_succeed(catalogs: list[Catalog]) -> None:
    assert at_once(catalogs, lambda _, catalog: catalog.papers()) == [[]] * AT_ONCE


def test_of_many_that_submit_one_address_at_once_one_succeeds(catalogs: list[Catalog]) -> None:
    for url in ("a.md", "b.md", "c.md"):
        pairs = [document(url) for _ in catalogs]
        results = at_once(catalogs, lambda number, catalog, pairs=pairs: catalog.submissions.submit(*pairs[number]))  # type: ignore[misc]
        assert sorted(results) == [False] * (AT_ONCE - 1) + [True]
        winner = pairs[results.index(True)]
        kept = catalogs[0].submissions.by_url(url)
        assert kept is not None
        assert kept.id == winner[0].id
        assert [job.id for job in catalogs[0].submissions.jobs(document_id=kept.id)] == [winner[1].id]


def test_of_many_that_submit_a_failed_document_anew_one_succeeds(catalogs: list[Catalog]) -> None:
    first, job = document("a.md")
    submissions = catalogs[0].submissions
    submissions.submit(first, job)
    submissions.advance(job.id, status=JobStatus.FAILED)
    submissions.change(first.id, status=DocumentStatus.FAILED)

    def again(number: int, catalog: Catalog) -> bool:
        if number % 2:
            return catalog.submissions.resubmit(Job(str(uuid.uuid4()), first.id))
        return catalog.submissions.submit(*document("a.md"))

    assert sum(at_once(catalogs, again)) == 1
    assert len(submissions.jobs(document_id=first.id)) == 2
    assert submissions.waiting() == 1


def test_a_job_is_over_once_whoever_says_so(catalogs: list[Catalog]) -> None:
    first, job = document("a.md")
    catalogs[0].submissions.submit(first, job)
    over = [JobStatus.COMPLETE, JobStatus.FAILED, JobStatus.CANCELLED] * 3
    results = at_once(catalogs, lambda number, catalog: catalog.submissions.advance(job.id, status=over[number]))
    assert sum(results) == 1
    kept = catalogs[0].submissions.job(job.id)
    assert kept is not None
    assert kept.status == over[results.index(True)]


def test_an_answer_is_rated_once_and_a_name_given_once_by_many_at_once(catalogs: list[Catalog]) -> None:
    catalogs[0].analytics.record(QueryRecord("q", "why?", "hybrid", 1.0), keep_text=False)
    ratings = [Feedback(str(number), "q", 1 + number % 5) for number in range(AT_ONCE)]
    rated = at_once(catalogs, lambda number, catalog: catalog.analytics.rate(ratings[number]))
    assert sum(rated) == 1
    kept = catalogs[0].analytics.feedback("q")
    assert kept is not None
    assert kept.rating == ratings[rated.index(True)].rating
    tokens = [Token(str(number), "laptop", Scope.READ, f"digest {number}") for number in range(AT_ONCE)]
    put = at_once(catalogs, lambda number, catalog: catalog.credentials.put(tokens[number]))
    assert sum(put) == 1
    assert [token.id for token in catalogs[0].credentials.all()] == [str(put.index(True))]
    assert sum(at_once(catalogs, lambda _, catalog: catalog.credentials.revoke(str(put.index(True))))) == 1


def test_a_silent_worker_is_told_to_one_of_many_that_ask(catalogs: list[Catalog]) -> None:
    catalogs[0].submissions.beat("dead")
    told = at_once(catalogs, lambda _, catalog: catalog.submissions.silent(0.0))
    assert sorted(told) == [[]] * (AT_ONCE - 1) + [["dead"]]


def test_turns_papers_and_queries_that_many_add_at_once_are_all_kept_in_order(catalogs: list[Catalog]) -> None:
    def add(number: int, catalog: Catalog) -> list[int]:
        numbers = []
        for step in range(10):
            numbers.append(catalog.conversations.add("shared", Turn(f"{number} {step}", "", "")))
            catalog.put([paper(f"p{number}-{step}")])
            query = QueryRecord(f"{number} {step}", "what?", "hybrid", 1.0, session_id=f"s{step}", user="ann")
            catalog.analytics.record(query, keep_text=False)
        return numbers

    numbers = at_once(catalogs, add)
    assert sorted(one for some in numbers for one in some) == list(range(1, 10 * AT_ONCE + 1))
    rows = catalogs[0].papers()
    assert sorted(row.added for row in rows) == list(range(1, 10 * AT_ONCE + 1))
    told = catalogs[0].analytics.statistics()
    assert (told.queries, told.sessions) == (10 * AT_ONCE, 10)


def test_a_process_that_reads_is_not_kept_waiting_by_one_that_writes(catalogs: list[Catalog]) -> None:
    writer, reader = catalogs[:2]
    assert isinstance(writer, PostgresqlCatalog)
    writer.put([paper("a")])
    with writer.database.writing("papers", "documents", "turns") as session:
        session.write("UPDATE papers SET state = 'active'", [()])
        assert [row.indexed for row in reader.papers()] == [False]
        reader.analytics.record(QueryRecord("q", "why?", "hybrid", 1.0), keep_text=False)
    assert [row.indexed for row in reader.papers()] == [True]


def test_more_threads_than_connections_all_get_their_turn(catalogs: list[Catalog]) -> None:
    with ThreadPoolExecutor(40) as threads:
        found = list(threads.map(lambda _: catalogs[0].submissions.waiting(), range(400)))
    assert found == [0] * 400


def test_two_libraries_on_one_server_know_nothing_of_each_other(postgresql_server: servers.Server) -> None:
    with closing(opened(postgresql_server.address, fresh_name())) as one:
        one.put([paper("a")])
        with closing(opened(postgresql_server.address, fresh_name())) as other:
            assert other.papers() == []
            other.put([paper("b")])
        assert [row.reference.id for row in one.papers()] == ["a"]


def test_a_schema_of_a_newer_carrel_is_refused(postgresql_server: servers.Server) -> None:
    namespace = fresh_name()
    with closing(opened(postgresql_server.address, namespace)) as catalog, catalog.database.writing() as session:
        session.write("INSERT INTO catalog_version VALUES (?)", [(number,) for number in range(90)])
    with closing(opened(postgresql_server.address, namespace)) as catalog, pytest.raises(LibraryTooNew, match="newer"):
        catalog.papers()


def test_a_wrong_password_is_said_with_the_setting_to_correct(postgresql_server: servers.Server) -> None:
    catalog = opened(postgresql_server.address, fresh_name(), "wrong-one")
    with pytest.raises(StoreUnavailable, match="cannot use the catalog on 'postgresql://carrel@127") as caught:
        catalog.papers()
    catalog.close()
    assert "wrong-one" not in str(caught.value)
    assert caught.value.hint == (
        "Set catalog_password, or CARREL_CATALOG_PASSWORD, to that user's password. It is given to no server that only "
        "the library's config names: name that in your own config, or in CARREL_CATALOG."
    )


def test_what_is_too_long_to_be_looked_up_is_refused_as_such(catalogs: list[Catalog]) -> None:
    name = "".join(chr(0x4E00 + (number * 7919) % 20_000) for number in range(9_000))
    with pytest.raises(InvalidInput, match="cannot use the catalog") as caught:
        catalogs[0].submissions.submit(*document(name))
    assert name[:20] not in caught.value.message


def test_both_databases_have_the_same_tables_with_the_same_columns(
    catalogs: list[Catalog], postgresql_server: servers.Server, tmp_path: Path
) -> None:
    catalogs[0].papers()
    with closing(sqlite3.connect(tmp_path / "carrel.db")) as connection:
        for step in steps("sqlite"):
            connection.executescript(step)
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        ours = {
            (table, column[1], bool(column[3] or column[5]))
            for table in tables
            for column in connection.execute(f"PRAGMA table_info({table})")
        }
    with psycopg.connect(postgresql_server.address, password=servers.PASSWORD) as asking:
        database = catalogs[0].database  # type: ignore[attr-defined]
        theirs = asking.execute(
            "SELECT table_name, column_name, is_nullable = 'NO' FROM information_schema.columns"
            " WHERE table_schema = %s AND table_name <> 'catalog_version'",
            [database.namespace],
        ).fetchall()
    assert set(theirs) == ours
    named = {(table, column.strip('"')) for table, columns in COLUMNS.items() for column in columns}
    assert named == {(table, column) for table, column, _ in ours}


def test_a_server_that_is_not_there_is_said_at_once_and_found_when_it_comes(stoppable: servers.Postgresql) -> None:
    stoppable.stop()
    with closing(opened(stoppable.address, fresh_name())) as catalog:
        for _ in range(3):
            start = time.monotonic()
            with pytest.raises(StoreUnavailable, match=r"cannot use the catalog on .*refused") as caught:
                catalog.papers()
            assert time.monotonic() - start < 10
        assert caught.value.hint.startswith("See that the server runs")
        stoppable.start()
        assert catalog.papers() == []


def test_a_server_that_is_lost_and_comes_back_is_used_again_without_a_restart(stoppable: servers.Postgresql) -> None:
    with closing(opened(stoppable.address, fresh_name())) as catalog, ThreadPoolExecutor(6) as threads:
        catalog.put([paper("a")])
        list(threads.map(lambda _: catalog.papers(), range(30)))
        stoppable.stop()
        start = time.monotonic()
        failed = list(threads.map(lambda _: outcome(catalog), range(30)))
        assert set(failed) == {"StoreUnavailable"}
        assert time.monotonic() - start < 10
        stoppable.start()
        assert list(threads.map(lambda _: outcome(catalog), range(30))) == ["a"] * 30
        catalog.put([paper("b")])
        assert [row.reference.id for row in catalog.papers()] == ["a", "b"]


def test_a_restart_that_nobody_saw_costs_no_one_an_error(stoppable: servers.Postgresql) -> None:
    with closing(opened(stoppable.address, fresh_name())) as catalog, ThreadPoolExecutor(6) as threads:
        catalog.put([paper("a")])
        list(threads.map(lambda _: catalog.papers(), range(30)))
        stoppable.stop()
        stoppable.start()
        assert list(threads.map(lambda _: outcome(catalog), range(30))) == ["a"] * 30


def test_what_was_being_written_when_the_server_was_lost_is_undone(stoppable: servers.Postgresql) -> None:
    with closing(opened(stoppable.address, fresh_name())) as catalog:
        catalog.put([paper("a")])
        with pytest.raises(StoreUnavailable), catalog.database.writing("papers") as session:
            session.write("UPDATE papers SET state = 'active'", [()])
            stoppable.stop()
            session.write("UPDATE papers SET title = 'x'", [()])
        stoppable.start()
        assert [row.indexed for row in catalog.papers()] == [False]


@pytest.mark.parametrize("rows", [1, 2, 500])
def test_one_that_is_halted_while_it_writes_is_undone_and_keeps_nobody_from_writing(
    postgresql_server: servers.Server, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(postgresql, "_STALLED", "1s")
    namespace = fresh_name()
    with (
        closing(opened(postgresql_server.address, namespace)) as halted,
        closing(opened(postgresql_server.address, namespace)) as other,
    ):
        other.put([paper("a")])
        with pytest.raises(StoreUnavailable, match="idle-in-transaction"), halted.database.writing("papers") as session:
            session.write("UPDATE papers SET state = 'active' WHERE id = ?", [["a"]] * rows)
            other.put([paper("b")])
            session.write("UPDATE papers SET state = 'retired'", [()])
        halted.put([paper("c")])
        assert [(row.reference.id, row.indexed) for row in other.papers()] == [("a", False), ("b", False), ("c", False)]


def test_what_is_written_together_may_take_longer_and_longer_still_while_something_is_written_apart(
    postgresql_server: servers.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "_STALLED", "2s")
    monkeypatch.setattr(postgresql, "_STALLED_TOGETHER", "1s")
    with closing(opened(postgresql_server.address, fresh_name())) as catalog, catalog.together():
        assert isinstance(catalog.database, postgresql.Server)
        with catalog.database.apart():
            time.sleep(1.5)
        catalog.put([paper("a")])
        assert len(catalog.papers()) == 1
    monkeypatch.setattr(postgresql, "_STALLED", "1s")
    monkeypatch.setattr(postgresql, "_STALLED_TOGETHER", "10min")
    with closing(opened(postgresql_server.address, fresh_name())) as catalog, catalog.together():
        catalog.put([paper("a")])
        time.sleep(1.5)
        assert len(catalog.papers()) == 1


def test_the_server_looks_whether_those_are_still_there_that_it_keeps_others_waiting_for(
    postgresql_server: servers.Server,
) -> None:
    with closing(opened(postgresql_server.address, fresh_name())) as catalog:
        settings = ("tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count")
        assert [catalog.database.rows(f"SHOW {name}")[0][0] for name in settings] == ["10", "5", "4"]


def outcome(catalog: Catalog) -> str:
    try:
        return " ".join(row.reference.id for row in catalog.papers())
    except StoreUnavailable as error:
        return type(error).__name__
