"""The files of the page, read once: nothing that a request says becomes a path."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

_KINDS = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
    "LICENSE": "text/plain; charset=utf-8",
}
_PACKED = frozenset({"woff2"})
"""What does not become smaller."""


@dataclass(frozen=True)
class Static:
    content: bytes
    packed: bytes
    """The same, gzipped; empty where that is no gain."""
    kind: str
    etag: str


def find(name: str) -> Static | None:
    return _all().get(name)


@cache
def _all() -> dict[str, Static]:
    return dict(_inside(files("carrel") / "web"))


def _inside(folder: Traversable, before: str = "") -> Iterator[tuple[str, Static]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _inside(entry, f"{before}{entry.name}/")
        elif (suffix := entry.name.rpartition(".")[2]) in _KINDS:
            yield before + entry.name, _read(entry.read_bytes(), suffix)


def _read(content: bytes, suffix: str) -> Static:
    packed = b"" if suffix in _PACKED else gzip.compress(content, mtime=0)
    # Weak, because it is the same for both.
    etag = f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'
    return Static(content, packed, _KINDS[suffix], etag)
