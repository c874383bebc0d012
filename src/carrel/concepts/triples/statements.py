"""What a sentence states, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.concepts.triples import belief, sentence
from carrel.concepts.triples.candidates import candidates
from carrel.naming import key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.concepts.triples.candidates import Candidate
    from carrel.concepts.triples.sentence import Sentence
    from carrel.types import Predicate

_SURE_OF_TOPIC = 0.85
_SURE_OF_STRANGERS = 0.9
_SURE_OF_WORDS = 0.8


@dataclass(frozen=True, slots=True)
class Statement:
    subject: str
    predicate: Predicate
    object: str
    confidence: float
    cue: str


def stated(text: str, known: Mapping[str, str], topic: str = "", it: str = "") -> list[Statement]:
    """Of a sentence without mark-up; `topic` is what "this algorithm" means at its beginning, `it` what "it" does."""
    read = sentence.read(text, known)
    if read is None:
        return []
    meant = _meant(read, topic, it)
    made: list[Statement] = []
    for one in candidates(read, known, meant):
        sure = _learned(one) if one.cue.confidence is None else _given(one, one.cue.confidence, known)
        if sure:
            told = sure * _SURE_OF_TOPIC if meant in {one.subject, one.object} else sure
            made.append(Statement(one.subject, one.predicate, one.object, told, one.cue.name))
    return made


def _meant(read: Sentence, topic: str, it: str) -> str:
    pronoun = read.pronoun
    if pronoun is None:
        return ""
    return it if read.text[pronoun.start : pronoun.end].strip().lower() == "it" else topic


def _learned(candidate: Candidate) -> float:
    chance = belief.chance(candidate.signs)
    return chance if chance >= belief.FLOOR else 0.0


def _given(candidate: Candidate, confidence: float, known: Mapping[str, str]) -> float:
    """The less the paper makes of an end, the less is this a statement about it; a word alone says little."""
    if not candidate.plain:
        return 0.0
    names = (candidate.subject, candidate.object)
    strange = sum(key(name) not in known for name in names)
    alone = any(" " not in name and name.islower() for name in names)
    return confidence * _SURE_OF_STRANGERS**strange * (_SURE_OF_WORDS if alone else 1.0)
