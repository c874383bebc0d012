"""What of a sentence must not change when it is said in other words: numbers, names, denials, directions, order.

`quotes.equalised` texts are read. What two sentences share beside these is for others to weigh.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from carrel import words
from carrel.claims.quantities import Number, figures, numbers
from carrel.claims.wording import DENIALS, DOUBTS, SMALL, sides

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_REMEMBERED = 4096
_TOKEN = re.compile(r"(?P<word>\w[\w']*(?:-\d\w*)*\+?)|(?P<stop>[.;:,!?](?=\s|$)|[()\[\]])")
_ENDS_A_SENTENCE = frozenset(".!?:")
_CLAUSE = frozenset({"but", "whereas", "while", "although", "however", "though"})
_NAME = re.compile(r".+[A-Z]|.*[^\W\d_].*\d|.*\d.*[^\W\d_]|.*[\u0370-\u03ff]")
_CAPITAL = re.compile(r"[^\W\d_a-z]")
_FIGURES = re.compile(r"[\d_⁰¹²³⁴-⁹-]+")
_LONGEST_NAME = 60
_NEAR = 4
_REACH = 12
"""Words behind a denial that it may deny."""
_MOST_SCOPES = 20


class Word(NamedTuple):
    stem: str
    written: str
    named: bool


class Scope(NamedTuple):
    """What a denial or a doubt is said of, and the rest of its sentence."""

    inside: frozenset[str]
    outside: Counter[str]

    def concerns(self, stems: Counter[str]) -> bool:
        """Whether some of these are said nowhere but there, or not as often."""
        return not self.inside or any(stem in self.inside for stem in stems - self.outside)


@dataclass(frozen=True)
class Claim:
    """A sentence as it is compared."""

    words: tuple[Word, ...]
    """Without the small ones."""
    numbers: tuple[Number, ...]
    figures: tuple[str, ...]
    """All runs of digits, those in names and formulas among them."""
    denied: tuple[Scope, ...]
    doubted: tuple[Scope, ...]
    """By `may`, `whether` and the like."""

    @property
    def stems(self) -> list[str]:
        return [word.stem for word in self.words]

    def missing(self, other: Claim) -> list[Word]:
        """Which of its words the other does not have."""
        has = set(other.stems)
        return [word for word in self.words if word.stem not in has]


@lru_cache(maxsize=_REMEMBERED)
def read(text: str) -> Claim:
    tokens = list(_TOKEN.finditer(text))
    small = [token.group().lower().strip("'") for token in tokens]
    words, denied, doubted = list[Word](), list[Scope](), list[Scope]()
    for place, (token, word) in enumerate(zip(tokens, small, strict=True)):
        if token.lastgroup == "stop":
            continue
        if word in DOUBTS:
            doubted.append(_scope(tokens, place, doubted))
        if _denies(word):
            denied.append(_scope(tokens, place, denied))
        elif _counts(token.group()):
            begins = place == 0 or small[place - 1] in _ENDS_A_SENTENCE
            named = is_name(token.group(), begins=begins)
            words += [Word(stem, token.group(), named) for stem in _stems(token.group())]
    return Claim(tuple(words), tuple(numbers(text)), tuple(figures(text)), tuple(denied), tuple(doubted))


def _denies(word: str) -> bool:
    return word in DENIALS or word.endswith("n't")


def _counts(written: str) -> bool:
    """`WHO` is a name, `who` says nothing; numbers are counted elsewhere."""
    says = written.lower() not in SMALL or (len(written) > 1 and written.isupper())
    return says and not _FIGURES.fullmatch(written)


def is_name(word: str, *, begins: bool = False) -> bool:
    """Whether it is spelled as names are; the first word of a sentence has a capital whatever it is."""
    return bool(_NAME.match(word[:_LONGEST_NAME]) or (not begins and _CAPITAL.match(word)))


@lru_cache(maxsize=65_536)
def _stems(written: str) -> tuple[str, ...]:
    """`A-769662` and `A769662` are one; a Greek letter is its name."""
    spelled = "".join(_greek(letter) for letter in written.replace("-", "").removesuffix("'s").rstrip("+"))
    return tuple(words.stems(spelled)) or ((spelled.lower(),) if spelled else ())


@lru_cache(maxsize=512)
def _greek(letter: str) -> str:
    if "\u0370" <= letter <= "\u03ff":
        return unicodedata.name(letter, letter).rpartition(" ")[2].lower()
    return letter


def _scope(tokens: Sequence[re.Match[str]], place: int, before_it: Sequence[Scope]) -> Scope:
    """What follows in its clause or, where nothing does, what goes before; one too many concerns everything."""
    if len(before_it) >= _MOST_SCOPES:
        return Scope(frozenset(), Counter())
    after = list(takewhile(_goes_on, tokens[place + 1 : place + 1 + _REACH]))
    before = list(takewhile(_goes_on, reversed(tokens[max(0, place - _REACH) : place])))
    inside = after if _stems_of(after) else before
    return Scope(frozenset(_stems_of(inside)), _stems_of(token for token in tokens if token not in inside))


def _goes_on(token: re.Match[str]) -> bool:
    return token.lastgroup != "stop" and token.group().lower() not in _CLAUSE


def _stems_of(tokens: Iterable[re.Match[str]]) -> Counter[str]:
    return Counter(stem for token in tokens if _counts(token.group()) for stem in _stems(token.group()))


def unsaid_number(claim: Claim, source: Claim) -> str:
    """The first number that the source does not have, with this unit and in this order; empty if it has all."""
    theirs = iter(source.numbers)
    unsaid = (number.written for number in claim.numbers if not any(other[:2] == number[:2] for other in theirs))
    runs = iter(source.figures)
    return next(unsaid, "") or next((figure for figure in claim.figures if figure not in runs), "")


def unsaid_name(claim: Claim, source: Claim) -> str:
    return next((word.written for word in claim.missing(source) if word.named), "")


def denies(claim: Claim, source: Claim) -> bool:
    """Whether one of the two denies what the other does not."""
    about = Counter(claim.stems)
    return len(claim.denied) != sum(scope.concerns(about) for scope in source.denied)


def drops_a_doubt(claim: Claim, source: Claim) -> bool:
    """Whether it says as a fact what the source says may be, or only asks."""
    about = Counter(claim.stems)
    return not claim.doubted and any(scope.concerns(about) for scope in source.doubted)


def turns(claim: Claim, source: Claim) -> bool:
    """Whether it says more where the source says less, or the like, of the same thing."""
    for place, word in enumerate(claim.words):
        for axis, side in sides().get(word.stem, ()):
            if not _is_on_this_side(claim, place, source, axis, side=side):
                return True
    return False


def _is_on_this_side(claim: Claim, place: int, source: Claim, axis: int, *, side: bool) -> bool:
    """By the word of that pair in the source whose neighbours are most like this one's; true if it has none."""
    around = _around(claim, place)
    likeness = [
        (len(around & _around(source, other)), given == side)
        for other, word in enumerate(source.words)
        for beside, given in sides().get(word.stem, ())
        if beside == axis
    ]
    return not likeness or max(likeness)[1]


def _around(claim: Claim, place: int) -> set[str]:
    return set(claim.stems[max(0, place - _NEAR) : place] + claim.stems[place + 1 : place + 1 + _NEAR])


def order(claim: Claim, source: Claim) -> float:
    """How much of what the two share stands in the same order, from 0 to 1."""
    theirs = set(source.stems)
    shared = [stem for stem in claim.stems if stem in theirs]
    return _longest_common(shared, source.stems) / len(shared) if shared else 0.0


def _longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    row = [0] * (len(other) + 1)
    for stem in one:
        last = row
        row = [0]
        for place, beside in enumerate(other):
            row.append(last[place] + 1 if stem == beside else max(last[place + 1], row[-1]))
    return row[-1]
