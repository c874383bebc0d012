"""What is the flat store's own: segments, marks, other processes and damaged files."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import carrel
from carrel import files
from carrel.errors import StorageFull, StoreUnavailable
from carrel.types import EVERYTHING, Filter, Hit
from carrel.vectors import codes, flat, flat_segment
from carrel.vectors.flat import FlatVectors
from tests.builders import make_chunk

if TYPE_CHECKING:
    from carrel.types import Matrix

DIM = 4
WRITER = """
import sys
from pathlib import Path
import numpy as np
from carrel.types import Chunk, ChunkKind, Part
from carrel.vectors.flat import FlatVectors

store = FlatVectors(Path(sys.argv[1]), model="m", dim=4)
for round in range(int(sys.argv[2])):
    chunks = [
        Chunk(f"p/r{round}/{i}", "p", Part.BODY, ChunkKind.PASSAGE, "t", 0, 1) for i in range(1 + round % 3)
    ]
    store.put(chunks, np.eye(4, dtype=np.float32)[: len(chunks)])
    store.put([Chunk(f"q{round}/1", f"q{round}", Part.BODY, ChunkKind.PASSAGE, "t", 0, 1)], np.eye(4, dtype="f4")[3:])
    if round % 5 == 4:
        store.delete([f"q{number}" for number in range(round)])
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "vectors"


def open_store(directory: Path) -> FlatVectors:
    return FlatVectors(directory, model="m", dim=DIM)


def rows(count: int, seed: int = 1) -> Matrix:
    found = np.random.default_rng(seed).normal(size=(count, DIM)).astype(np.float32)
    unit: Matrix = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit


def nine_papers(directory: Path) -> FlatVectors:
    store = open_store(directory)
    store.put([make_chunk(f"paper{number}") for number in range(9)], rows(9))
    return store


def segments(directory: Path) -> list[Path]:
    return sorted(directory.glob("segment-*"))


