"""The embedding cache of papers-rag: used where it lies, never written, never trusted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from carrel import Library
from carrel.embedders.papers_cache import PapersCache, same_model
from carrel.testing import HashedWords
from carrel.types import Matrix

MODEL = "embedding-gemma-300m"
DIM = 8
TEXTS = ("Hidden variables are ruled out.", "Spins are measured far apart.", "A third paragraph.")
ROWS: Matrix = np.eye(DIM, dtype=np.float32)[:3] * 2


def write_item(
    base: Path, item: str = "ABCD1234", texts: tuple[Any, ...] = TEXTS, rows: Matrix = ROWS, **facts: Any
) -> Path:
    """One paper as papers-rag 0.3.0 caches it."""
    directory = base / "embeddings" / MODEL / item
    directory.mkdir(parents=True)
    chunks = [
        {
            "chunk_id": f"{item}/ch1/s0/p{number}",
            "text": text,
            "section": "",
            "heading": "Introduction",
            "chapter_idx": 1,
            "section_idx": 0,
            "chunk_idx": number,
        }
        for number, text in enumerate(texts)
    ]
    manifest = {"model": MODEL, "dim": rows.shape[1], "created_at": "2026-01-01T00:00:00Z", "chunks": chunks, **facts}
    (directory / "manifest.json").write_text(json.dumps(manifest))
    (directory / "embeddings.bin").write_bytes(rows.astype("<f4").tobytes())
    return directory


def tree(base: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(base)): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(base.rglob("*"))
    }


def opened(base: Path, model: str = "ollama:embeddinggemma", dim: int = DIM) -> PapersCache:
    return PapersCache(base, model=model, dim=dim)


def test_a_text_is_found_in_any_item_as_a_unit_vector(tmp_path: Path) -> None:
    write_item(tmp_path)
    write_item(tmp_path, "WXYZ5678", ("Elsewhere.",), ROWS[2:])
    cache = opened(tmp_path)
    found = [cache.find(text) for text in (*TEXTS, "Elsewhere.")]
    assert [row.tolist() for row in found if row is not None] == [*(ROWS / 2).tolist(), (ROWS[2] / 2).tolist()]
    assert cache.find("Spins are measured\n  far apart. ") is not None
    assert cache.find("Spins are measured far apart!") is None
    assert cache.find("") is None


@pytest.mark.parametrize(
    "name",
    [
        "embedding-gemma-300m",
        "ollama:embeddinggemma",
        "ollama:embeddinggemma:300m",
        "openai:google/embeddinggemma-300m",
        "openai:google/embeddinggemma-300m+512t+0123abcd",
        "openai:text-embedding-embeddinggemma-300m",
        "openai:ggml-org/embeddinggemma-300M-GGUF",
        "onnx:embeddinggemma-300m-0123456789ab",
        "onnx:embeddinggemma-300m-ONNX-0123456789ab",
    ],
)
def test_the_model_of_papers_rag_is_recognised_by_its_other_names(name: str) -> None:
    assert same_model(name, MODEL)


@pytest.mark.parametrize(
    "name",
    [
        "granite-embedding-30m-english",
        "ollama:nomic-embed-text",
        "ollama:embeddinggemma:300m-qat-q4_0",
        "",
        "onnx:",
        "/",
    ],
)
def test_another_model_is_another(name: str, tmp_path: Path) -> None:
    assert not same_model(name, MODEL)
    write_item(tmp_path)
    assert opened(tmp_path, model=name).find(TEXTS[0]) is None


def test_vectors_of_another_dimension_are_not_used(tmp_path: Path) -> None:
    write_item(tmp_path)
    assert opened(tmp_path, dim=4).find(TEXTS[0]) is None


@pytest.mark.parametrize(
    "facts",
    [
        {"model": "another"},
        {"model": None},
        {"dim": 4},
        {"dim": "8"},
        {"dim": 10**30},
        {"chunks": None},
        {"chunks": []},
        {"chunks": [{}] * 3},
        {"chunks": [{"text": 7}] * 3},
        {"chunks": [{"text": text} for text in TEXTS[:2]]},
        {"chunks": ["text"] * 3},
    ],
    ids=lambda facts: str(facts)[:40],
)
def test_an_entry_that_does_not_hold_together_costs_only_itself(tmp_path: Path, facts: dict[str, Any]) -> None:
    write_item(tmp_path, "BAD", **facts)
    write_item(tmp_path, "GOOD", ("Elsewhere.",), ROWS[:1])
    cache = opened(tmp_path)
    assert (cache.find(TEXTS[0]), cache.find("Elsewhere.") is not None) == (None, True)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"[" * 100_000, b"\xff\xfe"])
def test_a_manifest_that_is_none_costs_only_itself(tmp_path: Path, content: bytes) -> None:
    (write_item(tmp_path, "BAD") / "manifest.json").write_bytes(content)
    write_item(tmp_path, "GOOD", ("Elsewhere.",), ROWS[:1])
    cache = opened(tmp_path)
    assert (cache.find(TEXTS[0]), cache.find("Elsewhere.") is not None) == (None, True)


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_a_row_without_a_direction_is_not_used_and_its_neighbours_are(tmp_path: Path, value: float) -> None:
    rows = ROWS.copy()
    rows[1] = value
    write_item(tmp_path, rows=rows)
    cache = opened(tmp_path)
    assert [cache.find(text) is not None for text in TEXTS] == [True, False, True]


@pytest.mark.parametrize("name", ["manifest.json", "embeddings.bin", "."])
def test_links_and_pipes_are_not_followed(tmp_path: Path, name: str) -> None:
    linked, piped = write_item(tmp_path, "LINK"), write_item(tmp_path, "PIPE")
    (linked / name).resolve().rename(tmp_path / "elsewhere")
    (linked / name if name != "." else linked).symlink_to(tmp_path / "elsewhere")
    for path in (piped / "manifest.json", piped / "embeddings.bin"):
        path.unlink()
        os.mkfifo(path)
    assert opened(tmp_path).find(TEXTS[0]) is None


def test_files_without_end_are_not_read(tmp_path: Path) -> None:
    for name in ("manifest.json", "embeddings.bin"):
        with (write_item(tmp_path, name) / name).open("r+b") as file:
            file.truncate(10**12)
    assert opened(tmp_path).find(TEXTS[0]) is None


def test_rows_that_vanish_after_the_cache_was_opened_are_missing_and_no_error(tmp_path: Path) -> None:
    item = write_item(tmp_path)
    cache = opened(tmp_path)
    assert cache.find(TEXTS[2]) is not None
    (item / "embeddings.bin").write_bytes(b"\0" * 10)
    assert [cache.find(text) for text in TEXTS] == [None, None, None]
    (item / "embeddings.bin").unlink()
    assert cache.find(TEXTS[2]) is None


def test_a_cache_that_is_not_there_lends_nothing(tmp_path: Path) -> None:
    assert opened(tmp_path / "nowhere").find(TEXTS[0]) is None
    (tmp_path / "embeddings").write_text("a file")
    assert opened(tmp_path).find(TEXTS[0]) is None


class Gemma(HashedWords):
    """Stands for EmbeddingGemma, and knows what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__(dim=DIM)
        self.name = "ollama:embeddinggemma"
        self.embedded: list[str] = []

    def embed_passages(self, texts: Any) -> Matrix:
        self.embedded += texts
        return super().embed_passages(texts)


