"""Captions brought together with the figures and tables they stand at."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from carrel.parsers.captions import kind_of, label_of
from carrel.parsers.pdf_rows import line_of
from carrel.types import BlockKind, ExhibitKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.parsers.pdf_parts import Part
    from carrel.parsers.pdf_regions import Region

_WORD = re.compile(r"[^\W\d_]{3}|(?<!\w)[^\W\d_]{2}(?!\w)")
_FARTHEST = 90.0
"""Points between a caption and what it is of."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An exhibit: which of the parts it is made of, and where on which page it is drawn."""

    kind: ExhibitKind
    label: str
    first: int
    last: int
    caption: int
    page: int
    bounds: tuple[float, float, float, float] | None
    """Left, top, right, bottom."""


def exhibits_of(parts: Sequence[Part], regions: dict[int, tuple[Region, ...]]) -> tuple[list[Part], list[Shown]]:
    """The parts with each caption beside what it is of, and the exhibits among them."""
    matches = _matches(parts, regions)
    contents = _contents(parts, matches)
    moved = set(contents.values())
    arranged: list[Part] = []
    shown: list[Shown] = []
    for index, part in enumerate(parts):
        if part.kind != BlockKind.CAPTION:
            arranged += [said] if index not in moved and (said := _said(part)) else []
            continue
        kind = kind_of(part.text) or ExhibitKind.FIGURE
        content = _content(parts[contents[index]], kind) if index in contents else None
        together = _in_order(part, content)
        first, page = len(arranged), part.lines[0].page
        arranged += together
        bounds = _bounds(matches.get(index), content)
        caption = first + together.index(part)
        shown.append(Shown(kind, label_of(part.text), first, len(arranged) - 1, caption, page, bounds))
    return arranged, shown


def _contents(parts: Sequence[Part], matches: dict[int, Region]) -> dict[int, int]:
    """Which part is what a caption is of: that of its region, or else a table right after or before it."""
    of_region = {id(part.region): index for index, part in enumerate(parts) if part.region is not None}
    contents = {caption: of_region[id(region)] for caption, region in matches.items() if id(region) in of_region}
    taken = set(contents.values())
    for index, part in enumerate(parts):
        if part.kind == BlockKind.CAPTION and index not in matches and kind_of(part.text) == ExhibitKind.TABLE:
            near = (other for other in (index + 1, index - 1) if 0 <= other < len(parts) and other not in taken)
            found = next((other for other in near if _is_table_of(parts[other], part)), None)
            if found is not None:
                contents[index] = found
                taken.add(found)
    return contents


def _is_table_of(part: Part, caption: Part) -> bool:
    return part.kind == BlockKind.TABLE and part.region is None and part.lines[0].page == caption.lines[0].page


def _content(part: Part, kind: ExhibitKind) -> Part | None:
    if kind == ExhibitKind.ALGORITHM:
        return replace(part, kind=BlockKind.CODE)
    return _said(part) if kind == ExhibitKind.FIGURE else part


def _said(part: Part) -> Part | None:
    """A figure's words, without the numbers of its axes, and what several of its panels are labelled once."""
    if part.kind != BlockKind.FIGURE:
        return part
    labels = [piece for line in part.lines for piece in line.pieces if _is_label(piece.text)]
    first = {piece.text: id(piece) for piece in reversed(labels)}
    kept = {id(piece) for piece in labels if piece.style.mono} | set(first.values())
    rows = ([piece for piece in line.pieces if id(piece) in kept] for line in part.lines)
    lines = tuple(line_of(row, part.lines[0].page) for row in rows if row)
    return replace(part, lines=lines) if lines else None


def _is_label(text: str) -> bool:
    """Words rather than numbers: `GPT2`, and not `2px` or `-20.3914 eV`."""
    return bool(_WORD.search(text)) and sum(map(str.isalpha, text)) > sum(map(str.isdigit, text))


def _in_order(caption: Part, content: Part | None) -> list[Part]:
    if content is None:
        return [caption]
    above = content.lines[0].top < caption.lines[0].top
    return [content, caption] if above else [caption, content]


def _bounds(region: Region | None, content: Part | None) -> tuple[float, float, float, float] | None:
    if region is not None:
        return region.left, region.top, region.right, region.bottom
    if content is None:
        return None
    lines = content.lines
    return (
        min(line.left for line in lines),
        min(line.top for line in lines),
        max(line.right for line in lines),
        max(line.bottom for line in lines),
    )


def _matches(parts: Sequence[Part], regions: dict[int, tuple[Region, ...]]) -> dict[int, Region]:
    """Which region each caption belongs to: the nearest of its page, nearest pairs first."""
    pairs = [
        (distance, index, region)
        for index, part in enumerate(parts)
        if part.kind == BlockKind.CAPTION
        for region in regions[part.lines[0].page]
        if (distance := _distance(part, region)) is not None
    ]
    matches: dict[int, Region] = {}
    taken: set[int] = set()
    for _, index, region in sorted(pairs, key=lambda pair: pair[:2]):
        if index not in matches and id(region) not in taken:
            matches[index] = region
            taken.add(id(region))
    return matches


def _distance(caption: Part, region: Region) -> float | None:
    """Between a caption and a region above or below it; None when they do not belong together."""
    page = caption.lines[0].page
    lines = [line for line in caption.lines if line.page == page]
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    top, bottom = min(line.top for line in lines), max(line.bottom for line in lines)
    beside = min(right, region.right) - max(left, region.left)
    apart = max(region.top - bottom, top - region.bottom, 0.0)
    if beside < 0.3 * min(right - left, region.right - region.left) or apart > _FARTHEST:
        return None
    other_kind = (kind_of(caption.text) == ExhibitKind.TABLE) != (region.kind == ExhibitKind.TABLE)
    return apart + (_FARTHEST if other_kind else 0.0)
