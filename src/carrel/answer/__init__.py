"""From a question to an answer that carries its proof.

A statement is shown only once each of its citations has been found, character for character, in the source it names.
What cannot be proved is set aside and reported. When the best evidence is too weak, that is the answer.
"""

from __future__ import annotations

import secrets
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from carrel.answer import evidence, refusing, said
from carrel.answer.certainty import certainty as certainty_of
from carrel.answer.certainty import level
from carrel.answer.listening import listen
from carrel.answer.proving import Prover, Unproved
from carrel.errors import CarrelError, ContextTooLong, InvalidInput, MissingExtra, ModelNotInstalled
from carrel.generators.prompting import UNANSWERED
from carrel.telemetry import timed
from carrel.types import (
    Answer,
    Citation,
    CitationEvent,
    Confidence,
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
    from collections.abc import Callable, Iterable, Iterator

    from carrel.answer.said import Said
    from carrel.embedders import Embedder
    from carrel.generators import Generator
    from carrel.settings import Answer as Options
    from carrel.types import Box, Certainty, Chunk, Event, Excerpt, Passage, SearchResult, Span

    BoxesOf: TypeAlias = Callable[[Chunk, int, int], tuple[Box, ...]]
    """Where on its pages a stretch of a chunk's text stands; it is counted in the text of the chunk's part."""
    StandingOf: TypeAlias = Callable[[str], Standing]
    """What is to be known of the paper with this id."""
    FaultsOf: TypeAlias = Callable[[], tuple[Degradation, ...]]

_WRONG_SETTINGS = (InvalidInput, MissingExtra, ModelNotInstalled)
"""What no other generator should hide: the user has to put it right."""
_FEWEST_TOKENS = 256
"""A model that reads less than this reads no evidence."""


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
    faults: FaultsOf = tuple
    """Why `standing` may not tell all."""


def answer(
    question: str, result: SearchResult, means: Means, *, asked: str = "", query_id: str = ""
) -> Iterator[Event]:
    """The answer as it grows: confidence first, then proved statements, each after its sources; last, all of it.

    `asked` is the question that was searched for, where it is not the one that is to be answered; `query_id` is what
    the answer is to be known by. Who closes the iterator stops the work.
    """
    talk = _Talk(question, asked, result, means, query_id or secrets.token_hex(16))
    certainty = talk.consider()
    yield ConfidenceEvent(level(certainty.probability), talk.is_insufficient, certainty.probability)
    if not talk.is_insufficient:
        with timed(talk.timings, "generation"):
            yield from talk.proved()
    whole = talk.whole()
    if whole.has_insufficient_evidence:
        yield TokenEvent(whole.answer)
    yield MetadataEvent(whole.query_id, whole.strategy, whole.generator, whole.timings, whole.degraded)
    yield DoneEvent(whole)


def collect(events: Iterable[Event]) -> Answer:
    """Wait for the end and return the whole."""
    return next(event.answer for event in events if isinstance(event, DoneEvent))


@dataclass
class _Talk:
    """What has been said so far. Sources are numbered anew, in the order they are cited."""

    question: str
    asked: str
    result: SearchResult
    means: Means
    query_id: str
    statements: list[Statement] = field(default_factory=list)
    citations: dict[tuple[str, int, int], Citation] = field(default_factory=dict)
    """By chunk and place."""
    unsupported: list[Unsupported] = field(default_factory=list)
    degraded: list[Degradation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began = time.perf_counter()
        self.timings = dict(self.result.timings)
        self.speaker = self.means.generator

    @property
    def searched(self) -> str:
        return self.asked or self.question

    @property
    def is_insufficient(self) -> bool:
        probability = self.certainty.probability
        return probability is None or probability < self.means.options.threshold

    def consider(self) -> Certainty:
        """What can be quoted of what was found, and how sure that makes us."""
        with timed(self.timings, "evidence"):
            passages = self.result.passages
            self.excerpts = evidence.select(self.searched, passages, self.means.embedder, self.degraded)
            self.certainty = certainty_of(
                self.searched,
                passages,
                self.excerpts,
                embedder=self.means.embedder.name,
                candidates=max(self.result.counts.values(), default=0),
            )
        return self.certainty

    def whole(self) -> Answer:
        refused, passages = not self.statements, self.result.passages
        return Answer(
            query_id=self.query_id,
            question=self.question,
            answer=self._refusal() if refused else " ".join(map(_marked, self.statements)),
            statements=tuple(self.statements),
            citations=tuple(self.citations.values()),
            confidence=self._confidence(),
            has_insufficient_evidence=refused,
            near_misses=tuple(passages[: refusing.NEAR_MISSES]) if refused else (),
            unsupported=tuple(self.unsupported),
            strategy=self.result.strategy,
            generator=self.speaker.name,
            certainty=self.certainty,
            threshold=self.means.options.threshold,
            asked=self.asked,
            counts=self.result.counts,
            context_tokens=sum(passage.chunk.token_count for passage in passages),
            degraded=(*self.result.degraded, *self.degraded, *(self.means.faults() if self.citations else ())),
            timings=self.timings,
        )

    def _refusal(self) -> str:
        threshold, passages = self.means.options.threshold, self.result.passages
        unproved = len(self.unsupported)
        return refusing.refusal(self.question, passages, self.certainty, threshold, unproved=unproved)

    def _confidence(self) -> Confidence:
        if not self.statements:
            return Confidence.INSUFFICIENT
        sure = level(self.certainty.probability)
        # The threshold may have been set lower than the words go.
        return Confidence.LOW if sure == Confidence.INSUFFICIENT else sure

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
        """What it says to as much evidence as it can read: half as much, where it finds that too long."""
        tokens = speaker.context_tokens
        while True:
            try:
                yield from self._spoken(speaker, evidence.pack(self.excerpts, tokens=tokens))
            except ContextTooLong:
                tokens //= 2
                if tokens < _FEWEST_TOKENS or self.statements:
                    raise
            else:
                return

    def _spoken(self, speaker: Generator, excerpts: tuple[Excerpt, ...]) -> Iterator[Event]:
        prompt, prover = Prompt(self.searched, excerpts), Prover(excerpts)
        with closing(listen(speaker.name, lambda: speaker.stream(prompt), seconds=self.means.seconds)) as pieces:
            for heard in said.read(pieces):
                for sentence in prover.parts(heard):
                    yield from self._told(sentence, prover)

    def _told(self, sentence: Said, prover: Prover) -> Iterator[Event]:
        if sentence.text == UNANSWERED or any(statement.text == sentence.text for statement in self.statements):
            return
        try:
            places = prover.prove(sentence)
        except Unproved as why:
            self.unsupported.append(Unsupported(sentence.text, str(why)))
            return
        numbers: list[int] = []
        for place in places:
            passage = self.result.passages[place.number - 1]
            key = (passage.chunk.address, place.span.start, place.span.end)
            if key not in self.citations:
                self.citations[key] = self._citation(passage, place.span)
                yield CitationEvent(self.citations[key])
            numbers.append(self.citations[key].id)
        statement = Statement(sentence.text, tuple(numbers))
        self.statements.append(statement)
        if len(self.statements) == 1:
            elapsed = (time.perf_counter() - self.began) * 1000
            self.timings["first_token"] = round(self.result.timings.get("total", 0.0) + elapsed, 3)
        yield TokenEvent(f"{_marked(statement)}\n")

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


def _marked(statement: Statement) -> str:
    return " ".join([statement.text, *(f"[{number}]" for number in statement.citations)])
