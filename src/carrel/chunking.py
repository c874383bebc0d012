"""From a paper's blocks to the chunks that are searched.

A chunk is whole blocks of one section, a slice of the paper's text. Code, formulas and tables are never split; prose
is, at sentences, when one block alone is too large. Pieces too small to stand alone join a neighbour.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel import sentences
from carrel.references import jsonl
from carrel.types import ATOMIC, Block, BlockKind, Chunk, ChunkKind, Paper, Part, Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    CountTokens = Callable[[Sequence[str]], list[int]]

VERSION = 1
"""Changes whenever the same paper would be cut otherwise."""
SHORTEST_ABSTRACT = 50
"""Shorter ones say too little to be compared by meaning; their words are searched all the same."""
_BIBLIOGRAPHY = re.compile(
    r"(?:\d+\.?\s+)?(?:references|bibliography|works cited|literature cited|参考文献)", re.IGNORECASE
)
_INLINE_FORMULA = re.compile(r"\$[^$\n]+\$|\\\(.+?\\\)")


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in the embedder's tokens."""

    least: int = 100
    target: int = 512
    most: int = 1024

    @property
    def hard(self) -> int:
        """What joining a small piece may grow a chunk to."""
        return 2 * self.most


@dataclass(frozen=True, slots=True)
class _Place:
    chapter: int = 0
    section: int = 0
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of text on its way to becoming a chunk."""

    start: int
    end: int
    tokens: int
    place: _Place
    kinds: frozenset[BlockKind]

    def joined(self, later: _Piece) -> _Piece:
        """Both as one. The larger names the place."""
        place = self.place if self.tokens >= later.tokens else later.place
        return _Piece(self.start, later.end, self.tokens + later.tokens, place, self.kinds | later.kinds)


def split(paper: Paper, *, count_tokens: CountTokens, limits: Limits) -> tuple[Chunk, ...]:
    """The chunks of a full text, in reading order."""
    pieces = _pieces(paper, count_tokens, limits.most)
    packed = _join_small(list(_pack(pieces, limits)), limits)
    return tuple(_chunks(paper, packed))


def abstract_chunk(reference: Reference, *, language: str, tokens: int) -> Chunk:
    """The one chunk of a reference: its abstract, which may be empty; its title is searched all the same."""
    chunk = Chunk(
        address=f"{reference.id}/abstract",
        paper_id=reference.id,
        part=Part.ABSTRACT,
        kind=ChunkKind.ABSTRACT,
        text=reference.abstract,
        start=0,
        end=len(reference.abstract),
        language=language,
        token_count=tokens,
    )
    return chunk.with_facts(reference)


def is_embeddable(chunk: Chunk) -> bool:
    return chunk.kind != ChunkKind.ABSTRACT or len(chunk.text.strip()) >= SHORTEST_ABSTRACT


def reference_digest(reference: Reference) -> str:
    return digest(jsonl.dump(reference))


def digest(*parts: object) -> str:
    """Of what chunks are made from, and of how they are made."""
    return hashlib.sha256("\n".join(map(str, (VERSION, *parts))).encode("utf-8", "replace")).hexdigest()


def _pieces(paper: Paper, count_tokens: CountTokens, most: int) -> list[_Piece]:
    """Every block that is to be searched, split where it must be."""
    placed = list(_placed(paper.blocks))
    counts = count_tokens([paper.text[block.start : block.end] for block, _ in placed])
    pieces: list[_Piece] = []
    for (block, place), tokens in zip(placed, counts, strict=True):
        kinds = frozenset({block.kind})
        if tokens <= most or block.kind in ATOMIC:
            pieces.append(_Piece(block.start, block.end, tokens, place, kinds))
        else:
            pieces += _by_sentences(paper.text, block, place, count_tokens, most)
    return pieces


def _by_sentences(text: str, block: Block, place: _Place, count_tokens: CountTokens, most: int) -> Iterator[_Piece]:
    """A block that is too large, in runs of sentences; a sentence that is too large, in runs of words."""
    spans = list(_small_spans(text, block, count_tokens, most))
    counts = count_tokens([text[start:end] for start, end in spans])
    current: _Piece | None = None
    for (start, end), tokens in zip(spans, counts, strict=True):
        piece = _Piece(start, end, tokens, place, frozenset({block.kind}))
        if current and current.tokens + tokens > most:
            yield current
            current = piece
        else:
            current = current.joined(piece) if current else piece
    if current:
        yield current


def _small_spans(text: str, block: Block, count_tokens: CountTokens, most: int) -> Iterator[tuple[int, int]]:
    found = sentences.spans(text[block.start : block.end])
    spans = [(block.start + span.start, block.start + span.end) for span in found]
    for (start, end), tokens in zip(spans, count_tokens([text[a:b] for a, b in spans]), strict=True):
        if tokens <= most:
            yield start, end
        else:
            yield from _words(text, start, end, most)


def _words(text: str, start: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    """Pieces of at most `most` characters, and so of at most as many tokens, cut at white space where there is any."""
    while end - start > most:
        cut = max(text.rfind(" ", start, start + most), text.rfind("\n", start, start + most))
        cut = cut if cut > start else start + most
        yield start, cut
        start = cut + text[cut].isspace()
    yield start, end


def _placed(blocks: Iterable[Block]) -> Iterator[tuple[Block, _Place]]:
    """Each block but the headings, with the chapter and section it lies in. Bibliographies are left out."""
    blocks = list(blocks)
    top = _chapter_level(blocks)
    place, stack = _Place(), [(0, "")]
    for block in blocks:
        if block.kind != BlockKind.HEADING:
            if not any(_BIBLIOGRAPHY.fullmatch(title) for title in place.path):
                yield block, place
        elif block.level >= top:
            stack = [entry for entry in stack if entry[0] < block.level] + [(block.level, block.title)]
            path = tuple(title for _, title in stack[1:] if title)
            new_chapter = block.level == top
            chapter, section = (place.chapter + 1, 0) if new_chapter else (place.chapter, place.section + 1)
            place = _Place(chapter, section, path)


def _chapter_level(blocks: Sequence[Block]) -> int:
    """The level of headings that begin chapters: the topmost, but for a single one at the top, which is the title."""
    levels = [block.level for block in blocks if block.kind == BlockKind.HEADING]
    if not levels:
        return 1
    top = min(levels)
    lone_title = levels.count(top) == 1 and levels[0] == top and len(levels) > 1
    return min(level for level in levels if level > top) if lone_title else top


def _pack(pieces: Sequence[_Piece], limits: Limits) -> Iterator[_Piece]:
    """Neighbouring pieces of one section together, until they reach the target or would pass the limit."""
    current: _Piece | None = None
    for piece in pieces:
        fits = (
            current is not None
            and piece.place == current.place
            and current.tokens < limits.target
            and current.tokens + piece.tokens <= limits.most
        )
        if current and not fits:
            yield current
        current = current.joined(piece) if current and fits else piece
    if current:
        yield current


def _join_small(pieces: list[_Piece], limits: Limits) -> list[_Piece]:
    """No piece below the least size, where a neighbour has room: the one of its section first, then of its chapter."""
    position = 0
    while position < len(pieces):
        other = _neighbour_with_room(pieces, position, limits) if pieces[position].tokens < limits.least else None
        if other is None:
            position += 1
            continue
        first = min(position, other)
        pieces[first : first + 2] = [pieces[first].joined(pieces[first + 1])]
        position = first
    return pieces


def _neighbour_with_room(pieces: Sequence[_Piece], position: int, limits: Limits) -> int | None:
    small = pieces[position]
    room = [
        other
        for other in (position - 1, position + 1)
        if 0 <= other < len(pieces) and small.tokens + pieces[other].tokens <= limits.hard
    ]
    return min(room, key=lambda other: _distance(small.place, pieces[other].place), default=None)


def _distance(one: _Place, other: _Place) -> int:
    return (one.chapter != other.chapter) + (one != other)


def _chunks(paper: Paper, pieces: Sequence[_Piece]) -> Iterator[Chunk]:
    numbers: dict[tuple[int, int], int] = {}
    for position, piece in enumerate(pieces):
        chapter, section = piece.place.chapter, piece.place.section
        number = numbers.get((chapter, section), 0)
        numbers[chapter, section] = number + 1
        text = paper.text[piece.start : piece.end]
        chunk = Chunk(
            address=f"{paper.reference.id}/ch{chapter}/s{section}/p{number}",
            paper_id=paper.reference.id,
            part=Part.BODY,
            kind=ChunkKind.PASSAGE,
            text=text,
            start=piece.start,
            end=piece.end,
            position=position,
            chapter=chapter,
            section=section,
            section_path=piece.place.path,
            topic=paper.topic,
            language=paper.language,
            token_count=piece.tokens,
            has_code=BlockKind.CODE in piece.kinds,
            has_formula=BlockKind.FORMULA in piece.kinds or bool(_INLINE_FORMULA.search(text)),
            has_table=BlockKind.TABLE in piece.kinds,
        )
        yield chunk.with_facts(paper.reference)
