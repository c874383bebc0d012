"""Which concept a name means, by what all papers call their concepts: the rules of `GraphStore`."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Spelling(NamedTuple):
    """How many papers write this name, or alias, for a concept."""

    concept: str
    key: str
    text: str
    papers: int = 1
    curated: bool = False


def meanings(keys: Iterable[str], spellings: Iterable[Spelling]) -> dict[str, str]:
    """The concept that each of these keys means, of those that mean one.

    The spellings are all that have one of the keys, or are of a concept that has; and all of these concepts' own.
    """
    rules = _Rules(spellings)
    return {key: meant for key in keys if (meant := rules.meant(key))}


class _Rules:
    def __init__(self, spellings: Iterable[Spelling]) -> None:
        self._curated_aliases: dict[str, str] = {}
        self._curated: set[str] = set()
        self._named: set[str] = set()
        self._with_aliases: set[str] = set()
        self._votes: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for spelling in spellings:
            self._take(spelling)

    def _take(self, spelling: Spelling) -> None:
        concept, key = spelling.concept, spelling.key
        if concept == key:
            self._named.add(key)
            if spelling.curated:
                self._curated.add(key)
            return
        self._with_aliases.add(concept)
        self._votes[key][concept] += spelling.papers
        if spelling.curated:
            self._curated_aliases[key] = min(concept, self._curated_aliases.get(key, concept))

    def meant(self, key: str) -> str | None:
        meant = self._surely(key) or self._voted(self._votes[key])
        return meant or (key if key in self._named else None)

    def _surely(self, key: str) -> str | None:
        """By the first three rules."""
        if key in self._curated:
            return key
        if key in self._curated_aliases:
            return self._curated_aliases[key]
        return key if key in self._with_aliases else None

    def _voted(self, votes: Mapping[str, int]) -> str | None:
        """By the last one. What a concept with aliases means is sure, so that no vote depends on another."""
        counts: dict[str, int] = defaultdict(int)
        for concept, papers in votes.items():
            counts[self._surely(concept) or concept] += papers
        return next((concept for concept, papers in counts.items() if 3 * papers >= 2 * sum(counts.values())), None)


def best_spelling(spellings: Iterable[Spelling]) -> str:
    """The curated one, else the one most papers use, else the first of them."""
    return min(spellings, key=lambda spelling: (not spelling.curated, -spelling.papers, spelling.text)).text
