"""What is said to IRIS, word for word, and what becomes of what it answers. No server was there to answer itself."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from carrel.errors import DimensionMismatchError, StoreUnavailable
from carrel.types import EVERYTHING, ChunkKind, Filter, Hit
from carrel.vectors.iris_sql import digest
from tests.builders import make_chunk
from tests.vectors import iris_double
from tests.vectors.iris_double import SERVERS, STATEMENTS, IrisVectors
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
    assert no.value.hint == "Set vectors_password, or CARREL_VECTORS_PASSWORD, to that user's password."


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
