"""A library as its own questions see it: the same papers, without what the questions were made of, in another place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from carrel import layout, settings
from carrel.catalogs import Entry
from carrel.chunking import is_embeddable, is_searched_by_words
from carrel.errors import InvalidInput
from carrel.ingest import indexing
from carrel.library import Library
from carrel.stores import fits
from carrel.trials.remembering import Remembering, forget, remembering
from carrel.types import Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import ExitStack
    from pathlib import Path

    from carrel.embedders import Embedder
    from carrel.evaluate.questions import Removal
    from carrel.types import Chunk, Matrix, Progress, Reference

_BATCHES, _FEWEST = 50, 10
"""Papers are taken over in about so many batches, but not fewer at a time than pay."""
_NAMELESS = "—"
"""In the place of a title that was removed: without any, no record is one."""
_CARRIED = ("reranker", "rerank.", "search.", "answer.", "threads")
"""What a library's own config says of searching, or how it begins. Its stores are its own: the mirror has others."""
_APART: Mapping[str, Any] = {
    "history.enabled": False,
    "catalog": "sqlite",
    "vectors": "flat",
    "keywords": "tantivy",
    "graph": "sqlite",
}


@dataclass(frozen=True)
class Mirror:
    original: Library
    first: Library
    """Holds the index; the others search it in other ways."""
    papers: frozenset[str]

    def library(self, changed: Mapping[str, Any]) -> Library:
        """The mirror as the user's settings make it, with these changed."""
        made = _opened(self.original, self.first.layout, self.first.embedder, changed)
        made.stores = self.first.stores
        return made

    def forget(self) -> None:
        """Between two questions."""
        forget(self.first.stores)


def mirror(
    original: Library, removal: Removal, folder: Path, opened: ExitStack, progress: Progress | None = None
) -> Mirror:
    """Take over all that the original's indexes have, and embed anew only what was changed. `opened` closes it."""
    stores = original.stores
    if not fits(stores):
        raise InvalidInput(
            f"the index holds vectors of {stores.vectors.model!r}, the settings ask for {stores.embedder.name!r}",
            hint="Run 'carrel index build' first.",
        )
    target = opened.enter_context(_opened(original, layout.create(folder), Remembering(original.embedder), {}))
    rows = [row for row in stores.catalog.papers() if row.chunk_count]
    size = max(_FEWEST, len(rows) // _BATCHES)
    for start in range(0, len(rows), size):
        _take_over([row.reference for row in rows[start : start + size]], original, target, removal)
        if progress:
            progress("indexing without the questions' sources", min(start + size, len(rows)), len(rows))
    target.stores = remembering(target.stores)
    return Mirror(original, target, frozenset(row.reference.id for row in rows))


def _opened(original: Library, place: layout.Layout, embedder: Embedder, changed: Mapping[str, Any]) -> Library:
    overrides = {**_carried(original), **_APART, **changed}
    reranker = None if "reranker" in changed else original.reranker
    return Library(place, overrides=overrides, embedder=embedder, reranker=reranker)


def _carried(original: Library) -> dict[str, Any]:
    """What the library's config and this call have set; the user's own config and environment hold anyway."""
    ours = {str(original.layout.config), "flag"}
    told = settings.listing(original.settings, original.origins)
    return {one.key: one.value for one in told if one.origin in ours and one.key.startswith(_CARRIED)}


def _take_over(references: Sequence[Reference], original: Library, target: Library, removal: Removal) -> None:
    papers = {reference.id: _named(removal.record(reference)) for reference in references}
    before = {chunk.address: chunk for chunk in original.stores.catalog.chunks_of(list(papers))}
    chunks = [chunk.with_facts(papers[chunk.paper_id]) for chunk in removal.chunks(before.values())]
    stores = target.stores
    stores.catalog.put(list(_entries(papers, chunks)))
    meant = [chunk for chunk in chunks if is_embeddable(chunk)]
    vectors, kept = _vectors(meant, before, original, target)
    stores.vectors.put([meant[row] for row in kept], vectors[kept])
    stores.keywords.put([chunk for chunk in chunks if is_searched_by_words(chunk)])
    stores.catalog.activate(list(papers))


def _named(reference: Reference) -> Reference:
    return reference if reference.title else replace(reference, title=_NAMELESS)


def _entries(papers: Mapping[str, Reference], chunks: Sequence[Chunk]) -> Iterator[Entry]:
    by_part: dict[tuple[str, Any], list[Chunk]] = {}
    for chunk in chunks:
        by_part.setdefault((chunk.paper_id, chunk.part), []).append(chunk)
    for (paper, part), held in by_part.items():
        yield Entry(papers[paper], Document(paper, part, "", ""), tuple(held))


def _vectors(
    chunks: Sequence[Chunk], before: Mapping[str, Chunk], original: Library, target: Library
) -> tuple[Matrix, list[int]]:
    """A row for each chunk, and which rows there are: those that the embedder refuses are found by words only."""
    same = [chunk.address for chunk in chunks if chunk.text_hash == before[chunk.address].text_hash]
    known = original.stores.vectors.many(same)
    missing = [row for row, chunk in enumerate(chunks) if chunk.address not in known]
    made, _, refused = indexing.embed([chunks[row] for row in missing], target.embedder, target.stores.cache)
    vectors = np.zeros((len(chunks), target.embedder.dim), dtype=np.float32)
    for row, chunk in enumerate(chunks):
        if chunk.address in known:
            vectors[row] = known[chunk.address]
    vectors[missing] = made
    failed = {missing[number] for number in refused}
    return vectors, [row for row in range(len(chunks)) if row not in failed]
