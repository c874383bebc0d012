"""What is in the embedding cache, whichever models and papers it is of; and taking it out.

A library may come from somebody else, and its cache may be a link to anywhere: only files of a cache are ever removed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from carrel.embedders.cache import BAD, file_name, read_manifest
from carrel.errors import NotFound
from carrel.files import writing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_OURS = re.compile(r"\.?(?:manifest\.json|embeddings(?:-[0-9a-f]{16})?\.bin)(?:\.[0-9a-f]{12})?")
_NAMED = 10
"""How many models or papers a hint names."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept of one paper for one model."""

    model: str
    paper_id: str
    rows: int
    size: int
    created_at: str
    damaged: bool
    """Its rows cannot be used, and will be computed anew when they are needed."""
    directory: Path

    def as_dict(self) -> dict[str, object]:
        return {
            "model": self.model,
            "paper_id": self.paper_id,
            "rows": self.rows,
            "size_bytes": self.size,
            "created_at": self.created_at,
            "damaged": self.damaged,
        }


def entries(root: Path, *, model: str = "", paper_id: str = "") -> list[Entry]:
    """All of a cache, or that of one model, of one paper, or of both."""
    found = [_entry(directory) for shelf in _folders(root) for directory in _folders(shelf) if _files(directory)]
    if model:
        found = _of(found, "model", model, [entry.model for entry in found])
    if paper_id:
        found = _of(found, "paper", paper_id, [entry.paper_id for entry in found])
    return found


def clear(root: Path, *, model: str = "", paper_id: str = "") -> list[Entry]:
    """Remove what `entries` names; returns it."""
    gone = entries(root, model=model, paper_id=paper_id)
    with writing(root):
        for entry in gone:
            for path in _files(entry.directory):
                path.unlink(missing_ok=True)
            for folder in (entry.directory, entry.directory.parent):
                if not any(folder.iterdir()):
                    folder.rmdir()
    return gone


def _of(found: Sequence[Entry], kind: str, wanted: str, names: Sequence[str]) -> list[Entry]:
    chosen = [entry for entry, name in zip(found, names, strict=True) if name == wanted]
    if not chosen:
        raise NotFound(f"no embeddings of the {kind} {wanted!r} in the cache", hint=_there_are(kind, names))
    return chosen


def _there_are(kind: str, names: Iterable[str]) -> str:
    distinct = sorted(set(names))
    more = f" and {len(distinct) - _NAMED} more" if len(distinct) > _NAMED else ""
    named = ", ".join(map(repr, distinct[:_NAMED]))
    return f"There are embeddings of the {kind}s {named}{more}." if distinct else "The cache is empty."


def _folders(directory: Path) -> list[Path]:
    """In order of name; links are none."""
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if path.is_dir() and not path.is_symlink())


def _files(directory: Path) -> list[Path]:
    """Those of an entry, and what an interrupted save has left. Others have a manifest.json, too, but not with rows."""
    ours = [path for path in directory.iterdir() if _OURS.fullmatch(path.name) and path.is_file()]
    return ours if any("embeddings" in path.name for path in ours) else []


def _entry(directory: Path) -> Entry:
    model, paper_id = unquote(directory.parent.name), unquote(directory.name)
    rows, created_at, damaged = 0, "", True
    try:
        manifest = read_manifest(directory)
        named = (str(manifest["model"]), str(manifest["paper_id"]))
        if tuple(map(file_name, named)) == (directory.parent.name, directory.name):
            model, paper_id = named
            rows, created_at = len(manifest["chunks"]), str(manifest["created_at"])
            sizes = {path.stat().st_size for path in directory.glob("embeddings*.bin")}
            damaged = rows * manifest["dim"] * 4 not in sizes
    except BAD:
        pass
    size = sum(path.lstat().st_size for path in _files(directory))
    return Entry(model, paper_id, rows, size, created_at, damaged, directory)
