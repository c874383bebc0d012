"""Prose, with the code, formulas and tables in it, cut into passages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from carrel import sentences
from carrel.types import ATOMIC, LARGEST_CHUNK, Block, BlockKind, Chunk, ChunkKind, Part, SectionStart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from carrel.chunking.sections import Placed, Section
    from carrel.types import Paper

    CountTokens = Callable[[Sequence[str]], list[int]]

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
        return min(2 * self.most, max(self.most, LARGEST_CHUNK))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of text on its way to becoming a chunk."""

    start: int
    end: int
    tokens: int
    section: Section
    stretch: tuple[int, int]
    kinds: frozenset[BlockKind]
    begun: tuple[tuple[int, Section], ...]
    """Where each block begins, and in which section that is."""

    def joined(self, later: _Piece, between: int = 0) -> _Piece:
        """Both as one, with the tokens of what stands between them. The larger names the section."""
        larger = self if self.tokens >= later.tokens else later
        tokens = self.tokens + between + later.tokens
        kinds, begun = self.kinds | later.kinds, self.begun + later.begun
        return _Piece(self.start, later.end, tokens, larger.section, larger.stretch, kinds, begun)

    @property
    def sections(self) -> tuple[SectionStart, ...]:
        """Those that it covers, where these are several."""
        firsts = [next(group) for _, group in groupby(self.begun, key=itemgetter(1))]
        return tuple(SectionStart(start, section.path) for start, section in firsts) if len(firsts) > 1 else ()


def cut(paper: Paper, blocks: Sequence[Placed], count_tokens: CountTokens, limits: Limits) -> Iterator[Chunk]:
    """Every passage of a paper, in reading order."""
    prose = [block for block in blocks if block.exhibit is None]
    pieces = _pieces(paper.text, prose, count_tokens, limits.most)
    packed = _join_small(
        list(_pack(pieces, limits)), limits, lambda start, end: count_tokens([paper.text[start:end]])[0]
    )
    yield from _chunks(paper, packed)


def _pieces(text: str, blocks: Sequence[Placed], count_tokens: CountTokens, most: int) -> list[_Piece]:
    """Every block of prose, split where it must be."""
    counts = count_tokens([text[one.block.start : one.block.end] for one in blocks])
    pieces: list[_Piece] = []
    for one, tokens in zip(blocks, counts, strict=True):
        if tokens <= most or one.block.kind in ATOMIC:
            pieces.append(_piece(one, one.block.start, one.block.end, tokens))
        else:
            pieces += _by_sentences(text, one, count_tokens, most)
    return pieces


def _piece(of: Placed, start: int, end: int, tokens: int) -> _Piece:
    return _Piece(start, end, tokens, of.section, of.stretch, frozenset({of.block.kind}), ((start, of.section),))


def _by_sentences(text: str, one: Placed, count_tokens: CountTokens, most: int) -> Iterator[_Piece]:
    """A block that is too large, in runs of sentences; a sentence that is too large, in runs of words."""
    spans = list(_small_spans(text, one.block, count_tokens, most))
    counts = count_tokens([text[start:end] for start, end in spans])
    current: _Piece | None = None
    for (start, end), tokens in zip(spans, counts, strict=True):
        piece = _piece(one, start, end, tokens)
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


def _pack(pieces: Sequence[_Piece], limits: Limits) -> Iterator[_Piece]:
    """Neighbouring pieces of one section together, until they reach the target or would pass the limit."""
    current: _Piece | None = None
    for piece in pieces:
        fits = (
            current is not None
            and (piece.section, piece.stretch) == (current.section, current.stretch)
            and current.tokens < limits.target
            and current.tokens + piece.tokens <= limits.most
        )
        if current and not fits:
            yield current
        current = current.joined(piece) if current and fits else piece
    if current:
        yield current


def _join_small(pieces: list[_Piece], limits: Limits, count: Callable[[int, int], int]) -> list[_Piece]:
    """No piece below the least size, where a neighbour has room: the one of its section first, then of its chapter.

    What stands between two that are joined, a heading or a figure's caption, is in the chunk, too.
    """

    def between(one: _Piece, later: _Piece) -> int:
        return count(one.end, later.start) if one.stretch != later.stretch else 0

    position = 0
    while position < len(pieces):
        is_small = pieces[position].tokens < limits.least
        other = _neighbour_with_room(pieces, position, limits, between) if is_small else None
        if other is None:
            position += 1
            continue
        first = min(position, other)
        one, later = pieces[first : first + 2]
        pieces[first : first + 2] = [one.joined(later, between(one, later))]
        position = first
    return pieces


def _neighbour_with_room(
    pieces: Sequence[_Piece], position: int, limits: Limits, between: Callable[[_Piece, _Piece], int]
) -> int | None:
    small = pieces[position]
    room = [
        other
        for other in (position - 1, position + 1)
        if 0 <= other < len(pieces)
        and small.stretch[0] == pieces[other].stretch[0]
        and small.tokens + pieces[other].tokens + between(*sorted((small, pieces[other]), key=_start)) <= limits.hard
    ]
    return min(room, key=lambda other: _distance(small, pieces[other]), default=None)


def _start(piece: _Piece) -> int:
    return piece.start


def _distance(one: _Piece, other: _Piece) -> tuple[bool, bool, bool]:
    """Across a figure rather than into another section; into another section rather than another chapter."""
    chapters = one.section.chapter != other.section.chapter
    return chapters, one.section != other.section, one.stretch != other.stretch


def _chunks(paper: Paper, pieces: Sequence[_Piece]) -> Iterator[Chunk]:
    numbers: dict[tuple[int, int], int] = {}
    for piece in pieces:
        chapter, section = piece.section.chapter, piece.section.section
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
            chapter=chapter,
            section=section,
            section_path=piece.section.path,
            sections=piece.sections,
            topic=paper.topic,
            language=paper.language,
            token_count=piece.tokens,
            has_code=BlockKind.CODE in piece.kinds,
            has_formula=BlockKind.FORMULA in piece.kinds or bool(_INLINE_FORMULA.search(text)),
            has_table=BlockKind.TABLE in piece.kinds,
        )
        yield chunk.with_facts(paper.reference)