def start_writer(directory: Path, rounds: int) -> subprocess.Popen[str]:
    source = Path(carrel.__file__).parents[1]
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(directory), str(rounds)],
        env={"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(writer: subprocess.Popen[str]) -> None:
    _, said = writer.communicate(timeout=60)
    assert (writer.returncode, said) == (0, "")


def test_three_hundred_single_puts_leave_about_log_segments(directory: Path) -> None:
    store = open_store(directory)
    vectors = rows(300)
    most = 0
    for number in range(300):
        store.put([make_chunk(f"paper{number}")], vectors[number : number + 1])
        most = max(most, len(segments(directory)))
    assert most <= math.log2(300) + 1
    assert store.count() == 300
    for number in (0, 150, 299):
        assert store.search(vectors[number], limit=1) == [Hit(f"paper{number}/ch1/s1/p1", 1.0)]


def test_filters_hold_across_merged_segments(directory: Path) -> None:
    store = open_store(directory)
    for number in range(20):
        facts: dict[str, Any] = {
            "year": 2000 + number,
            "venue": f"Venue {number % 3}",
            "tags": ("even",) if number % 2 == 0 else (),
        }
        store.put([make_chunk(f"paper{number:02}", **facts)], rows(1, seed=number))
    where = Filter(year_min=2005, venue="venue 1", tags=frozenset({"even"}))
    found = {hit.address.split("/")[0] for hit in store.search(rows(1)[0], limit=99, where=where)}
    assert found == {"paper10", "paper16"}


def test_a_deletion_marks_rows_and_leaves_the_segment_alone(directory: Path) -> None:
    store = nine_papers(directory)
    before = {path.name: path.stat().st_mtime_ns for path in segments(directory)[0].iterdir()}
    store.delete(["paper4"])
    assert len(list(directory.glob("dead-*"))) == 1
    assert {path.name: path.stat().st_mtime_ns for path in segments(directory)[0].iterdir()} == before
    assert open_store(directory).addresses() == {f"paper{n}/ch1/s1/p1" for n in range(9) if n != 4}


def test_a_second_deletion_leaves_one_file_of_marks(directory: Path) -> None:
    store = nine_papers(directory)
    store.delete(["paper4"])
    store.delete(["paper5"])
    assert len(list(directory.glob("dead-*"))) == 1
    assert open_store(directory).count() == 7


def test_a_segment_that_is_mostly_dead_is_written_anew(directory: Path) -> None:
    store = nine_papers(directory)
    store.delete([f"paper{number}" for number in range(6)])
    (segment,) = segments(directory)
    assert (segment / "vectors.f32").stat().st_size == 3 * DIM * 4
    assert list(directory.glob("dead-*")) == []
    assert store.count() == 3


def test_replacing_papers_a_few_at_a_time_leaves_no_more_dead_rows_than_live_ones(directory: Path) -> None:
    store = open_store(directory)
    papers = [make_chunk(f"p{number}") for number in range(64)]
    store.put(papers, rows(64))
    for start in range(0, 60, 3):
        store.put(papers[start : start + 3], rows(3, seed=start))
        held = json.loads((directory / "manifest.json").read_bytes())["segments"]
        assert sum(segment["rows"] for segment in held) <= 2 * store.count()
    assert store.count() == 64


def test_deleting_everything_leaves_no_segment(directory: Path) -> None:
    store = nine_papers(directory)
    store.delete([f"paper{number}" for number in range(9)])
    assert [path.name for path in directory.iterdir()] == ["manifest.json"]
    assert store.search(rows(1)[0], limit=5) == []


def test_deleting_unknown_papers_writes_nothing(directory: Path) -> None:
    store = nine_papers(directory)
    before = (directory / "manifest.json").stat().st_ino
    store.delete(["nobody"])
    assert (directory / "manifest.json").stat().st_ino == before


def test_a_reader_sees_what_another_process_wrote_since(directory: Path) -> None:
    reader = nine_papers(directory)
    assert reader.count() == 9
    finish(start_writer(directory, 1))
    assert reader.addresses() == {*(f"paper{n}/ch1/s1/p1" for n in range(9)), "p/r0/0", "q0/1"}
    assert reader.search(np.eye(4, dtype=np.float32)[0], limit=1, where=Filter(paper_ids=frozenset({"p"}))) == [
        Hit("p/r0/0", 1.0)
    ]


def test_a_reader_beside_a_writing_process_sees_each_put_whole_and_never_an_error(directory: Path) -> None:
    reader = nine_papers(directory)
    writer = start_writer(directory, 25)
    seen: set[frozenset[str]] = set()
    while writer.poll() is None:
        hits = reader.search(np.eye(4, dtype=np.float32)[0], limit=99, where=Filter(paper_ids=frozenset({"p"})))
        seen.add(frozenset(hit.address for hit in hits))
    finish(writer)
    whole = {frozenset(f"p/r{round_}/{i}" for i in range(1 + round_ % 3)) for round_ in range(25)}
    assert seen <= whole | {frozenset()}
    assert len(seen) > 1
    assert reader.addresses() == open_store(directory).addresses()


@pytest.mark.parametrize("name", ["vectors.f32", "rows.npy", "addresses.utf8", "dictionary.json"])
@pytest.mark.parametrize("left", [0, 0.5, 0.99])
def test_a_truncated_segment_is_reported_and_never_an_empty_list(directory: Path, name: str, left: float) -> None:
    nine_papers(directory)
    file = segments(directory)[0] / name
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * left)])
    with pytest.raises(StoreUnavailable, match="cannot be read") as caught:
        open_store(directory).search(rows(1)[0], limit=3)
    assert caught.value.hint == "It is derived: delete that directory and run 'carrel index build'."


@pytest.mark.parametrize("name", ["vectors.f32", "rows.npy", "addresses.utf8", "dictionary.json", "."])
def test_a_missing_file_is_reported(directory: Path, name: str) -> None:
    nine_papers(directory)
    (segment,) = segments(directory)
    path = segment / name
    path.rename(directory / "elsewhere")
    with pytest.raises(StoreUnavailable):
        open_store(directory).count()


