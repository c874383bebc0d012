"""What Lance does with many rows: files that stay few, and indexes that leave nothing out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from lancedb.table import LanceTable, Table

from carrel.files import size_on_disk
from carrel.types import EVERYTHING, Filter, Hit
from carrel.vectors import lance_upkeep as upkeep
from carrel.vectors.flat import FlatVectors
from carrel.vectors.lance import LanceVectors
from tests.builders import FILTERS, make_chunk, varied_chunks
from tests.vectors.clusters import clustered

DIM = 8


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "vectors-lance"


def open_store(directory: Path, dim: int, *, half: bool = False) -> LanceVectors:
    return LanceVectors(directory, model="m", dim=dim, half=half)


def table_of(store: LanceVectors) -> Table:
    table = store._follow()
    assert table is not None
    return table


def test_files_stay_bounded_however_often_the_store_is_opened(
    tmp_path: Path, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "_COMMITS", 16)
    monkeypatch.setattr(upkeep, "_KEPT", 0.01)
    monkeypatch.setattr(upkeep, "INDEXED_FROM", 150)
    monkeypatch.setattr(upkeep, "_SEGMENTS", 4)
    rows = clustered(440, 128)
    most = 0
    for number in range(110):
        some = rows[4 * number : 4 * number + 4]
        open_store(directory, 128).put([make_chunk(f"paper{number % 80}", i, year=number) for i in range(4)], some)
        most = max(most, sum(path.is_file() for path in directory.rglob("*")))
    in_one = open_store(tmp_path / "in-one", 128)
    in_one.put([make_chunk(f"paper{n // 4}", n % 4) for n in range(320)], rows[:320])
    assert open_store(directory, 128).count() == 320
    assert size_on_disk(directory) <= 2 * size_on_disk(tmp_path / "in-one")
    assert most < 110


def test_where_no_index_can_be_made_files_are_joined_all_the_same_and_a_warning_is_left(
    directory: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(upkeep, "INDEXED_FROM", 1)
    monkeypatch.setattr(upkeep, "is_due", lambda table, before: False)
    monkeypatch.setattr(upkeep, "_KEPT", 0.01)

    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("no index today")

    monkeypatch.setattr(LanceTable, "create_index", refuse)
    store, rows = open_store(directory, DIM), clustered(6, DIM)
    for number in range(6):
        store.put([make_chunk(f"paper{number}")], rows[number : number + 1])
    assert len(list(directory.glob("chunks_*/data/*"))) > 6
    time.sleep(0.02)
    upkeep.tidy(table_of(store), is_served=False)
    assert len(list(directory.glob("chunks_*/data/*"))) == 1
    assert store.count() == 6
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [("WARNING", "not tidied")]


def as_if_many(patch: pytest.MonkeyPatch) -> None:
    """As if some thousand rows were many. Partitions have more rows than those that Lance joins, of up to 2,048."""
    patch.setattr(upkeep, "INDEXED_FROM", 2000)
    patch.setattr(upkeep, "_A_PARTITION", 4096)


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    as_if_many(monkeypatch)


@pytest.mark.usefixtures("indexed")
def test_what_is_put_at_once_is_on_disk_once(directory: Path) -> None:
    """Although nobody writes after it, who would tidy up."""
    rows = clustered(2500, 128)
    store = open_store(directory, 128)
    store.put([make_chunk(f"paper{n // 10}", n) for n in range(2500)], rows)
    assert len(table_of(store).list_versions()) == 1
    assert sum(path.stat().st_size for path in directory.glob("chunks_*/data/*")) < 1.5 * rows.nbytes


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize("half", [False, True])
def test_a_large_table_has_an_index_that_finds_nearly_all_of_the_nearest(directory: Path, *, half: bool) -> None:
    rows = clustered(24_626, 16)
    store = open_store(directory, 16, half=half)
    chunks = [make_chunk(f"paper{n // 10}", n) for n in range(24_576)]
    store.put(chunks, rows[:24_576])
    table = table_of(store)
    index = table.index_stats("vector_idx")
    assert index is not None
    assert (index.index_type, index.num_indexed_rows) == ("IVF_SQ", 24_576)
    truth = np.argsort(-(rows[24_576:] @ rows[:24_576].T), axis=1)[:, :10]
    found = 0
    for question, nearest in zip(rows[24_576:], truth, strict=True):
        hits = store.search(question, limit=10, where=EVERYTHING)
        assert len(hits) == 10
        found += len({hit.address for hit in hits} & {chunks[n].address for n in nearest})
    assert found / truth.size >= 0.98


@pytest.mark.usefixtures("indexed")
def test_after_most_rows_were_deleted_their_partitions_are_still_looked_into(directory: Path) -> None:
    lance, flat = open_store(directory, DIM), FlatVectors(directory / "flat", model="m", dim=DIM)
    chunks, rows = [make_chunk(f"paper{n // 10}", n, year=2000 + n % 20) for n in range(30_720)], clustered(30_720, DIM)
    for store in (lance, flat):
        store.put(chunks, rows)
        store.delete([f"paper{n}" for n in range(3072) if n % 8])
    assert upkeep.is_indexed(table_of(lance))
    late = Filter(year_min=2001)
    for question in clustered(20, DIM, seed=9):
        assert lance.search(question, limit=10, where=late) == flat.search(question, limit=10, where=late)
    every = lance.search(rows[0], limit=3840, where=late)
    assert len(every) == 3456
    assert every == flat.search(rows[0], limit=3840, where=late)


@pytest.mark.usefixtures("indexed")
def test_what_the_index_does_not_have_yet_is_found_and_what_was_deleted_is_not(directory: Path) -> None:
    rows = clustered(3002, 32)
    store = open_store(directory, 32)
    store.put([make_chunk(f"paper{n // 10}", n) for n in range(3000)], rows[:3000])
    new = make_chunk("new", 1)
    store.put([new], rows[3000:3001])
    index = table_of(store).index_stats("vector_idx")
    assert index is not None
    assert (index.num_indexed_rows, index.num_unindexed_rows) == (3000, 1)
    assert store.search(rows[3000], limit=1, where=EVERYTHING) == [Hit(new.address, 1.0)]
    again = store.search(rows[5], limit=1, where=EVERYTHING)
    assert again == [Hit(make_chunk("paper0", 5).address, 1.0)]
    store.put([make_chunk("paper0", 77)], rows[3001:])
    store.delete(["paper1"])
    gone = {make_chunk(f"paper{n // 10}", n).address for n in range(20)}
    assert gone.isdisjoint(hit.address for n in range(20) for hit in store.search(rows[n], limit=50, where=EVERYTHING))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LanceVectors, FlatVectors]]:
    """The same varied chunks, in Lance with an index on everything."""
    chunks, rows = varied_chunks(16_384), clustered(16_384, DIM)
    folder = tmp_path_factory.mktemp("both")
    stores = open_store(folder / "lance", DIM), FlatVectors(folder / "flat", model="m", dim=DIM)
    with pytest.MonkeyPatch.context() as patch:
        as_if_many(patch)
        for store in stores:
            store.put(chunks, rows)
        yield stores


def test_what_filters_ask_has_an_index_of_its_kind(both: tuple[LanceVectors, FlatVectors]) -> None:
    table = table_of(both[0])
    kinds = {index.columns[0]: index.index_type for index in table.list_indices()}
    assert kinds["vector"] == "IvfSq"
    assert kinds["year"] == "BTree"
    assert kinds["kind"] == kinds["chapter_idx"] == kinds["section_idx"] == "Bitmap"
    assert kinds["tags"] == "LabelList"


@given(where=FILTERS)
@examples(max_examples=30, deadline=None)
def test_with_indexes_filters_mean_what_they_mean_to_the_flat_store(
    both: tuple[LanceVectors, FlatVectors], where: Filter
) -> None:
    lance, flat = both
    question = clustered(1, DIM, seed=9)[0]
    for limit in (5, 16_384):
        assert lance.search(question, limit=limit, where=where) == flat.search(question, limit=limit, where=where)
