"""From pages to the parts of a paper in reading order: paragraphs joined over columns and pages, floats beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from carrel.parsers import bibliography, pdf_headings
from carrel.parsers.captions import label_of
from carrel.parsers.pdf_columns import columns_of
from carrel.parsers.pdf_entries import entries_of
from carrel.parsers.pdf_front import titled
from carrel.parsers.pdf_furniture import without_furniture
from carrel.parsers.pdf_paragraphs import (
    ITEM,
    Measures,
    Paragraph,
    is_labelled,
    is_tabular,
    measures_of,
    paragraphs_of,
)
from carrel.parsers.pdf_parts import Part
from carrel.parsers.pdf_pieces import HYPHEN, Piece
from carrel.parsers.pdf_regions import Region, regions_of
from carrel.parsers.pdf_rows import Line, line_of, rows_of
from carrel.types import BlockKind, ExhibitKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from carrel.parsers.pdf_columns import Column
    from carrel.parsers.pdf_pages import Page

_SMALL = 0.93
"""Of the text's size: what is set smaller at the foot of a column is a note."""
_NOTE = re.compile(r"[\d*†‡§¶∗]")
_FORMULA_NUMBER = re.compile(r"\((?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,3})?[a-z]?\)")
_ENDS = re.compile(r"[.?!:…]['\")\]”’]*\d{0,2}$")


@dataclass(frozen=True, slots=True)
class Structure:
    parts: tuple[Part, ...]
    regions: dict[int, tuple[Region, ...]]
    """Of each page."""


def structure_of(pages: Sequence[Page], title: str) -> Structure:
    """`title` is what the file says of itself; it is believed where the first page says so too."""
    columns: list[Column] = []
    regions: dict[int, tuple[Region, ...]] = {}
    for index, pieces in enumerate(_texts(pages)):
        found, rest = regions_of(pages[index].candidates, pieces)
        regions[index] = tuple(found)
        columns += columns_of([*rest, *(_stand_in(region) for region in found if region.pieces)], index)
    measures = measures_of(columns)
    parts = [part for column in columns for part in _with_code(_parts(column, measures), measures)]
    parts = _levelled(titled(parts, measures, title))
    return Structure(tuple(_joined(list(_entries(parts)))), regions)


def _texts(pages: Sequence[Page]) -> list[list[Piece]]:
    """The pieces of each page without its furniture, unless there is nothing else."""
    kept = without_furniture(pages)
    return kept if any(kept) else [list(page.pieces) for page in pages]


def _stand_in(region: Region) -> Piece:
    first = region.pieces[0]
    return Piece(
        "", region.left, region.top, region.right, region.bottom, first.style, first.style, region.bottom, region
    )


def _parts(column: Column, measures: Measures) -> Iterator[Part]:
    paragraphs = list(paragraphs_of(column, measures))
    notes = _first_note(paragraphs, measures)
    opens = True
    for index, paragraph in enumerate(paragraphs):
        part = _part(paragraph, measures)
        if column.aside:
            kind = BlockKind.TEXT if part.kind == BlockKind.HEADING else part.kind
            part = replace(part, kind=kind, note=True, aside=True)
        elif index >= notes and part.kind in {BlockKind.TEXT, BlockKind.LIST}:
            part = replace(part, kind=BlockKind.TEXT, note=True)
        if part.kind in {BlockKind.TEXT, BlockKind.HEADING, BlockKind.LIST} and not part.note:
            goes_on = not paragraph.indented or paragraph.text[:1].islower()
            part = replace(part, opens=opens and goes_on and part.kind == BlockKind.TEXT)
            opens = False
        yield part


def _with_code(parts: Iterable[Part], measures: Measures) -> Iterator[Part]:
    """The parts of a column, listings whole: blank lines part them like paragraphs."""
    for listing, group in groupby(parts, key=lambda part: not measures.mono and _is_typewritten(part)):
        run = list(group)
        if listing and sum(len(part.lines) for part in run) > 1:
            yield Part(BlockKind.CODE, tuple(line for part in run for line in part.lines))
        else:
            yield from run


def _is_typewritten(part: Part) -> bool:
    return part.kind in {BlockKind.TEXT, BlockKind.HEADING} and all(line.mono for line in part.lines)


def _part(paragraph: Paragraph, measures: Measures) -> Part:
    lines = paragraph.lines
    region = lines[0].region
    if region:
        kind = BlockKind.TABLE if region.kind == ExhibitKind.TABLE else BlockKind.FIGURE
        return Part(kind, tuple(line_of(row, lines[0].page) for row in rows_of(region.pieces)), region=region)
    return Part(_kind(paragraph, measures), lines)


