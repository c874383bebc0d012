"""From the catalog into every index."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from carrel.chunking import SHORTEST_ABSTRACT, is_embeddable
from carrel.errors import InvalidInput
from carrel.ingest import batches
from carrel.telemetry import log
from carrel.types import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from carrel.embedders import Embedder
    from carrel.embedders.cache import EmbeddingCache
    from carrel.stores import Stores
    from carrel.types import Chunk, Matrix, Progress, Reference

_AT_ONCE = 64
"""Chunks embedded between two words of progress."""
_LINE = 100


def settle(stores: Stores, *, batch: int, progress: Progress | None = None, fresh: bool = False) -> int:
    """Bring every index to what the catalog says; returns how many chunks had to be embedded."""
    if stores.vectors.model != stores.embedder.name:
        raise InvalidInput(
            f"the index holds vectors of {stores.vectors.model!r}, the settings ask for {stores.embedder.name!r}",
            hint="Run 'carrel index build' to embed everything with the new model.",
        )
    left = stores.catalog.unfinished()
    _finish_removal(left.retired, stores)
    embedded, done, total = 0, 0, sum(left.pending.values())
    for paper_ids in _by_size(left.pending, batch):
        tell = _teller(progress, done, total)
        embedded += _index(paper_ids, stores, tell=tell, fresh=fresh)
        size = sum(left.pending[paper_id] for paper_id in paper_ids)
        tell(size)
        done += size
    return embedded


def has_meaning(reference: Reference, parts: Collection[Part]) -> bool:
    """Whether a paper has any text to be found by."""
    return Part.BODY in parts or len(reference.abstract.strip()) >= SHORTEST_ABSTRACT


def start_over(stores: Stores) -> None:
    """Forget the indexes: everything is to be made again, by the embedder that the settings name."""
    stores.vectors.clear(model=stores.embedder.name, dim=stores.embedder.dim)
    stores.keywords.clear()
    stores.graph.clear()
    stores.catalog.reopen()


def _finish_removal(paper_ids: Sequence[str], stores: Stores) -> None:
    if not paper_ids:
        return
    stores.vectors.delete(paper_ids)
    stores.keywords.delete(paper_ids)
    stores.graph.delete(paper_ids)
    for paper_id in paper_ids:
        stores.cache.delete(paper_id)
    stores.catalog.remove(paper_ids)


def _index(paper_ids: Sequence[str], stores: Stores, *, tell: Callable[[int], None], fresh: bool) -> int:
    """Put some papers into every index, then declare them active."""
    chunks = stores.catalog.chunks_of(paper_ids)
    embeddable = [chunk for chunk in chunks if is_embeddable(chunk)]
    vectors, embedded = embed(embeddable, stores.embedder, stores.cache, tell=tell, fresh=fresh)
    stores.vectors.put(embeddable, vectors)
    stores.vectors.delete(set(paper_ids) - {chunk.paper_id for chunk in embeddable})
    stores.keywords.put(chunks)
    stores.keywords.delete(set(paper_ids) - {chunk.paper_id for chunk in chunks})
    stores.catalog.activate(paper_ids)
    log("ingest", logging.INFO, "indexed", papers=len(paper_ids), chunks=len(chunks), embedded=embedded)
    return embedded


def embed(
    chunks: Sequence[Chunk],
    embedder: Embedder,
    cache: EmbeddingCache,
    *,
    tell: Callable[[int], None] = lambda _: None,
    fresh: bool = False,
) -> tuple[Matrix, int]:
    """A row for each chunk, computed only where the cache has none, and how many were computed."""
    by_paper: dict[str, list[int]] = {}
    for position, chunk in enumerate(chunks):
        by_paper.setdefault(chunk.paper_id, []).append(position)
    vectors = np.zeros((len(chunks), embedder.dim), dtype=np.float32)
    known = set() if fresh else _recall(chunks, by_paper, cache, vectors)
    # By length, so that the model works on texts of one size at a time.
    missing = sorted(set(range(len(chunks))) - known, key=lambda position: len(chunks[position].text))
    characters = 0
    for some in batches(missing, _AT_ONCE):
        vectors[some] = embedder.embed_passages([chunks[position].embedded_text for position in some])
        characters += sum(len(chunks[position].text) for position in some)
        tell(characters)
    for paper_id in dict.fromkeys(chunks[position].paper_id for position in missing):
        positions = by_paper[paper_id]
        cache.save(paper_id, [chunks[position] for position in positions], vectors[positions])
    return vectors, len(missing)


def _recall(
    chunks: Sequence[Chunk], by_paper: Mapping[str, Sequence[int]], cache: EmbeddingCache, vectors: Matrix
) -> set[int]:
    """Fill in the rows that the cache has; returns which."""
    known: set[int] = set()
    for paper_id, positions in by_paper.items():
        kept = cache.load(paper_id)
        for position in positions:
            row = kept.get(chunks[position].text_hash)
            if row is not None:
                vectors[position] = row
                known.add(position)
    return known


def _by_size(sizes: Mapping[str, int], most: int) -> Iterator[list[str]]:
    """Papers in groups of about so many characters; one without text counts as a line."""
    group: list[str] = []
    gathered = 0
    for paper_id, size in sizes.items():
        group.append(paper_id)
        gathered += max(size, _LINE)
        if gathered >= most:
            yield group
            group, gathered = [], 0
    if group:
        yield group


def _teller(progress: Progress | None, before: int, total: int) -> Callable[[int], None]:
    def tell(characters: int) -> None:
        if progress:
            progress("indexing", before + characters, total)

    return tell
