"""Acronyms and what they stand for, by the library's own definitions: `long short-term memory (LSTM)`."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from carrel.acronyms import SMALL_WORDS, words_before
from carrel.words import stems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from carrel.queries.parsing import Piece

_PART = re.compile(r"[^\W_]+")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_SHORT = re.compile(r"(?=.*[A-Z].*[A-Z])[A-Z][A-Za-z0-9]{0,8}[A-Z0-9]s?")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{3,6}")
"""`lstm` in small letters; small words with a vowel are far too many to be looked up."""
_NUMERAL = re.compile(r"[IVX]+")
_MOST = 3
_MOST_RUNS = 4
_LONGEST_RUN = 5
_MOST_WORDS = 16
"""Who writes more has said what is meant: short forms would add nothing but the time to look for them."""
_SHORTEST_INITIALS = 3
"""Any two words have initials that stand for something."""
_UNNAMED = """
    are be been between can could did do does had has have how is it its may must not should than that there these this
    those was were what when where which who why will would
    """
_NOT_NAMED = frozenset(_UNNAMED.split())
"""Words that no long form has inside."""


@dataclass(frozen=True, slots=True)
class Named:
    """Words of a query and their other name."""

    written: str
    other: str


class Definitions(Protocol):
    """The library's."""

    @property
    def frequencies(self) -> Callable[[Sequence[str]], list[int]]: ...
    @property
    def having(self) -> Callable[[str, str], list[str]]: ...


def expand(pieces: Sequence[Piece], library: Definitions) -> list[Named]:
    """The other names of what a query speaks of outside of its phrases."""
    texts = [piece.text for piece in pieces if not piece.is_phrase]
    return [*_long_forms(texts, library), *_short_forms(texts, library)]


def long_form(short: str, texts: Sequence[str]) -> str:
    """What an acronym stands for in most of these texts; empty if none of them says it."""
    counted = Counter(form for text in texts for form in set(definitions(short, text)))
    return max(counted, key=lambda form: (counted[form], form)) if counted else ""


def definitions(short: str, text: str) -> Iterator[str]:
    """The long forms that stand before the acronym in brackets."""
    short, text = short.casefold(), text.casefold()
    for match in re.finditer(rf"[(\[]\s*{re.escape(short)}s?\s*[)\],;]", text):
        found = words_before(short, text[max(0, match.start() - 200) : match.start()])
        if found:
            yield found


def _long_forms(texts: Sequence[str], library: Definitions) -> Iterator[Named]:
    beside = " ".join(texts)
    asked = [word for text in texts for word in _WORD.findall(text) if _is_short(word)]
    for word in list(dict.fromkeys(asked))[:_MOST]:
        short = word.removesuffix("s") if word[:-1].isupper() else word
        form = long_form(short, library.having(short, beside))
        if form and not _within(form, beside):
            yield Named(word, form)


def _is_short(word: str) -> bool:
    return bool(_SHORT.fullmatch(word) or _CONSONANTS.fullmatch(word)) and not _NUMERAL.fullmatch(word)


def _within(form: str, text: str) -> bool:
    return f" {' '.join(stems(form))} " in f" {' '.join(stems(text))} "


def _short_forms(texts: Sequence[str], library: Definitions) -> list[Named]:
    """Acronyms of runs of the query's words, where the library has the one right behind the other."""
    said = [_PART.findall(text) for text in texts]
    if sum(map(len, said)) > _MOST_WORDS:
        return []
    runs = dict.fromkeys(run for words in said for run in _runs(words))
    shorts = list(dict.fromkeys(short for short, _ in runs))
    known = {short for short, count in zip(shorts, library.frequencies(shorts), strict=True) if count}
    known -= set(stems(" ".join(texts)))
    asked = [Named(words, short) for short, words in runs if short in known]
    # Three letters are the initials of nearly anything: each look costs a millisecond, and the longest say most.
    asked = sorted(asked, key=lambda one: -len(one.other))[:_MOST_RUNS]
    return [one for one in asked if _is_defined(one.written, one.other, library)][:_MOST]


def _is_defined(words: str, short: str, library: Definitions) -> bool:
    wanted = stems(words)
    return any(
        stems(form) == wanted for text in library.having(f"{words} {short}", "") for form in definitions(short, text)
    )


def _runs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Runs of words with their initials; small words inside may or may not have given theirs."""
    for start, first in enumerate(words):
        run: list[str] = []
        for word in words[start : start + _LONGEST_RUN] if first.casefold() not in SMALL_WORDS else ():
            run.append(word)
            if word.casefold() in _NOT_NAMED:
                break
            for initials in _initials(run) if word.casefold() not in SMALL_WORDS else ():
                yield initials, " ".join(run)


def _initials(run: Sequence[str]) -> Iterator[str]:
    telling = [word for word in run if word.casefold() not in SMALL_WORDS]
    for words in (telling,) if len(telling) == len(run) else (run, telling):
        initials = "".join(word[0] for word in words).casefold()
        if len(initials) >= _SHORTEST_INITIALS and initials.isascii() and initials.isalpha():
            yield initials
