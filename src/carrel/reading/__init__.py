"""The verb `show`: what an address names, from a whole paper down to one figure, and the text they are cut from."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from carrel.errors import NotFound
from carrel.reading.chapters import Chapter, Section, chapters_of
from carrel.reading.chunks import ChunkView
from carrel.reading.chunks import view as chunk_view
from carrel.reading.figures import FigureView
from carrel.reading.figures import views as figure_views
from carrel.reading.naming import Address, parse, resolve
from carrel.reading.papers import PaperView
from carrel.reading.papers import view as paper_view
from carrel.types import ChunkKind, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.catalogs import Catalog, PaperRow
    from carrel.graphs import GraphStore
    from carrel.pictures import Pictures
    from carrel.types import Chunk

__all__ = ["Chapter", "ChunkView", "FigureView", "PaperView", "Section", "View", "show", "source_text"]

View: TypeAlias = PaperView | Chapter | Section | ChunkView | FigureView


def show(address: str, catalog: Catalog, pictures: Pictures, graph: GraphStore | None = None) -> View:
    """What an address names. Its paper is called by its id or its title."""
    row, place = _located(address, catalog)
    chunks = catalog.chunks_of([row.reference.id])
    if place is None:
        return paper_view(row, chunks, catalog, graph)
    if place.is_part:
        return _part(row, place, chunks)
    chunk = _chunk_at(row, place, chunks)
    if chunk.kind != ChunkKind.EXHIBIT:
        return chunk_view(chunk, chunks, catalog)
    figures = figure_views([chunk.address], {row.reference.id: row.sources}, chunks, catalog, pictures)
    if not figures:
        raise _nothing_at(row, place, chunks)
    return figures[chunk.address]


def source_text(address: str, catalog: Catalog) -> str:
    """The stored text that the offsets of a citation at this address count in."""
    row, place = _located(address, catalog)
    part = Part.BODY if Part.BODY in row.parts else Part.ABSTRACT
    if place is not None:
        chunks = catalog.chunks_of([row.reference.id])
        part = Part.BODY if place.is_part and _part(row, place, chunks) else _chunk_at(row, place, chunks).part
    document = catalog.document(row.reference.id, part)
    if document is None:
        raise _nothing_at(row, place, ())
    return document.text


def _located(address: str, catalog: Catalog) -> tuple[PaperRow, Address | None]:
    """The paper, and the place in it. An id that looks like a place in another paper is an id."""
    place = None if catalog.papers([address]) else parse(address)
    return resolve(place.paper if place else address, catalog), place


def _part(row: PaperRow, place: Address, chunks: Sequence[Chunk]) -> Chapter | Section:
    chapter = next((one for one in chapters_of(chunks) if one.number == place.chapter), None)
    if chapter is not None and place.section is None:
        return chapter
    sections = chapter.sections if chapter else ()
    section = next((one for one in sections if one.number == place.section), None)
    if section is None:
        raise _nothing_at(row, place, chunks)
    return section


def _chunk_at(row: PaperRow, place: Address, chunks: Sequence[Chunk]) -> Chunk:
    wanted = f"{row.reference.id}/{place.rest}"
    found = next((chunk for chunk in chunks if chunk.address == wanted), None)
    if found is None:
        raise _nothing_at(row, place, chunks)
    return found


def _nothing_at(row: PaperRow, place: Address | None, chunks: Sequence[Chunk]) -> NotFound:
    paper = row.reference.id
    address = f"{paper}/{place.rest}" if place else paper
    if Part.BODY not in row.parts:
        return NotFound(
            f"there is no {address!r} in the library, which has no text of that paper but its record",
            hint=f"Take its text in with 'carrel add'; 'carrel show {paper}' shows its record.",
        )
    return NotFound(
        f"there is no {address!r} in the library{_what_there_is(place, chunks)}",
        hint=f"'carrel show {paper}' shows the paper's outline.",
    )


def _what_there_is(place: Address | None, chunks: Sequence[Chunk]) -> str:
    chapters = chapters_of(chunks)
    if place is None or not chapters:
        return ""
    if place.rest.startswith("fig"):
        return f": its paper has {sum(len(chapter.figures) for chapter in chapters)} figures"
    if place.chapter is None:
        return ""
    chapter = next((one for one in chapters if one.number == place.chapter), None)
    if chapter is None:
        return f": the chapters of its paper are {chapters[0].number} to {chapters[-1].number}"
    return f": the sections of its chapter are {chapter.sections[0].number} to {chapter.sections[-1].number}"
