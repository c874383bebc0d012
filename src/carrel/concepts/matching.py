"""Where a text speaks of terms that are known, however it spells them."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from carrel.concepts import lexicon
from carrel.concepts.cjk import CJK
from carrel.naming import key

if TYPE_CHECKING:
    from collections.abc import Iterable

_HIDDEN = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|\$\$.*?(?:\$\$|\Z)|\$[^$\n]{1,300}\$(?!-)|https?://\S+|\]\([^()\s]{0,300}\)",
    re.DOTALL,
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?(?:\+\+|#|\*(?![\w*]))?|[.,;:!?()|]")
_LONGEST_WORD = 60
_REMEMBERED = 131_072


class Matcher:
    """Knows names by the words they begin with, so that a text is gone through once."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        """Of keys, each with a spelling."""
        self._keys: dict[str, str] = {}
        self._lengths: defaultdict[str, set[int]] = defaultdict(set)
        self._without_blanks: set[str] = set()
        for one, name in names:
            words = _words(name)
            if CJK.search(one):
                self._without_blanks.add(one)
            elif words:
                self._keys.setdefault(" ".join(words), one)
                self._lengths[words[0]].add(len(words))

    def found(self, text: str) -> dict[str, int]:
        """How often the text has each outside of code and formulas, also inside of longer ones."""
        text = _HIDDEN.sub(" | ", text)
        counted: dict[str, int] = {}
        words = _words(text)
        for place, word in enumerate(words):
            for length in self._lengths.get(word, ()):
                one = self._keys.get(" ".join(words[place : place + length]))
                if one is not None:
                    counted[one] = counted.get(one, 0) + 1
        small = text.casefold() if self._without_blanks else ""
        return counted | {one: times for one in self._without_blanks if (times := small.count(one))}


def _words(text: str) -> list[str]:
    """Each by its key; signs that no name goes across stand for themselves."""
    return [_spelt(word) for word in _WORD.findall(text) if len(word) <= _LONGEST_WORD]


@lru_cache(maxsize=_REMEMBERED)
def _spelt(word: str) -> str:
    """`OR` and `IT` in capitals are not the words that every text has."""
    return word if word.isupper() and lexicon.is_known(word.lower()) and len(word) > 1 else key(word)
