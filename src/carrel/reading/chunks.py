"""A chunk among its neighbours."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from carrel.chunking import pages
from carrel.reading import figures
from carrel.reading.chapters import chapters_of
from carrel.reading.previews import preview
from carrel.types import ChunkKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from carrel.catalogs import Catalog
    from carrel.reading.figures import Figure
    from carrel.types import Box, Chunk


@dataclass(frozen=True, slots=True)
class Around:
    """What stands before and after a chunk in its section."""

    previous: Chunk | None = None
    next: Chunk | None = None

    def as_dict(self) -> dict[str, Any]:
        return {"previous": _summary(self.previous), "next": _summary(self.next)}


@dataclass(frozen=True, slots=True)
class Position:
    """Where in its paper a chunk stands; an abstract and a note are sections of their own."""

    chunk_in_section: int
    """From 0."""
    total_chunks_in_section: int
    total_sections_in_chapter: int
    total_chapters_in_paper: int

    @property
    def is_first_in_section(self) -> bool:
        return self.chunk_in_section == 0

    @property
    def is_last_in_section(self) -> bool:
        return self.chunk_in_section + 1 == self.total_chunks_in_section

    def as_dict(self) -> dict[str, Any]:
        ends = {"is_first_in_section": self.is_first_in_section, "is_last_in_section": self.is_last_in_section}
        return {**asdict(self), **ends}


@dataclass(frozen=True, slots=True)
class ChunkView:
    chunk: Chunk
    around: Around
    position: Position
    figures: tuple[Figure, ...]
    """Those it mentions."""
    boxes: tuple[Box, ...]

    @property
    def previous(self) -> Chunk | None:
        return self.around.previous

    @property
    def next(self) -> Chunk | None:
        return self.around.next

    def as_dict(self) -> dict[str, Any]:
        path = self.chunk.section_path
        facts = {name: value for name, value in asdict(self.chunk).items() if name not in {"exhibits", "sections"}}
        return {
            **facts,
            "kind": "chunk",
            "chunk_kind": self.chunk.kind.value,
            "is_oversized": self.chunk.is_oversized,
            "year": self.chunk.year or None,
            "chapter_title": path[0] if path else "",
            "section_title": " — ".join(path[1:]),
            "position": self.position.as_dict(),
            **self.around.as_dict(),
            "figures": [figure.as_dict() for figure in self.figures],
            "boxes": [asdict(box) for box in self.boxes],
        }


def view(chunk: Chunk, chunks: Sequence[Chunk], catalog: Catalog) -> ChunkView:
    """A chunk, seen among all of its paper's."""
    beside = [one for one in chunks if _section(one) == _section(chunk)]
    place = next(number for number, one in enumerate(beside) if one.address == chunk.address)
    chapters = chapters_of(chunks)
    sections = next((len(one.sections) for one in chapters if one.number == chunk.chapter), 0)
    position = Position(place, len(beside), sections if chunk.kind == ChunkKind.PASSAGE else 1, len(chapters))
    before = beside[place - 1] if place else None
    after = beside[place + 1] if place + 1 < len(beside) else None
    mentioned = figures.of(chunk.exhibits, chunks, catalog) if chunk.exhibits else {}
    boxes = pages.boxes(catalog.places(chunk.paper_id, chunk.part), chunk.start, chunk.end, chunk.text, chunk.start)
    return ChunkView(chunk, Around(before, after), position, tuple(mentioned.values()), boxes)


def around(chunks: Iterable[Chunk], catalog: Catalog) -> dict[str, Around]:
    """By address: what stands beside each of these chunks, whatever papers they are of. One question to the catalog."""
    wanted = {chunk.address: tuple(_beside(chunk)) for chunk in chunks}
    held = catalog.chunks(list({address for pair in wanted.values() for address in pair}))
    found = {chunk.address: chunk for chunk in held}
    return {address: Around(*map(found.get, pair)) for address, pair in wanted.items()}


def _beside(chunk: Chunk) -> Iterator[str]:
    """The addresses before and after: a section's passages are numbered without gaps."""
    if chunk.kind == ChunkKind.PASSAGE:
        section, _, number = chunk.address.rpartition("/p")
        yield from (f"{section}/p{int(number) + step}" for step in (-1, 1))


def _section(chunk: Chunk) -> tuple[object, ...]:
    return chunk.part, chunk.kind, chunk.chapter, chunk.section


def _summary(chunk: Chunk | None) -> dict[str, str] | None:
    return {"address": chunk.address, "preview": preview(chunk.text)} if chunk else None
