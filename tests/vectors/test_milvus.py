"""What is particular to vectors on a Milvus server."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from pymilvus import DataType, MilvusClient, MilvusException

from carrel import registry
from carrel.databases import milvus, milvus_versions
from carrel.errors import InvalidInput, StoreUnavailable
from carrel.keywords.milvus import MilvusKeywords
from carrel.types import EVERYTHING, QUOTABLE, ChunkKind, Filter, Hit, Matrix, Vector
from carrel.vectors.flat import FlatVectors
from carrel.vectors.milvus import MilvusVectors
from tests import servers
from tests.builders import make_chunk
from tests.milvus_places import connected, place

DIM = 8
SECRET = "open sesame"  # noqa: S105


def unit_rows(count: int, *, seed: int = 1, dim: int = DIM) -> Matrix:
    rows = np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def opened(address: str, name: str, *, password: str = "", dim: int = DIM) -> MilvusVectors:
    kind, _, argument = address.partition(":")
    return MilvusVectors(kind, argument, model="model-a", dim=dim, namespace=name, password=password)


@pytest.fixture(scope="module")
def address(milvus_server: servers.Server) -> str:
    return milvus_server.address


@pytest.fixture(scope="module")
def small(milvus_lite_server: servers.Server) -> str:
    """The address of one that makes a collection sooner."""
    return milvus_lite_server.address


@pytest.fixture
def name(address: str) -> Iterator[str]:
    with place(address, model="model-a") as made:
        yield made


@pytest.fixture
def store(address: str, name: str) -> MilvusVectors:
    return opened(address, name)


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[MilvusClient]:
    client = connected(address)
    yield client
    client.close()


def test_the_settings_name_it_by_its_address(address: str) -> None:
    made = registry.make("vectors", address, model="m", dim=3, namespace="carrel_vectors_x", password="")
    assert isinstance(made, MilvusVectors)
    assert made.count() == 0
    assert registry.find("vectors", "milvus+s") is MilvusVectors


def test_an_address_may_name_the_collection(address: str, name: str, client: MilvusClient) -> None:
    store = opened(f"{address}/{name}", "unused")
    store.put([make_chunk("a")], unit_rows(1))
    assert client.describe_collection(name)["collection_name"] == f"{name}_v1"
    assert opened(address, name).addresses() == {"a/ch1/s1/p1"}


@pytest.mark.parametrize("wrong", ["a-b", "1st", "a/b", "x" * 201, "a;drop"])
def test_a_name_that_no_collection_can_have_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be the name of a collection"):
        opened(f"milvus://127.0.0.1:1/{wrong}", "unused")


def made_by_somebody(client: MilvusClient, name: str) -> None:
    schema = client.create_schema()
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=2)
    client.create_collection(name, schema=schema)


def test_a_collection_that_is_not_carrels_is_left_alone(address: str, client: MilvusClient) -> None:
    with place(address, model="another's") as name:
        made_by_somebody(client, name)
        store = opened(address, name)
        with pytest.raises(StoreUnavailable, match="was not made by Carrel") as caught:
            store.put([make_chunk()], unit_rows(1))
        assert "another collection" in caught.value.hint
        with pytest.raises(StoreUnavailable, match="was not made by Carrel"):
            store.clear(model="m", dim=2)
        assert client.has_collection(name)
        assert client.list_collections().count(f"{name}_v2") == 0


def test_somebodys_collection_that_is_named_like_a_version_is_neither_used_nor_dropped(
    address: str, client: MilvusClient
) -> None:
    with place(address) as name:
        made_by_somebody(client, f"{name}_v2")
        store = opened(address, name)
        store.put([make_chunk("a")], unit_rows(1))
        built = store.beside(model="model-b", dim=4)
        assert built.addresses() == set()
        store.adopt(built)
        assert collections(client, name) == [f"{name}_v2", f"{name}_v3"]


def test_where_the_first_collection_would_be_somebodys_own_another_can_be_made(small: str) -> None:
    with place(small, model="another's") as name, closing(connected(small)) as client:
        made_by_somebody(client, f"{name}_v1")
        store = opened(small, name)
        with pytest.raises(StoreUnavailable, match=f"'{name}_v1' .* something else has that name") as caught:
            store.put([make_chunk("a")], unit_rows(1))
        assert "index build --force" in caught.value.hint
        store.clear(model="model-a", dim=DIM)
        store.put([make_chunk("a")], unit_rows(1))
        assert store.count() == 1
        assert collections(client, name) == [f"{name}_v1", f"{name}_v2"]


def test_another_librarys_alias_that_is_named_like_a_version_is_not_built_in(small: str) -> None:
    with place(small) as name, closing(connected(small)) as client:
        store, other = opened(small, name), opened(small, f"{name}_other")
        for one in (store, other):
            one.put([make_chunk("a")], unit_rows(1))
        client.create_alias(f"{name}_other_v1", f"{name}_v2")
        built = store.beside(model="model-a", dim=DIM)
        assert built.addresses() == set()
        built.put([make_chunk("b")], unit_rows(1))
        assert other.addresses() == {"a/ch1/s1/p1"}
        assert collections(client, name) == [f"{name}_other_v1", f"{name}_v1", f"{name}_v3"]


def test_an_alias_of_a_collection_that_is_not_carrels_is_not_read(address: str, client: MilvusClient) -> None:
    with place(address, model="another's") as name:
        made_by_somebody(client, f"{name}_own")
        client.create_alias(f"{name}_own", name)
        store = opened(address, name)
        for ask in (store.count, lambda: store.clear(model="m", dim=2)):
            with pytest.raises(StoreUnavailable, match="was not made by Carrel"):
                ask()
        assert client.describe_collection(name)["collection_name"] == f"{name}_own"


def test_what_is_built_goes_nowhere_else_when_its_collection_is_dropped(small: str) -> None:
    with place(small) as name, closing(connected(small)) as client:
        store = opened(small, name)
        store.put([make_chunk("a")], unit_rows(1))
        built = store.beside(model="model-b", dim=DIM)
        client.drop_collection(f"{name}_v2")
        for use in (lambda: built.put([make_chunk("b")], unit_rows(1)), lambda: store.adopt(built), built.count):
            with pytest.raises(StoreUnavailable, match=f"'{name}_v2' .* was dropped meanwhile") as caught:
                use()
            assert "index build" in caught.value.hint
        assert (store.addresses(), store.model) == ({"a/ch1/s1/p1"}, "model-a")


def test_a_collection_that_was_left_half_made_is_completed(
    address: str, client: MilvusClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = milvus.MilvusServer.call

    def refusing(server: milvus.MilvusServer, verb: str, *values: object, **options: object) -> object:
        if verb == "create_index":
            raise StoreUnavailable("no index")
        return asked(server, verb, *values, **options)

    with place(address) as name:
        store = opened(address, name)
        with monkeypatch.context() as patched:
            patched.setattr(milvus.MilvusServer, "call", refusing)
            with pytest.raises(StoreUnavailable, match="no index"):
                store.put([make_chunk("a")], unit_rows(1))
            assert client.list_aliases(f"{name}_v1")["aliases"] == [], "it is not searched"
        store.put([make_chunk("a")], unit_rows(1))
        with monkeypatch.context() as patched:
            patched.setattr(milvus.MilvusServer, "call", refusing)
            with pytest.raises(StoreUnavailable, match="no index"):
                store.beside(model="model-b", dim=DIM)
        built = store.beside(model="model-b", dim=DIM)
        built.put([make_chunk("b")], unit_rows(1))
        store.adopt(built)
        assert store.search(unit_rows(1)[0], limit=5, where=EVERYTHING) == [Hit("b/ch1/s1/p1", 1.0)]
        assert collections(client, name) == [f"{name}_v2"]


def test_who_makes_the_first_collection_does_not_take_back_what_replaced_it(
    address: str, client: MilvusClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = milvus_versions.Versions._made

    def slowly(versions: milvus_versions.Versions, name: str, facts: Mapping[str, str]) -> milvus_versions.Version:
        made = make(versions, name, facts)
        monkeypatch.undo()
        other._versions.turn_to(other._versions.another(facts))
        return made

    with place(address) as name:
        store, other = opened(address, name), opened(address, name)
        monkeypatch.setattr(milvus_versions.Versions, "_made", slowly)
        store.put([make_chunk("a")], unit_rows(1))
        assert client.describe_collection(name)["collection_name"] == f"{name}_v2"
        assert other.addresses() == {"a/ch1/s1/p1"}


HOSTILE = [
    '"',
    "\\",
    '\\"',
    '" or year >= 0 or "',
    "']",
    "%",
    "_",
    "{x}",
    "a\nb",
    "\r",
    "a\tb",
    "\x01",
    "🙂",
    "\\n",
    "",
]


@given(value=some.text(), other=some.text())
def test_a_text_in_a_filter_ends_where_its_quotes_do(value: str, other: str) -> None:
    """As the server's own language has it: what follows a backslash is one character, and not the end."""
    found = re.findall(r'"(?:[^"\\\r\n]|\\["\\nr])*"', milvus.one_of("x", [value, other]))
    read = [re.sub(r"\\(.)", lambda one: {"n": "\n", "r": "\r"}.get(one[1], one[1]), text[1:-1]) for text in found]
    assert sorted(read) == sorted([value.replace("\0", "�"), other.replace("\0", "�")])


