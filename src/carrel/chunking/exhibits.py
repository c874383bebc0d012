"""Figures, tables and algorithms as chunks, and the links between them and the passages that speak of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from carrel.parsers import captions
from carrel.types import BlockKind, Chunk, ChunkKind, Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.chunking.passages import CountTokens
    from carrel.chunking.sections import Placed
    from carrel.types import Exhibit, Paper


def address(paper_id: str, number: int) -> str:
    """Of the exhibit that comes so manieth in its paper, from 1."""
    return f"{paper_id}/fig{number}"


def cut(paper: Paper, blocks: Sequence[Placed], count_tokens: CountTokens) -> Iterator[Chunk]:
    """A chunk for each exhibit."""
    texts = [paper.text[exhibit.start : exhibit.end] for exhibit in paper.exhibits]
    inside: dict[int, list[Placed]] = {}
    for block in blocks:
        if block.exhibit is not None:
            inside.setdefault(block.exhibit, []).append(block)
    for number, (exhibit, text, tokens) in enumerate(zip(paper.exhibits, texts, count_tokens(texts), strict=True)):
        held = inside.get(number, [])
        if not held:
            continue
        kinds = {block.block.kind for block in held}
        section = held[0].section
        chunk = Chunk(
            address=address(paper.reference.id, number + 1),
            paper_id=paper.reference.id,
            part=Part.BODY,
            kind=ChunkKind.EXHIBIT,
            text=text,
            start=exhibit.start,
            end=exhibit.end,
            chapter=section.chapter,
            section=section.section,
            section_path=section.path,
            topic=paper.topic,
            language=paper.language,
            token_count=tokens,
            has_code=BlockKind.CODE in kinds,
            has_formula=BlockKind.FORMULA in kinds,
            has_table=BlockKind.TABLE in kinds,
        )
        yield chunk.with_facts(paper.reference)


def linked(chunks: Iterator[Chunk], exhibits: Sequence[Exhibit]) -> Iterator[Chunk]:
    """The chunks, each with the addresses of the exhibits it mentions. Of two with one label the first is meant."""
    by_label: dict[str, int] = {}
    for number, exhibit in enumerate(exhibits, start=1):
        if exhibit.label:
            by_label.setdefault(exhibit.label, number)
    for chunk in chunks:
        labels = (label for label, _, _ in captions.mentions(chunk.text)) if by_label else ()
        mentioned = dict.fromkeys(address(chunk.paper_id, by_label[label]) for label in labels if label in by_label)
        yield replace(chunk, exhibits=tuple(one for one in mentioned if one != chunk.address))
