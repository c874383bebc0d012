"""Vectors kept on disk: what fits its text is found again, everything else is as if it were not there."""

from __future__ import annotations

import json
import logging
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from carrel.embedders.cache import EmbeddingCache, file_name
from carrel.errors import DimensionMismatchError, InvalidInput, StorageFull
from tests.builders import make_chunk

if TYPE_CHECKING:
    from carrel.types import Matrix, Vector

DIM = 4
CHUNKS = [make_chunk("smith2020", number, f"text {number}") for number in (1, 2, 3)]
ROWS: Matrix = np.eye(DIM, dtype=np.float32)[:3]
HASHES = [chunk.text_hash for chunk in CHUNKS]


@pytest.fixture
def cache(tmp_path: Path) -> EmbeddingCache:
    return EmbeddingCache(tmp_path / "embeddings", model="ibm/model:v1", dim=DIM)


@pytest.fixture
def entry(cache: EmbeddingCache, tmp_path: Path) -> Path:
    """The directory of a saved paper."""
    cache.save("smith2020", CHUNKS, ROWS)
    (manifest,) = tmp_path.rglob("manifest.json")
    return manifest.parent


def edit(entry: Path, **values: object) -> None:
    manifest = json.loads((entry / "manifest.json").read_bytes())
    (entry / "manifest.json").write_text(json.dumps({**manifest, **values}))


def assert_refused(cache: EmbeddingCache, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="carrel"):
        assert cache.load("smith2020") == {}
    (record,) = caplog.records
    assert (record.levelname, record.name) == ("WARNING", "carrel.embedding_cache")
    assert record.fields == {"paper_id": "smith2020"}  # type: ignore[attr-defined]


def test_what_was_saved_is_found_by_the_hash_of_its_text(cache: EmbeddingCache) -> None:
    cache.save("smith2020", CHUNKS, ROWS)
    loaded = cache.load("smith2020")
    assert list(loaded) == HASHES
    assert [row.tolist() for row in loaded.values()] == ROWS.tolist()
    assert {row.dtype.str for row in loaded.values()} == {"<f4"}


def test_a_text_that_changed_is_missing_and_the_others_are_there(cache: EmbeddingCache) -> None:
    cache.save("smith2020", CHUNKS, ROWS)
    loaded = cache.load("smith2020")
    assert make_chunk("smith2020", 2, "text 2, revised").text_hash not in loaded
    assert make_chunk("smith2020", 2, "text 2", title="Another heading").text_hash not in loaded
    assert make_chunk("smith2020", 9, "text 2", year=1999).text_hash in loaded


def test_a_paper_that_was_never_saved_is_empty_and_nothing_is_logged(
    cache: EmbeddingCache, caplog: pytest.LogCaptureFixture
) -> None:
    assert cache.load("nobody") == {}
    assert caplog.records == []


def test_saving_keeps_exactly_the_new_rows(cache: EmbeddingCache) -> None:
    cache.save("smith2020", CHUNKS, ROWS)
    cache.save("smith2020", CHUNKS[1:2], ROWS[2:3])
    assert {key: row.tolist() for key, row in cache.load("smith2020").items()} == {HASHES[1]: ROWS[2].tolist()}


def test_no_rows_can_be_saved_too(cache: EmbeddingCache) -> None:
    cache.save("smith2020", [], ROWS[:0])
    assert cache.load("smith2020") == {}


def test_a_deleted_paper_is_gone_and_the_others_are_not(cache: EmbeddingCache) -> None:
    for paper_id in ("smith2020", "other", ""):
        cache.save(paper_id, CHUNKS, ROWS)
    cache.delete("smith2020")
    cache.delete("nobody")
    assert [list(cache.load(paper_id)) for paper_id in ("smith2020", "other", "")] == [[], HASHES, HASHES]
    cache.delete("")
    assert list(cache.load("other")) == HASHES


def test_two_models_do_not_share_vectors(cache: EmbeddingCache, tmp_path: Path) -> None:
    cache.save("smith2020", CHUNKS, ROWS)
    other = EmbeddingCache(tmp_path / "embeddings", model="ibm/model:v2", dim=DIM)
    assert other.load("smith2020") == {}


