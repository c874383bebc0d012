"""What a sentence may state: a cue with a name before it and one behind, and the signs that tell whether it does.

What is denied, asked or only possible is no candidate, nor is what is said of some single thing ("each inner node").
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from carrel.concepts import lexicon
from carrel.concepts.triples import ends
from carrel.concepts.triples.cues import Left
from carrel.naming import key
from carrel.types import Predicate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from carrel.concepts.triples.cues import Cue, Pair
    from carrel.concepts.triples.sentence import Found, Noun, Sentence
    from carrel.types import Span

MOST_LISTED = 8
MOST_NAMES = 2
"""On each side of a cue, where they are not listed."""
FARTHEST = 100
"""Characters between a cue and a name."""
_LOOKED_BACK = 60
_REMEMBERED = 16_384
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
_TOKEN = re.compile(r"[^\W\d_]+|[,():;–]")
_TELLING = ("of", "in", "for", "with", "to", "and", "that", "we", "it", "is", "can", ",", "(", ":")
_BEFORE = re.compile(
    r"(?:([A-Za-z]+)\s+)?(?<![\w-])([A-Za-z]+)\s+(?:(?:the|an?|its|their|our|this|these|such|each)\s+)?$"
)
_ONE_WORD_OF_MANY = re.compile(
    r"\b(?:the|this|that|these|those|its|their|his|her|whose|corresponding|each|every|any|some|such|one|no|neither|another)\s+$",
    re.IGNORECASE,
)
_ONE_OF_MANY = re.compile(r"\b(?:whose|corresponding|respective|such|each|every|no|neither|few)\s+$", re.IGNORECASE)
_PRESENTED = ("propose", "present", "introduce", "describe", "develop")
_PRESENTING = frozenset((*_PRESENTED, *(f"{verb}s" for verb in _PRESENTED)))
_BESIDE = frozenset({Left.COMMA, Left.APART})
_FRONTED = re.compile(r"\s*(?:in|for|with|from|on|by|at|to|like|unlike|given|using)\s[^,]*", re.IGNORECASE)
_AMISS = frozenset({"done to", "within"})
"""In "find X using Y" it is the finding that uses Y, in "the speed of X using Y" the speed."""


class Candidate(NamedTuple):
    subject: str
    predicate: Predicate
    object: str
    cue: Cue | Pair
    signs: tuple[str, ...]
    plain: bool
    """Whether the names stand as they do in the plainest of statements."""


class _Place(NamedTuple):
    """A name beside a cue."""

    name: str
    edge: int
    """Where the words between it and the cue begin, or end."""
    signs: tuple[str, ...]
    plain: bool


def candidates(sentence: Sentence, known: Mapping[str, str], it: str = "") -> Iterator[Candidate]:
    """`it` is what the pronoun at the beginning of the sentence stands for."""
    for pair, span in sentence.pairs:
        yield from _of_both(sentence, pair, span, known)
    for found in sentence.cues:
        lefts = _pronoun(sentence, found, it) or list(_before(sentence, found))
        if lefts and not sentence.denies(found.span.start, found.span.end):
            yield from _around(sentence, found, lefts, known)


def _of_both(sentence: Sentence, pair: Pair, span: Span, known: Mapping[str, str]) -> Iterator[Candidate]:
    """The two names behind a cue that is said of both."""
    text, after = sentence.text, [noun for noun in sentence.nouns if noun.start >= span.end][:2]
    # A connection may be denied behind it; of things that differ, what is denied is told of one of them.
    told = span.start if pair.predicate == Predicate.COMPARED_TO else len(text)
    if len(after) < 2 or not after[0].name or not after[1].name or sentence.denies(span.start, told):
        return
    first, second = after
    if _RIGHT.fullmatch(text, span.end, first.start) and pair.middle.fullmatch(text, first.end, second.start):
        yield from _made(pair, first.name, second.name, known, (), plain=True)


def _around(sentence: Sentence, found: Found, lefts: Sequence[_Place], known: Mapping[str, str]) -> Iterator[Candidate]:
    rights = list(_behind(sentence, found))
    for left in lefts:
        for right in rights:
            words = sentence.text[left.edge : found.span.start] + " " + sentence.text[found.span.end : right.edge]
            signs = (*(f"{found.cue.predicate} {sign}" for sign in left.signs), *right.signs, *_between(words))
            yield from _made(found.cue, left.name, right.name, known, signs, plain=left.plain and right.plain)


def _made(
    cue: Cue | Pair, first: str, second: str, known: Mapping[str, str], signs: tuple[str, ...], *, plain: bool
) -> Iterator[Candidate]:
    if key(first) == key(second):
        return
    subject, object_ = (second, first) if cue.turned else (first, second)
    of_ends = (
        f"{cue.predicate} {role} {sign}"
        for role, name in (("subject", subject), ("object", object_))
        for sign in _end(name, known=key(name) in known)
    )
    stands = (f"{cue.predicate} plain",) if plain else ()
    every = (f"cue {cue.name}", f"says {cue.predicate}", *stands, *signs, *of_ends)
    yield Candidate(subject, cue.predicate, object_, cue, every, plain)


@lru_cache(maxsize=_REMEMBERED)
def _end(name: str, *, known: bool) -> tuple[str, ...]:
    signs = {
        "known": known,
        "proper": ends.is_proper(name),
        "task": ends.is_task(name),
        "means": ends.is_means(name),
        "word": _is_plain_word(name),
    }
    return tuple(sign for sign, holds in signs.items() if holds)


def _pronoun(sentence: Sentence, found: Found, it: str) -> list[_Place]:
    span = sentence.pronoun if it and found.cue.left == Left.VERB else None
    if span is None or not _LEFT[Left.VERB].fullmatch(sentence.text, span.end, found.span.start):
        return []
    return [_Place(it, span.end, ("fits",), plain=True)]


def _before(sentence: Sentence, found: Found) -> Iterator[_Place]:
    """The names before a cue, nearest first."""
    text, start, passed = sentence.text, found.span.start, 0
    nouns = [noun for noun in sentence.nouns if start - FARTHEST <= noun.end <= start][::-1]
    for count, noun in enumerate(nouns):
        if passed == MOST_NAMES or (count == 1 and _ends_a_clause(text, nouns)):
            return
        if not noun.name:
            continue
        fits = not count and bool(_LEFT[found.cue.left].fullmatch(text, noun.end, start))
        joined = count == 1 and bool(_JOINED.fullmatch(text, noun.end, nouns[0].start))
        if not _is_one_of_many(text, noun) and not _hangs_further_before(text, noun, found, fits=fits):
            signs = (*(("fits",) if fits else ()), *(("joined",) if joined else ()), *_standing(text, noun))
            yield _Place(noun.name, noun.end, signs, fits and _AMISS.isdisjoint(signs))
        passed += 1


def _ends_a_clause(text: str, nouns: Sequence[Noun]) -> bool:
    """Of the last two: "…, and" before the last begins another clause, unless it ends a list of three."""
    gap = text[nouns[1].end : nouns[0].start]
    if not (_JOINED.fullmatch(gap) and "," in gap and _LAST.search(gap)):
        return False
    return len(nouns) == 2 or not _JOINED.fullmatch(text, nouns[2].end, nouns[1].start)


def _standing(text: str, noun: Noun) -> Iterator[str]:
    """How a name stands to what goes before it."""
    before = _BEFORE.search(text, max(0, noun.start - _LOOKED_BACK), noun.start)
    if before is None:
        if not text[: noun.start].strip():
            yield "first"
        return
    words = [word.lower() for word in before.groups() if word]
    if not _PRESENTING.isdisjoint(words):
        yield "presented"
    elif any(lexicon.tag(word) in "vVG" for word in words):
        yield "done to"
    if lexicon.tag(words[-1]) in "PoT":
        yield "within"


def _hangs_further_before(text: str, noun: Noun, found: Found, *, fits: bool) -> bool:
    """In "a test for X, such as Y" it is Y that is a test, in "with X, a tree is built" nothing is a tree."""
    apart = text[noun.end : found.span.start].lstrip()[:1] in {",", "-", "–", "—"}
    match found.cue.left:
        case Left.TIGHT:
            return apart
        case Left.COMMA:
            return apart and "within" in _standing(text, noun)
        case Left.APART:
            return not fits or not ends.is_proper(noun.name) or bool(_FRONTED.fullmatch(text, 0, noun.start))
        case Left.VERB:
            return False


def _is_one_of_many(text: str, noun: Noun) -> bool:
    """Whether it is some single thing, as "the vertex" or "each inner node", not all that have the name."""
    pattern = _ONE_WORD_OF_MANY if _is_plain_word(noun.name) else _ONE_OF_MANY
    return bool(pattern.search(text, max(0, noun.start - _LOOKED_BACK), noun.start))


def _is_plain_word(name: str) -> bool:
    return " " not in name and name.islower()


def _behind(sentence: Sentence, found: Found) -> Iterator[_Place]:
    """The names behind a cue, and those that are listed with the first."""
    end, passed = found.span.end, 0
    after = [noun for noun in sentence.nouns if noun.start >= end]
    fits = bool(after and _RIGHT.fullmatch(sentence.text, end, after[0].start))
    listed = _listed(sentence, after) if fits and found.cue.listed else int(fits)
    for count, noun in enumerate(after):
        # Examples stand beside what they are examples of.
        if count >= listed and (found.cue.left in _BESIDE or passed == MOST_NAMES or noun.start - end > FARTHEST):
            return
        if noun.name:
            signs = () if count >= listed else ("right listed",) if count else ("right fits",)
            yield _Place(noun.name, noun.start, signs, count < listed)
            passed += 1


def _listed(sentence: Sentence, after: Sequence[Noun]) -> int:
    """How many commas and "and" join to the first; that alone where no "and" ends the list."""
    for count, noun in enumerate(after[1:MOST_LISTED], start=1):
        gap = sentence.text[after[count - 1].end : noun.start]
        is_last = bool(_LAST.search(gap))
        # Of two things only, a comma before "and" begins another clause.
        if not _JOINED.fullmatch(gap) or (count == 1 and is_last and "," in gap) or _begins_a_clause(sentence, noun):
            break
        if is_last:
            return count + 1
    return 1


def _begins_a_clause(sentence: Sentence, noun: Noun) -> bool:
    """Whether a cue says something of it, so that what is listed before it ends there."""
    return any(
        found.cue.left == Left.VERB
        and found.span.start >= noun.end
        and _LEFT[Left.VERB].fullmatch(sentence.text, noun.end, found.span.start)
        for found in sentence.cues
    )


def _between(text: str) -> Iterator[str]:
    words = _TOKEN.findall(text.lower())
    yield f"between {min(len(words) // 3, 4)}"
    yield from (f"between {word}" for word in _TELLING if word in words)