PAPER = """# A paper

## Introduction

Hidden variables are ruled out.

## Results

Nothing of this was embedded before.
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("PAPERS_EMBED_CACHE_DIR", str(tmp_path / "papers"))
    (tmp_path / "paper.md").write_text(PAPER)
    sizes = {"chunking.min_tokens": 1, "chunking.target_tokens": 1}
    return Library.init(tmp_path / "library", embedder=Gemma(), overrides=sizes)


def test_a_library_takes_the_rows_it_can_use_and_embeds_the_rest_and_writes_nothing_there(
    library: Library, tmp_path: Path
) -> None:
    item = write_item(tmp_path / "papers")
    before = tree(tmp_path / "papers")
    for path in (item / "manifest.json", item / "embeddings.bin", item):
        path.chmod(path.stat().st_mode & ~0o222)
    with library:
        library.add(tmp_path / "paper.md")
        assert library.embedder.embedded == ["A paper — Results Nothing of this was embedded before."]  # type: ignore[attr-defined]
        (entry,) = library.cached()
        assert (entry.paper_id, entry.rows) == ("paper", 2)
        lent = library.stores.cache.load("paper").values()
        assert (ROWS[0] / 2).tolist() in [row.tolist() for row in lent]
        library.build_index(force=True)
        assert len(library.embedder.embedded) == 3  # type: ignore[attr-defined]
    item.chmod(0o755)
    assert tree(tmp_path / "papers") == before


def test_a_librarys_own_config_leads_to_no_cache_outside_of_it(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_item(tmp_path / "papers")
    config = library.layout.config
    (tmp_path / "library" / "linked").symlink_to(tmp_path / "papers")
    config.write_text('[ingest]\npapers_embed_cache = "linked"\n')
    monkeypatch.delenv("PAPERS_EMBED_CACHE_DIR")
    with Library.open(tmp_path / "library", embedder=Gemma()) as confined:
        assert confined.settings.ingest.papers_embed_cache == "linked"
        assert confined._lender is None
    overrides = {"ingest.papers_embed_cache": "linked"}
    with Library.open(tmp_path / "library", embedder=Gemma(), overrides=overrides) as own:
        assert own._lender is not None
        assert own._lender.find(TEXTS[0]) is not None
