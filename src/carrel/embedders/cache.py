"""Vectors that were computed once are never computed again while their text stands.

{root}/{model}/{paper}/manifest.json     model, dim, each row's chunk and text hash, and a sha256 over both files
{root}/{model}/{paper}/embeddings.bin    row i at i * dim * 4, little-endian float32

New rows wait beside the old under a name of their own until the manifest speaks of them, so that at every moment the
manifest has the rows it speaks of. What does not fit its manifest is treated as absent.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import numpy as np

from carrel.errors import DimensionMismatchError, InvalidInput
from carrel.files import write_atomically, writing
from carrel.telemetry import log

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from carrel.types import Chunk, Matrix, Vector

MANIFEST = "manifest.json"
ROWS = "embeddings.bin"
LARGEST_MANIFEST = 64_000_000
BAD = (OSError, ValueError, KeyError, TypeError, RecursionError)
"""What reading a manifest that is none may raise."""
_LONGEST_NAME = 120
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Lender(Protocol):
    """Another cache, which is only read."""

    def find(self, text: str) -> Vector | None:
        """The unit vector of a text, if it has one."""
        ...


class EmbeddingCache:
    def __init__(self, root: Path, *, model: str, dim: int, lender: Lender | None = None) -> None:
        self._root = root
        self._model = model
        self._dim = dim
        self._lender = lender

    def recall(self, paper_id: str, chunks: Sequence[Chunk]) -> dict[str, Vector]:
        """The rows of these chunks that need not be computed, by the hash of their text. What is lent is kept."""
        kept = self.load(paper_id)
        lent = self._borrow([chunk for chunk in chunks if chunk.text_hash not in kept])
        known = kept | lent
        found = [chunk for chunk in chunks if chunk.text_hash in known]
        if lent:
            self.save(paper_id, found, np.stack([known[chunk.text_hash] for chunk in found]))
        log(
            "embedding_cache", logging.DEBUG, "recalled", paper_id=paper_id, kept=len(found) - len(lent), lent=len(lent)
        )
        return known

    def load(self, paper_id: str) -> dict[str, Vector]:
        """Every vector kept of a paper, by the hash of its text."""
        directory = self._directory(paper_id)
        try:
            manifest = read_manifest(directory)
            rows = self._rows(directory, manifest, paper_id)
            return {chunk["text_hash"]: row for chunk, row in zip(manifest["chunks"], rows, strict=True)}
        except FileNotFoundError:
            return {}
        except BAD:
            log(
                "embedding_cache",
                logging.WARNING,
                "cache entry does not fit its manifest; embedding anew",
                paper_id=paper_id,
            )
            return {}

    def save(self, paper_id: str, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        """Keep exactly these rows of a paper."""
        self._check(chunks, vectors)
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
        directory = self._directory(paper_id)
        _make(directory)
        waiting = directory / _waiting(manifest)
        write_atomically(waiting, content, durable=False)
        write_atomically(directory / MANIFEST, json.dumps(manifest, ensure_ascii=False).encode(), durable=False)
        with writing(directory):
            waiting.replace(directory / ROWS)
            _sweep(directory, keep={MANIFEST, ROWS})

    def delete(self, paper_id: str) -> None:
        shutil.rmtree(self._directory(paper_id), ignore_errors=True)

    def _borrow(self, chunks: Sequence[Chunk]) -> dict[str, Vector]:
        """A row of the text as it would be embedded, or else of the bare text, without the headings before it."""
        if self._lender is None:
            return {}
        find = self._lender.find
        rows = {chunk.text_hash: (find(chunk.embedded_text), find(chunk.text)) for chunk in chunks}
        return {text_hash: row for text_hash, found in rows.items() for row in found[::-1] if row is not None}

    def _rows(self, directory: Path, manifest: dict[str, Any], paper_id: str) -> Matrix:
        named = (manifest["paper_id"], manifest["model"], manifest["dim"])
        if named != (paper_id, self._model, self._dim) or not _SHA256.fullmatch(manifest["sha256"]):
            raise ValueError("the manifest of something else")
        # A save that was stopped after its last but one step has its rows under the name they waited by.
        for path in (directory / ROWS, directory / _waiting(manifest)):
            if _size(path) == len(manifest["chunks"]) * self._dim * 4:
                content = path.read_bytes()
                rows: Matrix = np.frombuffer(content, dtype="<f4").reshape(-1, self._dim)
                if manifest["sha256"] == _seal(content, manifest["chunks"]) and np.isfinite(rows).all():
                    return rows
        raise ValueError("no rows that fit")

    def _check(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        if len(chunks) != len(vectors):
            raise InvalidInput(
                f"chunk count mismatch: manifest has {len(chunks)} chunks but {len(vectors)} embeddings provided"
            )
        if vectors.shape[1:] != (self._dim,):
            got = vectors.shape[1] if vectors.ndim == 2 else vectors.shape[1:]
            raise DimensionMismatchError(f"dimension mismatch at chunk 0: expected {self._dim}, got {got}")

    def _directory(self, paper_id: str) -> Path:
        return self._root / file_name(self._model) / file_name(paper_id)


def read_manifest(directory: Path) -> dict[str, Any]:
    """Raises one of `BAD` when it is not one; a link, a pipe or a file without end is none."""
    path = directory / MANIFEST
    size = _size(path)
    if size is None and not path.exists():
        raise FileNotFoundError(path)
    if size is None or size > LARGEST_MANIFEST:
        raise ValueError(f"no plain file of at most {LARGEST_MANIFEST:,} bytes")
    manifest: dict[str, Any] = json.loads(path.read_bytes())
    return manifest


def file_name(text: str) -> str:
    """A name that any file system takes, readable where it can be, distinct where texts are."""
    name = quote(text, safe=" +,;=@()[]")
    if 0 < len(name) <= _LONGEST_NAME and not name.startswith("."):
        return name
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{name[: _LONGEST_NAME - 17].strip('.')}-{digest}"


def _seal(content: bytes, listed: object) -> str:
    """Of the matrix and of what its rows are said to be."""
    return hashlib.sha256(content + json.dumps(listed).encode()).hexdigest()


def _waiting(manifest: dict[str, Any]) -> str:
    return f"embeddings-{manifest['sha256'][:16]}.bin"


def _size(path: Path) -> int | None:
    """Of a plain file; nothing else is opened."""
    return path.stat().st_size if path.is_file() and not path.is_symlink() else None


def _make(directory: Path) -> None:
    """A directory to save in, without anything that is in the way."""
    with writing(directory):
        if directory.is_symlink() or not directory.is_dir():
            _remove(directory)
        directory.mkdir(parents=True, exist_ok=True)
        _sweep(directory, keep={path.name for path in directory.iterdir() if _size(path) is not None})


def _remove(path: Path) -> None:
    """A link is removed, not what it leads to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _sweep(directory: Path, *, keep: Collection[str]) -> None:
    for path in directory.iterdir():
        if path.name not in keep:
            _remove(path)
