"""What is Lance's own: several processes, hostile values, exchanged tables and damaged files."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import carrel
from carrel.errors import InvalidInput, ReadOnlyLibrary, StorageFull, StoreUnavailable
from carrel.files import size_on_disk
from carrel.types import EVERYTHING, Filter, Hit
from carrel.vectors import VectorStore, lance, lance_tables
from carrel.vectors import lance_upkeep as upkeep
from carrel.vectors.lance import LanceVectors
from carrel.vectors.lance_tables import Place, Pointer
from tests.builders import make_chunk
from tests.test_robustness import mounted
from tests.vectors.clusters import clustered

DIM = 8
UNIT = np.eye(DIM, dtype=np.float32)
WRITER = """
import sys
from contextlib import nullcontext
from pathlib import Path
import numpy as np
from carrel.types import Chunk, ChunkKind, Part
from carrel.vectors import lance_tables
from carrel.vectors import lance_upkeep as upkeep
from carrel.vectors.lance import LanceVectors

folder, name, rounds, where = sys.argv[1:]
upkeep._COMMITS, upkeep._KEPT = 4, 0.001
if where == "bucket":
    tidy = upkeep.tidy
    upkeep.tidy = lambda table, is_served: tidy(table, is_served=True)
    lance_tables.Place.turn = lambda place: nullcontext()
store = LanceVectors(Path(folder), model="m", dim=8)

def put(paper, chunks):
    names = [f"{paper}/{name}/{number}/{chunks}" for number in range(chunks)]
    made = [Chunk(address, paper, Part.BODY, ChunkKind.PASSAGE, "t", 0, 1) for address in names]
    store.put(made, np.eye(8, dtype="f4")[:chunks])

print("ready", flush=True)
sys.stdin.readline()
for round in range(int(rounds)):
    put(f"{name}{round}", 3)
    put("shared", 1 + (round + ord(name)) % 6)
    if round % 5 == 4:
        store.delete([f"{name}{round - 2}"])
    print(round, flush=True)
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "vectors-lance"


def open_store(directory: Path, dim: int = DIM, *, half: bool = False) -> LanceVectors:
    return LanceVectors(directory, model="m", dim=dim, half=half)


def put(store: VectorStore, paper_id: str, chunks: int = 1) -> None:
    store.put([make_chunk(paper_id, number) for number in range(chunks)], UNIT[:chunks])


