"""Triples by rules: what sentences, lists and links say outright."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel import sentences
from carrel.concepts.triples.checks import LEAST_CONFIDENCE, MOST_IN_A_CHUNK, best
from carrel.concepts.triples.links import links
from carrel.concepts.triples.plain import plain
from carrel.concepts.triples.statements import stated
from carrel.concepts.triples.structure import listed
from carrel.concepts.triples.topics import topic_of
from carrel.types import ChunkKind, Span, Triple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from carrel.concepts.triples.statements import Statement
    from carrel.types import Chunk

MOST_CODE = 0.8
LONGEST_SENTENCE = 1000
"""Characters; what is longer is a table or a list that lost its lines."""
_CODE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_UNRELATED = re.compile(
    r"(?:practi[cs]e|exercise|problem|task|reference|bibliograph|literature|source|external)", re.IGNORECASE
)


def extract(
    chunk: Chunk, known: Mapping[str, str], *, least: float = LEAST_CONFIDENCE, most: int = MOST_IN_A_CHUNK
) -> list[Triple]:
    """The surest triples of a chunk, surest first. `known` has the paper's concepts: their keys and names."""
    if not is_read(chunk):
        return []
    return best((_triple(chunk, *found) for found in stated_in(chunk, known)), least=least, most=most)


def is_read(chunk: Chunk) -> bool:
    """Whether a chunk is an author's prose: not a table, a figure or a reader's note, and not nearly all code."""
    if chunk.kind not in {ChunkKind.PASSAGE, ChunkKind.ABSTRACT} or not chunk.text.strip():
        return False
    return sum(len(block.group()) for block in _CODE.finditer(chunk.text)) <= MOST_CODE * len(chunk.text)


def stated_in(chunk: Chunk, known: Mapping[str, str]) -> Iterator[tuple[Span, Statement]]:
    """Whatever is stated, and where in the chunk, sure or not."""
    topic = topic_of(chunk.title, known)
    yield from listed(chunk, topic, known)
    linking = bool(topic) and not _UNRELATED.search(chunk.section_path[-1] if chunk.section_path else "")
    before = ""
    for span in sentences.prose(chunk.text):
        if span.end - span.start > LONGEST_SENTENCE:
            continue
        sentence = chunk.text[span.start : span.end]
        text = plain(sentence)
        yield from ((span, statement) for statement in stated(text, known, topic, it=_meant(topic, before)))
        if linking and "](" in sentence:
            yield from ((span, statement) for statement in links(sentence, topic, known))
        before = text


def _meant(topic: str, before: str) -> str:
    """What "it" means: the topic, if the sentence before is about that."""
    return topic if topic and topic.lower() in " ".join(before[: 2 * len(topic) + 10].split()).lower() else ""


def _triple(chunk: Chunk, span: Span, statement: Statement) -> Triple:
    return Triple(
        subject=statement.subject,
        predicate=statement.predicate,
        object=statement.object,
        confidence=statement.confidence,
        address=chunk.address,
        evidence=chunk.text[span.start : span.end],
        start=chunk.start + span.start,
        end=chunk.start + span.end,
    )
