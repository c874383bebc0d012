"""A catalog of dictionaries."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Literal

from carrel.catalogs import CitationRow, Embedding, Entry, ExhibitRow, PaperRow, Sizes, Unfinished
from carrel.catalogs.citing import Known, title_key
from carrel.identifiers import normalise_doi
from carrel.testing.analytics import MemoryAnalytics
from carrel.testing.conversations import MemoryConversations
from carrel.testing.credentials import MemoryCredentials
from carrel.testing.locations import MemoryLocations
from carrel.testing.submissions import MemorySubmissions
from carrel.types import Part

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from carrel.types import Chunk, Document, Place, Reference

    State = Literal["pending", "active", "retired"]


@dataclass(frozen=True, slots=True)
class _Paper:
    reference: Reference
    listed: bool
    state: State = "pending"
    texts: dict[Part, Entry] = field(default_factory=dict)
    added: int = 0
    changed: int = 0

    def chunks(self) -> list[Chunk]:
        """In reading order, with what the record says now."""
        held = [chunk for part in sorted(self.texts) for chunk in self.texts[part].chunks]
        return [chunk.with_facts(self.reference) for chunk in sorted(held, key=lambda one: (one.part, one.position))]

    def row(self) -> PaperRow:
        documents = [self.texts[part].document for part in sorted(self.texts)]
        return PaperRow(
            reference=self.reference,
            listed=self.listed,
            indexed=self.state == "active",
            parts=tuple(document.part for document in documents),
            sources=tuple(document.source for document in documents if document.source),
            chunk_count=len(self.chunks()),
            figure_count=sum(len(text.exhibits) for text in self.texts.values()),
            added=self.added,
        )


class MemoryCatalog:
    def __init__(self) -> None:
        self.locations = MemoryLocations()
        self.conversations = MemoryConversations()
        self.submissions = MemorySubmissions()
        self.analytics = MemoryAnalytics()
        self.credentials = MemoryCredentials()
        self._papers: dict[str, _Paper] = {}
        self._changes = count(1)
        self._embeddings: dict[str, Embedding] = {}

    def put(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            before = self._papers.get(entry.reference.id)
            texts = {**(before.texts if before else {}), entry.document.part: entry}
            added = before.added if before else 1 + max((paper.added for paper in self._papers.values()), default=0)
            made = _Paper(entry.reference, entry.listed, texts=texts, added=added, changed=next(self._changes))
            self._papers[entry.reference.id] = made

    def activate(self, paper_ids: Collection[str], embeddings: Sequence[Embedding] = ()) -> None:
        self._set_state("active", paper_ids)
        kept = {paper_id: one for paper_id, one in self._embeddings.items() if paper_id not in paper_ids}
        now = int(time.time())
        self._embeddings = kept | {one.paper_id: replace(one, indexed_at=now) for one in embeddings}

    def retire(self, paper_ids: Collection[str]) -> None:
        self._set_state("retired", paper_ids)

    def remove(self, paper_ids: Collection[str]) -> None:
        for paper_id in paper_ids:
            self._papers.pop(paper_id, None)
            self._embeddings.pop(paper_id, None)

    def drop(self, paper_id: str, part: Part) -> None:
        paper = self._papers[paper_id]
        texts = {held: text for held, text in paper.texts.items() if held != part}
        listed = paper.listed and part != Part.ABSTRACT
        self._papers[paper_id] = replace(paper, texts=texts, listed=listed, state="pending")

    def move(self, sources: Mapping[str, str]) -> None:
        for paper in self._papers.values():
            for part, entry in paper.texts.items():
                source = sources.get(entry.document.source, entry.document.source)
                paper.texts[part] = replace(entry, document=replace(entry.document, source=source))

    def reopen(self, paper_ids: Collection[str] | None = None) -> None:
        asked = self._papers if paper_ids is None else paper_ids
        active = [paper_id for paper_id, paper in self._papers.items() if paper.state == "active"]
        self._set_state("pending", [paper_id for paper_id in active if paper_id in asked])

    def unfinished(self) -> Unfinished:
        pending = {
            paper_id: sum(len(chunk.text) for chunk in paper.chunks())
            for paper_id, paper in self._papers.items()
            if paper.state == "pending"
        }
        return Unfinished(pending, tuple(key for key, paper in self._papers.items() if paper.state == "retired"))

    def embeddings(self) -> dict[str, Embedding]:
        return dict(self._embeddings)

    def digests(self) -> dict[tuple[str, Part], str]:
        return {(document.paper_id, document.part): document.digest for document in self._documents()}

    def sources(self, among: Collection[str] | None = None) -> dict[str, str]:
        held = {document.source: document.paper_id for document in self._documents() if document.source}
        return {source: paper_id for source, paper_id in held.items() if among is None or source in among}

    def holding(self, digest: str) -> str:
        shown = self._shown()
        held = [paper for paper, text in shown.items() if Part.BODY in text.texts]
        return max((one for one in held if shown[one].texts[Part.BODY].document.digest == digest), default="")

    def alike(self, *, titles: Collection[str] = (), dois: Collection[str] = ()) -> set[str]:
        keys = {key for title in titles if (key := title_key(title))} | {normalise_doi(doi) for doi in dois} - {""}
        named = {key: paper.reference for key, paper in self._papers.items()}
        return {key for key, one in named.items() if keys & {title_key(one.title), normalise_doi(one.doi)}}

    def papers(self, paper_ids: Collection[str] | None = None) -> list[PaperRow]:
        shown = self._shown()
        return [shown[paper_id].row() for paper_id in sorted(shown) if paper_ids is None or paper_id in paper_ids]

    def changes(self) -> dict[str, str]:
        shown = self._shown()
        return {paper_id: str(shown[paper_id].changed) for paper_id in sorted(shown)}

    def sizes(self) -> Sizes:
        rows = self.papers()
        return Sizes(len(rows), sum(row.chunk_count for row in rows), sum(row.figure_count for row in rows))

    def chunks(self, addresses: Sequence[str]) -> list[Chunk]:
        held = {chunk.address: chunk for paper in self._shown().values() for chunk in paper.chunks()}
        return [held[address] for address in addresses if address in held]

    def chunks_of(self, paper_ids: Collection[str]) -> list[Chunk]:
        shown = self._shown()
        return [chunk for paper_id in sorted(shown) if paper_id in paper_ids for chunk in shown[paper_id].chunks()]

    def addresses(self) -> set[str]:
        return {chunk.address for paper in self._shown().values() for chunk in paper.chunks()}

    def exhibits(self, paper_ids: Collection[str]) -> list[ExhibitRow]:
        return [
            ExhibitRow(f"{entry.reference.id}/fig{number}", entry.reference.id, exhibit)
            for entry in self._entries(paper_ids)
            for number, exhibit in enumerate(entry.exhibits, start=1)
        ]

    def places(self, paper_id: str, part: Part) -> tuple[Place, ...]:
        paper = self._papers.get(paper_id)
        return paper.texts[part].places if paper and part in paper.texts else ()

    def citations(self, paper_ids: Collection[str] | None = None) -> list[CitationRow]:
        shown = self._shown()
        known = Known((key, shown[key].reference.title, shown[key].reference.doi) for key in sorted(shown))
        return [
            known.recognised(CitationRow(entry.reference.id, position, cited))
            for entry in self._entries(shown if paper_ids is None else paper_ids)
            for position, cited in enumerate(entry.cited)
        ]

    def citing(self, paper_id: str) -> list[CitationRow]:
        return [row for row in self.citations() if row.known_as == paper_id != row.paper_id]

    def _entries(self, paper_ids: Collection[str]) -> Iterator[Entry]:
        shown = self._shown()
        for paper_id in sorted(shown):
            if paper_id in paper_ids:
                yield from shown[paper_id].texts.values()

    def document(self, paper_id: str, part: Part) -> Document | None:
        paper = self._papers.get(paper_id)
        return paper.texts[part].document if paper and part in paper.texts else None

    def remarks(self, paper_ids: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
        told = {
            paper_id: tuple(one for part in sorted(paper.texts) for one in paper.texts[part].document.remarks)
            for paper_id, paper in self._shown().items()
            if paper_ids is None or paper_id in paper_ids
        }
        return {paper_id: remarks for paper_id, remarks in told.items() if remarks}

    def together(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """Nothing is open."""

    def _set_state(self, state: State, paper_ids: Collection[str]) -> None:
        for paper_id in self._papers.keys() & set(paper_ids):
            self._papers[paper_id] = replace(self._papers[paper_id], state=state)

    def _shown(self) -> dict[str, _Paper]:
        return {paper_id: paper for paper_id, paper in self._papers.items() if paper.state != "retired"}

    def _documents(self) -> list[Document]:
        return [entry.document for paper in self._papers.values() for entry in paper.texts.values()]
