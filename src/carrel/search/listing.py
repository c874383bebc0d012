"""Papers that a query names by their records alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from carrel.types import QUOTABLE, Chunk, ChunkKind, Fused, Hit, Part, Passage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.catalogs import Catalog
    from carrel.search.arms import Arm
    from carrel.types import Filter, Reference

_AT_ONCE = 20
"""Papers whose chunks are read together."""


def listing_arm(catalog: Catalog) -> Arm:
    """Where each paper begins, or all of a kind that is asked for; the newest papers first. Nothing is scored."""

    def find(_query: str, limit: int, where: Filter) -> list[Hit]:
        named = [row.reference for row in catalog.papers(where.paper_ids or None) if _allows(where, row.reference)]
        newest = sorted(named, key=lambda reference: (-reference.published.year, reference.id))
        hits: list[Hit] = []
        for start in range(0, len(newest), _AT_ONCE):
            batch = [reference.id for reference in newest[start : start + _AT_ONCE]]
            hits += [Hit(chunk.address, 0.0) for chunk in _chunks(batch, where, catalog)]
            if len(hits) >= limit:
                break
        return hits[:limit]

    return find


def unscored(hits: Sequence[Hit], catalog: Catalog) -> list[Passage]:
    chunks = catalog.chunks([hit.address for hit in hits])
    return [Passage(rank, chunk, 0.0, Fused(chunk.address, 0.0, {})) for rank, chunk in enumerate(chunks, start=1)]


def _allows(where: Filter, reference: Reference) -> bool:
    """Whether a filter allows a paper, as far as its record tells."""
    bare = Chunk(reference.id, reference.id, Part.ABSTRACT, ChunkKind.ABSTRACT, "", 0, 0).with_facts(reference)
    return replace(where, kinds=frozenset(), topic="", chapter=None, section=None).matches(bare)


def _chunks(paper_ids: Sequence[str], where: Filter, catalog: Catalog) -> Iterator[Chunk]:
    wanted = replace(where, kinds=where.kinds or QUOTABLE)
    by_paper = {
        paper_id: [chunk for chunk in chunks if wanted.matches(chunk)]
        for paper_id, chunks in groupby(catalog.chunks_of(paper_ids), key=lambda chunk: chunk.paper_id)
    }
    for paper_id in paper_ids:
        yield from by_paper.get(paper_id, [])[: None if where.kinds else 1]
