"""The concepts that a question names: the longest names first, then what is nearly one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from carrel import naming, words
from carrel.types import Match

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from carrel.graphs import GraphStore
    from carrel.search.specificity import Specificity
    from carrel.types import ConceptRow

_LONGEST_NAME = 6
_MOST_WORDS = 100
"""Of a question: what comes later is not looked up."""
_UNIT = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\s\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
"""A word or, where words are not parted, a character."""
_EDGES = "\"'“”‘’«»„()[]{}<>.,;:!?…¿¡。，、；：！？（）《》「」"
_SHORTEST = 3
"""Letters of a name in small letters: whatever is shorter is a word of every sentence."""
_ARTICLES = frozenset({"a", "an", "the"})
"""In any case: no key begins with one."""
_REMEMBERED = 4096
_EDITS = ((8, 2), (5, 1))
"""From so many letters on, so many may be wrong."""
_MOST_NEAR = 2
"""Misspelt names that are looked up."""
_WORTH = {Match.NAME: 1.0, Match.ALIAS: 0.9, Match.SPELLING: 0.6}
_SINGLE = 0.7
"""What a name of one word is worth beside one of several, which is hardly named by chance."""


class Seed(NamedTuple):
    """A concept that a question names, how it does, and what that is worth, from 0 to 1."""

    said: str
    row: ConceptRow
    match: Match
    weight: float


class _Span(NamedTuple):
    start: int
    end: int
    text: str

    @property
    def is_single(self) -> bool:
        return self.end == self.start + 1


def spot(query: str, graph: GraphStore, specificity: Specificity, *, nearly: bool = True) -> tuple[Seed, ...]:
    """In the order of the question, one for each concept.

    `nearly`: what is no name may be a misspelt one. To look for that takes longer than all the rest.
    """
    units = _units(query)
    spans = [span for span in _spans(units) if _is_name(span)]
    meant = graph.resolve({span.text for span in spans})
    exact = _longest([span for span in spans if span.text in meant])
    unnamed = _unnamed(units, exact) if nearly else []
    found = {span: (key, Match.SPELLING) for span, key in _nearly(unnamed, graph)}
    # What is nearly a name was meant as a whole: a part of it, well spelt, names nothing by itself.
    alone = [span for span in exact if not any(one.start <= span.start and span.end <= one.end for one in found)]
    found |= {span: (meant[span.text], _match(span.text, meant[span.text])) for span in alone}
    rows = graph.concepts({key for key, _ in found.values()})
    return tuple(_seeds(found, rows, specificity))


def said(query: str, graph: GraphStore, keys: Collection[str]) -> set[str]:
    """Which of these concepts a question names, by name or acronym: all that is to be known of few, and quickly."""
    units = _units(query)
    text = f" {' '.join(map(naming.key, units))} "
    unparted = naming.key(query)
    by_name = {key for key in keys if f" {key} " in text or (not key.isascii() and key in unparted)}
    acronyms = [unit for unit in units if unit[1:] != unit[1:].lower()]
    return by_name.union(graph.resolve(acronyms).values() if acronyms else ())


def _units(query: str) -> list[str]:
    bare = (unit.strip(_EDGES) for unit in _UNIT.findall(query))
    return [unit for unit in bare if unit][:_MOST_WORDS]


def _spans(units: Sequence[str]) -> Iterator[_Span]:
    """The longest first, then in order."""
    for length in range(min(_LONGEST_NAME, len(units)), 0, -1):
        for start in range(len(units) - length + 1):
            yield _Span(start, start + length, _joined(units[start : start + length]))


def _joined(units: Sequence[str]) -> str:
    return "".join(units) if all(len(unit) == 1 and ord(unit) > 0x3000 for unit in units) else " ".join(units)


def _is_name(span: _Span) -> bool:
    text = span.text
    if not span.is_single:
        # No name begins or ends with such a word; inside, as in "part of speech", it may stand.
        return not (_is_small(text.partition(" ")[0]) or _is_small(text.rpartition(" ")[2]))
    return not _is_small(text) and (len(text) >= _SHORTEST or not text.islower())


@lru_cache(maxsize=_REMEMBERED)
def _is_small(word: str) -> bool:
    """Whether every text has it."""
    return word.lower() in _ARTICLES or (word.islower() and not words.english(stop_words=True).analyze(word))


def _longest(spans: Sequence[_Span]) -> list[_Span]:
    """Of those that overlap the first, in the order of the question."""
    taken: set[int] = set()
    chosen = []
    for span in spans:
        places = set(range(span.start, span.end))
        if not places & taken:
            taken |= places
            chosen.append(span)
    return sorted(chosen)


def _match(said: str, key: str) -> Match:
    return Match.NAME if naming.key(said) == key else Match.ALIAS


def _unnamed(units: Sequence[str], named: Sequence[_Span]) -> list[_Span]:
    """What may be misspelt: words that name nothing, with the next one first, for a name is seldom one word."""
    taken = {place for span in named for place in range(span.start, span.end)}
    left = [place for place, unit in enumerate(units) if place not in taken and not _is_small(unit)]
    pairs = [_Span(place, place + 2, _joined(units[place : place + 2])) for place in left if place + 1 < len(units)]
    singles = [_Span(place, place + 1, units[place]) for place in left]
    return [span for span in (*pairs, *singles) if _edits(span.text)]


def _nearly(spans: Sequence[_Span], graph: GraphStore) -> Iterator[tuple[_Span, str]]:
    """The concepts that are meant by what no concept is called. The longest are asked for: they say the most."""
    longest = sorted(spans, key=lambda span: (-len(span.text), span.start))[:_MOST_NEAR]
    near = {span: graph.near(span.text, edits=_edits(span.text), limit=1) for span in longest}
    for span in _longest([span for span in longest if near[span]]):
        yield span, near[span][0]


def _edits(text: str) -> int:
    letters = sum(letter.isalpha() for letter in text)
    return next((edits for least, edits in _EDITS if letters >= least), 0)


def _seeds(
    found: Mapping[_Span, tuple[str, Match]], rows: Mapping[str, ConceptRow], specificity: Specificity
) -> Iterator[Seed]:
    seen: set[str] = set()
    for span, (key, match) in sorted(found.items()):
        if key in seen or key not in rows:
            continue
        seen.add(key)
        worth = _WORTH[match] * (_SINGLE if span.is_single else 1.0)
        yield Seed(span.text, rows[key], match, worth * specificity.of(rows[key]))
