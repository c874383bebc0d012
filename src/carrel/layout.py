"""Where a library keeps its things.

.carrel/refs.jsonl       the references: the truth, for git to keep
.carrel/config.toml      settings of this library
.carrel/carrel.db        the catalog and the history
.carrel/cache/           everything derived, safe to delete

An existing .bipartite/ directory is used as it is; what is Carrel's own goes under .bipartite/carrel/.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from carrel.errors import InvalidInput, LibraryNotFound
from carrel.files import write_atomically, writing

if TYPE_CHECKING:
    from pathlib import Path

_OURS = ".carrel"
_BIPARTITE = ".bipartite"
_IGNORED = "# Derived or private: not for git.\ncache/\ncarrel.db*\nwrite.lock\njobs.db*\nuploads/\nworkers/\naudit.*\n"


@dataclass(frozen=True, slots=True)
class Layout:
    root: Path
    """The library's directory: `.carrel` or `.bipartite`."""

    @property
    def home(self) -> Path:
        return self.root / "carrel" if self.root.name == _BIPARTITE else self.root

    @property
    def refs(self) -> Path:
        return self.root / "refs.jsonl"

    @property
    def config(self) -> Path:
        return self.home / "config.toml"

    @property
    def database(self) -> Path:
        return self.home / "carrel.db"

    @property
    def cache(self) -> Path:
        return self.home / "cache"

    @property
    def embeddings(self) -> Path:
        return self.cache / "embeddings"

    @property
    def images(self) -> Path:
        """Of the pictures that came inside papers' files."""
        return self.cache / "images"

    @property
    def pages(self) -> Path:
        """Of the pictures of papers' pages."""
        return self.cache / "pages"

    @property
    def audit(self) -> Path:
        """Who changed what through the service, and who was turned away."""
        return self.home / "audit.jsonl"

    @property
    def lock(self) -> Path:
        return self.home / "write.lock"

    @property
    def jobs(self) -> Path:
        """How far the documents are that the service takes in; it can be made anew from the catalog."""
        return self.home / "jobs.db"

    @property
    def uploads(self) -> Path:
        """Of the documents that were handed to the service, or fetched by it."""
        return self.home / "uploads"

    @property
    def workers(self) -> Path:
        """A file for each process that takes documents in, locked for as long as it lives."""
        return self.home / "workers"

    @property
    def namespace(self) -> str:
        """What the library is called on a server that keeps several: its folder's name, and a mark of the path."""
        folder = self.root.parent.resolve()
        name = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in folder.name.lower())
        return f"{name[:30]}_{blake2b(os.fsencode(folder), digest_size=4).hexdigest()}"

    def folder(self, named: str, *, confined: bool) -> Path | None:
        """The folder that a setting names, from the library's own on; `confined`, only one that lies in it."""
        own = self.root.parent
        try:
            chosen = own / os.path.expanduser(named)  # noqa: PTH111
            inside = chosen.resolve().is_relative_to(own.resolve())
        except (OSError, RuntimeError, ValueError):
            # A name that no file can have, or links in a circle.
            return None
        return chosen if named and (inside or not confined) else None

    def relative(self, path: Path) -> str:
        """A path as it is remembered: from the library's folder on, when it lies there, so that both can move.

        Uploads lie there wherever a link leads: each machine has its own way to where they are kept.
        """
        absolute, folder, uploads = path.resolve(), self.root.parent.resolve(), self.uploads.resolve()
        if absolute.is_relative_to(uploads):
            return str(self.uploads.relative_to(self.root.parent) / absolute.relative_to(uploads))
        return str(absolute.relative_to(folder)) if absolute.is_relative_to(folder) else str(absolute)


def find(start: Path) -> Layout:
    """The library that a path lies in."""
    absolute = start.absolute()
    for folder in (absolute, *absolute.parents):
        for name in (_OURS, _BIPARTITE):
            if folder.name == name and folder.is_dir():
                return Layout(folder)
            if (folder / name).is_dir():
                return Layout(folder / name)
    raise LibraryNotFound(f"no library in {str(absolute)!r} or above it", hint="Make one with 'carrel init'.")


def create(folder: Path) -> Layout:
    """Make an empty library in a folder; a .bipartite directory there becomes one."""
    bipartite = folder / _BIPARTITE
    layout = Layout(bipartite if bipartite.is_dir() else folder / _OURS)
    if layout.config.exists():
        raise InvalidInput(f"there is a library in {str(folder)!r} already", hint="Use it, or choose another folder.")
    with writing(layout.home):
        layout.home.mkdir(parents=True, exist_ok=True)
        layout.refs.touch()
    write_atomically(layout.home / ".gitignore", _IGNORED.encode())
    write_atomically(layout.config, b"# Settings of this library: `carrel config show` lists them all.\n")
    return layout