def _kind(paragraph: Paragraph, measures: Measures) -> BlockKind:
    lines = paragraph.lines
    tests: dict[BlockKind, Callable[[], bool]] = {
        BlockKind.CAPTION: lambda: _is_caption(paragraph, measures),
        BlockKind.HEADING: lambda: pdf_headings.is_heading(paragraph, measures),
        BlockKind.FORMULA: lambda: _is_formula(paragraph),
        BlockKind.TABLE: lambda: len(lines) > 2 and all(is_tabular(line) for line in lines),
        BlockKind.LIST: lambda: bool(ITEM.match(paragraph.text)),
    }
    return next((kind for kind, holds in tests.items() if holds()), BlockKind.TEXT)


def _is_caption(paragraph: Paragraph, measures: Measures) -> bool:
    text = paragraph.text
    if not label_of(text):
        return False
    first = paragraph.lines[0].pieces[0]
    set_apart = first.first.bold != measures.bold or paragraph.size <= _SMALL * measures.size
    return is_labelled(text) or (set_apart and paragraph.gap > 1.2)


def _is_formula(paragraph: Paragraph) -> bool:
    """Set off, with its number at the right, and more signs than words."""
    numbered = any(_FORMULA_NUMBER.fullmatch(line.pieces[-1].text) for line in paragraph.lines if len(line.pieces) > 1)
    words = re.findall(r"[^\W\d_]{4,}", paragraph.text)
    return numbered and len(words) <= 2 and any(sign in paragraph.text for sign in "=<>≤≥≈∼∝→∈+−")


def _first_note(paragraphs: Sequence[Paragraph], measures: Measures) -> int:
    """Where the notes at the foot of a column begin."""
    start = len(paragraphs)
    while start and _may_be_note(paragraphs[start - 1], measures):
        start -= 1
    noted = [index for index in range(start, len(paragraphs)) if _NOTE.match(paragraphs[index].text)]
    return noted[0] if noted and start else len(paragraphs)


def _may_be_note(paragraph: Paragraph, measures: Measures) -> bool:
    small = paragraph.size <= _SMALL * measures.size and not paragraph.lines[0].region
    return small and not label_of(paragraph.text)


def _levelled(parts: list[Part]) -> list[Part]:
    headings = [index for index, part in enumerate(parts) if part.kind == BlockKind.HEADING and not part.level]
    as_paragraphs = [Paragraph(parts[index].lines, indented=False, gap=0.0) for index in headings]
    for index, level in zip(headings, pdf_headings.levels_of(as_paragraphs), strict=True):
        parts[index] = replace(parts[index], level=level)
    return parts


def _entries(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts, those of the bibliography cut into its entries."""
    inside: list[Line] = []
    listing = False
    for part in parts:
        if part.kind == BlockKind.HEADING and not part.note:
            yield from (Part(BlockKind.REFERENCE, entry) for entry in entries_of(inside))
            inside, listing = [], bibliography.is_heading(part.text)
            yield part
        elif listing and part.kind in {BlockKind.TEXT, BlockKind.LIST} and not part.note:
            inside += part.lines
        else:
            yield part
    yield from (Part(BlockKind.REFERENCE, entry) for entry in entries_of(inside))


def _joined(parts: Sequence[Part]) -> list[Part]:
    """Paragraphs that go on in the next column or on the next page, whole; what stood between them after them."""
    joined: list[Part] = []
    open_at: int | None = None
    for part in parts:
        if part.kind == BlockKind.TEXT and not part.note:
            if part.opens and open_at is not None and _goes_on(joined[open_at], part):
                joined[open_at] = replace(joined[open_at], lines=joined[open_at].lines + part.lines)
                continue
            open_at = len(joined)
        elif part.kind == BlockKind.LIST and not part.note:
            open_at = len(joined)
        elif part.kind in {BlockKind.HEADING, BlockKind.REFERENCE} and not part.note:
            open_at = None
        joined.append(part)
    return joined


def _goes_on(before: Part, after: Part) -> bool:
    last, first = before.lines[-1], after.lines[0]
    same_column = last.page == first.page and last.start == first.start
    if same_column or abs(last.size - first.size) > 0.6:
        return False
    if last.text.endswith(HYPHEN) or first.text[:1].islower():
        return True
    return not _ENDS.search(last.text) and not first.text.startswith(("•", "–"))
