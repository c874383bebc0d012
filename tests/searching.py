"""A search whose ranking is what the test says, with everything behind it real."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from carrel.catalogs import Entry
from carrel.search import Pipeline, search
from carrel.search.arranging import Shape
from carrel.search.meaning import Meaning
from carrel.settings import Search
from carrel.testing import HashedWords, MemoryCatalog, MemoryVectors
from carrel.types import EVERYTHING, Document, Hit, Mode, Reference, SearchResult

if TYPE_CHECKING:
    from carrel.types import Chunk, Filter, Passage


@dataclass
class Shelf:
    """Papers whose passages have the scores that they are given."""

    catalog: MemoryCatalog = field(default_factory=MemoryCatalog)
    scores: dict[str, float] = field(default_factory=dict)
    vectors: MemoryVectors = field(default_factory=lambda: MemoryVectors(model="m", dim=4))
    depths: list[int] = field(default_factory=list)
    """How many candidates were asked for, each time."""

    def put(self, reference: Reference, chunks: dict[Chunk, float]) -> None:
        document = Document(reference.id, next(iter(chunks)).part, "text", digest="d")
        self.catalog.put([Entry(reference, document, tuple(chunks))])
        self.scores |= {chunk.address: score for chunk, score in chunks.items()}

    def remove(self, paper_id: str) -> None:
        for chunk in self.catalog.chunks_of([paper_id]):
            self.scores.pop(chunk.address, None)
        self.catalog.remove([paper_id])

    def search(self, query: str = "query", *, limit: int | None = 10, **options: Any) -> SearchResult:
        """`by_paper`, `diversity`, `cursor` and the settings of a search."""
        shape = Shape(**{name: options.pop(name) for name in ("by_paper", "diversity", "cursor") if name in options})
        meaning = Meaning(HashedWords(), self.vectors)
        pipeline = Pipeline({"keyword": self._find}, self.catalog, None, Search(**options), meaning=meaning)
        return search(query, mode=Mode.KEYWORD, limit=limit, where=EVERYTHING, pipeline=pipeline, shape=shape)

    def _find(self, _: str, limit: int, __: Filter) -> list[Hit]:
        self.depths.append(limit)
        ranked = sorted(self.scores.items(), key=lambda pair: (-pair[1], pair[0]))
        return [Hit(address, score) for address, score in ranked[:limit]]


def addresses(passages: tuple[Passage, ...]) -> list[str]:
    return [passage.chunk.address for passage in passages]