@pytest.mark.parametrize("content", [b"", b"\0" * 48, ROWS.tobytes()[:-4], ROWS.tobytes() + b"\0\0\0\0"])
def test_tampered_vectors_are_as_if_they_were_not_there_and_logged(
    cache: EmbeddingCache, entry: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (entry / "embeddings.bin").write_bytes(content)
    assert_refused(cache, caplog)


@pytest.mark.parametrize(
    "values",
    [
        {"model": "another"},
        {"dim": 12},
        {"dim": "4"},
        {"paper_id": "smith2021"},
        {"sha256": "0" * 64},
        {"sha256": None},
        {"chunks": []},
        {"chunks": None},
        {"chunks": [{"text_hash": "a"}]},
        {"chunks": ["a", "b", "c"]},
        {"chunks": [{"text_hash": []}] * 3},
        {"chunks": [{}] * 3},
    ],
    ids=str,
)
def test_a_tampered_manifest_is_as_if_it_were_not_there_and_logged(
    cache: EmbeddingCache, entry: Path, values: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    edit(entry, **values)
    assert_refused(cache, caplog)


def test_hashes_that_changed_rows_are_noticed(
    cache: EmbeddingCache, entry: Path, caplog: pytest.LogCaptureFixture
) -> None:
    listed = json.loads((entry / "manifest.json").read_bytes())["chunks"]
    edit(entry, chunks=listed[1:] + listed[:1])
    assert_refused(cache, caplog)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"3", b"\xff\xfe", b"{}", b"[" * 100_000])
