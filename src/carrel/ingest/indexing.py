"""From the catalog into every index."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from carrel.catalogs import Embedding
from carrel.chunking import SHORTEST_ABSTRACT, is_embeddable, is_searched_by_words, sha256
from carrel.errors import InvalidInput, ModelRefused
from carrel.ingest import batches, graphing
from carrel.servers import is_busy
from carrel.stores import fits
from carrel.telemetry import log, timed
from carrel.types import ChunkKind, Part, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from carrel.embedders import Embedder
    from carrel.embedders.cache import EmbeddingCache
    from carrel.stores import Stores
    from carrel.types import Chunk, Contribution, Matrix, Progress, Reference

_AT_ONCE = 64
"""Chunks embedded between two words of progress."""
_LINE = 100
_PROBE = "A sentence that every model can embed."
_REFUSALS = (ModelRefused, ValueError, RuntimeError)
"""What may be a single text's fault. A server that is not there, or a model, is not."""


class Settled(NamedTuple):
    """What it took to bring the indexes up to date."""

    embedded: int
    """How many chunks had to be embedded."""
    failed: list[Problem]
    """Papers of which the embedder refused a text: found by their words, and tried again the next time."""
    remarks: Sequence[Problem] = ()
    """What is to be known of how the graph was made."""


def settle(stores: Stores, *, batch: int, progress: Progress | None = None, fresh: bool = False) -> Settled:
    """Bring every index to what the catalog says."""
    check_model(stores)
    left = stores.catalog.unfinished()
    finish_removal(left.retired, stores)
    settled, done, total = Settled(0, []), 0, sum(left.pending.values())
    if left.pending:
        _teller(progress, 0, total)(0)
    for paper_ids in by_size(left.pending, batch):
        tell = _teller(progress, done, total)
        embedded, failed, _ = _index(paper_ids, stores, tell=tell, fresh=fresh)
        settled = Settled(settled.embedded + embedded, settled.failed + failed)
        size = sum(left.pending[paper_id] for paper_id in paper_ids)
        tell(size)
        done += size
    remarks = stores.extractor.remarks if stores.extractor else ()
    return settled._replace(remarks=[Problem("concepts", remark) for remark in remarks])


def check_model(stores: Stores) -> None:
    """Refuse to put vectors beside those of another model."""
    if not fits(stores):
        raise InvalidInput(
            f"the index holds vectors of {stores.vectors.model!r} ({stores.vectors.dim}D), "
            f"the settings ask for {stores.embedder.name!r} ({stores.embedder.dim}D)",
            hint="Run 'carrel index build' to embed everything with the new model.",
        )


def has_meaning(reference: Reference, parts: Collection[Part]) -> bool:
    """Whether a paper has any text to be found by."""
    return Part.BODY in parts or len(reference.abstract.strip()) >= SHORTEST_ABSTRACT


def start_over(stores: Stores) -> None:
    """Forget the indexes: everything is to be made again, by the embedder that the settings name."""
    stores.vectors.clear(model=stores.embedder.name, dim=stores.embedder.dim)
    stores.keywords.clear()
    stores.graph.clear()
    stores.catalog.reopen()


def finish_removal(paper_ids: Sequence[str], stores: Stores) -> None:
    """Take papers that are retired out of every store, the catalog last."""
    if not paper_ids:
        return
    empty(paper_ids, stores)
    for paper_id in paper_ids:
        stores.cache.delete(paper_id)
        stores.pictures.keep(paper_id, ())
    stores.catalog.remove(paper_ids)


def empty(paper_ids: Sequence[str], stores: Stores) -> None:
    """Take papers out of every index."""
    stores.vectors.delete(paper_ids)
    stores.keywords.delete(paper_ids)
    stores.graph.delete(paper_ids)


class Prepared(NamedTuple):
    """All that the indexes are to have of some papers."""

    paper_ids: Sequence[str]
    chunks: Sequence[Chunk]
    meant: Sequence[Chunk]
    """Those of them that have a vector."""
    vectors: Matrix
    contributions: Sequence[Contribution] | None
    embedded: int
    failed: Mapping[str, Problem]
    """By paper: a text that the embedder refused."""


def prepare(
    paper_ids: Sequence[str], stores: Stores, *, tell: Callable[[int], None] = lambda _: None, fresh: bool = False
) -> Prepared:
    """Embed some papers and read their concepts. Nothing but caches is written."""
    timings: dict[str, float] = {}
    chunks = stores.catalog.chunks_of(paper_ids)
    wanted = [chunk for chunk in chunks if is_embeddable(chunk)]
    with timed(timings, "embedding"):
        vectors, embedded, refused = embed(wanted, stores.embedder, stores.cache, tell=tell, fresh=fresh)
    failed = {wanted[row].paper_id: Problem(wanted[row].address, reason) for row, reason in refused.items()}
    kept = [row for row, chunk in enumerate(wanted) if chunk.paper_id not in failed]
    with timed(timings, "concepts"):
        contributions = graphing.contributions(paper_ids, chunks, stores)
    log("ingest", logging.INFO, "prepared", papers=len(paper_ids), embedded=embedded, milliseconds=timings)
    return Prepared(paper_ids, chunks, [wanted[row] for row in kept], vectors[kept], contributions, embedded, failed)


