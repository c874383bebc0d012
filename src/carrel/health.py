"""Whether the indexes say what the catalog and refs.jsonl say."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from carrel.chunking import SHORTEST_ABSTRACT, is_embeddable, reference_digest
from carrel.errors import IndexNotFound
from carrel.files import size_on_disk
from carrel.identifiers import paper_of
from carrel.types import Part

if TYPE_CHECKING:
    from pathlib import Path

    from carrel.references import Found
    from carrel.stores import Stores
    from carrel.types import Problem

_NAMED = 10
"""How many ids of a kind are listed."""


@dataclass(frozen=True, slots=True)
class IndexBuild:
    papers_indexed: int
    papers_skipped: int
    chunks_embedded: int
    duration_seconds: float
    model: str
    index_size_bytes: int
    failed: tuple[Problem, ...] = ()
    """Lines of refs.jsonl that could not be read; nothing was retired because of them."""
    status: str = "complete"
    skipped_reason: str = "no_abstract"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class IndexCheck:
    papers_total: int
    papers_with_abstract: int
    papers_indexed: int
    missing: tuple[str, ...]
    """Papers that are not, or not fully, in an index."""
    changed: tuple[str, ...]
    """Papers whose record changed since they were indexed."""
    orphaned: tuple[str, ...]
    """Papers that an index or the catalog has and refs.jsonl or the catalog has not."""
    model: str
    model_mismatch: bool
    index_created: str
    index_size_bytes: int
    broken: tuple[Problem, ...] = ()
    """Lines of refs.jsonl that cannot be read."""

    @property
    def healthy(self) -> bool:
        return not (self.missing or self.changed or self.orphaned or self.broken or self.model_mismatch)

    def as_dict(self) -> dict[str, Any]:
        counted = {
            "status": "healthy" if self.healthy else "stale",
            "papers_total": self.papers_total,
            "papers_with_abstract": self.papers_with_abstract,
            "papers_indexed": self.papers_indexed,
            "papers_missing": len(self.missing),
            "missing_ids": list(self.missing[:_NAMED]),
            "changed": len(self.changed),
            "changed_ids": list(self.changed[:_NAMED]),
            "orphaned": len(self.orphaned),
            "orphaned_ids": list(self.orphaned[:_NAMED]),
            "broken_lines": [asdict(problem) for problem in self.broken[:_NAMED]],
            "model": self.model,
            "model_mismatch": self.model_mismatch,
            "index_created": self.index_created,
            "index_size_bytes": self.index_size_bytes,
        }
        return counted if self.healthy else {**counted, "recommendation": "Run 'carrel index build'"}


def check(found: Found, stores: Stores, cache: Path) -> IndexCheck:
    """Compare every store with the truth; an index that was never built is not merely stale."""
    checked = compare(found, stores, cache)
    if checked.missing and not stores.vectors.count():
        raise IndexNotFound("Semantic index not found. Run 'carrel index build' first")
    return checked


def compare(found: Found, stores: Stores, cache: Path) -> IndexCheck:
    """Compare every store with the truth it is derived from: what was found in refs.jsonl, and the catalog."""
    references = found.references
    rows, digests = stores.catalog.papers(), stores.catalog.digests()
    truth = {reference.id: reference for reference in references}
    known = {row.reference.id for row in rows}
    chunks = stores.catalog.chunks_of(known)
    by_meaning = {chunk.address for chunk in chunks if is_embeddable(chunk)}
    in_vectors, in_keywords = stores.vectors.addresses(), stores.keywords.addresses()
    lacking = (by_meaning - in_vectors) | ({chunk.address for chunk in chunks} - in_keywords)
    missing = {paper_of(address) for address in lacking} | (truth.keys() - known)
    missing |= {row.reference.id for row in rows if not row.indexed}
    stray = (in_vectors - by_meaning) | (in_keywords - {chunk.address for chunk in chunks})
    listed = {paper for paper, part in digests if part == Part.ABSTRACT}
    unlisted = set() if found.problems else listed - truth.keys()
    changed = {
        paper_id
        for paper_id, reference in truth.items()
        if paper_id in known and digests.get((paper_id, Part.ABSTRACT)) != reference_digest(reference)
    }
    return IndexCheck(
        papers_total=len(known | truth.keys()),
        papers_with_abstract=sum(len(one.abstract.strip()) >= SHORTEST_ABSTRACT for one in references),
        papers_indexed=len(known - missing),
        missing=tuple(sorted(missing)),
        changed=tuple(sorted(changed - missing)),
        orphaned=tuple(sorted({paper_of(address) for address in stray} | unlisted)),
        model=stores.vectors.model,
        model_mismatch=stores.vectors.model != stores.embedder.name,
        index_created=_made_at(cache / "vectors" / "manifest.json"),
        index_size_bytes=index_size(cache),
        broken=tuple(found.problems),
    )


def index_size(cache: Path) -> int:
    """Bytes of the indexes, the embedding cache left out."""
    return sum(size_on_disk(cache / name) for name in ("vectors", "keywords", "graph") if (cache / name).exists())


def _made_at(path: Path) -> str:
    if not path.exists():
        return ""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
