"""A sentence with its cues and noun phrases."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.concepts import lexicon
from carrel.concepts.phrases import noun_phrases
from carrel.concepts.triples.cues import BY_FIRST_WORD, PAIRS_BY_FIRST_WORD, Left
from carrel.concepts.triples.ends import named
from carrel.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from carrel.concepts.triples.cues import Cue, Pair

_LONGEST_OWNER = 40
_OWNER = re.compile(r"(?<!\w)[^\W\d_a-z][\w.-]*['’]s?\s+$")
_FIRST_WORD = re.compile(r"(?<![\w'’.-])(?:e\.g|i\.e|[A-Za-z]+)")
_PRONOUN = re.compile(r"\s*(?:it|(?:this|the)\s+(?:algorithm|data\s+structure|theorem))\b", re.IGNORECASE)
_NOUN_OR_VERB = re.compile(
    r"\s+([a-z]{3,}?(?P<ing>ing)?)(?=\s*(?:[.,;:)]|$)|\s+(?:of|in|for|with|by|from|on|at|and|or|to|via|using|based|that|which)\b)"
)
_CLAUSE = re.compile(r"[,;:(]\s")
_DENIED = re.compile(
    r"\b(?:not(?!\s+only)|no|never|cannot|without|neither|nor|if|whether|could|would|might|perhaps|instead|unlike|hardly|"
    r"fails?|lacks?|suppose|rather\s+than|unless)\b|n['’]t\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A cue, and where it stands."""

    cue: Cue
    span: Span


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun phrase, and the name it gives something, if it gives one."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    cues: tuple[Found, ...]
    pairs: tuple[tuple[Pair, Span], ...]
    nouns: tuple[Noun, ...]

    @property
    def pronoun(self) -> Span | None:
        """What it begins with, if that stands for something else: "it", "this algorithm"."""
        found = _PRONOUN.match(self.text)
        return Span(*found.span()) if found else None

    def denies(self, start: int, end: int) -> bool:
        """Whether what is said there is denied, or only possible."""
        clauses = [boundary.end() for boundary in _CLAUSE.finditer(self.text, 0, start)]
        return bool(_DENIED.search(self.text, clauses[-1] if clauses else 0, end))


def read(text: str, known: Mapping[str, str]) -> Sentence | None:
    """A sentence without mark-up; None if it has no cue, or asks something."""
    cues, pairs = list(_cues(text)), tuple(_pairs(text))
    if not (cues or pairs) or text.rstrip().endswith("?"):
        return None
    phrases = [_with_owner(phrase, text) for phrase in noun_phrases(text)]
    cues = [cue for cue in cues if not (cue.cue.left == Left.TIGHT and _lies_in(cue.span, phrases))]
    nouns = [_prolonged(phrase, text) for phrase in _without(phrases, cues)]
    return Sentence(text, tuple(cues), pairs, tuple(_noun(phrase, text, known) for phrase in nouns))


def _noun(phrase: Span, text: str, known: Mapping[str, str]) -> Noun:
    return Noun(phrase.start, phrase.end, named(" ".join(text[phrase.start : phrase.end].split()), known))


def _with_owner(phrase: Span, text: str) -> Span:
    """With the name it begins with, as in "Prim's algorithm"."""
    owner = _OWNER.search(text, max(0, phrase.start - _LONGEST_OWNER), phrase.start)
    return Span(owner.start(), phrase.end) if owner else phrase


def _prolonged(phrase: Span, text: str) -> Span:
    """With the noun behind it that could be a verb elsewhere: "question answering", "parsing rules"."""
    more = _NOUN_OR_VERB.match(text, phrase.end)
    if more is None or more.group(1) in BY_FIRST_WORD or not (more["ing"] or lexicon.tag(more.group(1)) == "v"):
        return phrase
    return Span(phrase.start, more.end(1))


def _cues(text: str) -> Iterator[Found]:
    """The longest at each place; none within another."""
    end = 0
    for word in _FIRST_WORD.finditer(text):
        if word.start() < end or not (cues := BY_FIRST_WORD.get(word.group().lower())):
            continue
        matches = [(rest.end(), cue) for cue in cues if (rest := cue.rest.match(text, word.end()))]
        end = max((match[0] for match in matches), default=end)
        yield from (Found(cue, Span(word.start(), end)) for last, cue in matches if last == end)


def _pairs(text: str) -> Iterator[tuple[Pair, Span]]:
    for word in _FIRST_WORD.finditer(text):
        for pair in PAIRS_BY_FIRST_WORD.get(word.group().lower(), ()):
            if rest := pair.rest.match(text, word.end()):
                yield pair, Span(word.start(), rest.end())


def _lies_in(span: Span, phrases: Sequence[Span]) -> bool:
    return any(phrase.start < span.start and span.end < phrase.end for phrase in phrases)


def _without(phrases: Sequence[Span], cues: Sequence[Found]) -> Iterator[Span]:
    """The phrases, cut where a cue is in them."""
    for phrase in phrases:
        start = phrase.start
        for cue in (found.span for found in cues):
            if start < cue.end and cue.start < phrase.end:
                if start < cue.start:
                    yield Span(start, cue.start)
                start = cue.end
        if start < phrase.end:
            yield Span(start, phrase.end)
