"""What is asked of the words on PostgreSQL: put together from words, each in quotes, so that no text is ever parsed.

A score is that of BM25 with tantivy's numbers: a sum over what is asked for, of what has several names the best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from carrel import words
from carrel.keywords.analysis import SHORT_NAME, forms, terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

AUTHOR = "@"
"""What begins an author's name; no word does."""
SATURATION, LENGTH_WEIGHT = 1.2, 0.75
_LONGEST_QUERY = 256
"""Words of a query that says which of them are enough; what it cannot say in so many, it lets through."""
_LONGEST_PHRASE = 1_000
"""Words of a phrase that are looked at: more than a chunk has, and less than a server can take."""


def lexeme(field: str, word: str) -> str:
    return f"{AUTHOR}{word}" if field == "authors" else word


@dataclass(frozen=True, slots=True)
class Part:
    """A word, or several side by side, in one field."""

    lexemes: tuple[str, ...]
    boost: float = 1.0

    @property
    def query(self) -> str:
        return "<->".join(map(quoted, self.lexemes[:_LONGEST_PHRASE]))

    @property
    def is_author(self) -> bool:
        return self.lexemes[0].startswith(AUTHOR)

    def weight(self, rarity: Mapping[str, float]) -> float:
        """More than it can add to any score."""
        return self.boost * (1 + SATURATION) * sum(rarity[one] for one in self.lexemes)


@dataclass(frozen=True)
class Wish:
    """What counts once, under whichever of its names it counts most."""

    names: tuple[tuple[Part, ...], ...]

    @cached_property
    def query(self) -> str:
        return either([part.query for name in self.names for part in name])

    def of(self, held: Mapping[str, int]) -> Wish:
        left = (tuple(part for part in name if all(held[one] for one in part.lexemes)) for name in self.names)
        return Wish(tuple(name for name in left if name))

    def most(self, rarity: Mapping[str, float]) -> float:
        return max(sum(part.weight(rarity) for part in name) for name in self.names)


@dataclass(frozen=True)
class Asked:
    wishes: tuple[Wish, ...]
    required: tuple[Wish, ...] = ()
    """What every hit has, whether it counts or not."""

    @property
    def placed(self) -> Iterator[tuple[tuple[int, int], Part]]:
        """All parts, each with the number of its wish, and of the name there."""
        for number, wish in enumerate(self.wishes):
            for place, name in enumerate(wish.names):
                yield from (((number, place), part) for part in name)

    @property
    def lexemes(self) -> list[str]:
        return sorted({one for _, part in self.placed for one in part.lexemes})

    @cached_property
    def query(self) -> str:
        """What any hit has."""
        return self._required or either([wish.query for wish in self.wishes])

    @property
    def _required(self) -> str:
        return "&".join(f"({wish.query})" for wish in self.required)

    def of(self, held: Mapping[str, int]) -> Asked:
        """Without what no chunk has, by the number of chunks that have each word."""
        wishes = [wish.of(held) for wish in self.wishes]
        return Asked(tuple(wish for wish in wishes if wish.names), self.required)

    def above(self, score: float, rarity: Mapping[str, float]) -> str:
        """What any hit of a higher score has, and little else."""
        ranked = sorted(self.wishes, key=lambda wish: -wish.most(rarity))
        enough = _enough([(wish.query, wish.most(rarity)) for wish in ranked], score, _LONGEST_QUERY)
        return f"{self._required}&({enough})" if self.required else enough


def asking(text: str, phrases: Sequence[str] = (), also: Sequence[tuple[str, str]] = ()) -> Asked | None:
    """Any of the words and all of the phrases; None when there is nothing to ask for."""
    required = tuple(Wish((parts,)) for phrase in phrases if (parts := _phrase(phrase)))
    wishes = (*required, *_named(text, also))
    return Asked(wishes, required) if wishes else None


def _named(text: str, also: Sequence[tuple[str, str]]) -> Iterator[Wish]:
    """One for each word and field, and one for each other name."""
    left = terms(text)
    for name, other in also:
        named, count = terms(name), len(words.stems(other)) or 1
        if not _phrase(other):
            continue
        if len(words.stems(name)) == 1:
            # A text that defines an acronym has both; it is not twice as much about it.
            yield Wish((tuple(map(_word, named)), _phrase(other, 1 / count)))
            left = [term for term in left if term not in named]
        else:
            yield Wish((_phrase(other, SHORT_NAME / count),))
    yield from (Wish(((_word(term),),)) for term in left)


def _word(term: tuple[str, str]) -> Part:
    return Part((lexeme(*term),))


def _phrase(text: str, boost: float = 1.0) -> tuple[Part, ...]:
    """The words of a text side by side; it weighs as much as all of them together."""
    asked = {(field, tuple(found)) for field, found in forms(text) if found}
    return tuple(Part(tuple(lexeme(field, word) for word in found), boost) for field, found in sorted(asked))


def rarities(frequencies: Mapping[str, int], chunks: int) -> dict[str, float]:
    return {one: math.log1p((chunks - have + 0.5) / (have + 0.5)) for one, have in frequencies.items()}


def quoted(one: str) -> str:
    doubled = one.replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}'"


def either(queries: Sequence[str]) -> str:
    """Halved again and again: the server reads what is nested, and not too deep."""
    if len(queries) <= 2:
        return "|".join(queries)
    middle = len(queries) // 2
    return f"({either(queries[:middle])})|({either(queries[middle:])})"


def _enough(ranked: Sequence[tuple[str, float]], needed: float, room: int) -> str:
    """A query for those that together weigh more than is needed, from the heaviest to the lightest."""
    if not ranked or sum(weight for _, weight in ranked) <= needed:
        return ""
    if room < 2 * len(ranked):
        return either([query for query, _ in _needed(ranked, needed)])
    (first, weight), rest = ranked[0], ranked[1:]
    without = _enough(rest, needed, room // 2)
    having = f"({first})" if weight > needed else f"({first})&({_enough(rest, needed - weight, room // 2)})"
    return f"({having})|({without})" if without else having


def _needed(ranked: Sequence[tuple[str, float]], needed: float) -> Sequence[tuple[str, float]]:
    """Those without which all others together do not weigh enough."""
    left = len(ranked)
    while left and ranked[left - 1][1] <= needed:
        left -= 1
        needed -= ranked[left][1]
    return ranked[:left]
