"""A sentence with its cues and noun phrases, and which of these belong together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.concepts import lexicon
from carrel.concepts.phrases import noun_phrases
from carrel.concepts.triples.cues import BY_FIRST_WORD, PAIRS_BY_FIRST_WORD, Left
from carrel.concepts.triples.ends import bare
from carrel.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.concepts.triples.cues import Cue, Pair

MOST_LISTED = 8
_LONGEST_OWNER = 40
_OWNER = re.compile(r"(?<!\w)[^\W\d_a-z][\w.-]*['’]s?\s+$")
_FIRST_WORD = re.compile(r"(?<![\w'’.-])(?:e\.g|i\.e|[A-Za-z]+)")
_PRONOUN = re.compile(
    r"\s*(?:it|(?:this|the)\s+(?:algorithm|data\s+structure|theorem))\b",
    re.IGNORECASE,
)
_ADVERB = (
    r"(?:(?!hardly|barely|scarcely|possibly|probably|allegedly|supposedly)\w+ly|also|often|then|first|now|already|thus|"
    r"always|sometimes)\s+"
)
_AUXILIARY = rf"(?:(?:is|are|was|were|being|has\s+been|have\s+been|(?:can|will)\s+(?:{_ADVERB})?be)\s+)?"
_DETERMINERS = (
    r"(?:(?:the|an?|its|their|our|some|several|various|many|both|two|three|four|different|other|any|all|such|these|"
    r"those|this|that|using|of)\s+)*"
)
_LEFT = {
    Left.TIGHT: re.compile(r"\s*"),
    Left.COMMA: re.compile(r"\s*[,(:–—-]*\s*"),
    Left.APART: re.compile(r"\s*,\s*"),
    Left.VERB: re.compile(rf"\s*[,)]?\s*(?:(?:which|that)\s+)?(?:{_ADVERB})*{_AUXILIARY}(?:{_ADVERB})*", re.IGNORECASE),
}
_RIGHT = re.compile(rf"\s*[:(\"“‘'–—]?\s*{_DETERMINERS}[\"“‘'(]?\s*", re.IGNORECASE)
_JOINED = re.compile(rf"\s*\)?\s*(?:,|,?\s*(?:and|or|and/or|as\s+well\s+as)(?=\s))\s*{_DETERMINERS}", re.IGNORECASE)
_LAST = re.compile(r"\b(?:and|or|as\s+well\s+as)\b", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not(?!\s+only)|no|never|cannot|without|neither|nor|if|whether|could|might|perhaps|instead|unlike|hardly|"
    r"fails?|lacks?|suppose|rather\s+than|unless)\b|n['’]t\b",
    re.IGNORECASE,
)
_WORDS_BEFORE = re.compile(r"([A-Za-z]+)?\s+([A-Za-z]+)\s+(?:(?:the|an?|its|their|our|this|these|such|each)\s+)?$")
_PRESENTED = "propose present introduce describe develop"
_PRESENTING = frozenset({"is", "are", *_PRESENTED.split(), *(f"{verb}s" for verb in _PRESENTED.split())})
_WHOSE = re.compile(r"\b(?:whose|corresponding|respective|such|each|every|no|neither|few)\s+$", re.IGNORECASE)
_THE = re.compile(
    r"\b(?:the|this|that|these|those|its|their|his|her|whose|corresponding|each|every|any|some|such|one|no|neither|another)\s+$",
    re.IGNORECASE,
)
_NOUN_OR_VERB = re.compile(
    r"\s+([a-z]{3,}?(?P<ing>ing)?)(?=\s*(?:[.,;:)]|$)|\s+(?:of|in|for|with|by|from|on|at|and|or|to|via|using|based|that|which)\b)"
)
_AS = re.compile(r"\bas\s+(?:an?|the)\s+(?:\w+\s+)?$", re.IGNORECASE)
_FRONTED = re.compile(r"\s*(?:in|for|with|from|on|by|at|to|like|unlike|given|using)\s+(?:\w+\s+)?", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:(]\s")
_PREPOSITION = re.compile(
    r"\b(?:of|in|for|with|within|on|onto|from|by|to|at|between|into|as|like|than|about|over|through)\s+"
    r"(?:(?:the|an?|its|their|our|this|these|such|each|any)\s+)?(?:[a-z-]+\s+){0,2}$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A cue, and where it stands."""

    cue: Cue
    span: Span


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    cues: tuple[Found, ...]
    pairs: tuple[tuple[Pair, Span], ...]
    whole: tuple[Span, ...]
    """The noun phrases."""
    phrases: tuple[Span, ...]
    """The noun phrases, cut where a cue is in them."""

    def said(self, phrase: Span) -> str:
        return " ".join(self.text[phrase.start : phrase.end].split())

    def before(self, found: Found) -> Span | None:
        """What a cue says something of, right before it."""
        left = next((phrase for phrase in reversed(self.phrases) if phrase.end <= found.span.start), None)
        if left is None or not _LEFT[found.cue.left].fullmatch(self.text, left.end, found.span.start):
            return None
        return None if self._belongs_further_before(found, left) or self._is_one_of_many(left) else left

    def behind(self, found: Found) -> list[Span]:
        """What a cue says of it: the noun phrase right behind, and those that are listed with that one."""
        after = [phrase for phrase in self.phrases if phrase.start >= found.span.end]
        if not after or not _RIGHT.fullmatch(self.text, found.span.end, after[0].start):
            return []
        listed = self._listed(after) if found.cue.listed else after[:1]
        return [self._prolonged(phrase) for phrase in listed]

    def both(self, pair: Pair, end: int) -> tuple[Span, Span] | None:
        """The two noun phrases behind a cue that is said of both."""
        after = [phrase for phrase in self.whole if phrase.start >= end][:2]
        if len(after) < 2 or not _RIGHT.fullmatch(self.text, end, after[0].start):
            return None
        joined = pair.middle.fullmatch(self.text, after[0].end, after[1].start)
        return (after[0], after[1]) if joined else None

    def pronoun(self) -> str:
        """What it begins with, if that stands for something else: "it", "this algorithm"."""
        found = _PRONOUN.match(self.text)
        return found.group().strip().lower() if found else ""

    def follows_pronoun(self, found: Found) -> bool:
        pronoun = _PRONOUN.match(self.text) if found.cue.left == Left.VERB else None
        return bool(pronoun and _LEFT[Left.VERB].fullmatch(self.text, pronoun.end(), found.span.start))

    def denies(self, cue: Span) -> bool:
        """Whether what is said by the cue is denied, or only possible."""
        clauses = [boundary.end() for boundary in _CLAUSE.finditer(self.text, 0, cue.start)]
        return bool(_DENIED.search(self.text, clauses[-1] if clauses else 0, cue.end))

    def _is_one_of_many(self, phrase: Span) -> bool:
        """Whether it is some single thing, as "the vertex" or "each inner node", not all that have the name."""
        single = " " not in bare(self.said(phrase))
        return bool((_THE if single else _WHOSE).search(self.text, 0, phrase.start))

    def _belongs_further_before(self, found: Found, left: Span) -> bool:
        """In "the speed of X using Y" it is the speed, in "a test for X, such as Y" the test."""
        cue = found.cue
        apart = cue.left == Left.COMMA and bool(self.text[left.end : found.span.start].strip())
        if (cue.loose or apart) and _PREPOSITION.search(self.text, 0, left.start):
            return True
        if cue.of_means and _AS.search(self.text, 0, left.start):
            return True
        if cue.of_names and _FRONTED.fullmatch(self.text, 0, left.start):
            return True
        return cue.follows_objects and self._is_object(left)

    def _is_object(self, phrase: Span) -> bool:
        """Whether something is done to it: in "find X using Y" it is the finding that uses Y."""
        before = _WORDS_BEFORE.search(self.text, max(0, phrase.start - 60), phrase.start)
        words = [word.lower() for word in before.groups() if word] if before else []
        return any(lexicon.tag(word) in "vVG" for word in words) and _PRESENTING.isdisjoint(words)

    def _listed(self, after: Sequence[Span]) -> list[Span]:
        """The first, with what commas and "and" join to it; alone where no "and" ends the list."""
        group = [after[0]]
        for phrase in after[1:MOST_LISTED]:
            gap = self.text[group[-1].end : phrase.start]
            ends = bool(_LAST.search(gap))
            # Of two things only, a comma before "and" begins another clause.
            if not _JOINED.fullmatch(gap) or (len(group) == 1 and ends and "," in gap) or self._begins_a_clause(phrase):
                break
            group.append(phrase)
            if ends:
                return group
        return group[:1]

    def _begins_a_clause(self, phrase: Span) -> bool:
        """Whether a cue says something of it, so that what is listed before it ends there."""
        return any(
            found.cue.left == Left.VERB
            and found.span.start >= phrase.end
            and _LEFT[Left.VERB].fullmatch(self.text, phrase.end, found.span.start)
            for found in self.cues
        )

    def _prolonged(self, phrase: Span) -> Span:
        """With the noun behind it that could be a verb elsewhere: "question answering", "parsing rules"."""
        more = _NOUN_OR_VERB.match(self.text, phrase.end)
        if more is None or more.group(1) in BY_FIRST_WORD or not (more["ing"] or lexicon.tag(more.group(1)) == "v"):
            return phrase
        return Span(phrase.start, more.end(1))


