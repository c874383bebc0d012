"""From a paper's blocks to the chunks that are searched.

A passage is whole blocks of one section, a slice of the paper's text. Code, formulas and tables are never split; prose
is, at sentences, when one block alone is too large. Pieces too small to stand alone join a neighbour. A figure, table
or algorithm is a chunk of its own, with its caption. The bibliography is no chunk at all.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from carrel.chunking import exhibits, pages, passages
from carrel.chunking.passages import Limits
from carrel.chunking.sections import placed
from carrel.types import ChunkKind

if TYPE_CHECKING:
    from carrel.chunking.passages import CountTokens
    from carrel.types import Chunk, Paper

VERSION = 4
"""Changes whenever the same paper would be read or cut otherwise."""
SHORTEST_ABSTRACT = 50
"""Shorter ones say too little to be compared by meaning; their words are searched all the same."""
LIMITS_BY_FORMAT = {"marker": Limits(least=200, target=400, most=600)}
"""Of formats whose blocks are fine enough for smaller chunks."""

__all__ = [
    "LIMITS_BY_FORMAT",
    "SHORTEST_ABSTRACT",
    "VERSION",
    "Limits",
    "digest",
    "is_embeddable",
    "is_searched_by_words",
    "sha256",
    "split",
]


def split(paper: Paper, *, count_tokens: CountTokens, limits: Limits) -> tuple[Chunk, ...]:
    """The chunks of a full text, in reading order, each with its pages and the exhibits it speaks of."""
    limits = LIMITS_BY_FORMAT.get(paper.format, limits)
    blocks = list(placed(paper))
    made = [*passages.cut(paper, blocks, count_tokens, limits), *exhibits.cut(paper, blocks, count_tokens)]
    in_order = sorted(made, key=lambda chunk: (chunk.start, chunk.kind))
    numbered = [replace(chunk, position=position) for position, chunk in enumerate(in_order)]
    return tuple(exhibits.linked(pages.numbered(numbered, paper.places), paper.exhibits))


def is_embeddable(chunk: Chunk) -> bool:
    return chunk.kind != ChunkKind.ABSTRACT or len(chunk.text.strip()) >= SHORTEST_ABSTRACT


def is_searched_by_words(chunk: Chunk) -> bool:
    """A note's words are indexed with its paper's abstract, so that they are found once."""
    return chunk.kind != ChunkKind.NOTE


def digest(*parts: object) -> str:
    """Of what chunks are made from, and of how they are made."""
    return sha256("\n".join(map(str, (VERSION, *parts))))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
