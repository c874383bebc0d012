"""The embedding cache of papers-rag, read where it lies. Nothing is ever written there, and nothing in it trusted.

{base}/embeddings/{model}/{item}/manifest.json     model, dim, each row's text
{base}/embeddings/{model}/{item}/embeddings.bin    row i at i * dim * 4, little-endian float32
"""

from __future__ import annotations

import hashlib
import logging
import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from carrel.embedders.cache import BAD, ROWS, read_manifest
from carrel.telemetry import log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from carrel.types import Vector

_ALSO_CALLED = {
    "embeddinggemma": "embeddinggemma300m",
    "embeddinggemma300monnx": "embeddinggemma300m",
    "embeddinggemma300mgguf": "embeddinggemma300m",
    "textembeddingembeddinggemma300m": "embeddinggemma300m",
}
"""Names that Ollama, Hugging Face and LM Studio have for the model that papers-rag calls embedding-gemma-300m."""
_SERVED = re.compile(r"(?:onnx|ollama|openai):(?:.*/)?(.*?)(?:-[0-9a-f]{12})?(?:\+.*)?", re.DOTALL)
"""Of an embedder's name, the model's between the kind of server and the marks behind it."""


class _Place(NamedTuple):
    file: Path
    row: int


class PapersCache:
    """Lends the vector of a text that papers-rag has embedded by the same model.

    Which paper a text belongs to does not matter: papers-rag files by Zotero's key, and embeds nothing but the text.
    """

    def __init__(self, base: Path, *, model: str, dim: int) -> None:
        self._root = base / "embeddings"
        self._model = model
        self._dim = dim

    def find(self, text: str) -> Vector | None:
        place = self._places.get(_digest(text))
        return self._read(place) if place else None

    @cached_property
    def _places(self) -> dict[bytes, _Place]:
        """Where the row of each text is, by a digest of it."""
        places: dict[bytes, _Place] = {}
        for item in self._items():
            for row, text in enumerate(self._texts(item)):
                places.setdefault(_digest(text), _Place(item / ROWS, row))
        log("papers_cache", logging.DEBUG, "opened", root=str(self._root), rows=len(places))
        return places

    def _items(self) -> Iterator[Path]:
        for folder in _folders(self._root):
            if same_model(folder.name, self._model):
                yield from _folders(folder)

    def _texts(self, item: Path) -> list[str]:
        try:
            manifest = read_manifest(item)
            texts = [chunk["text"] for chunk in manifest["chunks"]]
            size = (item / ROWS).lstat().st_size
            if not same_model(str(manifest["model"]), self._model) or manifest["dim"] != self._dim:
                raise ValueError(f"of the model {manifest['model']!r} with {manifest['dim']!r} dimensions")
            if size != len(texts) * self._dim * 4 or not all(isinstance(text, str) for text in texts):
                raise ValueError(f"{len(texts)} rows in {size} bytes")
        except BAD as error:
            log("papers_cache", logging.INFO, "entry not used", item=item.name, reason=str(error)[:200])
            return []
        return texts

    def _read(self, place: _Place) -> Vector | None:
        size = self._dim * 4
        try:
            # A link may lead to what has no end, or must not be read.
            if place.file.is_symlink() or not place.file.is_file():
                return None
            with place.file.open("rb") as file:
                file.seek(place.row * size)
                content = file.read(size)
        except OSError:
            return None
        row = np.frombuffer(content, dtype="<f4").astype(np.float64) if len(content) == size else np.zeros(self._dim)
        length = np.linalg.norm(row)
        return (row / length).astype(np.float32) if np.isfinite(length) and length > 0 else None


def same_model(one: str, other: str) -> bool:
    """Whether two names mean one model, whoever serves it."""
    return _plain(one) == _plain(other)


def _plain(name: str) -> str:
    served = _SERVED.fullmatch(name.lower())
    plain = re.sub(r"[^a-z0-9]", "", served[1] if served else name.lower())
    return _ALSO_CALLED.get(plain, plain)


def _digest(text: str) -> bytes:
    """White space aside, of which papers-rag keeps none but single blanks."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "replace")).digest()


def _folders(directory: Path) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        return []