def test_whatever_a_filter_names_it_lets_through_that_and_nothing_else(store: MilvusVectors) -> None:
    chunks = [
        make_chunk(f"p{value}", number, venue=value, topic=value, tags=(value,)) for number, value in enumerate(HOSTILE)
    ]
    store.put(chunks, unit_rows(len(chunks)))
    for value in HOSTILE:
        facts: dict[str, Any] = {
            "paper_ids": frozenset({f"p{value}"}),
            "tags": frozenset({value}),
            "topic": value,
            "venue": value,
        }
        alone = [Filter(**{key: fact}) for key, fact in facts.items()] if value in HOSTILE[:5] else []
        for where in (Filter(**facts), *alone):
            hits = store.search(unit_rows(1)[0], limit=50, where=where)
            assert {hit.address for hit in hits} == {chunk.address for chunk in chunks if where.matches(chunk)}
    store.delete([f"p{value}" for value in HOSTILE[:5]])
    assert store.addresses() == {chunk.address for chunk in chunks[5:]}


def test_a_filter_may_name_very_many_papers(store: MilvusVectors) -> None:
    chunks = [make_chunk(f"paper{number}", year=2000 + number) for number in range(30)]
    store.put(chunks, unit_rows(30))
    nobody = frozenset(f"nobody with a rather long name {number}" for number in range(11_000))
    found = store.search(unit_rows(1)[0], limit=50, where=Filter(paper_ids=nobody | {"paper3", "paper7"}))
    assert {hit.address for hit in found} == {"paper3/ch1/s1/p1", "paper7/ch1/s1/p1"}
    assert store.search(unit_rows(1)[0], limit=50, where=Filter(paper_ids=nobody)) == []


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"venue": "x" * 70_000}, "a venue is too long for Milvus: 70,000 bytes"),
        ({"tags": tuple(map(str, range(5000)))}, "5,000 tags"),
        ({"paper_id": "ä" * 40_000}, "too long for Milvus: 80,0"),
    ],
)
def test_what_the_server_cannot_hold_is_refused_before_anything_is_written(
    store: MilvusVectors, facts: dict[str, Any], reason: str
) -> None:
    store.put([make_chunk("a")], unit_rows(1))
    paper_id = str(facts.pop("paper_id", "a"))
    with pytest.raises(InvalidInput, match=reason):
        store.put([make_chunk("b"), make_chunk(paper_id, 2, **facts)], unit_rows(2))
    assert store.addresses() == {"a/ch1/s1/p1"}


