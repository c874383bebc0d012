"""Sentences that say what something is, in English and Chinese: `X is a Y that …`, `We define X as …`, `X是指…`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.types import Span

_SHORTEST, _LONGEST = 60, 500
"""Characters of a sentence that says enough and is no list run together."""
_FEWEST_WORDS = 6
"""Of what is said about the term."""
_FEWEST_LETTERS = 3

_BRACKET = r"(?:\s?\([^()]{1,60}\))?"
_TERM = r"[“\"‘']?(?P<term>(?!\d)[^\W_][\w'’/+-]*(?:\s[\w'’/+-]+){0,4})[”\"’']?"
_LEAD = r"(?:(?:Here|Formally|Briefly|In [^,.;]{3,60}|By definition),\s)?(?:(?i:an?|the)\s)?(?:(?i:term)\s)?"
_SAYING = (
    r"that|which|who|whose|where|wherein|in which|by which|used|designed|based|consisting|composed|characteri[sz]ed|"
    r"caused|defined|involving|containing|describing|produced|made"
)
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_LEAD}{_TERM}{_BRACKET},?\s(?:which\s)?(?:is|are|was|were|can be|may be)(?:\s\w+ly)?\sdefined\s(?:here\s)?"
        r"(?:as|to be)\s(?P<said>.+)",
        rf"(?:[^,.;]{{3,60}},\s)?[Ww]e(?:\s\w+ly)?\sdefined?\s(?:an?\s|the\s)?{_TERM}{_BRACKET}\s(?:as|to be)\s"
        r"(?P<said>.+)",
        rf"{_LEAD}{_TERM}{_BRACKET}\s(?:refers?|referred)\sto\s(?P<said>.+)",
        rf"{_LEAD}{_TERM}{_BRACKET}\s(?:is|are)\s"
        rf"(?P<said>(?:an?|one of the|the)\s[^.;:()]{{4,90}}?\s(?:{_SAYING})\s.+)",
    )
)
_CHINESE = re.compile(
    r"(?P<term>[^，。；：、！？\s（）()“”]{2,14})(?:（[^（）]{1,40}）|\([^()]{1,40}\))?"
    r"(?:是指|指的是|被?定义为|是一种|是一类)(?P<said>.{8,})"
)
_NO_BEGINNING = re.compile(
    r"(?i:(?:this|that|these|those|it|its|there|here|they|their|them|we|our|us|he|she|his|her|one|ones|both|each|any|all|"
    r"another|some|such|other|others|what|which|who|where|when|why|how|if|as|while|although|since|because|however|"
    r"first|second|third|next|also|and|or|but|not|so|then|thus|to|in|of|for|on|at|by|with|from|see|let|most|right|left|"
    r"currently|particularly|finally|similarly|typically|usually|generally|recently|notably|importantly|i|single|"
    r"multiple|numbers?|colou?rs?|symbols?|gray|grey|red|blue|green|black|white)\b|\w+ing\s(?:an?|the|of|in|on|with|for|to)\s)"
)
_NOT_WITHIN = re.compile(
    r"(?i:\b(?:this|these|those|our|their|its|we|it|they|is|are|was|were|be|been|has|have|had|can|will|would|should|may|"
    r"might|must|do|does|did|that|which|study|studies|paper|article|work|figure|table|present|current|shown|then|in|"
    r"aims?|goals?|purposes?|objectives?|limitations?|strengths?|reasons?|results?|findings?|conclusions?|questions?|"
    r"problems?|(?:dis)?advantages?|examples?|explanations?|possibility|hypothesis|exceptions?|authors?|participants?|"
    r"respondents?|latter|former|following|resulting|number|differences?|axis|panels?|brackets|comparisons?|criteria)\b)"
)
_NOT_SAID = re.compile(
    r"follows|(?:an?|the)\s(?:very\s)?(?:challenging|difficult|hard|powerful|popular|promising|widely\sused|well-known)\s|"
    r"(?:an?|the)\s(?:\w+\s)?(?:problem|challenge|issue|concern|sign|candidate|exception|latter|former|choice)\b|"
    r"(?i:.*\b(?:this|these|those|such|aforementioned|we|our|follows:))\b|.*[$=≥≤<>]"
)
"""What is a verdict or a formula, or looks back at other sentences, defines nothing."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A sentence of a text and what it says of which term."""

    span: Span
    term: str
    said: str


def found(text: str) -> Iterator[Definition]:
    """The definitions in a text's prose."""
    for span in sentences.prose(text):
        plain = " ".join(text[span.start : span.end].split())
        read = _chinese(plain) or _english(plain)
        if read:
            yield Definition(span, *read)


def _chinese(sentence: str) -> tuple[str, str] | None:
    match = _CHINESE.match(sentence) if len(sentence) <= _LONGEST else None
    return (match["term"], match["said"].rstrip("。 ")) if match else None


def _english(sentence: str) -> tuple[str, str] | None:
    if not _SHORTEST <= len(sentence) <= _LONGEST:
        return None
    matches = (pattern.match(sentence) for pattern in _PATTERNS)
    return next(((m["term"], m["said"].rstrip(" .")) for m in matches if m and _defines(m["term"], m["said"])), None)


def _defines(term: str, said: str) -> bool:
    enough = sum(sign.isalpha() for sign in term) >= _FEWEST_LETTERS and len(said.split()) >= _FEWEST_WORDS
    return enough and not (_NO_BEGINNING.match(term) or _NOT_WITHIN.search(term) or _NOT_SAID.match(said))
