"""Texts as the words that are compared: without case, accents and endings, in one spelling of English."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set

    from tantivy import TextAnalyzer, TextAnalyzerBuilder

_LONGEST_WORD = 60
_WORD = re.compile(r"[^\W_]+")
_REMEMBERED = 65_536
"""Words whose stems are kept: about what ten thousand abstracts have."""
_BRITISH = (
    (re.compile(r"(?<=\w{3})is(?=(?:e|ed|es|er|ers|ing|ations?)\b)"), "iz"),
    (re.compile(r"(?<=\w{2})ys(?=(?:e|ed|es|er|ers|ing)\b)"), "yz"),
    (re.compile(r"(?<=\w{3})our(?=(?:s|ed|ing|al|ally|less|able)?\b)"), "or"),
    (re.compile(r"(?<=\w{3})tre(?=s?\b)"), "ter"),
)
"""Endings that are spelt in two ways. What else they change, they change in questions and texts alike."""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def prepared(text: str) -> str:
    """The text in one spelling, every run of Chinese, Japanese or Korean written as its overlapping pairs."""
    return american(_composed(text))


def american(text: str) -> str:
    """A text in small letters, without the endings of British English."""
    for ending, instead in _BRITISH:
        text = ending.sub(instead, text)
    return text


def _composed(text: str) -> str:
    if text.isascii():
        return text
    # Accents as letters of their own would cut words in two; what is no text would be refused by tantivy.
    composed = unicodedata.normalize("NFC", text).encode("utf-8", "replace").decode()
    return _CJK.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", composed)


def stems(text: str) -> list[str]:
    """The words of an English text, in order; those of other languages as they stand."""
    return [found for word in _WORD.findall(_composed(text).lower()) if (found := _stem(word))]


@lru_cache(maxsize=_REMEMBERED)
def _stem(word: str) -> str:
    """Nothing of one that is too long. A text has few words that the last ones had not: this is what makes it fast."""
    return next(iter(english().analyze(american(word))), "")


def share(one: Set[str], other: Set[str]) -> float:
    """Of the words that either has, the share that both have."""
    return len(one & other) / (len(one | other) or 1)


def edits(one: str, other: str, *, most: int = 1000) -> int:
    """How many letters must be put in, left out, changed, or swapped with the next; `most + 1` if more than `most`."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        row = [i]
        for j, beside in enumerate(other, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != beside))
            swapped = i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == beside
            row.append(min(cost, before[j - 2] + 1) if swapped else cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return min(last[-1], most + 1)


@cache
def english(*, stop_words: bool = False) -> TextAnalyzer:
    """Words without their endings and, if asked, without the small ones that every text has."""
    from tantivy import Filter

    builder = _words_without_case()
    if stop_words:
        builder = builder.filter(Filter.stopword("english"))
    return builder.filter(Filter.stemmer("english")).build()


@cache
def plain() -> TextAnalyzer:
    """Words as they stand, for names."""
    return _words_without_case().build()


@cache
def as_given() -> TextAnalyzer:
    """Words that were analysed already, parted by blanks."""
    from tantivy import TextAnalyzerBuilder, Tokenizer

    return TextAnalyzerBuilder(Tokenizer.whitespace()).build()


def _words_without_case() -> TextAnalyzerBuilder:
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    words = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(_LONGEST_WORD))
    return words.filter(Filter.lowercase()).filter(Filter.ascii_fold())


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]
