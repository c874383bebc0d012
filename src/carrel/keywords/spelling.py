"""Which of many words are spelled nearly like another."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

    Letters = NDArray[np.uint32]
    Distances = NDArray[np.int16]


def near(words: Iterable[str], wanted: str, lengths: Collection[int], distance: int) -> Iterator[str]:
    """Those that lie within the distance of one of the beginnings of these lengths, as `carrel.words.edits` counts."""
    by_length: defaultdict[int, list[str]] = defaultdict(list)
    for word in words:
        by_length[len(word)].append(word)
    for length, alike in by_length.items():
        if any(abs(length - beginning) <= distance for beginning in lengths):
            is_near = (_distances(alike, length, wanted)[list(lengths)] <= distance).any(axis=0)
            yield from (alike[position] for position in np.flatnonzero(is_near))


def _distances(alike: list[str], length: int, wanted: str) -> Distances:
    """Of words of one length: how far they are from each beginning of the wanted one, from none of it to all."""
    letters: Letters = np.array([list(map(ord, word)) for word in alike], dtype=np.uint32).reshape(len(alike), length)
    asked = [ord(letter) for letter in wanted]
    start = np.arange(len(asked) + 1, dtype=np.int16)
    last: Distances = np.repeat(start[:, None], len(alike), axis=1)
    before = last
    for i in range(1, length + 1):
        row = np.empty_like(last)
        row[0] = i
        for j, letter in enumerate(asked, start=1):
            differs = letters[:, i - 1] != letter
            row[j] = np.minimum(np.minimum(last[j], row[j - 1]) + 1, last[j - 1] + differs)
            if i > 1 and j > 1:
                swapped = (letters[:, i - 2] == letter) & (letters[:, i - 1] == asked[j - 2])
                row[j] = np.where(swapped, np.minimum(row[j], before[j - 2] + 1), row[j])
        before, last = last, row
    return last
