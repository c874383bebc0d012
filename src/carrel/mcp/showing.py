"""The tool that shows what stands at an address, page by page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel import cursors
from carrel.mcp import budget, shapes
from carrel.mcp.calls import by
from carrel.reading import Chapter, ChunkView, FigureView, PaperView, Section
from carrel.retractions import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from carrel.mcp import wishes
    from carrel.mcp.calls import Call
    from carrel.reading import View
    from carrel.types import Chunk

_HEAD = 0.4
"""The part of a result that a paper's record may fill."""
_PIECE = 0.3
_FEW = 12
_MANY = 50
_ROUND = 15
"""Tokens of JSON around a text or a heading."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a chunk's text that fits into a result."""

    chunk: Chunk
    number: int
    text: str

    @property
    def name(self) -> str:
        return f"{self.chunk.address}#{self.number}"

    @property
    def cost(self) -> int:
        return budget.tokens(self.text) + budget.tokens(self.chunk.address) + _ROUND


def show(call: Call, wish: wishes.Show) -> shapes.Shown:
    return shown(call, call.library.show(wish.address), wish.cursor)


def shown(call: Call, view: View, cursor: str = "") -> shapes.Shown:
    match view:
        case PaperView():
            return _paper(call, view, cursor)
        case Chapter():
            chunks = [chunk for section in view.sections for chunk in section.chunks]
            return _part(call, chunks, cursor, _chapter(view))
        case Section():
            return _part(call, view.chunks, cursor, _section(view))
        case ChunkView():
            return _part(call, [view.chunk], cursor, _chunk(view))
        case FigureView():
            return _part(call, [view.figure.chunk], cursor, _figure(view))


def _part(call: Call, chunks: Sequence[Chunk], cursor: str, facts: dict[str, Any]) -> shapes.Shown:
    page = _texts(chunks, cursor, facts["address"], call.tokens)
    known = {name: value for name, value in facts.items() if value}
    return shapes.Shown(
        **{**known, "title": budget.cut(facts["title"], int(call.tokens * _HEAD / 2))},
        texts=tuple(
            shapes.Text(address=one.chunk.address, text=one.text, page=one.chunk.page_start) for one in page.items
        ),
        next_cursor=page.next_cursor,
    )


def _paper(call: Call, view: PaperView, cursor: str) -> shapes.Shown:
    reference = view.reference
    room = int(call.tokens * _HEAD)
    headings = list(_headings(view.chapters))
    place = cursors.opened(cursor, outline=reference.id)
    page = budget.fitted(place, headings, lambda one: one.address, _cost, call.tokens - room)
    flags = call.library.standing(reference.id).flags
    return shapes.Shown(
        kind="paper",
        address=reference.id,
        paper_id=reference.id,
        title=budget.cut(reference.title, room // 4),
        authors=by(reference.authors),
        year=reference.published.year or None,
        venue=budget.cut(reference.venue, room // 8) or None,
        doi=reference.doi or None,
        tags=reference.tags[:_FEW] or None,
        abstract=budget.cut(reference.abstract, room // 2) or None,
        notices=tuple([*map(sentence, flags), *view.remarks][:_FEW]) or None,
        concepts=view.concepts or None,
        outline=page.items or None,
        next_cursor=page.next_cursor,
    )


def _headings(chapters: Iterable[Chapter]) -> Iterator[shapes.Heading]:
    for chapter in chapters:
        yield shapes.Heading(address=chapter.address, title=chapter.title)
        if any(section.title for section in chapter.sections):
            for section in chapter.sections:
                yield shapes.Heading(address=section.address, title=section.title)


def _cost(heading: shapes.Heading) -> int:
    return budget.tokens(heading.title) + budget.tokens(heading.address) + _ROUND


def _chapter(view: Chapter) -> dict[str, Any]:
    return {
        "kind": "chapter",
        "address": view.address,
        "paper_id": view.paper_id,
        "title": view.title,
        "figures": view.figures[:_MANY],
    }


def _section(view: Section) -> dict[str, Any]:
    return {
        "kind": "section",
        "address": view.address,
        "paper_id": view.paper_id,
        "title": " — ".join(view.path),
        "figures": view.figures[:_MANY],
    }


def _chunk(view: ChunkView) -> dict[str, Any]:
    return {
        "kind": "passage",
        "address": view.chunk.address,
        "paper_id": view.chunk.paper_id,
        "title": view.chunk.heading,
        "year": view.chunk.year,
        "figures": view.chunk.exhibits[:_FEW],
        "before": view.previous.address if view.previous else None,
        "after": view.next.address if view.next else None,
    }


def _figure(view: FigureView) -> dict[str, Any]:
    figure = view.figure
    return {
        "kind": figure.exhibit.kind.value,
        "address": figure.chunk.address,
        "paper_id": figure.chunk.paper_id,
        "title": figure.exhibit.caption or figure.exhibit.label or figure.chunk.heading,
        "year": figure.chunk.year,
        "mentioned_by": tuple(one.address for one in view.referenced_by[:_FEW]),
    }


def _texts(chunks: Sequence[Chunk], cursor: str, address: str, tokens: int) -> cursors.Page[_Piece]:
    """Of the chunks' texts, what fits from the cursor's place on; a long one in pieces."""
    longest = int(tokens * _PIECE)
    parts = [
        _Piece(chunk, number, text)
        for chunk in chunks
        for number, text in enumerate(budget.pieces(chunk.text, longest))
    ]
    place = cursors.opened(cursor, texts=address)
    return budget.fitted(place, parts, lambda one: one.name, lambda one: one.cost, int(tokens * (1 - _HEAD)))
