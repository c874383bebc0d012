"""How each store is moved, written over the Protocols alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from carrel.catalogs.copying import check_empty, copy, same
from carrel.catalogs.sql import SqlCatalog
from carrel.chunking import is_embeddable, is_searched_by_words
from carrel.errors import InvalidInput
from carrel.graphs import CURATED
from carrel.identifiers import paper_of
from carrel.ingest.ledger import by_paper, grouped, mark_of
from carrel.migrating.errands import Moved, Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from carrel.catalogs import Catalog
    from carrel.databases.sessions import Database
    from carrel.graphs import GraphStore
    from carrel.keywords import KeywordIndex
    from carrel.migrating.errands import Errand
    from carrel.types import Chunk, Contribution, Vector
    from carrel.vectors import VectorStore

_NEAR = 1e-6
"""How far the cosine of a vector and its half-precision copy may be from 1."""
_SOME = 64
"""Vectors that tell how precise all of them are."""


@dataclass(frozen=True)
class CatalogMove:
    errand: Errand
    new: Catalog

    def check(self) -> None:
        old, new = self._both()
        if not (self.errand.is_forced or same(old, new)):
            check_empty(new)

    def run(self) -> Moved:
        errand, (old, new) = self.errand, self._both()
        # The same one by another address, too, which would wait for itself.
        there = same(old, new)
        rows = there or copy(old, new, replace=errand.is_forced, progress=errand.progress)
        count = sum(rows.values())
        return Moved(errand.source, errand.target, count, count if there else 0, tables=rows)

    def _both(self) -> tuple[Database, Database]:
        return _database(self.errand.catalog, self.errand.source), _database(self.new, self.errand.target)


def _database(catalog: Catalog, named: str) -> Database:
    if not isinstance(catalog, SqlCatalog):
        raise InvalidInput(
            f"a catalog of the kind {named!r} cannot be copied", hint="Those of 'sqlite' and 'postgresql:' can."
        )
    return catalog.database


@dataclass(frozen=True)
class VectorsMove:
    errand: Errand
    old: VectorStore
    new: VectorStore
    half: bool
    tally: Tally = field(default_factory=Tally)

    def check(self) -> None:
        self.errand.check(self.old.count(), self.new.count(), f"vectors of {self.new.model!r}")

    def run(self) -> Moved:
        if (self.new.model, self.new.dim) != (self.old.model, self.old.dim) or (not self.half and self._is_rounded()):
            self.new.clear(model=self.old.model, dim=self.old.dim)
        held, wanted = by_paper(self.new.addresses()), set[str]()
        with self.new.filling():
            for paper_ids in self.errand.batches():
                vectors = self._move(paper_ids, held)
                wanted.update(vectors)
                self.tally.rows += len(vectors)
        _sweep(self.errand, self.new, wanted, self.tally)
        notes = ["in half precision, each compared by its direction"] if self.half and self.tally.rounded else []
        if waiting := self.new.unindexed():
            notes.append(f"{waiting:,} wait to be indexed there, and until then a search may miss some")
        return self.errand.moved(self.tally, *notes)

    def _is_rounded(self) -> bool:
        """Whether what is there, from a move before, has lost digits: what is put beside it would, too."""
        some = sorted(self.new.addresses() & self.old.addresses())[:_SOME]
        old, new = self.old.many(some), self.new.many(some)
        return any(not np.array_equal(old[one], new[one]) and _is_near(old[one], new[one]) for one in some)

    def _move(self, paper_ids: Sequence[str], held: Mapping[str, set[str]]) -> Mapping[str, Vector]:
        chunks = [chunk for chunk in self.errand.catalog.chunks_of(paper_ids) if is_embeddable(chunk)]
        old = self.old.many([chunk.address for chunk in chunks])
        meant = grouped(paper_ids, (chunk for chunk in chunks if chunk.address in old))
        self.tally.lacking += len(chunks) - len(old)
        there = self.errand.ledger.arrived(meant, held)
        # What the ledger has was compared when it came; whether it is still the same is seen here.
        back = self.new.many([chunk.address for paper_id in there for chunk in meant[paper_id]])
        there = {paper for paper in there if all(self._is_same(old, back, chunk.address) for chunk in meant[paper])}
        new = {paper_id: meant[paper_id] for paper_id in paper_ids if paper_id not in there}
        self._put(new, old)
        self.tally.already += sum(len(meant[paper_id]) for paper_id in there)
        return old

    def _put(self, meant: Mapping[str, Sequence[Chunk]], old: Mapping[str, Vector]) -> None:
        chunks = [chunk for paper_id in meant for chunk in meant[paper_id]]
        if chunks:
            self.new.put(chunks, np.stack([old[chunk.address] for chunk in chunks]))
        self.new.delete([paper_id for paper_id in meant if not meant[paper_id]])
        back = self.new.many([chunk.address for chunk in chunks])
        for chunk in chunks:
            if not self._is_same(old, back, chunk.address):
                raise self.errand.differs(f"the vector of {chunk.address!r}")
        self.errand.ledger.note({paper_id: mark_of(meant[paper_id]) for paper_id in meant})

    def _is_same(self, old: Mapping[str, Vector], new: Mapping[str, Vector], address: str) -> bool:
        """Bit for bit; or, of half precision, in the same direction."""
        one, other = old[address], new.get(address)
        if other is None or np.array_equal(one, other):
            return other is not None
        self.tally.rounded += 1
        return self.half and _is_near(one, other)


def _is_near(one: Vector, other: Vector) -> bool:
    cosine = np.dot(one.astype(np.float64), other) / (np.linalg.norm(one) * np.linalg.norm(other))
    return abs(1.0 - float(cosine)) < _NEAR


@dataclass(frozen=True)
class KeywordsMove:
    """The words are those of the catalog's chunks; which of them, the old index says."""

    errand: Errand
    old: KeywordIndex
    new: KeywordIndex
    tally: Tally = field(default_factory=Tally)

    def check(self) -> None:
        self.errand.check(self.old.count(), self.new.count(), "words of chunks")

    def run(self) -> Moved:
        held, indexed, wanted = by_paper(self.new.addresses()), self.old.addresses(), set[str]()
        for paper_ids in self.errand.batches():
            chunks = self.errand.catalog.chunks_of(paper_ids)
            searched = [chunk for chunk in chunks if is_searched_by_words(chunk)]
            meant = grouped(paper_ids, (chunk for chunk in searched if chunk.address in indexed))
            self.tally.lacking += sum(chunk.address not in indexed for chunk in searched)
            there = self.errand.ledger.arrived(meant, held)
            self._put({paper_id: meant[paper_id] for paper_id in paper_ids if paper_id not in there})
            self.tally.already += sum(len(meant[paper_id]) for paper_id in there)
            wanted.update(chunk.address for paper_id in paper_ids for chunk in meant[paper_id])
        self.tally.rows = len(wanted)
        _sweep(self.errand, self.new, wanted, self.tally)
        return self.errand.moved(self.tally)

    def _put(self, meant: Mapping[str, Sequence[Chunk]]) -> None:
        self.new.put([chunk for paper_id in meant for chunk in meant[paper_id]])
        self.new.delete([paper_id for paper_id in meant if not meant[paper_id]])
        self.errand.ledger.note({paper_id: mark_of(meant[paper_id]) for paper_id in meant})


