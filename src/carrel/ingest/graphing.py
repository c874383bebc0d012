"""From the catalog into the graph of concepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel import concepts
from carrel.catalogs.citing import title_key
from carrel.identifiers import normalise_doi
from carrel.types import Work

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.concepts import Extractor
    from carrel.stores import Stores
    from carrel.types import Chunk, Cited, Contribution, Reference


def write(paper_ids: Sequence[str], contributions: Sequence[Contribution] | None, stores: Stores) -> None:
    """Replace all that the graph has of these papers, or take it back where no graph is wanted."""
    if contributions is None:
        stores.graph.delete(paper_ids)
    else:
        stores.graph.put(contributions)


def contributions(paper_ids: Sequence[str], chunks: Sequence[Chunk], stores: Stores) -> list[Contribution] | None:
    """What these papers add to the graph; None where no graph is wanted."""
    return list(_contributions(paper_ids, chunks, stores, stores.extractor)) if stores.extractor else None


def _contributions(
    paper_ids: Sequence[str], chunks: Sequence[Chunk], stores: Stores, extractor: Extractor
) -> Iterator[Contribution]:
    by_paper: dict[str, list[Chunk]] = {paper_id: [] for paper_id in paper_ids}
    for chunk in chunks:
        by_paper[chunk.paper_id].append(chunk)
    cites: dict[str, list[Work]] = {paper_id: [] for paper_id in paper_ids}
    for row in stores.catalog.citations(paper_ids):
        cites[row.paper_id].append(_work(row.cited))
    for record in (paper.reference for paper in stores.catalog.papers(paper_ids)):
        yield concepts.contribution(
            record, by_paper[record.id], work=_work(record), cites=cites[record.id], extractor=extractor
        )


def _work(paper: Reference | Cited) -> Work:
    return Work(normalise_doi(paper.doi), title_key(paper.title))
