"""The verbs `semantic` and `similar`: papers by the vectors of their abstracts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from carrel.chunking import SHORTEST_ABSTRACT
from carrel.errors import IndexNotFound, InvalidInput, NoUsableAbstract, PaperNotFound
from carrel.identifiers import paper_of
from carrel.stores import check_filled, found_in
from carrel.types import ChunkKind, Filter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.catalogs import Catalog
    from carrel.embedders import Embedder
    from carrel.types import Hit, Reference, Vector
    from carrel.vectors import VectorStore

MOST = 100
_ABSTRACTS = Filter(kinds=frozenset({ChunkKind.ABSTRACT}))
_KINDS = frozenset({ChunkKind.ABSTRACT, ChunkKind.NOTE})
_MODERATE = 0.5
"""For a model nobody has measured."""
_THRESHOLDS = {"all-MiniLM-L6-v2": 0.5, "granite-embedding-30m-english": 0.73}
"""From which cosine on two texts are about the same. Each model has a scale of its own: `benchmarks/thresholds.py`
finds where others are as strict as MiniLM is at 0.5."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """A paper and how near it is, in [0, 1]."""

    reference: Reference
    similarity: float
    matched: ChunkKind = ChunkKind.ABSTRACT
    """What was near: the paper's abstract, or the reader's note on it."""

    def as_dict(self, *, abstract: bool) -> dict[str, Any]:
        reference = self.reference
        shown: dict[str, Any] = {
            "id": reference.id,
            "title": reference.title,
            "authors": [{"first": author.first, "last": author.last} for author in reference.authors],
            "year": reference.published.year,
            "similarity": self.similarity,
        }
        return {**shown, "abstract": reference.abstract, "matched": self.matched.value} if abstract else shown


@dataclass(frozen=True, slots=True)
class SemanticResult:
    query: str
    papers: tuple[Likeness, ...]
    threshold: float
    model: str
    nearest: float | None = None
    """How near the nearest paper is, whether that suffices or not; None when there is none."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "results": [paper.as_dict(abstract=True) for paper in self.papers],
            "total": len(self.papers),
            "threshold": self.threshold,
            "model": self.model,
            "nearest": self.nearest,
        }


@dataclass(frozen=True, slots=True)
class SimilarResult:
    source: Reference
    papers: tuple[Likeness, ...]
    model: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "source": {"id": self.source.id, "title": self.source.title},
            "similar": [paper.as_dict(abstract=False) for paper in self.papers],
            "total": len(self.papers),
            "model": self.model,
        }


def default_threshold(model: str) -> float:
    return _THRESHOLDS.get(model, _MODERATE)


def semantic(
    query: str,
    *,
    limit: int,
    threshold: float | None,
    where: Filter,
    embedder: Embedder,
    vectors: VectorStore,
    catalog: Catalog,
) -> SemanticResult:
    """Papers whose abstracts, or whose reader's notes, are about what the query is about."""
    _check_limit(limit)
    least = default_threshold(embedder.name) if threshold is None else threshold
    if not 0.0 <= least <= 1.0:
        raise InvalidInput(f"threshold must be between 0 and 1, got {least:g}", hint="0 lets everything through.")

    def nearest_to_it() -> list[Hit]:
        if vectors.model != embedder.name:
            raise InvalidInput(
                f"the index holds vectors of {vectors.model!r}, but queries are embedded by {embedder.name!r}",
                hint=f"Set embedder back, or run 'carrel index build' to re-index with {embedder.name!r}.",
            )
        # A paper has at most two of these.
        return vectors.search(embedder.embed_query(query), limit=2 * limit, where=replace(where, kinds=_KINDS))

    hits = found_in(vectors, "Semantic", nearest_to_it)
    near = [hit for hit in hits if hit.score >= least]
    nearest = max(0.0, hits[0].score) if hits else None
    return SemanticResult(query, _papers(near, catalog)[:limit], least, vectors.model, nearest)


def similar(paper_id: str, *, limit: int, vectors: VectorStore, catalog: Catalog) -> SimilarResult:
    """The papers nearest to one of the library's own. No model is needed for it."""
    _check_limit(limit)
    rows = catalog.papers([paper_id])
    if not rows:
        raise PaperNotFound(f"Paper {paper_id!r} not found in database", hint="'carrel list' shows what there is.")
    source = rows[0].reference
    if len(source.abstract.strip()) < SHORTEST_ABSTRACT:
        raise NoUsableAbstract(
            f"Paper {paper_id!r} has no abstract and cannot be used for similarity search",
            hint=f"An abstract needs at least {SHORTEST_ABSTRACT} characters.",
        )
    vector = _vector_of(source, vectors)
    hits = vectors.search(vector, limit=limit + 1, where=_ABSTRACTS)
    others = [hit for hit in hits if hit.address != f"{source.id}/abstract"][:limit]
    return SimilarResult(source, _papers(others, catalog), vectors.model)


def _vector_of(source: Reference, vectors: VectorStore) -> Vector:
    vector = vectors.get(f"{source.id}/abstract")
    if vector is None:
        check_filled(vectors, "Semantic")
        raise IndexNotFound(f"Paper {source.id!r} is not in the semantic index yet. Run 'carrel index build' first")
    return vector


def _papers(hits: Sequence[Hit], catalog: Catalog) -> tuple[Likeness, ...]:
    """Each paper once, by the better of its hits."""
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(paper_of(hit.address), hit)
    found = {row.reference.id: row.reference for row in catalog.papers(list(best))}
    return tuple(
        Likeness(found[paper], max(0.0, hit.score), ChunkKind(hit.address.rpartition("/")[2]))
        for paper, hit in best.items()
        if paper in found
    )


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MOST:
        raise InvalidInput(f"limit must be between 1 and {MOST}, got {limit}")
