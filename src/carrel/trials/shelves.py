"""Libraries made to be measured: a collection's documents are their papers."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel import health, layout, locking, settings
from carrel.chunking import digest
from carrel.files import write_atomically, writing
from carrel.identifiers import slug
from carrel.ingest import entries, indexing
from carrel.library import Library
from carrel.references import jsonl
from carrel.stores import fits
from carrel.trials.remembering import Remembering, forget, remembering

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from carrel.types import Problem, Progress, Reference

_ALWAYS = {"history.enabled": False, "catalog": "sqlite"}
"""Questions that nobody asked are not remembered, and the papers never become those of a library on a server."""
_INDEX = ("embedder", "vectors", "keywords", "graph", "concepts.", "models.", "chunking.")
"""Settings that an index depends on, or how they begin."""


@contextmanager
def folder(work: Path | None) -> Iterator[Path]:
    """The user's folder, or one that is gone afterwards, however this ends."""
    if work is None:
        with tempfile.TemporaryDirectory(prefix="carrel-eval-") as scratch:
            yield Path(scratch)
    else:
        with writing(work):
            work.mkdir(parents=True, exist_ok=True)
        yield work


@dataclass
class Shelf:
    """The libraries of one collection: for each index that the settings ask for one, opened in several ways."""

    folder: Path
    settings: Mapping[str, Any]
    opened: ExitStack
    """Closes them."""
    _first: dict[Path, Library] = field(default_factory=dict)

    def library(self, changed: Mapping[str, Any]) -> Library:
        """As the settings make it, with these changed."""
        overrides = {**self.settings, **changed, **_ALWAYS}
        home = self.folder / _name(settings.load(flags=overrides)[0])
        if home not in self._first:
            self._first[home] = self.opened.enter_context(_made(home, overrides))
        first = self._first[home]
        library = Library(first.layout, overrides=overrides, embedder=first.embedder)
        library.stores = first.stores
        return library

    def fill(self, documents: Sequence[Reference], progress: Progress | None = None) -> Iterator[tuple[str, Problem]]:
        """Index the documents for all libraries. Gives each that an embedder refused, after the embedder's name."""
        for library in self._first.values():
            yield from ((library.embedder.name, problem) for problem in fill(library, documents, progress))

    def forget(self) -> None:
        for library in self._first.values():
            forget(library.stores)


def _name(chosen: settings.Settings) -> str:
    """Of an index: what asks for another has another name."""
    told = {one.key: one.value for one in settings.listing(chosen, {}) if one.key.startswith(_INDEX)}
    return f"{slug(chosen.embedder)[:40]}-{digest(sorted(told.items()))[:8]}"


def _made(home: Path, overrides: Mapping[str, Any]) -> Library:
    place = layout.Layout(home / ".carrel")
    library = Library(place if place.config.exists() else layout.create(home), overrides=overrides)
    library.embedder = Remembering(library.embedder)
    library.stores = remembering(library.stores)
    return library


def fill(library: Library, documents: Sequence[Reference], progress: Progress | None) -> Sequence[Problem]:
    """Make these documents the library's papers; what it has of them already is left.

    Not by `add`, which would look at the files beside them and make one paper of several.
    """
    stores, chosen = library.stores, library.settings
    with locking.held(library.layout.lock, timeout=chosen.lock_timeout, progress=progress):
        lines = [*map(jsonl.dump, documents), ""]
        write_atomically(library.layout.refs, "\n".join(lines).encode())
        with health.taking_in(library.layout):
            changed = entries.put_references(documents, stores, complete=True, progress=progress)
        lacks_graph = stores.extractor is not None and not stores.graph.papers()
        if changed or not fits(stores) or not stores.keywords.count() or lacks_graph:
            # Made anew from the cache: what was replaced would still count in BM25 for a while, and an index that an
            # older version of this program has left is not there for this one.
            indexing.start_over(stores)
        return indexing.settle(stores, batch=chosen.ingest.batch_characters, progress=progress).failed
