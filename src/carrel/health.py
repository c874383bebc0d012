"""Whether the indexes say what the catalog and refs.jsonl say."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from carrel import curation, locking
from carrel.chunking import SHORTEST_ABSTRACT, is_embeddable, is_searched_by_words
from carrel.chunking.abstracts import reference_digest
from carrel.errors import IndexNotFound
from carrel.files import size_on_disk, write_atomically, writing
from carrel.graphs import CURATED
from carrel.identifiers import paper_of
from carrel.stores import fits
from carrel.types import Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from carrel.layout import Layout
    from carrel.references import Found
    from carrel.stores import Stores
    from carrel.types import Problem

_KNOWN = "refs.json"
"""Of the cache: which refs.jsonl was last taken in."""
_NAMED = 10
"""How many ids of a kind are listed."""


class IndexState(StrEnum):
    NOT_BUILT = "not_built"
    BUILDING = "building"
    READY = "ready"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class IndexBuild:
    papers_indexed: int
    papers_skipped: int
    chunks_embedded: int
    duration_seconds: float
    model: str
    index_size_bytes: int
    failed: tuple[Problem, ...] = ()
    """Lines of refs.jsonl that could not be read, because of which nothing was retired; texts that were refused."""
    model_before: str = ""
    """Whose vectors were replaced; they were searched until then. Empty where the model is the same."""
    papers_resumed: int = 0
    """Papers that an interrupted change of model had embedded already."""
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
    wrong_model: tuple[str, ...]
    """Papers whose vectors another model made than the settings name."""
    wrong_dimension: tuple[str, ...]
    """Papers whose vectors have another length than the model's."""
    state: IndexState
    index_created: str
    index_size_bytes: int
    broken: tuple[Problem, ...] = ()
    """Lines of refs.jsonl that cannot be read."""

    @property
    def healthy(self) -> bool:
        wrong = self.wrong_model or self.wrong_dimension
        return not (self.missing or self.changed or self.orphaned or self.broken or wrong)

    def as_dict(self) -> dict[str, Any]:
        counted = {
            "status": "healthy" if self.healthy else "stale",
            "state": self.state.value,
            "papers_total": self.papers_total,
            "papers_with_abstract": self.papers_with_abstract,
            "papers_indexed": self.papers_indexed,
            "papers_missing": len(self.missing),
            "missing_ids": list(self.missing[:_NAMED]),
            "changed": len(self.changed),
            "changed_ids": list(self.changed[:_NAMED]),
            "orphaned": len(self.orphaned),
            "orphaned_ids": list(self.orphaned[:_NAMED]),
            "wrong_model": len(self.wrong_model),
            "wrong_model_ids": list(self.wrong_model[:_NAMED]),
            "wrong_dimension": len(self.wrong_dimension),
            "wrong_dimension_ids": list(self.wrong_dimension[:_NAMED]),
            "broken_lines": [asdict(problem) for problem in self.broken[:_NAMED]],
            "model": self.model,
            "model_mismatch": bool(self.wrong_model),
            "index_created": self.index_created,
            "index_size_bytes": self.index_size_bytes,
        }
        return counted if self.healthy else {**counted, "recommendation": "Run 'carrel index build'"}


def check(found: Found, stores: Stores, cache: Path, state: IndexState) -> IndexCheck:
    """Compare every store with the truth; an index that was never built is not merely stale."""
    checked = compare(found, stores, cache, state)
    if checked.missing and state == IndexState.NOT_BUILT:
        raise IndexNotFound("Semantic index not found. Run 'carrel index build' first")
    return checked


