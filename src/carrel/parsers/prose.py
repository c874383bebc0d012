"""What texts that a person typed have in common: a bibliography under its heading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.parsers import bibliography
from carrel.types import Block, BlockKind, Cited

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def with_bibliography(text: str, blocks: Sequence[Block]) -> tuple[tuple[Block, ...], tuple[Cited, ...]]:
    """The blocks, entries of the bibliography told from prose, and what the entries say."""
    told = tuple(_told(text, blocks))
    entries = (text[block.start : block.end] for block in told if block.kind == BlockKind.REFERENCE)
    return told, tuple(bibliography.cited(entry.lstrip("-*+ ")) for entry in entries)


def _told(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    level: int | None = None
    for block in blocks:
        if block.kind == BlockKind.HEADING:
            if level is None or block.level <= level:
                level = block.level if bibliography.is_heading(block.title) else None
            yield block
        elif level is None:
            yield block
        else:
            inside = text[block.start : block.end]
            for start, end in bibliography.entries(inside):
                yield Block(BlockKind.REFERENCE, block.start + start, block.start + end)
