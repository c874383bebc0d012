"""Sentences that say what something is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from carrel import sentences
from carrel.concepts import cjk, lexicon
from carrel.concepts.phrases import noun_phrases

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 400
_TERM = r"(?P<term>[^\s,.;:()][^,.;:()\n]{0,78}?)"
_ARTICLE = r"(?:an?|the|one of the|any|some|either)"
_MARK = r"[*_`]{0,3}"
_IS = re.compile(
    r"^(?:(?:In|For|Formally|Informally|Recall)\b[^,\n]{0,60},\s+(?:that\s+)?)?"
    rf"{_MARK}(?:[Aa]n?\s+|[Tt]he\s+)?{_MARK}{_TERM}{_MARK}(?:\s\([^()\n]{{1,60}}\))?,?\s+(?:is|are|was|were)\s+{_MARK}(?P<kind>{_ARTICLE}\s[^.;:\n]{{3,200}})"
)
_SAYS = re.compile(
    rf"^{_MARK}(?:[Aa]n?\s+|[Tt]he\s+)?{_MARK}(?:term\s+)?[“\"'*_]*{_TERM}[”\"'*_]*(?:\s\([^()\n]{{1,60}}\))?,?\s+"
    r"(?:refers? to|denotes?|stands? for|is defined as|are defined as|is defined to be|means|describes)\s"
)
_CALLED = re.compile(
    r"\b(?:(?:is|are|be|been|being|which)\s+(?:(?:also|often|commonly|usually|sometimes)\s+)?"
    r"(?:called|known as|termed|named|referred to as)"
    r"|[Ww]e\s+(?:will\s+)?call(?:\s+(?:it|them|(?:this|these|such)(?:\s[a-z]+){0,2}?(?=\s(?:an?|the)\b)|this))?"
    r"|[Ww]e\s+(?:will\s+)?define(?=\s+(?:an?|the)\b)|so-called|known as|called)"
    r"\s+(?:an?\s+|the\s+)?(?P<term>[*_“\"‘]{0,3}[^\s*_“”\"‘,.;:()][^,.;:()\n”\"*_]{0,60})"
)
_BOLD = re.compile(r"(?<![\w*])\*\*(?P<term>[^*\n]{2,60})\*\*(?![\w*])|(?<![\w_])__(?P<other>[^_\n]{2,60})__(?![\w_])")
_EXPLAINS = re.compile(
    r"^(?:[Aa]n?\s|[Tt]he\s)?(?P<term>[^,\n]{2,60}),\s+(?:i\.e\.|(?:that is|which (?:is|are) an?)\b)"
)


class Defined(NamedTuple):
    term: str
    start: int
    end: int
    """Of the sentence."""
    kind: str = ""
    """What it says the term is a kind of."""
    explains: bool = True
    """Whether the sentence says what the term is, and does not only name it."""


def defined(text: str) -> Iterator[Defined]:
    """What the sentences of a text define."""
    for span in sentences.prose(text):
        sentence = text[span.start : span.end]
        for term, kind, explains in _in_sentence(sentence[: 2 * LONGEST]):
            if term:
                yield Defined(term, span.start, span.end, kind, explains and len(sentence) <= LONGEST)


def _in_sentence(sentence: str) -> Iterator[tuple[str, str, bool]]:
    if term := cjk.defined(sentence):
        yield term, "", True
    elif match := _IS.match(sentence):
        yield _subject(match["term"]), _kind(match["kind"]), True
    elif match := _SAYS.match(sentence) or _EXPLAINS.match(sentence):
        yield _subject(match["term"]), "", True
    for match in _CALLED.finditer(sentence):
        yield _first_phrase(match["term"]), "", True
    for match in _BOLD.finditer(sentence):
        yield _subject(match["term"] or match["other"]), "", False


def _bare(term: str) -> str:
    return term.strip(" *_`\"“”'‘’")


def _subject(text: str) -> str:
    """The text if it is one phrase and no more."""
    bare = _bare(text)
    found = noun_phrases(bare)
    whole = len(found) == 1 and found[0].start == 0 and found[0].end == len(bare)
    return bare if (whole or cjk.CJK.search(bare)) and bare.lower() not in lexicon.section("no subjects") else ""


def _first_phrase(text: str) -> str:
    bare = _bare(text)
    found = noun_phrases(bare)
    return bare[: found[0].end] if found and found[0].start == 0 else ""


def _kind(text: str) -> str:
    """The head of what it is said to be, without what follows `that`, `of`, `for` …"""
    _, _, rest = text.partition(" ")
    found = noun_phrases(rest)
    if not found:
        return ""
    words = rest[found[0].start : found[0].end].split()
    while len(words) > 1 and (lexicon.tag(words[0].lower()) in "WJEU" or words[0][0].isupper()):
        words = words[1:]
    is_plain = len(words) <= 3 and all(word.isalpha() and word.islower() for word in words)
    return " ".join(words) if is_plain and words[0] not in lexicon.section("no kinds") else ""
