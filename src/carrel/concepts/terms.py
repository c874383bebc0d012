"""The concepts of one paper and where it speaks of them.

A term's weight is where its author put it, times how specific it is, times how often it stands for itself:

    weight = place · log2(1 + words) · log2(1 + own)

`place` is the best of where it stands: title 4, heading 3, definition 2.5, keyword or acronym 2, a name 1.8, text 1.
`own` is how often it is found, less the mean of how often it is so inside of each longer term (the C-value's idea).
How central it is to a chunk is `1 - Π(1 - ground)`: each ground leaves less doubt.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from carrel.concepts.gathering import Gathered, Place
from carrel.concepts.matching import Matcher
from carrel.types import Concept, Mention, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from carrel.concepts.gathering import Term
    from carrel.types import Chunk, Reference

MOST_MENTIONS = 16
"""A chunk's best, with what it has code or formulas for."""
_MOST_SHOWN = 2
"""Concepts that a chunk's code, or its formulas, are taken to be for."""
_WHOLE_TITLE, _HEADING, _DEFINITION, _ARTICLE, _TITLE_PART, _TITLE_WORD = 0.9, 0.85, 0.7, 0.6, 0.5, 0.3
_WEIGHT, _AGAIN = 0.3, 0.8
_COMMON_WORD = 0.6
_SPECIFIC = 3
"""Words that make a term as specific as any."""
_DOMINATES = 4
_LEAST = 2
"""Times that a paper must have a common word before it is taken for a term of the paper's."""


class Terms(NamedTuple):
    concepts: tuple[Concept, ...] = ()
    mentions: tuple[Mention, ...] = ()


def extract(chunks: Sequence[Chunk], record: Reference | None) -> Terms:
    """The concepts that are mentioned, by falling weight; the mentions by chunk and falling relevance."""
    gathered = Gathered()
    gathered.read(chunks, record)
    matcher = Matcher(gathered.names())
    counts = [_counted(matcher.found(chunk.text), gathered.alias_of) for chunk in chunks]
    weighed = weights(gathered.terms, counts)
    central = _Central(gathered, weighed, max(weighed.values(), default=1.0))
    rows = [row for chunk, count in zip(chunks, counts, strict=True) for row in central.mentions(chunk, count)]
    kept = sorted({row.concept for row in rows}, key=lambda one: (-weighed[one], one))
    concepts = {one: gathered.concept(one) for one in kept}
    mentions = (replace(row, concept=concepts[row.concept].name) for row in rows)
    return Terms(tuple(concepts.values()), tuple(mentions))


def weights(terms: Mapping[str, Term], counts: Iterable[Mapping[str, int]]) -> dict[str, float]:
    """How much a paper makes of each term, by key, from its count in each chunk; nothing of passing words."""
    total = Counter(dict.fromkeys(terms, 0))
    for count in counts:
        total.update(count)
    own = _own(total)
    return {
        one: term.place.value * math.log2(1 + len(one.split())) * math.log2(1 + own[one])
        for one, term in terms.items()
        if not (term.is_passing and term.sightings < _LEAST)
    }


def _own(counts: Mapping[str, int]) -> dict[str, float]:
    inside: Counter[str] = Counter()
    longer: Counter[str] = Counter()
    for one, count in counts.items():
        for part in _parts(one.split()):
            if part in counts:
                inside[part] += count
                longer[part] += 1
    return {one: max(1.0, count - inside[one] / max(1, longer[one])) for one, count in counts.items()}


def _parts(words: Sequence[str]) -> Iterator[str]:
    """The shorter names that a name has inside."""
    for length in range(1, len(words)):
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])


def _counted(found: Mapping[str, int], alias_of: Mapping[str, str]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for one, times in found.items():
        counted[alias_of.get(one, one)] += times
    return counted


@dataclass(frozen=True, slots=True)
class _Central:
    """What each chunk is about; concepts are named by their keys."""

    gathered: Gathered
    weights: Mapping[str, float]
    most: float

    def mentions(self, chunk: Chunk, counts: Counter[str]) -> list[Mention]:
        grounds = self._grounds(chunk, counts)
        most = max(counts.values(), default=0)
        spoken = [one for one in {**counts, **grounds} if one in self.weights]
        rows = [self._mention(chunk, one, counts[one], most, grounds.get(one, 0.0)) for one in spoken]
        rows.sort(key=lambda row: (-row.relevance, -self.weights[row.concept], row.concept))
        shown = list(_shown(chunk, [row for row in rows if row.role is Role.DISCUSSES][:_MOST_SHOWN]))
        return [*rows[: MOST_MENTIONS - len(shown)], *shown]

    def _grounds(self, chunk: Chunk, counts: Mapping[str, int]) -> dict[str, float]:
        """The best reason, besides the words, why a chunk is about a concept."""
        found: dict[str, float] = {}
        for keys, ground in self._reasons(chunk, counts):
            for one in self.gathered.meant(keys):
                found[one] = max(ground * self._named(one), found.get(one, 0.0))
        return found

    def _reasons(self, chunk: Chunk, counts: Mapping[str, int]) -> Iterator[tuple[Iterable[str], float]]:
        own = next((found for one in reversed(chunk.section_path) if (found := self.gathered.headings[one])), [])
        yield own, _HEADING
        yield sorted(self.gathered.defined[chunk.address]), _DEFINITION
        if chunk.position == 0:
            yield [self.gathered.title], _WHOLE_TITLE
            yield self.gathered.title_parts, _TITLE_PART if self.gathered.title else _HEADING
        elif not own:
            # An article on one thing says the rest of it under headings such as `Implementation`.
            yield [self.gathered.title], _ARTICLE
            yield [one for one in self.gathered.meant(self.gathered.title_parts) if one in counts], _TITLE_WORD

    def _mention(self, chunk: Chunk, one: str, count: int, most: int, ground: float) -> Mention:
        often = self._specific(one) * (1 - _AGAIN**count)
        doubt = (1 - often) * (1 - _WEIGHT * self.weights[one] / self.most) * (1 - ground)
        dominates = count >= _DOMINATES and 2 * count > most
        role = Role.DISCUSSES if ground or dominates else Role.MENTIONS
        return Mention(one, chunk.address, max(1, count), round(1 - doubt, 4), role)

    def _named(self, one: str) -> float:
        """What it is worth to stand in a title or heading: a common word may only be part of what is named there."""
        term = self.gathered.terms[one]
        return 1.0 if term.is_whole or " " in one else _COMMON_WORD

    def _specific(self, one: str) -> float:
        words = len(one.split()) + (self.gathered.terms[one].place is not Place.TEXT)
        return min(1.0, math.log2(1 + words) / math.log2(1 + _SPECIFIC))


def _shown(chunk: Chunk, discussed: Sequence[Mention]) -> Iterator[Mention]:
    for has, role in ((chunk.has_code, Role.CODE_EXAMPLE_FOR), (chunk.has_formula, Role.FORMULA_FOR)):
        for row in discussed if has else ():
            yield replace(row, role=role)
