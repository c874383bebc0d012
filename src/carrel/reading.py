"""The verb `show`: a paper's outline, a chunk among its neighbours, the text they are cut from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from carrel.errors import NotFound, PaperNotFound
from carrel.identifiers import paper_of
from carrel.references import jsonl
from carrel.types import Part

if TYPE_CHECKING:
    from carrel.catalogs import Catalog, PaperRow
    from carrel.types import Chunk

_PREVIEW = 160


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    chapter: int
    section: int
    path: tuple[str, ...]
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PaperView:
    row: PaperRow
    outline: tuple[OutlineEntry, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": "paper",
            **paper_as_dict(self.row),
            "abstract": self.row.reference.abstract,
            "outline": [asdict(entry) for entry in self.outline],
        }


@dataclass(frozen=True, slots=True)
class ChunkView:
    chunk: Chunk
    previous: Chunk | None
    next: Chunk | None
    total: int
    """How many chunks its text has."""

    def as_dict(self) -> dict[str, Any]:
        chunk = asdict(self.chunk)
        neighbours = {"previous": _summary(self.previous), "next": _summary(self.next), "total": self.total}
        return {**chunk, "kind": "chunk", "chunk_kind": self.chunk.kind.value, **neighbours}


def show(address: str, catalog: Catalog) -> PaperView | ChunkView:
    """What an address names."""
    rows = catalog.papers([address])
    if rows:
        return PaperView(rows[0], _outline(catalog.chunks_of([address])))
    found = catalog.chunks([address])
    if not found:
        raise _nothing_there(address)
    chunk = found[0]
    siblings = [one for one in catalog.chunks_of([chunk.paper_id]) if one.part == chunk.part]
    before = siblings[chunk.position - 1] if chunk.position else None
    after = siblings[chunk.position + 1] if chunk.position + 1 < len(siblings) else None
    return ChunkView(chunk, before, after, len(siblings))


def source_text(address: str, catalog: Catalog) -> str:
    """The stored text that the offsets of a citation at this address count in."""
    chunks = catalog.chunks([address])
    paper_id = chunks[0].paper_id if chunks else address
    parts = [chunks[0].part] if chunks else [Part.BODY, Part.ABSTRACT]
    texts = (catalog.document(paper_id, part) for part in parts)
    document = next((text for text in texts if text is not None), None)
    if document is None:
        raise _nothing_there(address)
    return document.text


def paper_as_dict(row: PaperRow) -> dict[str, Any]:
    reference = row.reference
    return {
        "id": reference.id,
        "title": reference.title,
        "authors": [str(author) for author in reference.authors],
        "year": reference.published.year or None,
        "venue": reference.venue,
        "doi": reference.doi,
        "tags": list(reference.tags),
        "parts": [part.value for part in row.parts],
        "sources": list(row.sources),
        "chunks": row.chunk_count,
        "listed": row.listed,
        "indexed": row.indexed,
        "record": jsonl.as_record(reference),
    }


def _outline(chunks: list[Chunk]) -> tuple[OutlineEntry, ...]:
    sections: dict[tuple[int, int], list[Chunk]] = {}
    for chunk in chunks:
        if chunk.part == Part.BODY:
            sections.setdefault((chunk.chapter, chunk.section), []).append(chunk)
    return tuple(
        OutlineEntry(chapter, section, inside[0].section_path, tuple(chunk.address for chunk in inside))
        for (chapter, section), inside in sections.items()
    )


def _summary(chunk: Chunk | None) -> dict[str, str] | None:
    return {"address": chunk.address, "preview": chunk.text[:_PREVIEW]} if chunk else None


def _nothing_there(address: str) -> NotFound:
    if paper_of(address) == address:
        return PaperNotFound(f"Paper {address!r} not found in database", hint="'carrel list' shows what there is.")
    paper = paper_of(address)
    return NotFound(f"there is no {address!r} in the library", hint=f"'carrel show {paper}' shows the paper's outline.")
