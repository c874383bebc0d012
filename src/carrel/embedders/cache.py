"""Vectors that were computed once are never computed again while their text stands.

{root}/{model}/{paper}/manifest.json     model, dim, each row's chunk and text hash, and a sha256 over both files
{root}/{model}/{paper}/embeddings.bin    row i at i * dim * 4, little-endian float32

Both files of a paper appear in one step. What does not fit its manifest is treated as absent.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from carrel.files import new_directory
from carrel.telemetry import log

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from carrel.types import Chunk, Matrix, Vector

_LONGEST_NAME = 120


class EmbeddingCache:
    def __init__(self, root: Path, *, model: str, dim: int) -> None:
        self._root = root
        self._model = model
        self._dim = dim

    def load(self, paper_id: str) -> dict[str, Vector]:
        """Every vector kept of a paper, by the hash of its text."""
        directory = self._directory(paper_id)
        try:
            manifest = json.loads((directory / "manifest.json").read_bytes())
            content = (directory / "embeddings.bin").read_bytes()
            if self._fits(manifest, paper_id, content):
                rows = np.frombuffer(content, dtype="<f4").reshape(-1, self._dim)
                return {chunk["text_hash"]: row for chunk, row in zip(manifest["chunks"], rows, strict=True)}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            pass
        log(
            "embedding_cache",
            logging.WARNING,
            "cache entry does not fit its manifest; embedding anew",
            paper_id=paper_id,
        )
        return {}

    def save(self, paper_id: str, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        """Keep exactly these rows of a paper."""
        content = np.ascontiguousarray(vectors, dtype="<f4").tobytes()
        listed = [{"chunk_id": chunk.address, "text_hash": chunk.text_hash} for chunk in chunks]
        manifest = {
            "paper_id": paper_id,
            "model": self._model,
            "dim": self._dim,
            "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "sha256": _seal(content, listed),
            "chunks": listed,
        }
        with new_directory(self._directory(paper_id)) as directory:
            (directory / "embeddings.bin").write_bytes(content)
            (directory / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False), encoding="utf-8")

    def delete(self, paper_id: str) -> None:
        shutil.rmtree(self._directory(paper_id), ignore_errors=True)

    def _fits(self, manifest: dict[str, object], paper_id: str, content: bytes) -> bool:
        named = (manifest["paper_id"], manifest["model"], manifest["dim"])
        return named == (paper_id, self._model, self._dim) and manifest["sha256"] == _seal(content, manifest["chunks"])

    def _directory(self, paper_id: str) -> Path:
        return self._root / file_name(self._model) / file_name(paper_id)


def _seal(content: bytes, listed: object) -> str:
    """Of the matrix and of what its rows are said to be."""
    return hashlib.sha256(content + json.dumps(listed).encode()).hexdigest()


def file_name(text: str) -> str:
    """A name that any file system takes, readable where it can be, distinct where texts are."""
    name = quote(text, safe=" +,;=@()[]")
    if 0 < len(name) <= _LONGEST_NAME and not name.startswith("."):
        return name
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{name[: _LONGEST_NAME - 17].strip('.')}-{digest}"
