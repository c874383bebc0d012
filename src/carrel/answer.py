"""From a question to an answer that carries its proof.

A statement is shown only once each of its citations has been found, character for character, in the source it names.
What cannot be proved is set aside and reported. When the best evidence is too weak, that is the answer.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from carrel import quotes, sentences
from carrel.telemetry import timed
from carrel.types import (
    Answer,
    Citation,
    CitationEvent,
    Confidence,
    ConfidenceEvent,
    DoneEvent,
    Excerpt,
    Prompt,
    Statement,
    TokenEvent,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from carrel.embedders import Embedder
    from carrel.generators import Generator
    from carrel.settings import Answer as Options
    from carrel.types import Box, Chunk, Event, Passage, SearchResult, Span

    BoxesOf: TypeAlias = Callable[[Chunk, int, int], tuple[Box, ...]]
    """Where on its pages a stretch of a chunk's text stands; it is counted in the text of the chunk's part."""

INSUFFICIENT = "The library does not hold sufficient evidence to answer this question."
_LEVELS = ((0.8, Confidence.HIGH), (0.6, Confidence.MEDIUM), (0.4, Confidence.LOW))
_MARKS = re.compile(r"\s*((?:\[\d+\]\s*)+)$")
_SHORTEST_SENTENCE = 30
_NEAR_MISSES = 3
_PASSAGE_WEIGHT = 0.25
"""How much a sentence's passage counts beside the sentence itself: little, as both were measured by the same model."""


def answer(
    question: str,
    *,
    result: SearchResult,
    embedder: Embedder,
    generator: Generator,
    options: Options,
    boxes: BoxesOf | None = None,
) -> Iterator[Event]:
    """The answer as it grows: confidence first, then proved statements, each after its sources; last, all of it."""
    timings = dict(result.timings)
    query_id = secrets.token_hex(16)
    best = result.passages[0].probability if result.passages else 0.0
    insufficient = best is None or best < options.threshold
    yield ConfidenceEvent(confidence(best), insufficient, best)
    draft = Answer(
        query_id=query_id,
        question=question,
        answer="",
        statements=(),
        citations=(),
        confidence=confidence(best),
        has_insufficient_evidence=insufficient,
        near_misses=(),
        unsupported=(),
        strategy=result.strategy,
        generator=generator.name,
        degraded=result.degraded,
        timings=timings,
    )
    with timed(timings, "generation"):
        spoken = _Spoken(result.passages, boxes or (lambda *_: ()))
        if not insufficient:
            prompt = _prompt(question, result.passages, embedder)
            yield from _proved(generator.stream(prompt), spoken)
    if not spoken.statements:
        yield TokenEvent(INSUFFICIENT)
        yield DoneEvent(_refusal(draft, result.passages, spoken))
        return
    yield DoneEvent(
        replace(
            draft,
            answer=" ".join(f"{one.text} {_marks(one.citations)}" for one in spoken.statements),
            statements=tuple(spoken.statements),
            citations=tuple(spoken.citations),
            unsupported=tuple(spoken.unsupported),
        )
    )


def collect(events: Iterable[Event]) -> Answer:
    """Wait for the end and return the whole."""
    return next(event.answer for event in events if isinstance(event, DoneEvent))


def confidence(probability: float | None) -> Confidence:
    """How sure the best passage makes us. Without a probability no claim is made."""
    levels = (level for least, level in _LEVELS if probability is not None and probability >= least)
    return next(levels, Confidence.INSUFFICIENT)


def _refusal(draft: Answer, passages: Sequence[Passage], spoken: _Spoken) -> Answer:
    return replace(
        draft,
        answer=INSUFFICIENT,
        has_insufficient_evidence=True,
        near_misses=tuple(passages[:_NEAR_MISSES]),
        unsupported=tuple(spoken.unsupported),
    )


def _prompt(question: str, passages: Sequence[Passage], embedder: Embedder) -> Prompt:
    """The passages as numbered excerpts, each sentence scored by how near it is to the question."""
    found = [
        (number, span)
        for number, passage in enumerate(passages, start=1)
        for span in sentences.prose(passage.chunk.text)
        if span.end - span.start >= _SHORTEST_SENTENCE
    ]
    texts = [passages[number - 1].chunk.text[span.start : span.end] for number, span in found]
    nearness = embedder.embed_passages(texts) @ embedder.embed_query(question) if texts else np.zeros(0)
    scored: dict[int, list[tuple[Span, float]]] = {}
    for (number, span), near in zip(found, nearness, strict=True):
        probability = passages[number - 1].probability or 0.0
        scored.setdefault(number, []).append((span, float(near) * probability**_PASSAGE_WEIGHT))
    return Prompt(
        question,
        tuple(
            Excerpt(number, passage.chunk.title, passage.chunk.text, tuple(scored.get(number, ())))
            for number, passage in enumerate(passages, start=1)
        ),
    )


@dataclass
class _Spoken:
    """What has been said so far. Sources are numbered anew, in the order they are cited."""

    passages: Sequence[Passage]
    boxes: BoxesOf

    def __post_init__(self) -> None:
        self.statements: list[Statement] = []
        self.citations: list[Citation] = []
        self.unsupported: list[str] = []

    def prove(self, text: str, numbers: Sequence[int]) -> list[Citation]:
        """The citations under which a statement stands; none when it does not."""
        found: list[Citation] = []
        for number in dict.fromkeys(numbers):
            passage = self.passages[number - 1] if 0 < number <= len(self.passages) else None
            span = quotes.locate(text, passage.chunk.text) if passage else None
            if passage and span:
                found.append(self._cite(passage, span, len(found)))
        return found

    def _cite(self, passage: Passage, span: Span, pending: int) -> Citation:
        chunk = passage.chunk
        start, end = chunk.start + span.start, chunk.start + span.end
        return Citation(
            id=len(self.citations) + pending + 1,
            chunk=chunk,
            quote=chunk.text[span.start : span.end],
            start=start,
            end=end,
            score=passage.score,
            boxes=self.boxes(chunk, start, end),
        )


def _proved(stream: Iterable[str], spoken: _Spoken) -> Iterator[Event]:
    for line in _lines(stream):
        marks = _MARKS.search(line)
        text = line[: marks.start()].strip() if marks else line
        numbers = [int(number) for number in re.findall(r"\d+", marks.group(1))] if marks else []
        citations = spoken.prove(text, numbers)
        if not citations:
            spoken.unsupported.append(text)
            continue
        yield from map(CitationEvent, citations)
        statement = Statement(text, tuple(citation.id for citation in citations))
        spoken.citations += citations
        spoken.statements.append(statement)
        yield TokenEvent(f"{text} {_marks(statement.citations)}\n")


def _lines(stream: Iterable[str]) -> Iterator[str]:
    """One statement a line, as soon as it is complete."""
    waiting = ""
    for piece in stream:
        *complete, waiting = (waiting + piece).split("\n")
        yield from (line.strip() for line in complete if line.strip())
    if waiting.strip():
        yield waiting.strip()


def _marks(numbers: Sequence[int]) -> str:
    return " ".join(f"[{number}]" for number in numbers)
