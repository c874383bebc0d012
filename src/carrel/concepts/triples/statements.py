"""What a sentence states: a cue, with a noun phrase before it and one or several behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.concepts.triples import sentence
from carrel.concepts.triples.ends import is_material, is_means, is_proper, is_task, is_thing, named
from carrel.naming import key
from carrel.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from carrel.concepts.triples.cues import Cue, Pair
    from carrel.concepts.triples.sentence import Found, Sentence
    from carrel.types import Predicate

_SURE_OF_TOPIC = 0.85
_SURE_OF_STRANGERS = 0.9
_SURE_OF_WORDS = 0.8
_SURE_OF_OTHER_THAN_TASKS = 0.7


@dataclass(frozen=True, slots=True)
class Statement:
    subject: str
    predicate: Predicate
    object: str
    confidence: float
    cue: str


def stated(text: str, known: Mapping[str, str], topic: str = "", it: str = "") -> list[Statement]:
    """Of a sentence without mark-up; `topic` is what "this algorithm" means at its beginning, `it` what "it" does."""
    read = sentence.read(text)
    if read is None:
        return []
    made = [statement for pair, span in read.pairs for statement in _of_both(read, pair, span, known)]
    pronoun = read.pronoun()
    said_of = (it if pronoun == "it" else topic) if pronoun else ""
    for found in read.cues:
        made += _around(read, found, known, said_of)
    return made


def _of_both(read: Sentence, pair: Pair, span: Span, known: Mapping[str, str]) -> Iterator[Statement]:
    found = read.both(pair, span.end)
    if found is None or read.denies(Span(span.start, span.start)):
        return
    first, second = (named(read.said(phrase), known) for phrase in found)
    if first and second and key(first) != key(second):
        ends = (second, first) if pair.turned else (first, second)
        yield Statement(ends[0], pair.predicate, ends[1], pair.confidence * _surety(ends, known), pair.name)


def _around(read: Sentence, found: Found, known: Mapping[str, str], said_of: str) -> Iterator[Statement]:
    cue = found.cue
    if read.denies(found.span):
        return
    left = read.before(found)
    before, sure = (named(read.said(left), known) if left else ""), cue.confidence
    if not before and said_of and read.follows_pronoun(found):
        before, sure = said_of, cue.confidence * _SURE_OF_TOPIC
    if not before or not _suits(cue, before):
        return
    for right in read.behind(found):
        behind = named(read.said(right), known)
        if behind and key(behind) != key(before) and _fits(cue, behind, known):
            ends = (behind, before) if cue.turned else (before, behind)
            vague = cue.name == "for" and not is_task(behind)
            surety = sure * _surety(ends, known) * (_SURE_OF_OTHER_THAN_TASKS if vague else 1.0)
            yield Statement(ends[0], cue.predicate, ends[1], surety, cue.name)


def _suits(cue: Cue, before: str) -> bool:
    if cue.name == "to":
        return key(before).endswith(("approach", "solution", "method"))
    if cue.of_means:
        return is_means(before)
    return not cue.of_names or is_proper(before)


def _fits(cue: Cue, behind: str, known: Mapping[str, str]) -> bool:
    if cue.name in {"is a", "apposition"}:
        return is_thing(behind, known)
    return not cue.of_means or not is_material(behind)


def _surety(ends: tuple[str, str], known: Mapping[str, str]) -> float:
    """The less the paper makes of an end, the less is this a statement about it; a word alone says little."""
    strange = sum(key(end) not in known for end in ends)
    alone = any(" " not in end and end.islower() for end in ends)
    return _SURE_OF_STRANGERS**strange * (_SURE_OF_WORDS if alone else 1.0)
