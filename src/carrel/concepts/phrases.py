"""Noun phrases of a text, told by lists of words, endings and neighbours; no model is needed.

A text becomes a row of letters, one for each word (`carrel.concepts.lexicon`), and phrases are found in that row by a
pattern: adjectives and nouns that end in a noun, and names with what names have inside (`University of the Arts`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.concepts import lexicon
from carrel.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TOKEN = re.compile(
    r"""
    (?P<hidden>```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|\$\$.*?(?:\$\$|\Z)|`[^`\n]{1,200}`|https?://\S+
      |</?[A-Za-z][^<>\n]{0,200}>|!\[[^\]\n]{0,200}\]|\]\([^()\s]{0,300}\)|\[[\d,;\s–-]{1,40}\]|\\[a-zA-Z]+
      |\((?:e\.g\.,?\s|see\s|cf\.\s)?[A-Z][^()\d]{1,80}?,?\s(?:19|20)\d\d[a-z]?(?:[;,:][^()]{0,200})?\)
      |\b[A-Z][\w-]+(?:,?\s(?:and\s)?[A-Z][\w-]+){0,3}\s(?:\()?et\sal\b\.?
      |\b\w{1,20}\((?!s\))[^()\n]{0,40}\)|\b[Tt]ables?\s+(?:[A-Z]?\d[\w.]*|[IVX]{1,4}\b))
    |(?P<fixed>\b(?:state[\s-]of[\s-](?:the[\s-])?art|in\sspite\sof|with\s(?:respect|regard)\sto|as\swell\sas
      |in\sorder\s(?:to|that)|in\sterms\sof|in\saddition(?:\sto)?|for\s(?:example|instance)|of\scourse
      |in\s(?:particular|general|fact|contrast|practice)|at\s(?:least|most)|on\sthe\s(?:other|one)\shand
      |by\smeans\sof|(?:a|the)\s(?:large\s|small\s)?(?:number|variety|range|set|lot)\sof
      |a\spriori|due\sto|such\sas|so\sthat|as\sa\sresult|takes?\splace|in\sthis\spaper)\b)
    |(?P<word>[A-Za-z](?:\+\+|\#|\*)(?![\w*])
      |\b[A-Z]\.\s[a-z]{4,}\b|(?:[A-Z]\.){2,}
      |(?<=[a-z]\s)[A-Z]\.(?=\s[A-Z][a-z])(?!\s(?:The|Th[ei]s?|In|It|We|An?|He|She|For|If|When|However)\b)
      |\$[^$\n]{1,20}\$(?:-[^\W_]+)+
      |\d+(?:[-–]\d+)?[-–]?[^\W\d_][^\W_]*(?:[-–/&][^\W_]+)*
      |[^\W\d_][^\W_]*(?:[-‐‑–/&'’´](?!s\b)[^\W_]+)*)
    |(?P<formula>\$[^$\n]{1,300}\$)
    |(?P<number>\d+(?:[.,]\d+)*%?)
    |(?P<possessive>['’](?:s\b|(?=\s)))
    |(?P<stop>\n[ \t]*(?=[\n\#>|*+-]|\d{1,3}[.)]\s)|[.!?:;]+)
    |(?P<other>[^\s\w'’])
    """,
    re.VERBOSE | re.DOTALL,
)
_CONTRACTED = re.compile(r"['’](?:re|ve|ll|d|m|t)$")
_ITEM = r"(?:[JN]|X(?:Q(?=[JNX]))?)"
_PHRASE = re.compile(rf"X{{1,6}}(?:(?:oD?|d{{1,2}})X{{1,6}}){{1,3}}|(?:{_ITEM}(?:{_ITEM}|U(?=[JNX])){{0,6}})?(?:N|XU?)")
_QUALITY = re.compile(r"(?:al|ive|ous|ic|able|ible)$")
_LETTERS = {"number": "U", "fixed": "P"}
_NOUN_LIKE = frozenset("NXvJGEW")
_BEFORE_A_NOUN = frozenset("DJWoPV")
_BEFORE_A_PARTICIPLE = frozenset("DJWPC|oVE")
_BEFORE_A_VERB = frozenset("MTRK")
_LEAST_SMALL_WORDS = 0.12
"""Of an English text's words; in other languages only names are phrases."""
_MOST_OF_A_HEADLINE = 200
_LONGEST_WORD = 60
_NOT_LATIN = re.compile(r"[^\u0000-\u024f\u0370-\u052f\u1e00-\u1fff\u2000-\u22ff]")


def noun_phrases(text: str) -> list[Span]:
    """In reading order; none lies in another."""
    row = tokens(text)
    letters = "".join(letter for _, letter in row)
    return [Span(row[match.start()][0].start, row[match.end() - 1][0].end) for match in _PHRASE.finditer(letters)]


def tokens(text: str) -> list[tuple[Span, str]]:
    """The words and signs of a text, each with what it is among its neighbours."""
    spans: list[Span] = []
    letters: list[str] = []
    words: list[str] = []
    for span, letter, word in _read(text):
        spans.append(span)
        letters.append(letter)
        words.append(word)
    _look_around(letters, words)
    if not _is_english(letters):
        letters = [letter if letter in "XoDdQU" else "|" for letter in letters]
    return list(zip(spans, letters, strict=True))


def _read(text: str) -> Iterator[tuple[Span, str, str]]:
    """Each word with what it is by itself, and in small letters."""
    starts, before, headline = True, "", _is_headline(text)
    for match in _TOKEN.finditer(text):
        kind, span = match.lastgroup, Span(*match.span())
        if kind == "word":
            written = match.group()
            before = written.lower()
            yield span, _alone(written, before, starts=starts, headline=headline), before
            starts = False
        elif kind in _LETTERS:
            yield span, _LETTERS[kind], ""
            starts = False
        elif kind == "possessive":
            yield span, "Q", ""
        else:
            yield span, "|", ""
            starts = (kind == "stop" and before not in lexicon.section("abbreviated")) or (starts and kind == "other")


def _is_headline(text: str) -> bool:
    """Whether most words have capitals, so that these tell nothing."""
    if len(text) > _MOST_OF_A_HEADLINE or text.rstrip().endswith("."):
        return False
    words = [word for word in re.findall(r"[^\W\d_]+", text) if not lexicon.is_closed(word.lower())]
    return len(words) > 2 and sum(word[0].isupper() for word in words) > 0.6 * len(words)


def _alone(written: str, word: str, *, starts: bool, headline: bool) -> str:
    if word in lexicon.section("pointing") or len(word) > _LONGEST_WORD:
        return "|"
    if _CONTRACTED.search(word):
        return "A"
    if len(word) == 1 and written.islower():
        return "D" if word == "a" else "U"
    if not written.isascii() and _NOT_LATIN.search(written):
        return "|"
    if written[0].isupper():
        return _compound(word) if headline and written[1:] == word[1:] else _capital(written, word, starts=starts)
    return "N" if any(letter.isupper() for letter in written) else _compound(word)


def _capital(written: str, word: str, *, starts: bool) -> str:
    if lexicon.is_closed(word):
        return "X" if written.isupper() and len(word) > 1 and not starts else lexicon.tag(word)
    alone = _compound(word)
    is_name = (
        written[1:] != word[1:] or not starts or not (lexicon.is_known(word) or alone in "BEG" or _QUALITY.search(word))
    )
    return "X" if is_name else alone


def _compound(word: str) -> str:
    """What is written with a hyphen is a noun or stands before one."""
    if "-" not in word:
        return lexicon.tag(word)
    known = lexicon.tag(word) if lexicon.is_known(word) else ""
    return known or ("J" if lexicon.tag(word.rpartition("-")[2]) in "EGJ" else "N")


def _look_around(letters: list[str], words: Sequence[str]) -> None:
    """Tell nouns from verbs by what stands before and behind; adverbs are looked through."""
    before = "|"
    for place, alone in enumerate(letters):
        if alone in "vVEGNJ":
            behind = letters[place + 1] if place + 1 < len(letters) else "|"
            letters[place] = _among(alone, words[place], before, behind)
        if alone != "B":
            before = letters[place]


def _among(letter: str, word: str, before: str, behind: str) -> str:
    if letter == "E":
        joins = word in lexicon.section("joining") and before in "NX"
        return "J" if behind in _NOUN_LIKE and (joins or before in _BEFORE_A_PARTICIPLE) else "V"
    if letter == "G":
        return "N" if before in "DJW" else "V"
    if letter == "V":
        return "N" if before in _BEFORE_A_NOUN and not (before == "P" and word.endswith("s")) else "V"
    if letter == "v":
        return "V" if before in _BEFORE_A_VERB or (before in "NX" and behind in "DR") else "N"
    if letter == "J":
        return "N" if before in "DX" and behind in "|PA" and not lexicon.is_known(word) else "J"
    is_verb = before in "MR" or (before in "TK" and behind == "D") or (word.endswith("ing") and behind in "DR")
    return "V" if is_verb else "N"


def _is_english(letters: Sequence[str]) -> bool:
    words = [letter for letter in letters if letter not in "|QU"]
    small = sum(letter in "DKPCAMToRB" for letter in words)
    return len(words) < 12 or small >= _LEAST_SMALL_WORDS * len(words)
