"""What Lance does with many rows: files that stay few, and indexes that leave nothing out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples

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


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a few thousand rows were many."""
    monkeypatch.setattr(upkeep, "INDEXED_FROM", 2000)
    monkeypatch.setattr(upkeep, "_A_PARTITION", 256)
    monkeypatch.setattr(upkeep, "_ALL", 0)


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize("half", [False, True])
def test_a_large_table_has_an_index_that_finds_nearly_all_of_the_nearest(directory: Path, *, half: bool) -> None:
    rows = clustered(4100, 64)
    store = open_store(directory, 64, half=half)
    for start in range(0, 4000, 1000):
        store.put([make_chunk(f"paper{n // 10}", n) for n in range(start, start + 1000)], rows[start : start + 1000])
    table = store._follow()
    assert table is not None
    index = table.index_stats("vector_idx")
    assert index is not None
    assert index.index_type == "IVF_SQ"
    assert 0 < upkeep.probes(table, thorough=False) < upkeep.probes(table, thorough=True)
    truth = np.argsort(-(rows[4000:] @ rows[:4000].T), axis=1)[:, :10]
    found = 0
    for question, nearest in zip(rows[4000:], truth, strict=True):
        hits = store.search(question, limit=10, where=EVERYTHING)
        assert len(hits) == 10
        found += len({hit.address for hit in hits} & {make_chunk(f"paper{n // 10}", n).address for n in nearest})
    assert found / truth.size >= 0.98


@pytest.mark.usefixtures("indexed")
def test_what_the_index_does_not_have_yet_is_found_and_what_was_deleted_is_not(directory: Path) -> None:
    rows = clustered(3002, 32)
    store = open_store(directory, 32)
    store.put([make_chunk(f"paper{n // 10}", n) for n in range(3000)], rows[:3000])
    new = make_chunk("new", 1)
    store.put([new], rows[3000:3001])
    table = store._follow()
    assert table is not None
    index = table.index_stats("vector_idx")
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
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[LanceVectors, FlatVectors]:
    """The same varied chunks, in Lance with an index on everything."""
    chunks, rows = varied_chunks(2500), clustered(2500, DIM)
    folder = tmp_path_factory.mktemp("both")
    stores = open_store(folder / "lance", DIM), FlatVectors(folder / "flat", model="m", dim=DIM)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(upkeep, "INDEXED_FROM", 2000)
        patch.setattr(upkeep, "_A_PARTITION", 256)
        for store in stores:
            store.put(chunks, rows)
    table = stores[0]._follow()
    assert table is not None
    kinds = {index.columns[0]: index.index_type for index in table.list_indices()}
    assert kinds["vector"] == "IvfSq"
    assert kinds["year"] == "BTree"
    assert kinds["kind"] == "Bitmap"
    assert kinds["tags"] == "LabelList"
    return stores


@given(where=FILTERS)
@examples(max_examples=30, deadline=None)
def test_with_indexes_filters_mean_what_they_mean_to_the_flat_store(
    both: tuple[LanceVectors, FlatVectors], where: Filter
) -> None:
    lance, flat = both
    question = clustered(1, DIM, seed=9)[0]
    assert lance.search(question, limit=3000, where=where) == flat.search(question, limit=3000, where=where)
    some, best = lance.search(question, limit=5, where=where), flat.search(question, limit=5, where=where)
    assert [hit.score for hit in some] == pytest.approx([hit.score for hit in best], abs=0.02)
