"""Which sentences of a passage a reader would want to see quoted."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from carrel import words
from carrel.answer import screened
from carrel.types import ChunkKind

if TYPE_CHECKING:
    from carrel.types import Passage, Span

_FEWEST_WORDS = 4
_LONGEST = 1200
"""Characters. What is longer is a table or a list that lost its lines."""
_USUAL = 150
_LETTERS = 0.6
"""Of a sentence's characters; formulas and rows of numbers have fewer."""
_NO_STATEMENT = re.compile(
    r"""^\[\d+\] | ^(?-i:[A-Z][\w’'-]+,?\ (?:[A-Z]\.?){1,3},\ [A-Z][\w’'-]+,?\ (?:[A-Z]\.?){1,3}[.,\s])  # two authors
    | \b(?:19|20)\d\d[a-z]?;\s*\d+ | \bvol\.\s*\d+ | \bpp?\.\s*\d+\s*[-–]\s*\d+ | \bdoi:\s*10\.
    | ©|\ball\ rights\ reserved\b | \bcopyright\b.{0,40}\b(?:19|20)\d\d | \bcreative\ commons\b
    | \bopen[- ]access\ article\b | \bpermission\ from\ the\ publisher\b | \breprints?\b.{0,40}\bpermissions?\b
    | \bauthors?\b.{0,60}\b(?:competing|conflicts?\ of|financial)\ interests? | \bno\ competing\ interests\b
    | ^(?:key\s?words?|abbreviations|correspondence|e-?mail|received)\b\s*:
    | \bsupplementary\ material\b.{0,60}\bonline\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_INTENDED = re.compile(
    r"""\b(?:aim(?:s|ed)?|objectives?|purpose|goal)\b | \bwe\ (?:sought|aimed|set\ out|hypothesi[sz]ed|asked\ whether)\b
    | \bwe\ (?:investigate|examine|stud[yi]|assesse?|evaluate|teste?|measure|analy[sz]e|compare|review)[sd]?(?:ed)?\b
    | \b(?:randomi[sz]ed|randomly|recruited|enrolled)\b
    | \bto\ (?:determine|investigate|evaluate|assess|examine|clarify|explore)\b
    | \b(?:unknown|unclear|poorly\ understood|not\ (?:well|fully)\ understood|remains?\ to\ be)\b
    | ^(?:background|objectives?|methods?|design|setting|aims?)\b\s*[:.]? | \?$
    """,
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True)
class Sentence:
    """One that may be quoted, and where it stands."""

    number: int
    passage: Passage
    span: Span
    place: float
    """Between the passage's first sentence, 0, and its last, 1."""

    @cached_property
    def text(self) -> str:
        return self.passage.chunk.text[self.span.start : self.span.end]

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(words.stems(self.text))

    @property
    def concludes(self) -> float:
        """How near it stands to the end of an abstract, where the findings are."""
        return self.place if self.passage.chunk.kind == ChunkKind.ABSTRACT else 0.0

    @property
    def intends(self) -> bool:
        """Whether it says what was to be found out, or how, rather than what was found."""
        return bool(_INTENDED.search(self.text))

    @property
    def length(self) -> float:
        """Long sentences say more: 0 for a usual one, 1 for one nearly three times as long."""
        return math.log(max(len(self.text), 1) / _USUAL)

    @property
    def has_number(self) -> bool:
        return any(map(str.isdigit, self.text))


def quotable(number: int, passage: Passage) -> list[Sentence]:
    """Not headings, code, formulas and tables, entries of bibliographies, or what publishers put into every paper; nor
    what asks or commands, be it people or machines."""
    # Without those before they are counted: what somebody has put among them does not move the others.
    spans = screened.statements(passage.chunk.text)
    last = max(len(spans) - 1, 1)
    found = [Sentence(number, passage, span, place / last) for place, span in enumerate(spans)]
    return [one for one in found if _says_something(one.text)]


def _says_something(text: str) -> bool:
    plain = "".join(text.split())
    return (
        len(text) <= _LONGEST
        and sum(map(str.isalpha, plain)) >= _LETTERS * len(plain)
        and len(words.stems(text)) >= _FEWEST_WORDS
        and not _NO_STATEMENT.search(text)
    )