def start_writer(directory: Path, name: str, rounds: int, where: str = "folder") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(directory), name, str(rounds), where],
        env={"PYTHONPATH": str(Path(carrel.__file__).parents[1]), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def begin(*writers: subprocess.Popen[str]) -> None:
    """All at once."""
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()


def papers_in(addresses: set[str]) -> dict[str, list[str]]:
    """What was put of each paper: the ends of its addresses, which say by whom and how many there are."""
    papers: dict[str, list[str]] = {}
    for address in addresses:
        paper, _, rest = address.partition("/")
        papers.setdefault(paper, []).append(rest)
    return papers


def assert_whole(addresses: set[str]) -> None:
    for rests in papers_in(addresses).values():
        puts = {(rest.split("/")[0], int(rest.split("/")[2])) for rest in rests}
        assert [count for _, count in puts] == [len(rests)]


@pytest.mark.parametrize("where", ["folder", "bucket"])
def test_several_processes_write_lose_nothing_and_no_reader_sees_a_half(directory: Path, where: str) -> None:
    """In a folder they take turns; in a bucket, which has no locks, they cross each other."""
    writers = [start_writer(directory, name, 10, where) for name in "ab"]
    reader = open_store(directory)
    begin(*writers)
    looks = 0
    while any(writer.poll() is None for writer in writers):
        assert_whole({hit.address for hit in reader.search(UNIT[0], limit=1000, where=EVERYTHING)})
        assert_whole(reader.addresses())
        looks += 1
        time.sleep(0.02)
    for writer in writers:
        assert (writer.communicate()[1], writer.returncode) == ("", 0)
    assert looks > 5
    kept = {f"{name}{number}" for name in "ab" for number in range(10) if number % 5 != 2}
    assert set(papers_in(reader.addresses())) == kept | {"shared"}
    assert_whole(reader.addresses())


def test_a_writer_that_is_killed_leaves_whole_papers_and_the_next_one_goes_on(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rounds in (2, 5):
        writer = start_writer(directory, "a", 1000)
        begin(writer)
        assert writer.stdout is not None
        while int(writer.stdout.readline()) < rounds:
            pass
        time.sleep(0.01 * rounds)
        os.kill(writer.pid, signal.SIGKILL)
        writer.communicate()
        store = open_store(directory)
        assert_whole(store.addresses())
        put(store, f"after{rounds}", 2)
        assert store.many([make_chunk(f"after{rounds}", 1).address])
        store.delete([f"after{rounds}"])
    monkeypatch.setattr(upkeep, "_STAGED", -1)
    table = store._follow()
    assert table is not None
    upkeep.tidy(table, is_served=False)
    assert table.count_rows() == store.count()


HOSTILE = ("') OR true --", "o'neil", "''", "a\\", "\\'", "line\nline", "nul\0nul", 'quo"ted', "%", "_", "漢🙂", "`a`")


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_values_match_themselves_and_nothing_else(directory: Path, value: str) -> None:
    store = open_store(directory)
    facts: dict[str, Any] = {"venue": f"x{value}x", "tags": (value,), "topic": value}
    store.put([make_chunk(value, 1, **facts), make_chunk("other", 2, venue="x", tags=("x",), topic="x")], UNIT[:2])
    own = [Hit(make_chunk(value).address, 1.0)]
    for where in (
        Filter(paper_ids=frozenset({value})),
        Filter(venue=value),
        Filter(tags=frozenset({value, "y"})),
        Filter(topic=value),
    ):
        assert store.search(UNIT[0], limit=5, where=where) == own
    store.delete([value])
    assert store.addresses() == {make_chunk("other", 2).address}


def test_half_a_character_and_a_year_beyond_all_numbers_match_nothing(directory: Path) -> None:
    store = open_store(directory)
    put(store, "a")
    halves = "\ud800"
    for where in (Filter(paper_ids=frozenset({halves})), Filter(venue=halves), Filter(tags=frozenset({halves}))):
        assert store.search(UNIT[0], limit=5, where=where) == []
    assert store.search(UNIT[0], limit=5, where=Filter(year_min=10**30)) == []
    assert len(store.search(UNIT[0], limit=5, where=Filter(year_min=-(10**30)))) == 1
    store.delete([halves])
    assert store.count() == 1
    with pytest.raises(InvalidInput, match="half a character"):
        store.put([make_chunk(halves)], UNIT[:1])
    store.put([make_chunk("b", venue=halves, tags=(halves,), topic=halves)], UNIT[:1])
    assert store.count() == 2


def test_a_table_that_was_emptied_is_filled_again(directory: Path) -> None:
    store = open_store(directory)
    put(store, "a")
    store.delete(["a"])
    put(store, "b")
    assert len(list(directory.glob("chunks_*"))) == 1
    assert papers_in(store.addresses()).keys() == {"b"}


def test_many_equal_vectors_are_told_apart_by_their_addresses(directory: Path) -> None:
    store = open_store(directory)
    store.put([make_chunk("equal", n) for n in range(300)], np.repeat(UNIT[:1], 300, axis=0))
    put(store, "z")
    expected = sorted(make_chunk("equal", n).address for n in range(300))[:7]
    assert [hit.address for hit in store.search(UNIT[0], limit=7, where=EVERYTHING)] == expected


def test_half_precision_takes_half_the_space_and_scores_to_three_digits(tmp_path: Path) -> None:
    chunks, rows = [make_chunk("a", n) for n in range(500)], clustered(500, 256)
    whole, half = (open_store(tmp_path / name, 256, half=name == "half") for name in ("whole", "half"))
    for store in (whole, half):
        store.put(chunks, rows)
    assert size_on_disk(tmp_path / "half") < 0.6 * size_on_disk(tmp_path / "whole")
    scores = {hit.address: hit.score for hit in half.search(rows[0], limit=500, where=EVERYTHING)}
    for address, score in whole.search(rows[0], limit=500, where=EVERYTHING):
        assert scores[address] == pytest.approx(score, abs=1e-3)
    found = half.get(chunks[0].address)
    assert found is not None
    assert found.dtype == np.float32
    assert found == pytest.approx(rows[0], abs=1e-3)


def test_another_opening_of_the_same_store_is_not_beside_it(directory: Path) -> None:
    store = open_store(directory)
    put(store, "a")
    with pytest.raises(ValueError, match="made beside this store"):
        store.adopt(open_store(directory))
    assert store.count() == 1


def test_threads_search_while_another_puts_and_never_find_nothing(directory: Path) -> None:
    store = open_store(directory)
    put(store, "always", 3)

    def look(_: int) -> int:
        return min(len(store.search(UNIT[0], limit=50, where=EVERYTHING)) for _ in range(10))

    with ThreadPoolExecutor(5) as threads:
        looking = [threads.submit(look, number) for number in range(4)]
        for number in range(10):
            put(store, f"more{number % 2}", 1 + number % 3)
            store._opened = None
        assert min(looked.result() for looked in looking) >= 3


def test_an_adoption_that_was_interrupted_leaves_nothing_beside(directory: Path) -> None:
    store = open_store(directory)
    other = store.beside(model="m", dim=DIM)
    put(other, "new")
    store.adopt(other)
    place = Place(directory, "", "")
    Pointer(place, "beside").write(Pointer(place, "current").read())
    assert store.beside(model="m", dim=DIM).count() == 0
    put(store.beside(model="m", dim=DIM), "begun")
    assert papers_in(open_store(directory).addresses()).keys() == {"new"}


def test_tables_that_nothing_names_are_swept_once_nobody_can_be_making_them(directory: Path) -> None:
    store = open_store(directory)
    put(store, "a")
    table = store._follow()
    assert table is not None
    place, fields = Place(directory, "", ""), table.schema
    young = place.make(fields).name
    place.connection().create_table("chunks_00000000001_abandoned", schema=fields)
    place.connection().create_table("somebody_elses", schema=fields)
    store.clear(model="n", dim=4)
    left = set(place.connection().list_tables().tables)
    assert {young, "somebody_elses", "current"} < left
    assert not {table.name, "chunks_00000000001_abandoned"} & left


def test_what_is_searched_and_what_is_built_beside_it_are_never_swept(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance_tables, "_ABANDONED", -1)
    store = open_store(directory)
    put(store, "old")
    put(store.beside(model="n", dim=DIM), "begun")
    put(store.beside(model="k", dim=DIM), "new")
    assert papers_in(store.addresses()).keys() == {"old"}
    store.clear(model="m", dim=DIM)
    put(store, "older")
    other = store.beside(model="k", dim=DIM)
    assert papers_in(other.addresses()).keys() == {"new"}
    store.adopt(other)
    assert papers_in(open_store(directory).addresses()).keys() == {"new"}


def test_a_put_into_a_table_that_another_process_exchanged_meanwhile_is_done_again(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on an object store: in a folder nobody can.
    monkeypatch.setattr(Place, "turn", lambda place: nullcontext())
    store, other = open_store(directory), open_store(directory)
    put(store, "before")
    follow, calls = store._follow, 0

    def follow_and_clear() -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            other.clear(model="m", dim=DIM)
        return follow()

    store._follow = follow_and_clear  # type: ignore[method-assign, assignment]
    put(store, "a")
    assert papers_in(other.addresses()).keys() == {"a"}


@pytest.mark.parametrize(("fails", "expected"), [(3, 1), (4, None)])
def test_a_read_that_takes_long_and_finds_its_files_swept_begins_anew_some_times(
    directory: Path, monkeypatch: pytest.MonkeyPatch, fails: int, expected: int | None
) -> None:
    store = open_store(directory)
    put(store, "a")
    monkeypatch.setattr(lance, "_PAUSES", (0.0,))
    monkeypatch.setattr(lance, "patience", lambda error: 1e-9)
    follow, calls = store._follow, 0

    def follow_late() -> object:
        nonlocal calls
        calls += 1
        if calls <= fails:
            raise RuntimeError("Object at location chunks/data/0.lance not found")
        return follow()

    store._follow = follow_late  # type: ignore[method-assign, assignment]
    with nullcontext() if expected else pytest.raises(StoreUnavailable, match="not found"):
        assert store.count() == expected


def cut_short(directory: Path) -> None:
    for path in directory.glob("chunks_*/data/*"):
        path.write_bytes(path.read_bytes()[:100])


def spoil_versions(directory: Path) -> None:
    for path in directory.glob("chunks_*/_versions/*"):
        path.write_bytes(b"junk")


def spoil_pointer(directory: Path) -> None:
    for path in directory.glob("current.lance/_versions/*"):
        path.write_bytes(b"")


def lose_rows(directory: Path) -> None:
    for path in directory.glob("chunks_*/data/*"):
        path.unlink()


@pytest.mark.parametrize("damage", [cut_short, spoil_versions, spoil_pointer, lose_rows])
def test_a_damaged_table_is_named_and_never_an_empty_result(directory: Path, damage: Callable[[Path], None]) -> None:
    put(open_store(directory), "a", 3)
    damage(directory)
    store = open_store(directory)
    with pytest.raises(StoreUnavailable, match="cannot be read") as caught:
        store.search(UNIT[0], limit=5, where=EVERYTHING)
    assert str(directory) in caught.value.message
    assert caught.value.hint == "It is derived: delete that directory and run 'carrel index build'."


def test_a_reader_follows_when_the_directory_is_deleted_and_made_anew(directory: Path) -> None:
    reader = open_store(directory)
    put(open_store(directory), "old")
    assert reader.count() == 1
    shutil.rmtree(directory)
    assert (reader.count(), reader.search(UNIT[0], limit=5, where=EVERYTHING)) == (0, [])
    put(open_store(directory), "new", 2)
    assert reader.count() == 2


def test_to_look_into_a_store_that_is_not_there_makes_nothing(directory: Path) -> None:
    store = open_store(directory)
    assert (store.count(), store.addresses(), store.get("a")) == (0, set(), None)
    store.delete(["a"])
    assert not directory.exists()


def test_a_full_disk_is_named_and_what_was_there_stays(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with mounted(disk, "-t", "tmpfs", "-o", "size=3m", "tmpfs"):
        store = open_store(disk / "vectors", 256)
        store.put([make_chunk("a")], clustered(1, 256))
        with pytest.raises(StorageFull, match="no space left to write"):
            store.put([make_chunk("b", n) for n in range(4000)], clustered(4000, 256))
        assert store.addresses() == {make_chunk("a").address}


def test_a_read_only_store_can_be_searched_and_refuses_to_be_changed(tmp_path: Path, directory: Path) -> None:
    put(open_store(directory), "a")
    still = tmp_path / "still"
    still.mkdir()
    with mounted(still, "--bind", str(directory)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(still)], check=True)
        store = open_store(still)
        assert store.search(UNIT[0], limit=5, where=EVERYTHING) == [Hit(make_chunk("a", 0).address, 1.0)]
        with pytest.raises(ReadOnlyLibrary, match="cannot write to"):
            put(store, "b")
        with pytest.raises(ReadOnlyLibrary, match="cannot write to"):
            store.delete(["a"])