def read(text: str) -> Sentence | None:
    """A sentence without mark-up; None if it has no cue, or asks something."""
    cues, pairs = tuple(_cues(text)), tuple(_pairs(text))
    if not (cues or pairs) or text.rstrip().endswith("?"):
        return None
    whole = [_with_owner(phrase, text) for phrase in noun_phrases(text)]
    return Sentence(text, cues, pairs, tuple(whole), tuple(_without(whole, cues)))


def _with_owner(phrase: Span, text: str) -> Span:
    """With the name it begins with, as in "Prim's algorithm"."""
    owner = _OWNER.search(text, max(0, phrase.start - _LONGEST_OWNER), phrase.start)
    return Span(owner.start(), phrase.end) if owner else phrase


def _cues(text: str) -> Iterator[Found]:
    """The longest at each place; none within another."""
    end = 0
    for word in _FIRST_WORD.finditer(text):
        if word.start() < end:
            continue
        matches = [
            (rest.end(), cue)
            for cue in BY_FIRST_WORD.get(word.group().lower(), ())
            if (rest := cue.rest.match(text, word.end()))
        ]
        if matches:
            end, cue = max(matches, key=lambda match: match[0])
            yield Found(cue, Span(word.start(), end))


def _pairs(text: str) -> Iterator[tuple[Pair, Span]]:
    for word in _FIRST_WORD.finditer(text):
        for pair in PAIRS_BY_FIRST_WORD.get(word.group().lower(), ()):
            if rest := pair.rest.match(text, word.end()):
                yield pair, Span(word.start(), rest.end())


def _without(phrases: Sequence[Span], cues: Sequence[Found]) -> Iterator[Span]:
    for phrase in phrases:
        start = phrase.start
        for cue in (found.span for found in cues):
            if start < cue.end and cue.start < phrase.end:
                if start < cue.start:
                    yield Span(start, cue.start)
                start = cue.end
        if start < phrase.end:
            yield Span(start, phrase.end)