@pytest.mark.parametrize("content", [b"", b"\xff\xff\xff"])
def test_marks_of_the_wrong_length_are_reported_and_bring_nothing_back(directory: Path, content: bytes) -> None:
    nine_papers(directory).delete(["paper1"])
    next(directory.glob("dead-*")).write_bytes(content)
    with pytest.raises(StoreUnavailable, match="does not mark 9 rows"):
        open_store(directory).addresses()


@pytest.mark.parametrize("manifest", [b"", b"{", b"[]", b"null", b"{}", b'{"format": 1, "model": "m"}', b"\xff"])
def test_a_manifest_that_makes_no_sense_is_reported(directory: Path, manifest: bytes) -> None:
    nine_papers(directory)
    (directory / "manifest.json").write_bytes(manifest)
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        open_store(directory).many(["paper1/ch1/s1/p1"])


def test_a_reader_reports_damage_done_after_it_opened_each_time_it_is_asked(directory: Path) -> None:
    reader = nine_papers(directory)
    (directory / "manifest.json").write_bytes(b"{")
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            reader.search(rows(1)[0], limit=3)


def test_a_manifest_of_a_newer_format_is_refused(directory: Path) -> None:
    nine_papers(directory)
    manifest = json.loads((directory / "manifest.json").read_bytes())
    (directory / "manifest.json").write_text(json.dumps({**manifest, "format": 2}))
    with pytest.raises(StoreUnavailable, match="its format is 2, this program reads 1"):
        open_store(directory).put([make_chunk("new")], rows(1))


def test_a_damaged_store_can_be_opened_cleared_and_filled_again(directory: Path) -> None:
    nine_papers(directory)
    (directory / "manifest.json").write_bytes(b"{")
    store = open_store(directory)
    store.clear(model=store.model, dim=store.dim)
    store.put([make_chunk("new")], rows(1))
    assert open_store(directory).addresses() == {make_chunk("new").address}


def test_what_a_crashed_write_left_is_harmless_and_swept_by_the_next_one(directory: Path) -> None:
    store = nine_papers(directory)
    for name in ("segment-0123456789abcdef", ".segment-0123.abc"):
        (directory / name).mkdir()
        (directory / name / "vectors.f32").write_bytes(b"half")
    (directory / ".manifest.json.012345").write_bytes(b"{")
    (directory / "dead-0123").write_bytes(b"\xff")
    assert open_store(directory).addresses() == store.addresses()
    store.put([make_chunk("new")], rows(1))
    named = {entry["name"] for entry in json.loads((directory / "manifest.json").read_bytes())["segments"]}
    assert {path.name for path in directory.iterdir()} == {"manifest.json", *named}
    assert open_store(directory).count() == 10


def test_opening_a_store_writes_nothing(directory: Path) -> None:
    store = open_store(directory)
    assert (store.count(), store.addresses(), directory.exists()) == (0, set(), False)


@pytest.fixture(scope="module")
def many() -> Matrix:
    """As embedders make them: all of one direction by and large, and in clusters."""
    random = np.random.default_rng(5)
    centres = random.normal(size=(40, 64)) + 3 * random.normal(size=64)
    found = (centres[random.integers(0, 40, 6000)] + 0.4 * random.normal(size=(6000, 64))).astype(np.float32)
    unit: Matrix = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit


def put_many(directory: Path, vectors: Matrix) -> FlatVectors:
    store = FlatVectors(directory, model="m", dim=64)
    store.put([make_chunk(f"paper{row:04}") for row in range(len(vectors))], vectors)
    return store


