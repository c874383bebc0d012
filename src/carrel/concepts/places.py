"""Where in a paper terms stand that its author chose: titles, headings, keywords."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.concepts import junk, lexicon
from carrel.concepts.cjk import CJK
from carrel.concepts.phrases import noun_phrases

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMBER = re.compile(
    r"^\s*(?:(?:chapter|section|part|appendix)\s+)?(?:\d+(?:\.\d+)*|[IVXLC]+|[A-Z])[.):]\s+", re.IGNORECASE
)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\s]{0,300}\)")
_ANCHOR = re.compile(r"\s*\{[^{}\n]{0,300}\}\s*$|\s*#+\s*$|<[^<>\n]{1,100}>")
_IN_BRACKETS = re.compile(r"\s*\([^()]{1,60}\)\s*$")
_ABOUT = re.compile(
    r"^(?:an? )?(?:short |brief |gentle )?(?:introduction to|overview of|basics of) (?:the )?", re.IGNORECASE
)
_COLON = re.compile(r":\s|\s[-–—]\s")
_KEYWORDS = re.compile(
    r"^[*_# \t]{0,8}(?:key\s?words?(?: and phrases)?|index terms|关键词|关键字|キーワード)[*_]*\s*[:：—–-]+"
    r"[*_]*\s*(?P<list>[^\n]{2,600})",
    re.IGNORECASE | re.MULTILINE,
)
_MOST_WORDS = 6


def whole_title(title: str) -> str:
    """What a short title, or what stands before its colon, is the name of; empty if it is a sentence's worth."""
    plain = _ABOUT.sub("", _IN_BRACKETS.sub("", _plain(title)) or _plain(title))
    name = _COLON.split(plain, maxsplit=1)[0]
    is_any_word = name.islower() and " " not in name and (junk.is_generic(name) or lexicon.is_known(name))
    return name if 0 < len(name.split()) <= _MOST_WORDS and not is_any_word else ""


def in_title(title: str) -> Iterator[str]:
    return _phrases(_plain(title))


def whole_heading(heading: str) -> str:
    """A heading that is one phrase."""
    plain = _NUMBER.sub("", _plain(heading))
    phrases = list(_phrases(plain))
    is_term = not junk.is_common_heading(plain) and (phrases == [plain] or bool(CJK.search(plain)))
    return plain if is_term and len(plain.split()) <= _MOST_WORDS else ""


def in_heading(heading: str) -> Iterator[str]:
    plain = _NUMBER.sub("", _plain(heading))
    return iter(()) if junk.is_common_heading(plain) else _phrases(plain)


def in_keywords(text: str) -> Iterator[str]:
    """Of every line such as `Keywords: suffix array; string matching`."""
    for match in _KEYWORDS.finditer(text):
        yield from listed(match["list"])


def listed(keywords: str) -> Iterator[str]:
    sign = next((sign for sign in ";；·•、，" if sign in keywords), ",")
    for one in keywords.split(sign):
        if bare := one.strip(" .*_\t"):
            yield bare


def _plain(line: str) -> str:
    return " ".join(_ANCHOR.sub("", _LINK.sub(r"\1", line)).replace("**", "").replace("`", "").split())


def _phrases(text: str) -> Iterator[str]:
    for span in noun_phrases(text):
        yield text[span.start : span.end]
