"""The chunks of a reference: its abstract, and what its reader says of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.chunking import digest
from carrel.references import jsonl
from carrel.types import Chunk, ChunkKind, Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.chunking.passages import CountTokens
    from carrel.types import Reference

_AUTOMATIC_TAG = re.compile(r"[a-z]+:incomplete")


def reference_text(reference: Reference) -> str:
    """The abstract, and after it what the reader says of the paper."""
    return "\n\n".join(text for text in (reference.abstract, own_words(reference)) if text)


def own_words(reference: Reference) -> str:
    """The reader's note and tags; those that an importer set are not the reader's."""
    tags = ", ".join(tag for tag in reference.tags if not _AUTOMATIC_TAG.fullmatch(tag))
    return "\n".join(text for text in (reference.note.strip(), tags) if text)


def reference_chunks(reference: Reference, *, language: str, count_tokens: CountTokens) -> Iterator[Chunk]:
    """A reference's abstract, which may be empty: its title is searched all the same; and its note, if it has one."""
    note, whole = own_words(reference), reference_text(reference)
    spans = {ChunkKind.ABSTRACT: (0, len(reference.abstract))}
    if note:
        spans[ChunkKind.NOTE] = (len(whole) - len(note), len(whole))
    counts = count_tokens([whole[start:end] for start, end in spans.values()])
    for (position, (kind, (start, end))), tokens in zip(enumerate(spans.items()), counts, strict=True):
        chunk = Chunk(
            address=f"{reference.id}/{kind}",
            paper_id=reference.id,
            part=Part.ABSTRACT,
            kind=kind,
            text=whole[start:end],
            start=start,
            end=end,
            position=position,
            language=language,
            token_count=tokens,
        )
        yield chunk.with_facts(reference)


def reference_digest(reference: Reference) -> str:
    return digest(jsonl.dump(reference))
