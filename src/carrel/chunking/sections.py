"""In which chapter and section each block of a paper stands."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.types import Block, BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.types import Paper


@dataclass(frozen=True, slots=True)
class Section:
    chapter: int = 0
    section: int = 0
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """A block that is not a heading, and where it stands."""

    block: Block
    section: Section
    exhibit: int | None
    """Number of the exhibit it belongs to, from 0."""
    stretch: tuple[int, int]
    """How many bibliographies, and how many exhibits, came before it: prose of one stretch has neither in between."""


def placed(paper: Paper) -> Iterator[Placed]:
    """Each block but the headings and the bibliography's entries."""
    top = _chapter_level(paper.blocks)
    starts = [exhibit.start for exhibit in paper.exhibits]
    section, stack = Section(), [(0, "")]
    bibliographies, seen = 0, set[int]()
    for block in paper.blocks:
        if block.kind == BlockKind.REFERENCE:
            bibliographies += 1
        elif block.kind != BlockKind.HEADING:
            exhibit = bisect_right(starts, block.start) - 1
            inside = exhibit >= 0 and block.start < paper.exhibits[exhibit].end
            if inside:
                seen.add(exhibit)
            yield Placed(block, section, exhibit if inside else None, (bibliographies, len(seen)))
        elif block.level >= top:
            stack = [entry for entry in stack if entry[0] < block.level] + [(block.level, block.title)]
            path = tuple(title for _, title in stack[1:] if title)
            new_chapter = block.level == top
            chapter, number = (section.chapter + 1, 0) if new_chapter else (section.chapter, section.section + 1)
            section = Section(chapter, number, path)


def _chapter_level(blocks: Sequence[Block]) -> int:
    """The level of headings that begin chapters: the topmost, but for a single one at the top, which is the title."""
    levels = [block.level for block in blocks if block.kind == BlockKind.HEADING]
    if not levels:
        return 1
    top = min(levels)
    lone_title = levels.count(top) == 1 and levels[0] == top and len(levels) > 1
    return min(level for level in levels if level > top) if lone_title else top
