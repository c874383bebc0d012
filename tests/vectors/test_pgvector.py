"""What is pgvector's own: an index from some size on, half precision, many that write, and a server that is lost."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from threading import Event
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import errors

from carrel.databases.extensions import Extension
from carrel.databases.postgresql import Server, Tables
from carrel.databases.postgresql_session import PostgresqlSession
from carrel.databases.sessions import Row
from carrel.errors import InvalidInput, StoreUnavailable
from carrel.types import EVERYTHING, Chunk, Filter, Matrix
from carrel.vectors import pgvector
from carrel.vectors import pgvector_sets as sets
from carrel.vectors.flat import FlatVectors
from carrel.vectors.pgvector import PgVectors
from tests import servers
from tests.builders import make_chunk

DIM = 32
LARGE = 400
ROWS = 1_200
WHERE = Filter(year_min=2003, year_max=2003)


def clustered(count: int, *, seed: int = 5, dim: int = DIM) -> Matrix:
    """Rows that lie near each other, as those of texts do."""
    chance = np.random.default_rng(seed)
    middles = chance.normal(size=(40, dim))
    rows = middles[chance.integers(40, size=count)] + 0.6 * chance.normal(size=(count, dim))
    unit: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def papers(count: int) -> list[Chunk]:
    """Twenty chunks a paper, ten papers a year."""
    return [
        make_chunk(f"p{number // 20}", number % 20 + 1, year=2000 + number // 200, venue=f"V{number % 50}")
        for number in range(count)
    ]


def opened(address: str, name: str = "", **options: Any) -> PgVectors:
    values: dict[str, Any] = {"model": "model-a", "dim": DIM, "password": servers.PASSWORD, **options}
    name = f"carrel_vectors_{name or uuid.uuid4().hex}"
    return PgVectors(kind="postgresql", argument=address.removeprefix("postgresql:"), namespace=name, **values)


@pytest.fixture
def store(postgresql_server: servers.Server) -> Iterator[PgVectors]:
    with closing(opened(postgresql_server.address)) as store:
        yield store


@pytest.fixture(scope="module", params=[False, True], ids=["whole", "half"])
def large(request: pytest.FixtureRequest, postgresql_server: servers.Server) -> Iterator[PgVectors]:
    """More than there is an index from, written in steps, with some that came and went."""
    with closing(opened(postgresql_server.address, large=LARGE, half=request.param)) as store:
        chunks, rows = papers(ROWS), clustered(ROWS)
        for start in range(0, ROWS, 300):
            store.put(chunks[start : start + 300], rows[start : start + 300])
        store.put([make_chunk("gone", number) for number in range(1, 51)], clustered(50, seed=6))
        store.delete(["gone"])
        yield store


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> FlatVectors:
    store = FlatVectors(tmp_path_factory.mktemp("flat"), model="model-a", dim=DIM)
    store.put(papers(ROWS), clustered(ROWS))
    return store


def is_indexed(store: PgVectors) -> bool:
    server = store._server
    rows = server.rows("SELECT count(*) FROM pg_indexes WHERE schemaname = ? AND indexdef ~ 'hnsw'", [server.namespace])
    return bool(rows[0][0])


def tolerance(store: PgVectors) -> float:
    return 2e-3 if store._half else 1e-5


def test_there_is_an_index_from_some_size_on(large: PgVectors, store: PgVectors) -> None:
    store.put(papers(20), clustered(20))
    assert (is_indexed(store), is_indexed(large)) == (False, True)


def test_what_is_filled_at_once_gets_its_index_at_the_end(
    postgresql_server: servers.Server, exact: FlatVectors
) -> None:
    with closing(opened(postgresql_server.address, large=LARGE)) as store:
        chunks, rows = papers(ROWS), clustered(ROWS)
        with pytest.raises(InvalidInput), store.filling():
            store.put(chunks[:600], rows[:600])
            raise InvalidInput("something went wrong in the middle")
        assert not is_indexed(store)
        with store.filling():
            for start in range(600, ROWS, 300):
                store.put(chunks[start : start + 300], rows[start : start + 300])
            assert not is_indexed(store)
        assert is_indexed(store)
        (asked,) = clustered(1, seed=9)
        found, wanted = (one.search(asked, limit=5) for one in (store, exact))
        assert [hit.address for hit in found] == [hit.address for hit in wanted]


@pytest.mark.parametrize(("rows", "effort"), [(-1, "200"), (150_000, "200"), (600_000, "400"), (80_000_000, "1000")])
def test_of_more_rows_more_neighbours_are_kept_in_sight(large: PgVectors, rows: int, effort: str) -> None:
    with large._server.writing() as session:
        held = sets.kept(session, sets.CURRENT)
        assert held
        session.write("UPDATE pg_class SET reltuples = ? WHERE oid = ?::regclass", [(rows, held.table)])
        pgvector._by_index(session, held, clustered(1)[0], 10, EVERYTHING)
        assert session.rows("SELECT current_setting('hnsw.ef_search')") == [(effort,)]
        session.write(f"ANALYZE {held.table}", [()])


@pytest.mark.parametrize(("given", "used"), [("64MB", "512MB"), ("1GB", "1GB")])
def test_the_index_is_made_in_what_memory_the_server_gives_or_enough_for_most(
    store: PgVectors, given: str, used: str
) -> None:
    store.put(papers(20), clustered(20))
    with store._server.writing() as session:
        session.rows("SELECT set_config('maintenance_work_mem', ?, true)", [given])
        held = sets.kept(session, sets.CURRENT)
        assert held
        sets.index(session, held)
        assert session.rows("SELECT current_setting('maintenance_work_mem')") == [(used,)]
    assert is_indexed(store)


def test_the_index_may_take_longer_than_a_user_may_ask(store: PgVectors) -> None:
    store.put(papers(20), clustered(20))
    with store._server.writing() as session:
        session.rows("SELECT set_config('statement_timeout', '10min', true)")
        held = sets.kept(session, sets.CURRENT)
        assert held
        sets.index(session, held)
        assert session.rows("SELECT current_setting('statement_timeout')") == [("0",)]


@pytest.mark.parametrize(
    ("failure", "is_tried_again"),
    [
        (psycopg.OperationalError("server closed the connection"), True),
        (errors.DeadlockDetected(), True),
        (errors.DiskFull(), True),
        (errors.UndefinedObject(), False),
    ],
    ids=["lost", "deadlock", "full", "impossible"],
)
def test_an_index_that_could_not_be_made_is_tried_again_where_that_may_help(
    postgresql_server: servers.Server, monkeypatch: pytest.MonkeyPatch, failure: psycopg.Error, is_tried_again: bool
) -> None:
    def fail(*_: object) -> None:
        raise failure

    with closing(opened(postgresql_server.address, large=20)) as store:
        store.put(papers(20), clustered(20))
        with monkeypatch.context() as failing:
            failing.setattr(sets, "index", fail)
            store.put([make_chunk("a")], clustered(1))
        assert (is_indexed(store), store.count()) == (False, 21)
        store.put([make_chunk("b")], clustered(1))
        assert (is_indexed(store), store.count()) == (is_tried_again, 22)


def wait_for_one_behind(session: PostgresqlSession) -> None:
    """Until somebody waits for what this transaction has locked."""
    behind = "SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"
    end = time.monotonic() + 60
    while not session.rows(behind):
        assert time.monotonic() < end, "nobody waits"
        time.sleep(0.02)


def test_a_set_that_is_dropped_while_it_is_indexed_waits_for_the_index(
    postgresql_server: servers.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = uuid.uuid4().hex
    with (
        closing(opened(postgresql_server.address, name)) as store,
        closing(opened(postgresql_server.address, name)) as other,
        ThreadPoolExecutor(1) as threads,
    ):
        store.put(papers(20), clustered(20))
        write, clearing = PostgresqlSession.write, list[Future[None]]()

        def write_behind(session: PostgresqlSession, statement: str, many: Sequence[Sequence[object]]) -> int:
            if "USING hnsw" in statement:
                clearing.append(threads.submit(other.clear, model="model-b", dim=DIM))
                wait_for_one_behind(session)
            return write(session, statement, many)

        monkeypatch.setattr(PostgresqlSession, "write", write_behind)
        with store._server.apart() as session:
            held = sets.found(session, sets.CURRENT)
            assert held
            sets.index(session, held)
        (cleared,) = clearing
        cleared.result()
        assert (store.count(), store.model) == (0, "model-b")


def test_what_is_deleted_while_sets_are_exchanged_is_deleted_from_the_new_one(
    postgresql_server: servers.Server,
) -> None:
    name = uuid.uuid4().hex
    with (
        closing(opened(postgresql_server.address, name)) as store,
        closing(opened(postgresql_server.address, name)) as other,
        ThreadPoolExecutor(1) as threads,
    ):
        store.put(papers(40), clustered(40))
        store.beside(model="model-b", dim=DIM).put(papers(40), clustered(40))
        with store._server.writing("vector_sets") as session:
            sets.adopt(session)
            deleting = threads.submit(other.delete, ["p0"])
            wait_for_one_behind(session)
        deleting.result()
        assert ({address.partition("/")[0] for address in store.addresses()}, store.model) == ({"p1"}, "model-b")


def test_who_writes_sees_what_others_wrote_meanwhile_whatever_the_server_says(
    postgresql_server: servers.Server,
) -> None:
    address = f"{postgresql_server.address}?options=-c%20default_transaction_isolation%3Dserializable"
    with closing(opened(address)) as store:
        server = store._server
        assert server.rows("SHOW default_transaction_isolation") == [("serializable",)]
        with server.together(), server.writing() as one, server.apart() as other:
            for session in (one, other):
                assert session.rows("SHOW transaction_isolation") == [("read committed",)]
        store.put(papers(20), clustered(20))
        assert store.count() == 20


def test_what_is_asked_of_a_large_set_is_looked_up_in_its_index(
    large: PgVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, plans = PostgresqlSession.rows, list[str]()

    def explain_and_ask(session: PostgresqlSession, statement: str, *others: Any, **options: Any) -> list[Row]:
        if "<#>" in statement:
            plan = ask(session, f"EXPLAIN {statement}", *others, **options)
            plans.append("\n".join(line for (line,) in plan))
        return ask(session, statement, *others, **options)

    monkeypatch.setattr(PostgresqlSession, "rows", explain_and_ask)
    assert len(large.search(clustered(1)[0], limit=10, where=EVERYTHING)) == 10
    ((index,),) = large._server.rows(
        "SELECT indexname FROM pg_indexes WHERE schemaname = ? AND indexdef ~ 'hnsw'", [large._server.namespace]
    )
    (plan,) = plans
    assert f"Index Scan using {index} on" in plan


@pytest.mark.parametrize("where", [EVERYTHING, WHERE], ids=["all", "filtered"])
def test_the_index_finds_nearly_all_of_the_nearest_with_their_true_scores(
    large: PgVectors, exact: FlatVectors, where: Filter
) -> None:
    found = 0
    for question in clustered(40, seed=7):
        hits = large.search(question, limit=10, where=where)
        expected = dict(exact.search(question, limit=ROWS, where=where))
        assert len(hits) == 10
        assert dict(hits) == pytest.approx({hit.address: expected[hit.address] for hit in hits}, abs=tolerance(large))
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        found += len({hit.address for hit in hits} & set(list(expected)[:10]))
    assert found / 400 >= 0.98


@pytest.mark.parametrize(
    ("where", "count"),
    [
        (Filter(venue="V7"), ROWS // 50),
        (Filter(venue="v7", year_min=2003, year_max=2003), 4),
        (Filter(paper_ids=frozenset({"p3", "p30"})), 40),
        (Filter(year_min=2004), 400),
        (Filter(venue="nowhere"), 0),
        (EVERYTHING, ROWS),
    ],
    ids=["venue", "venue-year", "papers", "years", "none", "everything"],
)
def test_all_that_a_filter_allows_is_found_however_little_it_is(large: PgVectors, where: Filter, count: int) -> None:
    hits = large.search(clustered(1, seed=8)[0], limit=2 * ROWS, where=where)
    assert len({hit.address for hit in hits}) == len(hits) == count


def test_a_long_list_begins_like_a_short_one(large: PgVectors) -> None:
    question = clustered(1, seed=9)[0]
    short = large.search(question, limit=20, where=EVERYTHING)
    long = large.search(question, limit=ROWS, where=EVERYTHING)
    assert long[:20] == short
    assert len(long) == ROWS


def test_half_precision_takes_half_the_space_and_gives_what_was_put_to_three_digits(
    postgresql_server: servers.Server,
) -> None:
    sizes = []
    for half in (False, True):
        with closing(opened(postgresql_server.address, dim=512, half=half)) as store:
            rows = clustered(64, dim=512)
            store.put(papers(64), rows)
            found = store.many([chunk.address for chunk in papers(64)])
            error = max(float(np.abs(found[c.address] - row).max()) for c, row in zip(papers(64), rows, strict=True))
            assert error < (1e-3 if half else 1e-9)
            first = store.search(rows[3], limit=1, where=EVERYTHING)[0]
            assert (first.address, first.score) == (papers(64)[3].address, pytest.approx(1.0, abs=1e-3))
            sizes.append(store._server.rows("SELECT max(pg_column_size(embedding)) FROM vectors_1")[0][0])
    assert sizes[1] < 0.52 * sizes[0]


@pytest.mark.parametrize("dim", [2_100, 4_100])
def test_long_vectors_are_held_whole_and_indexed_where_that_can_be(postgresql_server: servers.Server, dim: int) -> None:
    with closing(opened(postgresql_server.address, dim=dim, large=40)) as store:
        rows = clustered(80, dim=dim)
        for start in (0, 40):
            store.put(papers(80)[start : start + 40], rows[start : start + 40])
        assert is_indexed(store) == (dim <= 4_000)
        for number in (0, 40, 79):
            first = store.search(rows[number], limit=1, where=EVERYTHING)[0]
            assert (first.address, first.score) == (papers(80)[number].address, pytest.approx(1.0, abs=1e-5))
        got = store.get(papers(80)[5].address)
        assert got is not None
        assert np.array_equal(got, rows[5])


def test_vectors_that_no_table_can_hold_are_refused(postgresql_server: servers.Server) -> None:
    with (
        closing(opened(postgresql_server.address, dim=20_000)) as store,
        pytest.raises(InvalidInput, match="at most 16000 dimensions, not 20000"),
    ):
        store.put([make_chunk()], clustered(1, dim=20_000))


def test_many_that_write_lose_nothing(postgresql_server: servers.Server) -> None:
    name = uuid.uuid4().hex
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(opened(postgresql_server.address, name, large=100))) for _ in range(6)]

        def write(number: int) -> None:
            for paper in range(8):
                chunks = [make_chunk(f"w{number}-{paper}", place) for place in (1, 2, 3)]
                stores[number].put(chunks, clustered(3, seed=number * 10 + paper))
            stores[number].delete([f"w{number}-0"])

        with ThreadPoolExecutor(6) as threads:
            list(threads.map(write, range(6)))
        expected = {f"w{n}-{paper}/ch1/s1/p{place}" for n in range(6) for paper in range(1, 8) for place in (1, 2, 3)}
        assert stores[0].addresses() == expected
        assert stores[1].count() == len(expected)


def test_of_many_that_put_one_paper_at_once_one_wins_whole(postgresql_server: servers.Server) -> None:
    name = uuid.uuid4().hex
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(opened(postgresql_server.address, name))) for _ in range(6)]

        def write(number: int) -> None:
            for _ in range(5):
                stores[number].put([make_chunk("same", number * 10 + place) for place in range(4)], clustered(4))

        with ThreadPoolExecutor(6) as threads:
            list(threads.map(write, range(6)))
        left = {int(address.rpartition("p")[2]) for address in stores[0].addresses()}
        assert left in [{number * 10 + place for place in range(4)} for number in range(6)]


def test_who_searches_while_sets_are_exchanged_always_finds_one_of_them(postgresql_server: servers.Server) -> None:
    name, done = uuid.uuid4().hex, Event()
    with (
        closing(opened(postgresql_server.address, name)) as writer,
        closing(opened(postgresql_server.address, name)) as reader,
        ThreadPoolExecutor(1) as threads,
    ):
        writer.put(papers(3), clustered(3))

        def look() -> set[int]:
            counts = set[int]()
            while not done.is_set():
                counts.add(len(reader.search(clustered(1)[0], limit=9, where=EVERYTHING)))
            return counts

        looking = threads.submit(look)
        try:
            for count in (4, 5, 3) * 5:
                other = writer.beside(model=f"model-{count}", dim=DIM)
                other.put(papers(count), clustered(count))
                writer.adopt(other)
        finally:
            done.set()
        assert looking.result() <= {3, 4, 5}
        assert (reader.count(), reader.model) == (3, "model-3")
        tables = writer._server.rows(
            "SELECT count(*) FROM pg_tables WHERE schemaname = ? AND tablename ~ '^vectors_[0-9]'",
            [writer._server.namespace],
        )
        assert tables == [(1,)]


def test_hostile_values_are_values(store: PgVectors) -> None:
    hostile = "'); DROP TABLE vector_sets; -- %s ? \\ {}"
    chunk = make_chunk(hostile, venue=hostile, topic=hostile, tags=(hostile, "a,b", '"', "NULL", "\0", "\ud800"))
    store.put([chunk, make_chunk("other")], clustered(2))
    for where in (
        Filter(paper_ids=frozenset({hostile})),
        Filter(venue="drop table"),
        Filter(topic=hostile),
        Filter(tags=frozenset({hostile})),
        Filter(tags=frozenset({"NULL"})),
    ):
        assert [hit.address for hit in store.search(clustered(1)[0], limit=9, where=where)] == [chunk.address]
    assert store.search(clustered(1)[0], limit=9, where=Filter(tags=frozenset({"a"}))) == []
    store.delete([hostile])
    assert store.addresses() == {"other/ch1/s1/p1"}


@pytest.fixture
def plain_user(postgresql_server: servers.Server) -> Iterator[str]:
    """The address of a database that its owner, who is nobody else, may do everything in but make extensions."""
    name = f"u{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgresql_server.address, password=servers.PASSWORD, autocommit=True) as administrator:
        administrator.execute(f"CREATE USER {name} PASSWORD '{servers.PASSWORD}'".encode())
        administrator.execute(f"CREATE DATABASE {name} OWNER {name}".encode())
        place = postgresql_server.address.removeprefix("postgresql://carrel@").removesuffix("/postgres")
        yield f"postgresql://{name}@{place}/{name}"
        administrator.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
        administrator.execute(f"DROP USER {name}".encode())


def test_who_may_not_make_the_extension_is_told_what_the_administrator_has_to_run(
    plain_user: str, postgresql_server: servers.Server
) -> None:
    store = opened(plain_user)
    with closing(store), pytest.raises(StoreUnavailable, match="has no extension 'vector'") as caught:
        store.put([make_chunk()], clustered(1))
    assert caught.value.hint == "Run as PostgreSQL's administrator, in that database: CREATE EXTENSION vector;"
    there = f"{postgresql_server.address.removesuffix('/postgres')}/{plain_user.rpartition('/')[2]}"
    with psycopg.connect(there, password=servers.PASSWORD, autocommit=True) as administrator:
        administrator.execute("CREATE SCHEMA elsewhere; GRANT USAGE ON SCHEMA elsewhere TO PUBLIC")
        administrator.execute("CREATE EXTENSION vector SCHEMA elsewhere")
    with closing(opened(plain_user)) as store:
        store.put([make_chunk()], clustered(1))
        assert store.count() == 1


def test_an_older_pgvector_is_refused_with_what_to_do(postgresql_server: servers.Server) -> None:
    newer = Extension("vector", "pgvector", "90.1")
    tables = Tables("vectors", (), "flat", newer)
    server = Server(postgresql_server.address, f"x{uuid.uuid4().hex}", servers.PASSWORD, tables)
    with closing(server), pytest.raises(StoreUnavailable, match=r"is of version 0\.\d.*; 90\.1 is needed") as caught:
        server.rows("SELECT 1")
    assert "ALTER EXTENSION vector UPDATE;" in caught.value.hint


def test_a_server_without_it_is_said_to_be_so(postgresql_server: servers.Server) -> None:
    tables = Tables("vectors", (), "flat", Extension("no_such_one", "NoSuchOne", "1.0"))
    server = Server(postgresql_server.address, f"x{uuid.uuid4().hex}", servers.PASSWORD, tables)
    with closing(server), pytest.raises(StoreUnavailable, match="does not have NoSuchOne") as caught:
        server.rows("SELECT 1")
    assert caught.value.hint.startswith("Install NoSuchOne 1.0 or newer there")


def test_a_server_that_is_lost_is_an_error_and_found_again(stoppable: servers.Postgresql) -> None:
    with closing(opened(stoppable.address)) as store, ThreadPoolExecutor(4) as threads:
        store.put(papers(20), clustered(20))

        def look(_: int) -> str:
            try:
                return str(len(store.search(clustered(1)[0], limit=5, where=EVERYTHING)))
            except StoreUnavailable as error:
                return error.hint

        assert set(threads.map(look, range(12))) == {"5"}
        looking = [threads.submit(look, number) for number in range(40)]
        stoppable.stop()
        hint = "See that the server runs and the setting vectors names it; or set vectors = 'flat'."
        assert {future.result() for future in looking} <= {"5", hint}
        assert set(threads.map(look, range(4))) == {hint}
        with (
            closing(opened(stoppable.address)) as other,
            pytest.raises(StoreUnavailable, match="cannot use the vectors"),
        ):
            other.count()
        stoppable.start()
        assert set(threads.map(look, range(12))) == {"5"}
