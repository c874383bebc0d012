"""Which names are few edits from another: most are ruled out before the edits are counted."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from carrel.words import edits as edits_between

if TYPE_CHECKING:
    from collections.abc import Iterable


class Near:
    """What is at most so many edits from a key."""

    def __init__(self, asked: str, edits: int) -> None:
        self.shortest = len(asked) - edits
        self.longest = len(asked) + edits
        self._asked = asked
        self._edits = edits
        self._pieces = _pieces(asked, 2 * edits + 1)

    @property
    def pieces(self) -> list[str]:
        """Of which each that is near has one; none where the key is too short to tell."""
        return sorted({piece for _, piece in self._pieces})

    def nearest(self, candidates: Iterable[tuple[str, str]]) -> dict[str, int]:
        """Of keys, each with the concept that it is a name of: the concepts that are near, and how near they are."""
        found: dict[str, int] = {}
        for key, concept in candidates:
            distance = self._distance(key)
            if distance <= self._edits:
                found[concept] = min(distance, found.get(concept, distance))
        return found

    def _distance(self, key: str) -> int:
        if not self._has_piece(key) or self._letters_apart(key) > 2 * self._edits:
            return self._edits + 1
        return edits_between(key, self._asked, most=self._edits)

    def _has_piece(self, key: str) -> bool:
        """An edit spoils one piece, or two where it swaps letters across a border, and moves the rest by a letter."""
        edits = self._edits
        return not self._pieces or any(
            piece in key[max(0, place - edits) : place + len(piece) + edits] for place, piece in self._pieces
        )

    def _letters_apart(self, key: str) -> int:
        """An edit changes how often two letters stand in a key, at most."""
        return sum(abs(key.count(letter) - self._asked.count(letter)) for letter in {*key, *self._asked})


def _pieces(key: str, count: int) -> list[tuple[int, str]]:
    if len(key) < count:
        return []
    borders = [len(key) * piece // count for piece in range(count + 1)]
    return [(start, key[start:end]) for start, end in pairwise(borders)]


def nearest_first(concepts: Iterable[tuple[int, str]], limit: int) -> list[str]:
    """Each once, by its least distance."""
    return list(dict.fromkeys(concept for _, concept in sorted(concepts)))[:limit]
