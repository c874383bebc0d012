"""The words of a question that an answer has to speak of, and what they weigh."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from carrel import words
from carrel.rerankers.fused import small_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

_WORD = re.compile(r"\w+(?:[-'’.,]\w+)*")


def weights(question: str, texts: Sequence[Collection[str]]) -> dict[str, float]:
    """The stems of its words, small ones left out. One weighs more the fewer of the texts, given as stems, have it."""
    asked = dict.fromkeys(words.stems(question))
    telling = [stem for stem in asked if stem not in small_words()] or list(asked)
    frequency = {stem: sum(stem in text for text in texts) for stem in telling}
    return {stem: math.log(1 + len(texts) / (0.5 + frequency[stem])) for stem in telling}


def covered(present: Collection[str], weighed: Mapping[str, float]) -> float:
    """The share of the question's words that are present, by weight."""
    whole = sum(weighed.values())
    return sum(weight for stem, weight in weighed.items() if stem in present) / whole if whole else 0.0


def spelt(question: str, stems: Iterable[str]) -> tuple[str, ...]:
    """The words as the question has them that have these stems, one for each."""
    wanted, found = set(stems), dict[str, str]()
    for match in _WORD.finditer(question):
        for stem in wanted.intersection(words.stems(match.group())):
            found.setdefault(stem, match.group())
    return tuple(dict.fromkeys(found.values()))
