"""What stands in Lance's table, for searches and for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from lancedb.table import LanceTable

from carrel.errors import StoreUnavailable
from carrel.types import EVERYTHING, Hit
from carrel.vectors.lance import LanceVectors
from carrel.vectors.lance_rows import LIVE, schema
from carrel.vectors.lance_tables import Named, Place, Pointer
from tests.builders import make_chunk

DIM = 8
UNIT = np.eye(DIM, dtype=np.float32)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "vectors-lance"


def open_store(directory: Path) -> LanceVectors:
    return LanceVectors(directory, model="m", dim=DIM)


def put(store: LanceVectors, paper_id: str, chunks: int) -> None:
    store.put([make_chunk(paper_id, number) for number in range(chunks)], UNIT[:chunks])


def test_what_is_dead_is_not_written_again(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    update, updated = LanceTable.update, []

    def counted(*given: Any, **named: Any) -> Any:
        result = update(*given, **named)
        updated.append(result.rows_updated)
        return result

    monkeypatch.setattr(LanceTable, "update", counted)
    store = open_store(directory)
    for _ in range(4):
        put(store, "a", 2)
    # Those that come and those that they replace.
    assert updated == [2, 4, 4, 4]
    assert store.count() == 2


def test_other_programs_find_what_a_passage_says_and_where_it_stands(directory: Path) -> None:
    store = open_store(directory)
    facts: dict[str, Any] = {
        "section_path": ("Methods", "Data", "Sources"),
        "chapter": 1,
        "section": 2,
        "title": "A title",
        "authors": ("Ada Lovelace", "half \ud800"),
        "page_start": 3,
        "page_end": 4,
        "exhibits": ("a/fig1",),
    }
    before = make_chunk("b", section_path=("Methods",))
    store.put([make_chunk("a", 7, "Some text.", **facts), before], UNIT[:2])
    table = store._follow()
    assert table is not None
    columns = ["chapter_title", "section_title", "chunk_idx", "depth", "text", "page_start", "page_end", "title"]
    found = table.search().where(LIVE).select([*columns, "authors", "figure_ids"]).to_list()
    first, second = sorted(found, key=lambda row: row["text"], reverse=True)
    assert [first[column] for column in columns] == [
        *("Methods", "Sources", 7, "paragraph"),
        *("Some text.", 3, 4, "A title"),
    ]
    assert (first["authors"], first["figure_ids"]) == (["Ada Lovelace", "half ?"], ["a/fig1"])
    assert [second[column] for column in columns] == [
        *("Methods", "", 1, "paragraph"),
        *("A chunk of text.", None, None, ""),
    ]


def test_a_table_made_before_goes_on_with_the_columns_that_it_has(directory: Path) -> None:
    place = Place(directory, "", "")
    every = schema(DIM, half=False)
    fields = pa.schema([field for field in every if field.name not in {"text", "chunk_idx", "authors", "page_start"}])
    with place.turn():
        Pointer(place, "current").write(Named(place.make(fields).name, "m", DIM))
    store = open_store(directory)
    for _ in range(2):
        put(store, "a", 2)
    assert store.search(UNIT[1], limit=1, where=EVERYTHING) == [Hit(make_chunk("a", 1).address, 1.0)]
    table = store._follow()
    assert table is not None
    assert table.schema.names == fields.names


def test_too_many_open_files_are_no_failed_write(directory: Path) -> None:
    with (
        pytest.raises(StoreUnavailable, match="vectors-lance' cannot be used: Too many open files"),
        Place(directory, "", "").reporting(),
    ):
        raise RuntimeError("lance error: IO: Too many open files (os error 24)")