def compare(found: Found, stores: Stores, cache: Path, state: IndexState) -> IndexCheck:
    """Compare every store with the truth it is derived from: what was found in refs.jsonl, and the catalog."""
    references = found.references
    rows, digests = stores.catalog.papers(), stores.catalog.digests()
    truth = {reference.id: reference for reference in references}
    known = {row.reference.id for row in rows}
    chunks = stores.catalog.chunks_of(known)
    by_meaning = {chunk.address for chunk in chunks if is_embeddable(chunk)}
    in_vectors, in_keywords = stores.vectors.addresses(), stores.keywords.addresses()
    by_words = {chunk.address for chunk in chunks if is_searched_by_words(chunk)}
    lacking = (by_meaning - in_vectors) | (by_words - in_keywords)
    missing = {paper_of(address) for address in lacking} | (truth.keys() - known)
    missing |= {row.reference.id for row in rows if not row.indexed}
    if stores.extractor:
        missing |= known - stores.graph.papers()
    stray = (in_vectors - by_meaning) | (in_keywords - by_words)
    unknown = stores.graph.papers() - known - {CURATED}
    listed = {paper for paper, part in digests if part == Part.ABSTRACT}
    unlisted = set() if found.problems else listed - truth.keys()
    changed = {
        paper_id
        for paper_id, reference in truth.items()
        if paper_id in known and digests.get((paper_id, Part.ABSTRACT)) != reference_digest(reference)
    }
    vectors, embedder = stores.vectors, stores.embedder
    held = {paper_of(address) for address in in_vectors}
    other_model = {one.paper_id for one in stores.catalog.embeddings().values() if one.model_name != embedder.name}
    return IndexCheck(
        papers_total=len(known | truth.keys()),
        papers_with_abstract=sum(len(one.abstract.strip()) >= SHORTEST_ABSTRACT for one in references),
        papers_indexed=len(known - missing),
        missing=tuple(sorted(missing)),
        changed=tuple(sorted(changed - missing)),
        wrong_model=tuple(sorted(held if vectors.model != embedder.name else held & other_model)),
        wrong_dimension=tuple(sorted(held if vectors.dim != embedder.dim else ())),
        state=state,
        orphaned=tuple(sorted({paper_of(address) for address in stray} | unlisted | unknown)),
        model=stores.vectors.model,
        index_created=created_at(cache),
        index_size_bytes=index_size(cache),
        broken=tuple(found.problems),
    )


def state_of(stores: Stores, place: Layout) -> IndexState:
    """Where the index is on its way from not built to ready and stale. Costs next to nothing."""
    known = _known_refs(place.cache)
    if stores.catalog.unfinished().pending:
        return IndexState.BUILDING if locking.is_held(place.lock) else IndexState.STALE
    if not (known or stores.vectors.count() or stores.keywords.count()):
        return IndexState.NOT_BUILT
    return IndexState.STALE if any(_behind(stores, place)) else IndexState.READY


def complaints(stores: Stores, place: Layout) -> Iterator[str]:
    """Why the index is not ready; nothing where it is. Costs as little as `state_of`."""
    if pending := len(stores.catalog.unfinished().pending):
        yield f"{pending:,} paper{' is' if pending == 1 else 's are'} not indexed yet"
    yield from _behind(stores, place)


def _behind(stores: Stores, place: Layout) -> Iterator[str]:
    """What changed since the index was made."""
    known = _known_refs(place.cache)
    if known is None:
        yield "refs.jsonl was not taken in yet"
    elif not _is_known(place.refs, known):
        yield "refs.jsonl has changed since it was taken in"
    if not curation.is_current(place):
        yield "concepts.jsonl or edges.jsonl has changed since it was taken in"
    if not fits(stores):
        yield "the vectors were made by another model than the settings name"


def mark_of(refs: Path) -> dict[str, Any]:
    """What tells one refs.jsonl from another."""
    if not refs.exists():
        return {}
    status = refs.stat()
    return {"size": status.st_size, "changed": status.st_mtime_ns, "sha256": _sha256(refs)}


def remember(mark: Mapping[str, Any], cache: Path) -> None:
    """Note which refs.jsonl the catalog has taken in; `state_of` tells when it becomes another."""
    with writing(cache):
        cache.mkdir(parents=True, exist_ok=True)
    write_atomically(cache / _KNOWN, json.dumps(mark).encode())


@contextmanager
def taking_in(place: Layout) -> Iterator[None]:
    """Remember what refs.jsonl was before the catalog took it in, once it has."""
    mark = mark_of(place.refs)
    yield
    remember(mark, place.cache)


def _known_refs(cache: Path) -> dict[str, Any] | None:
    try:
        known = json.loads((cache / _KNOWN).read_bytes())
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) else None


def _is_known(refs: Path, known: Mapping[str, Any]) -> bool:
    """By size and time; when they differ, as after a git checkout, by content."""
    try:
        status = refs.stat()
        same = (status.st_size, status.st_mtime_ns) == (known.get("size"), known.get("changed"))
        return same or _sha256(refs) == known.get("sha256")
    except OSError:
        return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def index_size(cache: Path) -> int:
    """Bytes of the indexes, the embedding cache left out."""
    return sum(size_on_disk(cache / name) for name in ("vectors", "keywords", "graph") if (cache / name).exists())


def created_at(cache: Path) -> str:
    """When the vectors were last written; empty where they never were."""
    path = cache / "vectors" / "manifest.json"
    if not path.exists():
        return ""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