def test_numbers_beyond_the_servers_own_are_no_error(store: MilvusVectors) -> None:
    store.put([make_chunk("a", year=10**30), make_chunk("b", year=2000)], unit_rows(2))
    query = unit_rows(1)[0]
    for where in (Filter(year_min=10**25), Filter(year_min=2001, year_max=10**40)):
        assert store.search(query, limit=5, where=where) == [Hit("a/ch1/s1/p1", 1.0)]
    assert len(store.search(query, limit=5, where=Filter(year_min=-(10**30)))) == 2


def test_more_of_one_score_than_are_fetched_at_first_are_still_ordered_by_address(store: MilvusVectors) -> None:
    row = unit_rows(1)
    store.put([make_chunk("many", number) for number in range(150)], np.repeat(row, 150, axis=0))
    everything = sorted(f"many/ch1/s1/p{number}" for number in range(150))
    assert [hit.address for hit in store.search(row[0], limit=3, where=EVERYTHING)] == everything[:3]
    assert [hit.address for hit in store.search(row[0], limit=20_000, where=EVERYTHING)] == everything


def test_what_the_server_does_not_find_at_once_is_found_by_comparing_all(
    store: MilvusVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, rare = unit_rows(300), 5
    chunks = [make_chunk("a", number, venue="Rare" if number % 60 == rare else "Common") for number in range(300)]
    store.put(chunks, rows)
    expected = store.search(rows[0], limit=300, where=EVERYTHING)
    monkeypatch.setattr("carrel.vectors.milvus.MOST", 40)
    assert store.search(rows[0], limit=300, where=EVERYTHING) == expected
    found = store.search(rows[0], limit=5, where=Filter(venue="RAR"))
    assert sorted(hit.address for hit in found) == sorted(f"a/ch1/s1/p{number}" for number in range(rare, 300, 60))


def test_rows_that_a_filter_allows_are_found_though_thousands_are_nearer(
    store: MilvusVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch, asked, are_together = MilvusVectors._fetched, [], Event()

    def fetched(self: MilvusVectors, version: milvus_versions.Version, vector: Vector, said: str, *rest: Any) -> Any:
        if "bucket" in said:
            asked.append(said)
            if len(asked) > 1:
                are_together.set()
            assert are_together.wait(30), "shares of the rows are not asked for one after the other"
        return fetch(self, version, vector, said, *rest)

    monkeypatch.setattr(MilvusVectors, "_fetched", fetched)
    near, far = unit_rows(900, seed=5), unit_rows(700, seed=6)
    near[:, 0], far[:, 0] = 9.0, -9.0
    rows = np.concatenate([near, far])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    chunks = [make_chunk(f"p{number % 50}", number, year=2000 + 20 * (number >= 900)) for number in range(1600)]
    exact = FlatVectors(tmp_path, model="model-a", dim=DIM)
    for either in (store, exact):
        either.put(chunks, rows)
    # 700 rows are compared by the server, 14 of them one by one.
    for where in (Filter(year_min=2010), Filter(year_min=2010, paper_ids=frozenset({"p7"}))):
        assert store.search(rows[0], limit=5, where=where) == exact.search(rows[0], limit=5, where=where)
    assert len(set(asked)) == 16


def test_of_kinds_that_most_rows_have_no_more_are_looked_at_than_it_takes(
    store: MilvusVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch, asked = MilvusVectors._fetched, []

    def fetched(*values: Any) -> Any:
        asked.append(values[4])
        return fetch(*values)

    monkeypatch.setattr(MilvusVectors, "_fetched", fetched)
    near, far = unit_rows(100, seed=5), unit_rows(900, seed=6)
    near[:, 0], far[:, 0] = 9.0, -9.0
    rows = np.concatenate([near, far])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    notes = [ChunkKind.NOTE if number < 100 else ChunkKind.PASSAGE for number in range(1000)]
    chunks = [make_chunk(f"p{number % 50}", number, kind=kind) for number, kind in enumerate(notes)]
    exact = FlatVectors(tmp_path, model="model-a", dim=DIM)
    for either in (store, exact):
        either.put(chunks, rows)
    quotable = Filter(kinds=QUOTABLE)
    assert store.search(rows[500], limit=10, where=quotable) == exact.search(rows[500], limit=10, where=quotable)
    assert asked == [50]
    asked.clear()
    # All that is near are notes: only those who look further find passages.
    assert store.search(rows[0], limit=10, where=quotable) == exact.search(rows[0], limit=10, where=quotable)
    assert asked == [50, 375]
    asked.clear()
    store.search(rows[0], limit=10, where=Filter(kinds=QUOTABLE, year_min=1))
    assert asked[0] == 375


def test_what_was_written_is_sealed_once_it_is_much(
    address: str, client: MilvusClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.databases.milvus_versions.FEW", 50)
    with place(address) as name:
        store, sealed = opened(address, name), []
        for number in range(3):
            store.put([make_chunk(f"p{number}", chunk) for chunk in range(30)], unit_rows(30))
            sealed.append(client.describe_collection(f"{name}_v1")["properties"]["carrel.unsealed"])
        assert sealed == ["30", "0", "30"]
        assert store.count() == 90


def test_at_the_end_of_a_filling_all_is_sealed(address: str, client: MilvusClient) -> None:
    with place(address) as name:
        store = opened(address, name)
        with store.filling():
            store.put([make_chunk("a", number) for number in range(30)], unit_rows(30))
            assert client.describe_collection(f"{name}_v1")["properties"]["carrel.unsealed"] == "30"
        assert client.describe_collection(f"{name}_v1")["properties"]["carrel.unsealed"] == "0"
        deadline = time.monotonic() + 60
        # The server's statistics tell of what is sealed alone.
        while client.get_collection_stats(f"{name}_v1")["row_count"] != 30:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_what_waits_for_its_index_is_counted_until_the_server_has_made_it(
    address: str, client: MilvusClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = unit_rows(2000, dim=64)
    chunks = [make_chunk(f"paper{number // 50}", number) for number in range(2000)]
    with place(address) as name:
        store = opened(address, name, dim=64)
        assert store.unindexed() == 0
        with store.filling():
            store.put(chunks, rows)
            assert store.unindexed() == 0, "so few are compared one by one"
            monkeypatch.setattr("carrel.vectors.milvus.FEW", 100)
            assert store.unindexed() == 2000
        wait_for_index(store)
        loaded = client.list_loaded_segments(f"{name}_v1")
        assert sum(one.num_rows for one in loaded if one.index_name == "vector") >= 2000 - 100, "what searches go by"
        store.delete(["paper0", "paper1", "paper2"])
        assert store.unindexed() == 0
        store.put(chunks, rows)
        assert store.unindexed() == 2000, "those that are indexed were replaced"


def wait_for_index(store: MilvusVectors) -> None:
    deadline = time.monotonic() + 120
    while store.unindexed():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_vectors_that_were_sealed_and_indexed_are_found_as_flat_finds_them(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dim, count = 64, 3000
    # With nothing in common, and asked for what is not among them: the hardest that there is for an index.
    rows, queries = unit_rows(count, dim=dim), unit_rows(25, seed=2, dim=dim)
    chunks = [make_chunk(f"paper{number // 30}", number, year=1990 + number % 30) for number in range(count)]
    exact = FlatVectors(tmp_path, model="model-a", dim=dim)
    exact.put(chunks, rows)
    with place(address) as name:
        store = opened(address, name, dim=dim)
        with store.filling():
            store.put(chunks, rows)
        monkeypatch.setattr("carrel.vectors.milvus.FEW", 0)
        wait_for_index(store)
        for either in (store, exact):
            either.delete([f"paper{number}" for number in range(0, 100, 10)])
        assert store.count() == exact.count() == 2700
        for where in (EVERYTHING, Filter(year_min=2015)):
            assert shared(store, exact, queries, where) >= 0.98 * 10 * len(queries)
        held = store.many([chunk.address for chunk in chunks])
        kept = [(chunk, row) for chunk, row in zip(chunks, rows, strict=True) if chunk.address in held]
        assert len(kept) == 2700
        assert all(np.array_equal(held[chunk.address], row) for chunk, row in kept)


def shared(store: MilvusVectors, exact: FlatVectors, queries: Matrix, where: Filter) -> int:
    """How many of the nearest ten both find; whatever is found has its exact score."""
    count = 0
    for query in queries:
        found, everything = (one.search(query, limit=limit, where=where) for one, limit in ((store, 10), (exact, 3000)))
        assert dict(found).items() <= dict(everything).items()
        count += len({hit.address for hit in found} & {hit.address for hit in everything[:10]})
    return count


def test_several_writers_lose_nothing_and_make_one_collection(address: str, client: MilvusClient) -> None:
    with place(address) as name:
        stores = [opened(address, name) for _ in range(4)]
        rows = unit_rows(5)

        def write(number: int) -> None:
            for paper in range(4):
                stores[number].put([make_chunk(f"w{number}-{paper}", chunk) for chunk in range(5)], rows)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(4)))
        expected = {
            make_chunk(f"w{number}-{paper}", chunk).address
            for number in range(4)
            for paper in range(4)
            for chunk in range(5)
        }
        assert [store.addresses() for store in stores] == [expected] * 4
        assert collections(client, name) == [f"{name}_v1"]


def test_a_reader_has_all_of_what_a_put_has_of_a_paper(address: str, name: str) -> None:
    """The old chunks that it does not have any more may be there a moment longer."""
    store, reader = opened(address, name), opened(address, name)
    rows = unit_rows(40)
    first = [make_chunk("a", number) for number in range(40)]
    second = [make_chunk("a", number) for number in range(20, 60)]
    store.put(first, rows)
    whole = [{chunk.address for chunk in first}, {chunk.address for chunk in second}]
    over = Event()

    def watch() -> list[set[str]]:
        seen = []
        while not over.is_set():
            seen.append({hit.address for hit in reader.search(rows[0], limit=100, where=EVERYTHING)})
        return seen

    with ThreadPoolExecutor(1) as pool:
        seen = pool.submit(watch)
        for number in range(12):
            store.put((second, first)[number % 2], rows)
        over.set()
    assert len(seen.result()) > 3
    assert all(any(one <= hits for one in whole) for hits in seen.result())
    assert store.addresses() == whole[0]


def found_again(store: MilvusVectors) -> list[Hit]:
    """What it finds as soon as it does: a server that was killed may load for longer than one search waits for it."""
    deadline = time.monotonic() + 90
    while True:
        try:
            return store.search(unit_rows(1)[0], limit=5, where=EVERYTHING)
        except StoreUnavailable:
            if time.monotonic() > deadline:
                raise


def test_a_collection_that_was_released_is_loaded_again(store: MilvusVectors, name: str, client: MilvusClient) -> None:
    store.put([make_chunk("a")], unit_rows(1))
    client.release_collection(f"{name}_v1")
    store.put([make_chunk("b")], unit_rows(2)[1:])
    client.release_collection(f"{name}_v1")
    assert [hit.address for hit in found_again(store)] == ["a/ch1/s1/p1", "b/ch1/s1/p1"]


def test_of_one_that_is_still_being_loaded_it_is_said_that_it_will_be_back(
    store: MilvusVectors, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put([make_chunk("a")], unit_rows(1))
    monkeypatch.setattr(milvus.MilvusServer, "has_loaded", lambda *_: False)
    with pytest.raises(StoreUnavailable, match=f"the collection '{name}_v1' is still being loaded") as caught:
        store._rows.server.load(f"{name}_v1", 0.1)
    assert caught.value.hint.startswith("Ask again in a moment")


def collections(client: MilvusClient, name: str) -> list[str]:
    """Of vectors: a name may have been used for words before."""
    found = client.list_collections()
    return sorted(one for one in found if one.startswith(name) and not one.startswith(f"{name}_words"))


def test_nothing_is_left_behind_by_what_was_replaced(address: str, name: str, client: MilvusClient) -> None:
    store = opened(address, name)
    store.put([make_chunk("a")], unit_rows(1))
    store.beside(model="model-b", dim=4)
    store.clear(model="model-c", dim=3)
    assert collections(client, name) == [f"{name}_v3"]
    with pytest.raises(ValueError, match="made beside this store"):
        store.adopt(opened(address, name))


def test_what_was_replaced_may_stay_where_it_cannot_be_dropped(small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise StoreUnavailable("it is in use")

    logged: list[object] = []
    with place(small) as name, closing(connected(small)) as client:
        store = opened(small, name)
        store.put([make_chunk("a")], unit_rows(1))
        built = store.beside(model="model-b", dim=DIM)
        built.put([make_chunk("b")], unit_rows(1))
        with monkeypatch.context() as patched:
            patched.setattr(milvus_versions.Versions, "_drop", refused)
            patched.setattr("carrel.telemetry.log", lambda *_, reason: logged.append(reason))
            store.adopt(built)
        assert logged == ["it is in use"]
        assert (store.addresses(), store.model) == ({"b/ch1/s1/p1"}, "model-b")
        store.clear(model="model-c", dim=3)
        assert collections(client, name) == [f"{name}_v3"]


def test_bm25_is_refused_by_a_server_that_has_none(address: str) -> None:
    index = MilvusKeywords("milvus", address.removeprefix("milvus:"), namespace="old")
    for ask in (index.count, lambda: index.put([make_chunk()]), lambda: index.search("x", limit=1), index.clear):
        with pytest.raises(StoreUnavailable, match=r"Milvus 2\.3 has no BM25") as caught:
            ask()
        assert "'tantivy'" in caught.value.hint


def test_a_server_that_is_not_there_is_said_at_once_with_its_address_and_no_password() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        where = f"milvus://ann@127.0.0.1:{taken.getsockname()[1]}"
        began = time.monotonic()
        store = opened(where, "carrel_x", password=SECRET)
        with pytest.raises(StoreUnavailable, match=re.escape(repr(where))) as caught:
            store.search(unit_rows(1)[0], limit=1, where=EVERYTHING)
        with pytest.raises(StoreUnavailable):
            store.put([make_chunk()], unit_rows(1))
    assert time.monotonic() - began < 10
    assert SECRET not in f"{caught.value} {caught.value.hint}"
    assert "set vectors = 'flat'" in caught.value.hint


def test_a_server_that_never_answers_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milvus, "PATIENCE", 1.0)
    monkeypatch.setitem(milvus.CHANNEL, "grpc.min_reconnect_backoff_ms", 500)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        store = opened(f"milvus://127.0.0.1:{silent.getsockname()[1]}", "carrel_x")
        with pytest.raises(StoreUnavailable):
            store.count()
        assert time.monotonic() - began < 6


def test_who_asks_where_nobody_answers_does_not_wait_for_others_who_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    together = Barrier(2)

    def connect(*_: object, **__: object) -> MilvusClient:
        together.wait(30)
        raise MilvusException(message="nobody there")

    monkeypatch.setattr(milvus, "MilvusClient", connect)
    server = milvus.MilvusServer("milvus", "//127.0.0.1:1", password="", setting="vectors", instead="flat")
    with ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(server.call, "list_collections") for _ in range(2)]
    assert [type(one.exception()) for one in asking] == [StoreUnavailable] * 2


@contextmanager
def silent(server: servers.Milvus) -> Iterator[None]:
    """Whoever is connected stays so, and hears nothing."""
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.process.pid, signal.SIGCONT)


def test_a_server_that_asks_for_a_password_falls_silent_and_is_killed_while_it_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    try:
        starting = servers.milvus_to_stop(common__security__authorizationEnabled="true")
        server = starting.__enter__()
    except servers.CannotStart as reason:
        pytest.skip(str(reason))
    try:
        where = server.address.replace("//", "//root@")
        with pytest.raises(StoreUnavailable, match="auth") as caught:
            opened(where, "carrel_x", password=SECRET).count()
        assert "CARREL_VECTORS_PASSWORD" in caught.value.hint
        assert SECRET not in f"{caught.value} {caught.value.hint}"
        store = opened(where, "carrel_x", password=servers.MILVUS_TOKEN.partition(":")[2])
        store.put([make_chunk("a", number) for number in range(20)], unit_rows(20))
        expected = store.search(unit_rows(1)[0], limit=5, where=EVERYTHING)
        monkeypatch.setattr(milvus, "PATIENCE", 4.0)
        monkeypatch.setattr(milvus, "_WHETHER_BACK", 0.5)
        with silent(server):
            # Once it is known to say nothing, nobody waits for it as long again.
            for least, most in ((3.9, 20), (0, 3)):
                began = time.monotonic()
                with pytest.raises(StoreUnavailable):
                    store.search(unit_rows(1)[0], limit=5, where=EVERYTHING)
                assert least < time.monotonic() - began < most
        monkeypatch.undo()
        assert found_again(store) == expected
        server.stop()
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match=re.escape(where)):
            store.search(unit_rows(1)[0], limit=5, where=EVERYTHING)
        with pytest.raises(StoreUnavailable):
            store.put([make_chunk("b")], unit_rows(1))
        assert time.monotonic() - began < 20
        server.start()
        assert found_again(store) == expected
        store.put([make_chunk("b")], unit_rows(1))
        assert store.count() == 21
    finally:
        starting.__exit__(None, None, None)