def test_a_manifest_that_is_none_is_as_if_it_were_not_there_and_logged(
    cache: EmbeddingCache, entry: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (entry / "manifest.json").write_bytes(content)
    assert_refused(cache, caplog)


class Planted:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


@pytest.mark.parametrize("name", ["embeddings.bin", "manifest.json", "embeddings.npy", "embeddings.pkl"])
def test_a_planted_pickle_is_never_opened(cache: EmbeddingCache, entry: Path, name: str, tmp_path: Path) -> None:
    (entry / name).write_bytes(pickle.dumps(Planted(tmp_path / "mark")))
    cache.load("smith2020")
    assert not (tmp_path / "mark").exists()


def test_an_interrupted_save_leaves_the_old_and_no_litter(
    cache: EmbeddingCache, entry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_values: object, **_options: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(json, "dumps", fail)
    with pytest.raises(KeyboardInterrupt):
        cache.save("smith2020", CHUNKS[:1], ROWS[:1])
    monkeypatch.undo()
    assert list(cache.load("smith2020")) == HASHES
    assert list(entry.parent.iterdir()) == [entry]


def test_a_full_disk_leaves_the_old_and_is_named(
    cache: EmbeddingCache, entry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_values: object, **_options: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(StorageFull, match="no space left"):
        cache.save("smith2020", CHUNKS[:1], ROWS[:1])
    monkeypatch.undo()
    assert list(cache.load("smith2020")) == HASHES
    assert list(entry.parent.iterdir()) == [entry]


@pytest.mark.parametrize("step", range(3))
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_save_that_is_killed_at_any_step_leaves_the_old_rows_or_the_new(
    cache: EmbeddingCache, entry: Path, step: int, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, steps = Path.replace, iter(range(9))

    def killed(self: Path, target: Path) -> Path:
        at = next(steps)
        if at == step and when == "before":
            raise KeyboardInterrupt
        done = replace(self, target)
        if at == step:
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        cache.save("smith2020", CHUNKS[1:], ROWS[:2])
    monkeypatch.undo()
    old, new = dict(zip(HASHES, ROWS.tolist(), strict=True)), dict(zip(HASHES[1:], ROWS[:2].tolist(), strict=True))
    found = {key: row.tolist() for key, row in cache.load("smith2020").items()}
    assert found == (new if (step, when) in {(1, "after"), (2, "before"), (2, "after")} else old)
    cache.save("smith2020", CHUNKS[:1], ROWS[2:])
    assert [row.tolist() for row in cache.load("smith2020").values()] == [ROWS[2].tolist()]
    assert sorted(path.name for path in entry.iterdir()) == ["embeddings.bin", "manifest.json"]


SAVES_FOREVER = """
import sys
from itertools import cycle
from pathlib import Path
import numpy as np
from carrel.embedders.cache import EmbeddingCache
from tests.builders import make_chunk

cache = EmbeddingCache(Path(sys.argv[1]), model="m", dim=2)
for count in cycle((900, 400)):
    chunks = [make_chunk("a", number, f"{count} {number}") for number in range(count)]
    cache.save("a", chunks, np.full((count, 2), count, dtype=np.float32))
    print("saved", flush=True)
"""


def test_a_process_killed_while_it_saves_leaves_whole_rows(tmp_path: Path) -> None:
    root = Path(__file__).parent.parent.parent
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}:{root}"}
    counts = []
    for pause in (0.0, 0.004, 0.011):
        with subprocess.Popen(
            [sys.executable, "-c", SAVES_FOREVER, str(tmp_path)], env=environment, stdout=subprocess.PIPE
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"saved\n"
            time.sleep(pause)
            child.kill()
        rows = list(EmbeddingCache(tmp_path, model="m", dim=2).load("a").values())
        assert {value for row in rows for value in row.tolist()} == {len(rows)}
        counts.append(len(rows))
    assert set(counts) <= {900, 400}


def test_rows_that_do_not_fit_their_chunks_are_refused_and_the_old_stay(cache: EmbeddingCache, entry: Path) -> None:
    with pytest.raises(InvalidInput, match="chunk count mismatch: manifest has 2 chunks but 3 embeddings provided"):
        cache.save("smith2020", CHUNKS[:2], ROWS)
    with pytest.raises(DimensionMismatchError, match="dimension mismatch at chunk 0: expected 4, got 3"):
        cache.save("smith2020", CHUNKS, ROWS[:, :3])
    assert list(cache.load("smith2020")) == HASHES


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_row_that_is_no_vector_is_never_used_whoever_sealed_it(
    cache: EmbeddingCache, value: float, caplog: pytest.LogCaptureFixture
) -> None:
    cache.save("smith2020", CHUNKS, np.where(ROWS > 0, np.float32(value), ROWS))
    assert_refused(cache, caplog)


@pytest.mark.parametrize("sha256", ["../../../../x", "0" * 63 + "/", ""])
def test_a_manifest_leads_to_no_other_file(
    cache: EmbeddingCache, entry: Path, sha256: str, caplog: pytest.LogCaptureFixture
) -> None:
    edit(entry, sha256=sha256)
    (entry / "embeddings.bin").unlink()
    assert_refused(cache, caplog)


@pytest.mark.parametrize("name", ["manifest.json", "embeddings.bin"])
@pytest.mark.parametrize("kind", ["link", "pipe", "directory", "missing"])
def test_whatever_stands_in_a_files_place_is_not_opened_and_replaced_by_the_next_save(
    cache: EmbeddingCache, entry: Path, name: str, kind: str, tmp_path: Path
) -> None:
    moved = (entry / name).rename(tmp_path / "elsewhere")
    content = moved.read_bytes()
    match kind:
        case "link":
            (entry / name).symlink_to(moved)
        case "pipe":
            os.mkfifo(entry / name)
        case "directory":
            (entry / name / "inside").mkdir(parents=True)
    assert cache.load("smith2020") == {}
    cache.save("smith2020", CHUNKS, ROWS)
    assert list(cache.load("smith2020")) == HASHES
    assert moved.read_bytes() == content


@pytest.mark.parametrize("kind", ["link", "file"])
def test_whatever_stands_in_a_papers_place_is_not_written_through(
    cache: EmbeddingCache, entry: Path, kind: str, tmp_path: Path
) -> None:
    moved = entry.rename(tmp_path / "elsewhere")
    before = {path.name: path.read_bytes() for path in moved.iterdir()}
    if kind == "link":
        entry.symlink_to(moved)
    else:
        entry.write_text("a file")
    cache.save("smith2020", CHUNKS[:1], ROWS[:1])
    assert (list(cache.load("smith2020")), entry.is_symlink()) == (HASHES[:1], False)
    assert {path.name: path.read_bytes() for path in moved.iterdir()} == before


def test_a_manifest_without_end_is_not_read(
    cache: EmbeddingCache, entry: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (entry / "manifest.json").open("wb") as file:
        file.truncate(10**12)
    assert_refused(cache, caplog)


class Lends:
    """A cache that has the vectors of some texts."""

    def __init__(self, **rows: Matrix) -> None:
        self.rows = rows
        self.asked: list[str] = []

    def find(self, text: str) -> Vector | None:
        self.asked.append(text)
        return self.rows.get(text)


def test_what_another_cache_lends_is_kept_beside_the_own_rows_and_not_asked_for_again(tmp_path: Path) -> None:
    chunks = [make_chunk("a", number, text) for number, text in enumerate(("own", "lent", "unknown"))]
    lends = Lends(own=ROWS[2], lent=ROWS[1])
    cache = EmbeddingCache(tmp_path, model="m", dim=DIM, lender=lends)
    cache.save("a", chunks[:1], ROWS[:1])
    expected = {chunks[0].text_hash: ROWS[0].tolist(), chunks[1].text_hash: ROWS[1].tolist()}
    assert {key: row.tolist() for key, row in cache.recall("a", chunks).items()} == expected
    assert set(lends.asked) == {"lent", "unknown"}
    alone = EmbeddingCache(tmp_path, model="m", dim=DIM)
    assert {key: row.tolist() for key, row in alone.recall("a", chunks).items()} == expected


def test_a_text_embedded_with_its_headings_is_preferred_to_the_bare_one(tmp_path: Path) -> None:
    chunk = make_chunk("a", 1, "text", title="Title")
    lends = Lends(**{"text": ROWS[0], "Title text": ROWS[1]})
    cache = EmbeddingCache(tmp_path, model="m", dim=DIM, lender=lends)
    assert cache.recall("a", [chunk])[chunk.text_hash].tolist() == ROWS[1].tolist()


def test_how_many_rows_came_from_where_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    chunks = [make_chunk("a", number, text) for number, text in enumerate(("own", "lent", "unknown"))]
    cache = EmbeddingCache(tmp_path, model="m", dim=DIM, lender=Lends(lent=ROWS[1]))
    cache.save("a", chunks[:1], ROWS[:1])
    with caplog.at_level(logging.DEBUG, logger="carrel"):
        cache.recall("a", chunks)
    assert [record.fields for record in caplog.records] == [{"paper_id": "a", "kept": 1, "lent": 1}]  # type: ignore[attr-defined]


HOSTILE = (
    "", ".", "..", "...", "../../etc/passwd", "/etc/passwd", "a/b", "a%2Fb", "C:\\con", "nul\n", "~", "-rf",
    ".hidden", "a*?<>|\"'", "漢字", "🙂" * 100, "x" * 10_000, "x" * 10_001, "x" * 119, "x" * 120, "x" * 121,
)  # fmt: skip


@pytest.mark.parametrize("paper_id", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_any_paper_id_has_a_place_of_its_own_inside_the_cache(
    cache: EmbeddingCache, paper_id: str, tmp_path: Path
) -> None:
    cache.save("bystander", CHUNKS, ROWS)
    cache.save(paper_id, CHUNKS[:1], ROWS[:1])
    assert list(cache.load(paper_id)) == HASHES[:1]
    depths = {len(path.relative_to(tmp_path).parts) for path in tmp_path.rglob("*") if path.is_file()}
    assert depths == {4}
    assert [path.name for path in tmp_path.iterdir()] == ["embeddings"]
    cache.delete(paper_id)
    assert (cache.load(paper_id), list(cache.load("bystander"))) == ({}, HASHES)


def test_file_names_are_distinct_short_and_readable_where_they_can_be() -> None:
    names = [file_name(text) for text in HOSTILE]
    assert len(set(names)) == len(HOSTILE)
    assert max(map(len, names)) <= 120
    assert not any(name.startswith(".") or "/" in name or "\\" in name for name in names)
    assert file_name("smith-et-al_2020.v2") == "smith-et-al_2020.v2"