@dataclass(frozen=True)
class GraphMove:
    """What papers contributed is moved as it is: nobody is asked again how concepts stand to each other."""

    errand: Errand
    old: GraphStore
    new: GraphStore
    tally: Tally = field(default_factory=Tally)

    def check(self) -> None:
        self.errand.check(self.old.size().papers, self.new.size().papers, "papers' concepts")

    def run(self) -> Moved:
        papers, held = self.old.papers(), self.new.papers()
        for paper_ids in self.errand.batches():
            self._move([paper_id for paper_id in paper_ids if paper_id in papers], held)
        self._move([CURATED] if CURATED in papers else [], held)
        known = {row.reference.id for row in self.errand.catalog.papers()} | {CURATED}
        strays = self.new.papers() - (papers & known)
        self.new.delete(strays)
        self.tally.removed = len(strays)
        if self.new.papers() != papers & known:
            raise self.errand.differs("some paper")
        return self.errand.moved(self.tally)

    def _move(self, paper_ids: Sequence[str], held: set[str]) -> None:
        old = {each.paper_id: each for each in self.old.contributed(paper_ids)}
        whole = {each.paper_id: each for each in self._with_chunks(old)}
        marks = {paper_id: mark_of([each]) for paper_id, each in whole.items()}
        noted = [paper for paper in whole if paper in held and self.errand.ledger.has(paper, marks[paper])]
        there = {each.paper_id for each in self.new.contributed(noted) if each == old[each.paper_id]}
        new = [each for paper_id, each in whole.items() if paper_id not in there]
        self.new.put(new)
        back = {each.paper_id: each for each in self.new.contributed([each.paper_id for each in new])}
        for each in new:
            if back.get(each.paper_id) != old[each.paper_id]:
                raise self.errand.differs(f"what {each.paper_id!r} contributes")
        self.errand.ledger.note({each.paper_id: marks[each.paper_id] for each in new})
        self.tally.rows += len(whole)
        self.tally.already += len(there)

    def _with_chunks(self, old: Mapping[str, Contribution]) -> Iterable[Contribution]:
        chunks = grouped(old, self.errand.catalog.chunks_of([paper_id for paper_id in old if paper_id != CURATED]))
        return (replace(each, chunks=tuple(chunks[paper_id])) for paper_id, each in old.items())


def _sweep(errand: Errand, store: VectorStore | KeywordIndex, wanted: set[str], tally: Tally) -> None:
    """Take out what is not of this library, then see that the target holds exactly what it should."""
    known = {paper_of(address) for address in wanted}
    strays = {paper_of(address) for address in store.addresses() - wanted} - known
    store.delete(strays)
    tally.removed = len(strays)
    if different := store.addresses() ^ wanted:
        raise errand.differs(f"{min(different)!r}")
    if store.count() != len(wanted):
        raise errand.differs(f"one of the {len(wanted):,} addresses")
