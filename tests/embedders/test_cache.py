"""Vectors kept on disk: what fits its text is found again, everything else is as if it were not there."""

from __future__ import annotations

import json
import logging
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from carrel.embedders.cache import EmbeddingCache, file_name
from carrel.errors import StorageFull
from tests.builders import make_chunk

if TYPE_CHECKING:
    from carrel.types import Matrix

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

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(StorageFull, match="no space left"):
        cache.save("smith2020", CHUNKS[:1], ROWS[:1])
    monkeypatch.undo()
    assert list(cache.load("smith2020")) == HASHES
    assert list(entry.parent.iterdir()) == [entry]


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
