"""From passages to what may be quoted of them: their best sentences, and as much around those as there is room for."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from carrel import screening, sentences, words
from carrel.answer import screened, wording
from carrel.answer.quotable import quotable
from carrel.errors import CarrelError
from carrel.generators.extractive import SAME
from carrel.queries import language
from carrel.types import Degradation, Excerpt, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from carrel.answer.quotable import Sentence
    from carrel.embedders import Embedder
    from carrel.types import Chunk, Passage

    Array = NDArray[np.float64]

_COMPARED = 24
"""Sentences that are embedded, chosen by their words: more took longer and found nothing more."""
_NEAR, _WORDS, _PASSAGE, _INTENDS, _CONCLUDES, _LENGTH, _NUMBER = 0.08, 0.3, 0.045, -0.16, 0.1, 0.05, 0.05
"""What a standard deviation of nearness, the question's words, the logit of the passage's probability, a plan, an
abstract's end, length and a number that was asked for are worth (`benchmarks/evidence.py`)."""
_LEAST_SPREAD = 0.02
"""Sentences whose nearness differs by less than this are equally near."""
_EDGE = 1e-3
_NUMBER_WANTED = re.compile(
    r"\bhow (?:many|much|long|often|old|large|big|high|far|fast|likely)\b"
    r"|\b(?:what|which) (?:percentage|proportion|share|fraction|number|year|date|size|rate|dose|age)\b"
    r"|\b(?:percentage|number|prevalence|incidence|proportion) of\b|^\s*when\b",
    re.IGNORECASE,
)
_CHARACTERS_A_TOKEN = 3.5
"""Fewer than English needs, so that names and numbers have room."""
_FOR_THE_REST = 0.1
"""The share of the room for excerpts that numbers, headings and an estimate of tokens need."""


def select(
    question: str, passages: Sequence[Passage], embedder: Embedder, degraded: list[Degradation] | None = None
) -> tuple[Excerpt, ...]:
    """The passages as excerpts, numbered as they are ranked, each sentence scored by what it says of the question.

    Where the embedder fails, words alone decide, and `degraded` is told.
    """
    found = [one for number, passage in enumerate(passages, start=1) for one in quotable(number, passage)]
    by_words = _by_words(question, found)
    compared = np.argsort(-by_words, kind="stable")[:_COMPARED]
    try:
        near = _similarities(question, [found[place].text for place in compared.tolist()], embedder)
    except CarrelError as error:
        near = np.zeros(0)
        if degraded is not None:
            degraded.append(Degradation("evidence", error.message))
    # What was not compared is taken to be as far as the farthest that was.
    similarity = np.full(len(found), near.min(initial=1.0))
    similarity[compared[: len(near)]] = near
    scores = (by_words + _NEAR * _unusual(similarity, near)).round(6).tolist()
    known = dict(zip(compared.tolist(), near.tolist(), strict=False))
    scored = [
        _Scored(one, score, known.get(place)) for place, (one, score) in enumerate(zip(found, scores, strict=True))
    ]
    return tuple(
        _excerpt(number, passage.chunk, [each for each in scored if each.sentence.number == number])
        for number, passage in enumerate(passages, start=1)
    )


class _Scored(NamedTuple):
    sentence: Sentence
    score: float
    similarity: float | None
    """To the question; None where it was not compared."""


def _excerpt(number: int, chunk: Chunk, scored: Sequence[_Scored]) -> Excerpt:
    return Excerpt(
        number,
        "" if screening.is_instruction(chunk.title) else chunk.title,
        chunk.text,
        tuple((one.sentence.span, one.score) for one in scored),
        screened.harmless(chunk.text),
        max((one.similarity for one in scored if one.similarity is not None), default=None),
    )


def _by_words(question: str, found: Sequence[Sentence]) -> Array:
    """All that can be told of sentences without a model."""
    weighed = wording.weights(question, [one.stems for one in found])
    number = _NUMBER if _NUMBER_WANTED.search(question) else 0.0
    scores = [
        _WORDS * wording.covered(one.stems, weighed)
        + _PASSAGE * _logit(one.passage.probability)
        + _INTENDS * one.intends
        + _CONCLUDES * one.concludes
        + _LENGTH * one.length
        + number * one.has_number
        for one in found
    ]
    return np.array(scores, dtype=np.float64)


def _logit(probability: float | None) -> float:
    if probability is None:
        return 0.0
    inside = min(max(probability, _EDGE), 1 - _EDGE)
    return math.log(inside / (1 - inside))


def _similarities(question: str, texts: Sequence[str], embedder: Embedder) -> Array:
    """How near each is to the question; none where the embedder does not know the language."""
    known: frozenset[str] | None = getattr(embedder, "languages", None)
    script = language.by_script(question)
    if not texts or (known is not None and script and script not in known):
        return np.zeros(0)
    near = np.vecdot(embedder.embed_passages(texts), embedder.embed_query(question))
    return np.asarray(near, dtype=np.float64)


def _unusual(similarity: Array, compared: Array) -> Array:
    """By how many standard deviations each is nearer than usual, so that no model's scale matters."""
    if not len(compared):
        return np.zeros(len(similarity))
    return np.asarray((similarity - compared.mean()) / max(float(compared.std()), _LEAST_SPREAD), dtype=np.float64)


def pack(excerpts: Sequence[Excerpt], *, tokens: int) -> tuple[Excerpt, ...]:
    """What of the excerpts a generator has room for, the best sentences first, each with what it needs around it.

    Numbers stay; an excerpt that nothing is offered of is left out.
    """
    room = tokens * (1 - _FOR_THE_REST)
    if sum(_tokens(f"{excerpt.title} {excerpt.text}") for excerpt in excerpts) <= room:
        return tuple(excerpts)
    chosen: dict[int, list[Span]] = {}
    for excerpt, span in _wanted(excerpts):
        before = chosen.get(excerpt.number, [])
        cost = _tokens(excerpt.text[span.start : span.end]) + (0 if before else _tokens(excerpt.title))
        if cost <= room:
            room -= cost
            chosen[excerpt.number] = [*before, span]
    return tuple(
        replace(excerpt, offered=screened.within(_joined(excerpt.text, chosen[excerpt.number]), excerpt.offered))
        for excerpt in excerpts
        if excerpt.number in chosen
    )


def _tokens(text: str) -> float:
    """About what any model needs for it: scripts other than the Latin take a token a character."""
    plain = sum(map(str.isascii, text))
    return plain / _CHARACTERS_A_TOKEN + len(text) - plain


def _wanted(excerpts: Sequence[Excerpt]) -> Iterator[tuple[Excerpt, Span]]:
    """Sentences worth reading, best first, with what they lean on; not what says the same as an earlier one."""
    ranked = [(-score, one.number, span.start, one, span) for one in excerpts for span, score in one.sentences]
    seen: list[set[str]] = []
    for *_, excerpt, span in sorted(ranked, key=lambda one: one[:3]):
        said = set(words.stems(excerpt.text[span.start : span.end]))
        if not any(words.share(said, earlier) >= SAME for earlier in seen):
            seen.append(said)
            yield excerpt, sentences.whole(excerpt.text, span)


def _joined(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """In order of text, those that overlap or have nothing but a blank between them made one."""
    joined: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, one.end)):
        if joined and not text[joined[-1].end : span.start].strip():
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return tuple(joined)
