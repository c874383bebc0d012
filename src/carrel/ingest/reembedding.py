"""Another model's vectors, built beside those in use and put in their place in one step.

Words and concepts are of no model: they stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from carrel.catalogs import Embedding
from carrel.chunking import is_embeddable, sha256
from carrel.ingest.indexing import by_size, embed
from carrel.ingest.ledger import Ledger, by_paper, grouped, mark_of
from carrel.stores import fits
from carrel.types import ChunkKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from carrel.stores import Stores
    from carrel.types import Chunk, Progress
    from carrel.vectors import VectorStore

_CHARACTERS = 1000
"""Of a chunk, about."""
_LEDGER = "model.jsonl"


class Replaced(NamedTuple):
    """What it took to put one model's vectors in the place of another's."""

    model: str = ""
    """Whose vectors there were; empty where nothing was replaced."""
    embedded: int = 0
    """How many chunks had to be embedded."""
    resumed: int = 0
    """How many papers an interrupted build had put there already."""


@dataclass
class Filled:
    """What one look at every paper came to."""

    embedded: int = 0
    there: int = 0
    """Papers that were there already, as they are."""
    records: dict[str, list[Embedding]] = field(default_factory=dict)
    """By paper, of those of which the embedder refused no text: what its abstract's vector is made of."""


@dataclass(frozen=True)
class Reembedding:
    """Vectors that nobody searches yet. They are filled while others write, and take over while nobody does."""

    stores: Stores
    other: VectorStore
    ledger: Ledger
    batch: int
    progress: Progress | None = None
    ready: Callable[[], None] = lambda: None
    """Told when all is there, just before it takes over."""

    def fill(self) -> Filled:
        """Put there what it does not have, or not as the catalog has it now; and take out what is gone."""
        self.ledger.open()
        rows, held = self.stores.catalog.papers(), by_paper(self.other.addresses())
        self.other.delete(held.keys() - {row.reference.id for row in rows})
        counts = {row.reference.id: row.chunk_count for row in rows}
        filled, done, total = Filled(), 0, sum(counts.values())
        with self.other.filling():
            for paper_ids in by_size({paper: count * _CHARACTERS for paper, count in counts.items()}, self.batch):
                self._fill(paper_ids, held, filled, _teller(self.progress, done, total))
                done += sum(counts[paper_id] for paper_id in paper_ids)
        return filled

    def finish(self, begun: Filled) -> Replaced:
        """Bring in what came since, then let the new vectors take over. Nobody else writes meanwhile."""
        # Whatever is read, a store sees whose vectors it has by now.
        self.stores.vectors.many(())
        if fits(self.stores):
            # Another process was quicker.
            return Replaced()
        last, model = self.fill(), self.stores.vectors.model
        active = [row.reference.id for row in self.stores.catalog.papers() if row.indexed]
        whole = [paper_id for paper_id in active if paper_id in last.records]
        self.ready()
        with self.stores.catalog.together():
            self.stores.vectors.adopt(self.other)
            self.stores.catalog.activate(whole, [one for paper_id in whole for one in last.records[paper_id]])
        self.ledger.forget()
        return Replaced(model, begun.embedded + last.embedded, begun.there)

    def _fill(
        self, paper_ids: Sequence[str], held: Mapping[str, set[str]], filled: Filled, tell: Callable[[int], None]
    ) -> None:
        meant = grouped(paper_ids, filter(is_embeddable, self.stores.catalog.chunks_of(paper_ids)))
        there = self.ledger.arrived(meant, held)
        new = [paper_id for paper_id in paper_ids if paper_id not in there]
        embedded, refused = self._put({paper_id: meant[paper_id] for paper_id in new}, tell)
        self.ledger.note({paper_id: mark_of(meant[paper_id]) for paper_id in new if paper_id not in refused})
        filled.embedded += embedded
        filled.there += len(there)
        model = self.other.model
        filled.records |= {paper: _records(meant[paper], model) for paper in paper_ids if paper not in refused}

    def _put(self, meant: Mapping[str, Sequence[Chunk]], tell: Callable[[int], None]) -> tuple[int, set[str]]:
        """How many chunks had to be embedded, and the papers of which one was refused."""
        chunks = [chunk for paper_id in meant for chunk in meant[paper_id]]
        length = sum(len(chunk.text) for chunk in chunks) or 1
        vectors, embedded, reasons = embed(
            chunks,
            self.stores.embedder,
            self.stores.cache,
            tell=lambda characters: tell(len(chunks) * characters // length),
        )
        refused = {chunks[row].paper_id for row in reasons}
        kept = [row for row, chunk in enumerate(chunks) if chunk.paper_id not in refused]
        self.other.put([chunks[row] for row in kept], vectors[kept])
        self.other.delete(meant.keys() - {chunks[row].paper_id for row in kept})
        tell(len(chunks))
        return embedded, refused


def begin(
    stores: Stores, cache: Path, *, batch: int, progress: Progress | None = None, ready: Callable[[], None]
) -> Callable[[], Replaced]:
    """Embed everything, or go on where an interrupted build stopped; given is what then ends it."""
    if fits(stores):
        return Replaced
    model, dim = stores.embedder.name, stores.embedder.dim
    other = stores.vectors.beside(model=model, dim=dim)
    change = Reembedding(stores, other, Ledger(cache / _LEDGER, model=model, dim=dim), batch, progress, ready)
    return partial(change.finish, change.fill())


def _records(chunks: Iterable[Chunk], model: str) -> list[Embedding]:
    abstracts = (chunk for chunk in chunks if chunk.kind == ChunkKind.ABSTRACT)
    return [Embedding(chunk.paper_id, model, sha256(chunk.text)) for chunk in abstracts]


def _teller(progress: Progress | None, before: int, total: int) -> Callable[[int], None]:
    def tell(chunks: int) -> None:
        if progress:
            progress("re-embedding", before + chunks, total)

    return tell
