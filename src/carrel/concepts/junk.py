"""What stands where terms stand and is none."""

from __future__ import annotations

import re
from functools import lru_cache

from carrel.concepts import cjk, lexicon
from carrel.naming import key

_MOST_WORDS = 8
_LONGEST = 100
_LETTER = re.compile(r"[^\W\d_]")
_NOT_A_NAME = re.compile(r"[=<>|^~@\\{}()\[\]]|\bet al\b|https?:|\w_\w|::|->|\d\.\d")
_POINTER = re.compile(
    r"(?:fig(?:ure)?s?|tables?|eqs?|equations?|sections?|chapters?|appendix|algorithm|theorem|lemma|step"
    r"|additional files?|supplementary \w+"
    r"|january|february|march|april|may|june|july|august|september|october|november|december)"
    r"\b\.?\s*[\dsS]+\S{0,4}(?:,? \d{4})?",
    re.IGNORECASE,
)
_REMEMBERED = 65_536


@lru_cache(maxsize=1)
def _generic() -> frozenset[str]:
    return frozenset(key(word) for word in lexicon.section("generic"))


def trimmed(words: list[str]) -> list[str]:
    """Without what says nothing in front, as `novel`, `same` and `2` do."""
    start = 0
    while start < len(words) - 1 and _says_nothing(words[start]):
        start += 1
    return words[start:]


def _says_nothing(word: str) -> bool:
    small = word.lower()
    return (
        (lexicon.tag(small) in "WDUBC" and not word[:1].isupper()) or lexicon.tag(small) == "D" or small.endswith("-th")
    )


@lru_cache(maxsize=_REMEMBERED)
def is_junk(name: str) -> bool:
    """Whether it can be no concept's name wherever it stands."""
    if len(name) > _LONGEST or _NOT_A_NAME.search(name) or _POINTER.fullmatch(name):
        return True
    words = key(name).split()
    letters = len(_LETTER.findall(name))
    if not words or len(words) > _MOST_WORDS or (letters < 2 and not re.fullmatch(r"[A-Z](?:\+\+|#|\*)", name)):
        return True
    is_small = len(words) == 1 and name.islower() and len(name) < 3 and name.isascii()
    return is_small or (len(words) == 1 and lexicon.is_closed(words[0]) and not name.isupper())


@lru_cache(maxsize=_REMEMBERED)
def is_generic(name: str) -> bool:
    """Whether it says too little by itself, as `method` and `experimental results` do."""
    words = name.lower().split()
    if len(words) == 1 or (len(words) == 2 and words[1].isdigit()):
        is_no_noun = lexicon.is_known(words[0]) and lexicon.tag(words[0]) in "VBWAEJ"
        return (is_no_noun or key(words[0]) in _generic()) and not name.isupper()
    modifiers = lexicon.section("empty modifiers")
    return is_empty(words[-1]) and all(word in modifiers or lexicon.tag(word) in "WDU" for word in words[:-1])


def is_empty(noun: str) -> bool:
    """Whether what it says is said by the words beside it, as in `number of …`."""
    return noun in lexicon.section("empty heads")


def is_common_heading(heading: str) -> bool:
    """Whether any paper might have it: `Introduction`, `Materials and methods`."""
    words = re.findall(r"[^\W\d_]+", heading.lower())
    return cjk.is_common_heading(heading) or all(
        word in lexicon.section("headings") or lexicon.is_closed(word) for word in words
    )


def is_boilerplate(heading: str) -> bool:
    """Whether what stands under it is about other papers, people or exercises."""
    words = re.findall(r"[^\W\d_]+", heading.lower())
    return is_common_heading(heading) and any(word in lexicon.section("boilerplate") for word in words)
