"""Whether all stores of a library say the same, and whether each is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from carrel import databases, health
from carrel.errors import StoreUnavailable
from carrel.identifiers import paper_of
from carrel.stores import fits
from carrel.verifying import Fault, Verified

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from carrel.health import IndexCheck
    from carrel.layout import Layout
    from carrel.references import Found
    from carrel.stores import Stores
    from carrel.types import Chunk, Part

_AT_ONCE = 4096
_UNIT = 1e-2
"""How far the length of a unit vector may be off."""
_SAME = 0.999
"""The least cosine of a vector and the same in half precision."""
_HINT = "Run 'carrel index build'. If that does not help, 'carrel index build --force' makes every index anew."
_HINT_OF_A_FILE = (
    "Delete the damaged file and run 'carrel index build': references come back from refs.jsonl, texts by 'carrel add'."
)


def verify(place: Layout, files: Mapping[str, Path], open_stores: Callable[[], Stores], found: Found) -> Verified:
    """Look at the databases in files first: what is broken there explains whatever comes after."""
    broken = [fault for store, path in files.items() for fault in _file_faults(store, path)]
    if broken:
        return Verified({"files": len(files)}, tuple(broken), hint=_HINT_OF_A_FILE)
    try:
        stores = open_stores()
        checked = health.check(found, stores, place.cache, health.state_of(stores, place))
        return _verified(stores, checked)
    except StoreUnavailable as error:
        # Its kinds are no damage: busy, read-only, full, written by a newer Carrel.
        if type(error) is not StoreUnavailable:
            raise
        return Verified({"files": len(files)}, (Fault("stores", "", error.message),), hint=_HINT)


def _verified(stores: Stores, checked: IndexCheck) -> Verified:
    chunks = stores.catalog.chunks_of({row.reference.id for row in stores.catalog.papers()})
    problems = (
        *_index_faults(checked),
        *_text_faults(chunks, stores),
        *_vector_faults(chunks, stores),
        *_count_faults(len(chunks), stores),
    )
    counted = {
        "papers": checked.papers_total,
        "texts": len(stores.catalog.digests()),
        "chunks": len(chunks),
        "vectors": stores.vectors.count(),
        "keywords": stores.keywords.count(),
        "concepts": stores.graph.size().concepts,
    }
    return Verified(counted, problems, hint=_HINT if problems else "")


def _file_faults(store: str, path: Path) -> Iterator[Fault]:
    if path.exists():
        yield from (Fault(store, path.name, fault) for fault in databases.faults(path))


def _index_faults(checked: IndexCheck) -> Iterator[Fault]:
    named = (
        ("indexes", checked.missing, "it is not, or not wholly, in an index"),
        ("catalog", checked.changed, "its record in refs.jsonl is another than the one that was indexed"),
        ("indexes", checked.orphaned, "an index or the catalog has it, but the catalog or refs.jsonl has not"),
        ("vectors", checked.wrong_model, "another model made its vectors than the settings name"),
        ("vectors", checked.wrong_dimension, "its vectors have another length than the model's"),
    )
    for store, ids, problem in named:
        yield from (Fault(store, paper_id, problem) for paper_id in ids)
    yield from (Fault("refs.jsonl", one.source, one.reason) for one in checked.broken)


def _text_faults(chunks: Sequence[Chunk], stores: Stores) -> Iterator[Fault]:
    """A chunk is a slice of its text: quotes are counted in both."""
    texts: dict[tuple[str, Part], str] = {}
    for chunk in chunks:
        place = (chunk.paper_id, chunk.part)
        if place not in texts:
            document = stores.catalog.document(*place)
            # In order of paper, so that no more than one paper's texts are held.
            texts = {place: document.text if document else ""}
        if texts[place][chunk.start : chunk.end] != chunk.text:
            yield Fault("catalog", chunk.address, "the chunk is not what stands at its offsets in the text")


def _vector_faults(chunks: Sequence[Chunk], stores: Stores) -> Iterator[Fault]:
    """Each is of unit length, and that of its chunk's text, as far as the embedding cache knows it.

    One of an older text is left at the same address where a store was not in use while the text changed.
    """
    hashes = {chunk.address: chunk.text_hash for chunk in chunks} if fits(stores) else {}
    addresses = sorted(stores.vectors.addresses())
    for start in range(0, len(addresses), _AT_ONCE):
        some = addresses[start : start + _AT_ONCE]
        known = {paper_id: stores.cache.load(paper_id) for paper_id in set(map(paper_of, some))}
        for address, vector in stores.vectors.many(some).items():
            meant = known[paper_of(address)].get(hashes.get(address, ""))
            if not abs(float(np.linalg.norm(vector)) - 1.0) < _UNIT:
                yield Fault("vectors", address, "the vector is no unit vector")
            elif meant is not None and np.dot(vector, meant) < _SAME:
                yield Fault("vectors", address, "the vector is not that of its text")


def _count_faults(chunks: int, stores: Stores) -> Iterator[Fault]:
    for name, store in (("vectors", stores.vectors), ("keywords", stores.keywords)):
        if store.count() != len(store.addresses()):
            yield Fault(name, "", f"it holds {store.count():,} entries for {len(store.addresses()):,} addresses")
    size = stores.graph.size()
    if stores.extractor and size.chunks != chunks:
        yield Fault("graph", "", f"it knows {size.chunks:,} chunks, the catalog {chunks:,}")
