"""From a question to an answer that carries its proof.

A statement is shown only once each of its citations has been found, character for character, in the source it names.
What cannot be proved is set aside and reported. When the best evidence is too weak, that is the answer.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from carrel.answer import evidence, refusing, said
from carrel.answer.certainty import certainty as certainty_of
from carrel.answer.certainty import level
from carrel.answer.listening import listen
from carrel.answer.proving import Prover, Unproved
from carrel.errors import CarrelError, InvalidInput, MissingExtra, ModelNotInstalled
from carrel.telemetry import timed
from carrel.types import (
    Answer,
    Citation,
    CitationEvent,
    ConfidenceEvent,
    Degradation,
    DoneEvent,
    MetadataEvent,
    Prompt,
    Standing,
    Statement,
    TokenEvent,
    Unsupported,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from carrel.answer.said import Said
    from carrel.embedders import Embedder
    from carrel.generators import Generator
    from carrel.settings import Answer as Options
    from carrel.types import Box, Chunk, Event, Excerpt, Passage, SearchResult, Span

    BoxesOf: TypeAlias = Callable[[Chunk, int, int], tuple[Box, ...]]
    """Where on its pages a stretch of a chunk's text stands; it is counted in the text of the chunk's part."""
    StandingOf: TypeAlias = Callable[[str], Standing]
    """What is to be known of the paper with this id."""

_WRONG_SETTINGS = (InvalidInput, MissingExtra, ModelNotInstalled)
"""What no other generator should hide: the user has to put it right."""


@dataclass(frozen=True)
class Means:
    """What an answer is made with."""

    embedder: Embedder
    generator: Generator
    options: Options
    stand_in: Generator | None = None
    """Who answers where the generator cannot."""
    seconds: float = 120.0
    """How long a generator may speak."""
    boxes: BoxesOf = lambda *_: ()
    standing: StandingOf = lambda _: Standing()


def answer(question: str, result: SearchResult, means: Means, *, asked: str = "") -> Iterator[Event]:
    """The answer as it grows: confidence first, then proved statements, each after its sources; last, all of it.

    `asked` is the question that was searched for, where it is not the one that is to be answered. Who closes the
    iterator stops the work.
    """
    timings, began = dict(result.timings), time.perf_counter()
    with timed(timings, "evidence"):
        excerpts = evidence.select(asked or question, result.passages, means.embedder)
        certainty = certainty_of(asked or question, result.passages, excerpts)
    threshold = means.options.threshold
    insufficient = certainty.probability is None or certainty.probability < threshold
    yield ConfidenceEvent(level(certainty.probability), insufficient, certainty.probability)
    talk = _Talk(result.passages, means, asked or question, excerpts)
    with timed(timings, "generation"):
        for event in talk.proved() if not insufficient else ():
            if isinstance(event, TokenEvent) and "first_token" not in timings:
                elapsed = (time.perf_counter() - began) * 1000
                timings["first_token"] = round(result.timings.get("total", 0.0) + elapsed, 3)
            yield event
    refused = not talk.statements
    text = " ".join(f"{one.text} {_marks(one.citations)}" for one in talk.statements)
    if refused:
        text = refusing.refusal(question, result.passages, certainty, threshold)
        yield TokenEvent(text)
    whole = Answer(
        query_id=secrets.token_hex(16),
        question=question,
        answer=text,
        statements=tuple(talk.statements),
        citations=tuple(talk.citations.values()),
        confidence=level(certainty.probability),
        has_insufficient_evidence=refused,
        near_misses=tuple(result.passages[: refusing.NEAR_MISSES]) if refused else (),
        unsupported=tuple(talk.unsupported),
        strategy=result.strategy,
        generator=talk.speaker.name,
        certainty=certainty,
        threshold=threshold,
        asked=asked,
        degraded=(*result.degraded, *talk.degraded),
        timings=timings,
    )
    yield MetadataEvent(whole.query_id, whole.strategy, whole.generator, timings, whole.degraded)
    yield DoneEvent(whole)


def collect(events: Iterable[Event]) -> Answer:
    """Wait for the end and return the whole."""
    return next(event.answer for event in events if isinstance(event, DoneEvent))


@dataclass
class _Talk:
    """What has been said so far. Sources are numbered anew, in the order they are cited."""

    passages: Sequence[Passage]
    means: Means
    question: str
    excerpts: Sequence[Excerpt]
    statements: list[Statement] = field(default_factory=list)
    citations: dict[tuple[str, int, int], Citation] = field(default_factory=dict)
    """By chunk and place."""
    unsupported: list[Unsupported] = field(default_factory=list)
    degraded: list[Degradation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.speaker = self.means.generator

    def proved(self) -> Iterator[Event]:
        """Whoever can speak does, and what is proved of it is told."""
        try:
            yield from self._heard(self.speaker)
        except _WRONG_SETTINGS:
            raise
        # A generator may be anybody's, and fail in any way; what was proved until then is proved.
        except Exception as error:
            reason = error.message if isinstance(error, CarrelError) else f"{type(error).__name__}: {error}"
            self.degraded.append(Degradation("generator", f"{self.speaker.name}: {reason}"))
            if self.statements or self.means.stand_in is None:
                return
            self.speaker = self.means.stand_in
            yield from self._heard(self.speaker)

    def _heard(self, speaker: Generator) -> Iterator[Event]:
        excerpts = evidence.pack(self.excerpts, tokens=speaker.context_tokens)
        prompt, prover = Prompt(self.question, excerpts), Prover(excerpts, self.means.embedder)
        pieces = listen(speaker.name, lambda: speaker.stream(prompt), seconds=self.means.seconds)
        for sentence in said.read(pieces):
            yield from self._told(sentence, prover)

    def _told(self, sentence: Said, prover: Prover) -> Iterator[Event]:
        try:
            places = prover.prove(sentence)
        except Unproved as why:
            self.unsupported.append(Unsupported(sentence.text, str(why)))
            return
        numbers: list[int] = []
        for place in places:
            chunk = self.passages[place.number - 1].chunk
            key = (chunk.address, place.span.start, place.span.end)
            if key not in self.citations:
                self.citations[key] = self._citation(self.passages[place.number - 1], place.span)
                yield CitationEvent(self.citations[key])
            numbers.append(self.citations[key].id)
        statement = Statement(sentence.text, tuple(numbers))
        self.statements.append(statement)
        yield TokenEvent(f"{statement.text} {_marks(statement.citations)}\n")

    def _citation(self, passage: Passage, span: Span) -> Citation:
        chunk = passage.chunk
        start, end = chunk.start + span.start, chunk.start + span.end
        return Citation(
            id=len(self.citations) + 1,
            chunk=chunk,
            quote=chunk.text[span.start : span.end],
            start=start,
            end=end,
            score=passage.score,
            boxes=self.means.boxes(chunk, start, end),
            standing=self.means.standing(chunk.paper_id),
        )


def _marks(numbers: Sequence[int]) -> str:
    return " ".join(f"[{number}]" for number in numbers)
