"""Chunks and queries as the words that an index compares, each in the field it may stand in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel import words
from carrel.types import ChunkKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.types import Chunk

SHORTEST_BEGINNING = 4
LONGEST_ENDING = 6
"""What a stem may lack of its word: `experi` of `experiments`."""
SHORT_NAME = 0.25
"""What the acronym of words weighs beside them, by benchmarks/understanding.py: they are in most texts that have it."""


def indexed_words(chunk: Chunk) -> list[str]:
    """Of its heading and text, as stems; stop words, too."""
    return words.english().analyze(words.prepared(f"{chunk.embedded_text}\n{_notes(chunk)}"))


def indexed_authors(chunk: Chunk) -> str:
    """The text of their names."""
    return words.prepared(" ".join(chunk.authors))


def _notes(chunk: Chunk) -> str:
    """What the reader said of the paper, with its abstract only: a tag is not to be found once a chunk."""
    return "\n".join((chunk.note, *chunk.tags)) if chunk.kind == ChunkKind.ABSTRACT else ""


def terms(text: str) -> list[tuple[str, str]]:
    """Each word with the field it may stand in; stop words only when there is nothing else."""
    prepared = words.prepared(text)
    stems = words.english(stop_words=True).analyze(prepared) or words.english().analyze(prepared)
    asked = {"words": stems, "authors": words.plain().analyze(prepared)}
    return [(field, term) for field, terms in asked.items() for term in dict.fromkeys(terms)]


def forms(word: str) -> Iterator[tuple[str, Sequence[str]]]:
    """The fields a word, or several side by side, may stand in, each with the words as they stand there."""
    prepared = words.prepared(word)
    plain = words.plain().analyze(prepared)
    yield "words", words.english().analyze(prepared)
    yield "authors", plain


def beginnings(word: str) -> tuple[str, list[str]] | None:
    """A single word as it stands, and what of it the stem of one that is spelled like it may be."""
    found = words.plain().analyze(words.prepared(word))
    if len(found) != 1:
        return None
    least = max(SHORTEST_BEGINNING, len(found[0]) - LONGEST_ENDING)
    return found[0], sorted({*words.stems(word), *(found[0][:size] for size in range(least, len(found[0]) + 1))})