@pytest.mark.parametrize("limit", [1, 10, 100, 5999, 7000])
def test_a_large_segment_is_searched_by_codes_and_finds_exactly_the_nearest(
    directory: Path, many: Matrix, limit: int
) -> None:
    store = put_many(directory, many)
    assert (segments(directory)[0] / "codes").exists()
    for vector in many[::600]:
        nearest = sorted(range(len(many)), key=lambda row: (-round(float(many[row] @ vector), 6), row))[:limit]
        found = store.search(vector, limit=limit, where=EVERYTHING)
        assert [hit.address for hit in found] == [f"paper{row:04}/ch1/s1/p1" for row in nearest]
        assert [hit.score for hit in found] == pytest.approx(many[nearest] @ vector, abs=2e-6)


def test_codes_bound_every_similarity(directory: Path, many: Matrix) -> None:
    put_many(directory, many)
    found = codes.open_codes(segments(directory)[0] / "codes", len(many), 64)
    assert found is not None
    least, most = np.empty((2, len(many)), dtype=np.float32)
    for vector in (*many[::500], -many[3], np.eye(64, dtype=np.float32)[0], np.zeros(64, dtype=np.float32)):
        found.estimate(vector, least, most)
        truth = many.astype(np.float64) @ vector
        assert (least <= truth).all()
        assert (truth <= most).all()
        assert (most - least).max() < 0.1


def test_rows_that_are_all_the_same_have_codes_too(directory: Path) -> None:
    same = np.tile(np.eye(64, dtype=np.float32)[7], (5000, 1))
    found = put_many(directory, same).search(same[0], limit=3, where=EVERYTHING)
    assert [(hit.address, hit.score) for hit in found] == [(f"paper000{row}/ch1/s1/p1", 1.0) for row in range(3)]


def test_a_segment_without_codes_is_searched_as_well(directory: Path, many: Matrix) -> None:
    before = put_many(directory, many).search(many[1], limit=20, where=EVERYTHING)
    (segments(directory)[0] / "codes").unlink()
    assert FlatVectors(directory, model="m", dim=64).search(many[1], limit=20, where=EVERYTHING) == before


def test_codes_of_another_length_are_told(directory: Path, many: Matrix) -> None:
    put_many(directory, many)
    with (segments(directory)[0] / "codes").open("ab") as file:
        file.write(b"x")
    with pytest.raises(StoreUnavailable, match="codes does not hold 6000 rows"):
        FlatVectors(directory, model="m", dim=64).count()


@pytest.mark.parametrize("adopts", [False, True])
def test_a_full_disk_leaves_the_model_that_is_searched(
    directory: Path, monkeypatch: pytest.MonkeyPatch, *, adopts: bool
) -> None:
    store = nine_papers(directory)
    other = store.beside(model="n", dim=DIM + 1)

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise StorageFull(f"no space left to write {str(path)!r}")

    with monkeypatch.context() as patch:
        patch.setattr(flat, "write_atomically", refuse)
        with pytest.raises(StorageFull):
            if adopts:
                store.adopt(other)
            else:
                store.clear(model="n", dim=DIM + 1)
    assert (store.model, store.dim) == ("m", DIM)
    assert store.search(rows(9)[4], limit=1) == [Hit("paper4/ch1/s1/p1", 1.0)]
    store.put([make_chunk("new")], rows(1))
    assert open_store(directory).count() == 10


def test_all_that_a_manifest_names_is_on_the_disk_before_it(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[str] = []
    for module in (files, flat_segment):
        monkeypatch.setattr(module, "flush", lambda file: flushed.append(Path(file.name).name))
    store = nine_papers(directory)
    store.delete(["paper4"])
    names = [name.lstrip(".").partition(".")[0].partition("-")[0] for name in flushed]
    assert names == ["vectors", "rows", "addresses", "dictionary", "manifest", "dead", "manifest"]


def test_one_thread_at_a_time_follows_the_manifest(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what was read first might be there last."""
    nine_papers(directory)
    reader = FlatVectors(directory, model="m", dim=DIM)
    reader.close()
    load, inside, most = reader._load, 0, 0

    def slowly() -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.05)
        load()
        inside -= 1

    monkeypatch.setattr(reader, "_load", slowly)
    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(lambda _: reader.count(), range(4))] == [9] * 4
    assert most == 1