def put(ready: Prepared, stores: Stores, *, at: Callable[[str], None] = lambda _: None) -> None:
    """Put some papers into every index, then declare those active of which nothing failed.

    `at` is told of every place at which a crash would leave the stores apart until the work is done again.
    """
    timings: dict[str, float] = {}
    with timed(timings, "graph"):
        graphing.write(ready.paper_ids, ready.contributions, stores)
    at("graph written")
    with timed(timings, "writing"), stores.catalog.together():
        _write(ready.paper_ids, ready.chunks, ready.meant, ready.vectors, stores)
        at("indexes written")
        stores.catalog.activate(
            [paper_id for paper_id in ready.paper_ids if paper_id not in ready.failed],
            [
                Embedding(chunk.paper_id, stores.embedder.name, sha256(chunk.text))
                for chunk in ready.meant
                if chunk.kind == ChunkKind.ABSTRACT
            ],
        )
    figures = {"papers": len(ready.paper_ids), "chunks": len(ready.chunks), "embedded": ready.embedded}
    log("ingest", logging.INFO, "indexed", **figures, milliseconds=timings)


def _index(paper_ids: Sequence[str], stores: Stores, *, tell: Callable[[int], None], fresh: bool) -> Settled:
    ready = prepare(paper_ids, stores, tell=tell, fresh=fresh)
    put(ready, stores)
    return Settled(ready.embedded, list(ready.failed.values()))


def _write(
    paper_ids: Sequence[str], chunks: Sequence[Chunk], meant: Sequence[Chunk], vectors: Matrix, stores: Stores
) -> None:
    """Replace all that the indexes have of these papers."""
    stores.vectors.put(meant, vectors)
    stores.vectors.delete(set(paper_ids) - {chunk.paper_id for chunk in meant})
    by_words = [chunk for chunk in chunks if is_searched_by_words(chunk)]
    stores.keywords.put(by_words)
    stores.keywords.delete(set(paper_ids) - {chunk.paper_id for chunk in by_words})


def embed(
    chunks: Sequence[Chunk],
    embedder: Embedder,
    cache: EmbeddingCache,
    *,
    tell: Callable[[int], None] = lambda _: None,
    fresh: bool = False,
) -> tuple[Matrix, int, dict[int, str]]:
    """A row for each chunk, computed only where the cache has none; how many were computed; why some could not be."""
    by_paper: dict[str, list[int]] = {}
    for position, chunk in enumerate(chunks):
        by_paper.setdefault(chunk.paper_id, []).append(position)
    vectors = np.zeros((len(chunks), embedder.dim), dtype=np.float32)
    known = set() if fresh else _recall(chunks, by_paper, cache, vectors)
    # By length, so that the model works on texts of one size at a time.
    missing = sorted(set(range(len(chunks))) - known, key=lambda position: len(chunks[position].text))
    distinct: dict[str, list[int]] = {}
    for position in missing:
        distinct.setdefault(chunks[position].text_hash, []).append(position)
    characters, embedded, refused = 0, 0, dict[int, str]()
    try:
        for some in batches(list(distinct.values()), _AT_ONCE):
            rows, reasons = _rows([chunks[same[0]].embedded_text for same in some], embedder)
            for number, same in enumerate(some):
                vectors[same] = rows[number]
                if number in reasons:
                    refused |= dict.fromkeys(same, reasons[number])
                else:
                    known.update(same)
            embedded += len(some) - len(reasons)
            characters += sum(len(chunks[position].text) for same in some for position in same)
            tell(characters)
    finally:
        # What a server has done before it had enough is not to be asked of it again.
        done = known | refused.keys()
        for paper_id in dict.fromkeys(chunks[position].paper_id for position in missing if position in done):
            # Of a paper that is embedded afresh what was kept before stays until all is there.
            if not fresh or done.issuperset(by_paper[paper_id]):
                positions = [position for position in by_paper[paper_id] if position in known]
                cache.save(paper_id, [chunks[position] for position in positions], vectors[positions])
    return vectors, embedded, refused


def _rows(texts: Sequence[str], embedder: Embedder) -> tuple[Matrix, dict[int, str]]:
    """A row for each text; where the embedder refuses some, they are asked one by one and those at fault named."""
    try:
        return _checked(embedder.embed_passages(texts)), {}
    except _REFUSALS as error:
        if is_busy(error):
            raise
        # Raises when not the texts are at fault.
        _checked(embedder.embed_passages([_PROBE]))
    rows = np.zeros((len(texts), embedder.dim), dtype=np.float32)
    reasons: dict[int, str] = {}
    for number, text in enumerate(texts):
        try:
            rows[number] = _checked(embedder.embed_passages([text]))
        except _REFUSALS as error:
            if is_busy(error):
                raise
            reasons[number] = str(error)
    return rows, reasons


def _checked(rows: Matrix) -> Matrix:
    if not np.isfinite(rows).all():
        raise ValueError("its vector is not finite")
    return rows


def _recall(
    chunks: Sequence[Chunk], by_paper: Mapping[str, Sequence[int]], cache: EmbeddingCache, vectors: Matrix
) -> set[int]:
    """Fill in the rows that the cache has; returns which."""
    known: set[int] = set()
    for paper_id, positions in by_paper.items():
        kept = cache.recall(paper_id, [chunks[position] for position in positions])
        for position in positions:
            row = kept.get(chunks[position].text_hash)
            if row is not None:
                vectors[position] = row
                known.add(position)
    return known


def by_size(sizes: Mapping[str, int], most: int) -> Iterator[list[str]]:
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
