"""What is said to IRIS, word for word, and what becomes of what it answers. No server was there to answer itself."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

from carrel.errors import DimensionMismatchError, InvalidInput, StoreUnavailable, password_hint
from carrel.types import EVERYTHING, ChunkKind, Filter, Hit
from carrel.vectors import iris_sql
from carrel.vectors.iris_sql import digest
from tests.builders import make_chunk
from tests.vectors import iris_double
from tests.vectors.iris_double import SERVERS, STATEMENTS, IRISConnection, IrisVectors, VectorSet, _Asking
from tests.vectors.test_contract import ROWS, put_one, unit_rows

OWNER = digest("test")
TABLE = f"RAG.SourceDocuments{OWNER}A"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "server"


@pytest.fixture
def store(path: Path) -> Iterator[IrisVectors]:
    store = iris_double.make(path)
    yield store
    store.close()


def said(store: IrisVectors, *, since: int) -> list[tuple[str, tuple[object, ...]]]:
    """The sentences, without those that ask which table is in use."""
    return [(" ".join(text.split()), values) for text, values in STATEMENTS[since:] if "VectorSets" not in text]


def test_a_search_is_one_sentence_with_its_values_bound(store: IrisVectors) -> None:
    put_one(store, "a")
    before = len(STATEMENTS)
    where = Filter(
        paper_ids=frozenset({"a", "b' OR '1'='1"}),
        kinds=frozenset({ChunkKind.ABSTRACT}),
        year_min=1990,
        year_max=2020,
        venue="ACL'; DROP TABLE",
        tags=frozenset({"x"}),
        topic="t",
        chapter=1,
        section=2,
    )
    assert store.search(ROWS[0], limit=3, where=where) == []
    ((sentence, values),) = said(store, since=before)
    assert sentence == (
        "SELECT TOP 53 metadata, packed, VECTOR_DOT_PRODUCT(embedding, TO_VECTOR(?, DOUBLE)) AS score"
        f" FROM {TABLE} WHERE embedding IS NOT NULL AND (doc_paper IN (?, ?)) AND (doc_kind IN (?))"
        " AND (doc_year >= ?) AND (doc_year BETWEEN 1 AND ?) AND (POSITION(? IN doc_venue) > 0)"
        " AND (POSITION(? IN doc_tags) > 0) AND (doc_topic = ?) AND (doc_chapter = ?) AND (doc_section = ?)"
        " ORDER BY score DESC"
    )
    vector, *rest = values
    assert np.array_equal(np.array(str(vector).split(","), dtype=np.float32), ROWS[0])
    papers = [digest("a"), digest("b' OR '1'='1")]
    assert rest == [*papers, "abstract", 1990, 2020, "acl'; drop table", f" {digest('x')} ", digest("t"), 1, 2]


def test_a_put_forgets_the_paper_and_inserts_its_rows(store: IrisVectors) -> None:
    put_one(store, "a")
    before = len(STATEMENTS)
    chunk = make_chunk("a", 2, title="On trees", year=2001, venue="Nature", tags=("x", "y"), topic="t")
    store.put([chunk], ROWS[1:2])
    forget, insert = said(store, since=before)
    assert forget == (f"DELETE FROM {TABLE} WHERE doc_paper IN (?)", (digest("a"),))
    assert insert[0] == (
        f"INSERT INTO {TABLE} (id, text_content, embedding, metadata, packed, doc_paper, doc_kind, doc_year, doc_venue,"
        " doc_tags, doc_topic, doc_chapter, doc_section)"
        " VALUES (?, ?, TO_VECTOR(?, DOUBLE), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    assert insert[1][0] == digest(chunk.address)
    assert insert[1][3] == '{"address": "a/ch1/s1/p2", "paper_id": "a", "title": "On trees"}'
    assert insert[1][7:11] == (2001, "nature", f" {digest('x')}  {digest('y')} ", digest("t"))


def test_the_table_has_the_columns_of_the_seed_and_a_vector_of_the_models_length(store: IrisVectors) -> None:
    before = len(STATEMENTS)
    put_one(store, "a")
    made = next(text for text, _ in said(store, since=before) if text.startswith("CREATE TABLE"))
    assert made.startswith(
        f"CREATE TABLE IF NOT EXISTS {TABLE} (id VARCHAR(255) PRIMARY KEY, text_content LONGVARCHAR,"
        " embedding VECTOR(DOUBLE, 8), metadata VARCHAR(65535), created_timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP,"
    )


def test_a_library_says_where_it_connects_to_and_keeps_its_password_out_of_it(path: Path) -> None:
    store = iris_double.make(path)
    host = next(host for host, file in SERVERS.items() if file == path)
    assert (f"connect me@{host}:1972/USER", (10, ("autoCommit", False))) in STATEMENTS
    assert ("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", ()) in STATEMENTS
    store.close()
    wrong = IrisVectors(f"//me@{host}/USER", model="m", dim=8, namespace="test", password="wrong")  # noqa: S106
    with pytest.raises(
        StoreUnavailable, match=f"cannot use the vectors on 'iris://me@{host}/USER': Access Denied"
    ) as no:
        wrong.count()
    assert no.value.hint == password_hint("vectors")


def test_more_equal_scores_than_were_fetched_are_still_in_the_order_of_their_addresses(store: IrisVectors) -> None:
    chunks = [make_chunk("many", number) for number in range(1, 300)]
    store.put(chunks, np.repeat(ROWS[:1], 299, axis=0))
    hits = store.search(ROWS[0], limit=3, where=EVERYTHING)
    assert hits == [Hit(address, 1.0) for address in sorted(chunk.address for chunk in chunks)[:3]]


def test_ids_that_differ_only_in_case_or_in_a_space_are_two(store: IrisVectors) -> None:
    for row, paper_id in enumerate(("Paper", "paper", "paper ", "ＰＡＰＥＲ")):
        put_one(store, paper_id, row)
    store.delete(["paper"])
    assert store.addresses() == {f"{paper_id}/ch1/s1/p1" for paper_id in ("Paper", "paper ", "ＰＡＰＥＲ")}
    only = Filter(paper_ids=frozenset({"Paper"}))
    assert [hit.address for hit in store.search(ROWS[0], limit=9, where=only)] == ["Paper/ch1/s1/p1"]


def test_a_server_that_is_away_is_told_of_and_found_again(path: Path, store: IrisVectors) -> None:
    put_one(store, "a")
    host = next(host for host, file in SERVERS.items() if file == path)
    del SERVERS[host]
    for ask in (store.count, store.addresses, lambda: store.put([make_chunk("b")], ROWS[:1])):
        with pytest.raises(StoreUnavailable, match="COMMUNICATION LINK ERROR") as caught:
            ask()
        assert "set vectors = 'flat'" in caught.value.hint
    SERVERS[host] = path
    assert store.count() == 1


def test_a_put_that_the_server_refuses_leaves_what_was_there(store: IrisVectors) -> None:
    put_one(store, "a")
    with store._writing() as ask:
        ask(f"CREATE TRIGGER refuse BEFORE INSERT ON {TABLE} BEGIN SELECT RAISE(ABORT, 'full'); END")
    with pytest.raises(StoreUnavailable, match="full"):
        store.put([make_chunk("a", 2)], ROWS[:1])
    assert store.addresses() == {"a/ch1/s1/p1"}


def test_libraries_on_one_server_do_not_see_each_other(path: Path, store: IrisVectors) -> None:
    put_one(store, "mine")
    other = iris_double.make(path, namespace="another")
    put_one(other, "theirs")
    other.clear(model="model-b", dim=4)
    assert (store.addresses(), store.model, other.count()) == ({"mine/ch1/s1/p1"}, "model-a", 0)
    other.close()


def test_a_table_that_is_no_longer_in_use_is_dropped(path: Path, store: IrisVectors) -> None:
    put_one(store, "a")
    for number in range(4):
        other = store.beside(model=f"model-{number}", dim=4)
        other.put([make_chunk("a")], unit_rows(1, dim=4))
        store.adopt(other)
    with store._asking() as ask:
        tables = ask("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%SourceDocuments%'")
    assert (len(tables), store.count(), store.model) == (1, 1, "model-3")


def test_of_two_that_put_the_first_papers_at_once_neither_takes_the_others_table(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = [iris_double.make(path) for _ in range(2)]
    both_have_looked = Barrier(2)
    look = IrisVectors._held
    waiting = set(stores)

    def look_together(store: IrisVectors, ask: _Asking) -> VectorSet | None:
        held = look(store, ask)
        if store in waiting:
            waiting.discard(store)
            both_have_looked.wait(30)
        return held

    monkeypatch.setattr(IrisVectors, "_held", look_together)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(put_one, stores, ("a", "b")))
    assert [store.addresses() for store in stores] == [{"a/ch1/s1/p1", "b/ch1/s1/p1"}] * 2
    for store in stores:
        store.close()


def test_what_is_no_longer_beside_cannot_be_adopted_and_leaves_what_is_in_use(path: Path, store: IrisVectors) -> None:
    put_one(store, "a")
    other, same = (store.beside(model="model-b", dim=4) for _ in range(2))
    assert isinstance(same, IrisVectors)
    other.put([make_chunk("a")], unit_rows(1, dim=4))
    store.adopt(other)
    with pytest.raises(ValueError, match="nothing is beside this store any more"):
        store.adopt(same)
    assert (store.addresses(), store.model) == ({"a/ch1/s1/p1"}, "model-b")
    put_again = iris_double.make(path, model="model-b", dim=4)
    put_again.put([make_chunk("b")], unit_rows(1, dim=4))
    assert store.count() == 2
    put_again.close()


def test_an_old_table_that_cannot_be_dropped_is_told_of_and_the_new_one_is_in_use(
    store: IrisVectors, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    put_one(store, "a")
    other = store.beside(model="model-b", dim=4)
    monkeypatch.setattr(iris_sql, "DROP", "DROP TABLE {table} AT ONCE")
    with caplog.at_level(logging.WARNING, logger="carrel.vectors"):
        store.adopt(other)
    assert (caplog.messages, store.model, store.count()) == (["not dropped"], "model-b", 0)


def test_who_reads_while_all_is_cleared_finds_the_new_table_before_the_old_one_is_dropped(
    path: Path, store: IrisVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_one(store, "a")
    reader = iris_double.make(path)
    drop, seen = IrisVectors._drop, list[object]()

    def look_and_drop(ask: _Asking, held: VectorSet) -> None:
        seen.extend((reader.count(), reader.model, held.table))
        drop(ask, held)

    monkeypatch.setattr(IrisVectors, "_drop", staticmethod(look_and_drop))
    store.clear(model="model-b", dim=4)
    assert seen == [0, "model-b", TABLE]
    reader.close()


def test_what_is_beside_can_be_cleared_and_filled_again(store: IrisVectors) -> None:
    put_one(store, "a")
    other = store.beside(model="model-b", dim=4)
    other.clear(model="model-c", dim=4)
    other.put([make_chunk("b")], unit_rows(1, dim=4))
    assert (other.addresses(), store.addresses()) == ({"b/ch1/s1/p1"}, {"a/ch1/s1/p1"})
    other.close()


def test_no_transaction_is_left_open_by_what_was_asked(store: IrisVectors) -> None:
    put_one(store, "a")
    for ask in (store.count, store.addresses, lambda: store.search(ROWS[0], limit=1), lambda: put_one(store, "b")):
        ask()
        assert (store._opened and store._opened.has_begun) is False
    with pytest.raises(DimensionMismatchError):
        store.search(unit_rows(1, dim=5)[0], limit=1)
    assert (store._opened and store._opened.has_begun) is False


@pytest.mark.parametrize("place", ["//me@host:port/USER", "//me@host:99999/USER", "//me@[host/USER"])
def test_an_address_that_is_none_is_refused_with_how_to_write_one(place: str) -> None:
    with pytest.raises(InvalidInput, match="names no server") as caught:
        IrisVectors(place, model="m", dim=8, namespace="test")
    assert caught.value.hint == "Write vectors = 'iris://user@host:1972/NAMESPACE'."


def test_a_server_that_lets_no_table_be_made_keeps_no_connection(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = list[IRISConnection]()
    close = IRISConnection.close

    def close_and_tell(connection: IRISConnection) -> None:
        closed.append(connection)
        close(connection)

    monkeypatch.setattr(IRISConnection, "close", close_and_tell)
    monkeypatch.setattr(iris_sql, "MAKE_SETS", "CREATE NOTHING")
    store = iris_double.make(path)
    made = sum(text.startswith("connect") for text, _ in STATEMENTS)
    closed.clear()
    with pytest.raises(StoreUnavailable, match="syntax error"):
        store.put([make_chunk("a")], ROWS[:1])
    assert len(closed) == sum(text.startswith("connect") for text, _ in STATEMENTS) - made == 1


def test_a_filter_of_many_papers_is_asked_some_at_a_time(store: IrisVectors) -> None:
    for row in range(4):
        put_one(store, f"p{row * 400:04}", row)
    before = len(STATEMENTS)
    where = Filter(paper_ids=frozenset(f"p{number:04}" for number in range(1, 1_201)))
    hits = store.search(ROWS[2], limit=2, where=where)
    scores = [float(ROWS[row] @ ROWS[2]) for row in (1, 2, 3)]
    assert [hit.score for hit in hits] == pytest.approx(sorted(scores, reverse=True)[:2], abs=1e-5)
    assert hits[0].address == "p0800/ch1/s1/p1"
    assert [len(values) - 1 for _, values in said(store, since=before)] == [500, 500, 200]


def test_a_search_that_finds_nothing_shows_its_sentence_to_who_looks_for_the_reason(
    store: IrisVectors, caplog: pytest.LogCaptureFixture
) -> None:
    put_one(store, "a")
    with caplog.at_level(logging.INFO, logger="carrel.search"):
        assert store.search(ROWS[0], limit=3, where=Filter(topic="none")) == []
    assert caplog.messages == []
    with caplog.at_level(logging.DEBUG, logger="carrel.search"):
        assert store.search(ROWS[0], limit=3, where=Filter(topic="none")) == []
    assert caplog.messages[0].startswith("SQL query executed: SELECT TOP 53 metadata")
    with pytest.raises(DimensionMismatchError, match="5 != 8"):
        store.search(unit_rows(1, dim=5)[0], limit=1, where=EVERYTHING)
