"""Where sentences begin and end, for English and for scripts that end them with 。！？."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

_END = re.compile(r"""(?<![.!?])[.!?]++["'”’)\]]*+(?=\s)|[。！？]+[”’」』）]*""")
_STARTS_A_SENTENCE = re.compile(r"""\s+["'“‘(\[]*[^\Wa-z_]""")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|et al|al|etc|cf|vs|viz|resp|approx|ca|dr|mr|mrs|prof|jr|sr|inc|ltd|dept|univ|eds|figs?|eqs?)"
    r"|\b[A-Za-z])$",
    re.IGNORECASE,
)
_BEFORE_A_NUMBER = re.compile(
    r"\b(?:secs?|tab|refs?|nos?|vol|pp?|ch|chap|art|def|thm|lem|prop|alg|app)$", re.IGNORECASE
)
_NUMBER = re.compile(r"\s+\d")
_BREAK = re.compile(r"\n[ \t]*\n+")
_NOT_PROSE = re.compile(r"\s*(?:#{1,6}\s|```|~~~|\$\$|\\\[|\\begin\{|\||<|!\[|[-*_]{3,}\s*$)")
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)|^\$\$.*?\$\$", re.MULTILINE | re.DOTALL)
_MARKER = re.compile(r"\s*(?:[-*+>]|\d+[.)])\s+")
_LEANS = re.compile(
    r"""[a-z]+\s
    | (?:(?:In|For)\s)?[Tt](?:hese|hose|his)\b
      (?!\s+(?:\w+\s+)?(?:stud|paper|article|work|review|trial|report|analys|meta|result|finding|data|thesis))
    | (?:They|It|He|She|Its|Their|His|Her|Such|Both|Neither|However|Thus|Therefore|Hence
      |Conversely|Similarly|Likewise|Instead|Nevertheless|Nonetheless|Consequently|Accordingly
      |But|And|Or|Yet|So|Then|Otherwise)\b
    | (?:In\s(?:contrast|turn|particular|such)|By\scontrast|On\sthe\sother\shand|As\sa\sresult
      |For\s(?:example|instance)|The\s(?:latter|former|same))\b
    """,
    re.VERBOSE,
)
_LONGEST_PAIR = 700
"""Characters: what leans on more is quoted alone."""


def spans(text: str) -> list[Span]:
    """Every sentence of a text, whatever it is made of; together they cover all but the white space between."""
    return [span for start, end in _paragraphs(text) for span in _within(text, start, end)]


def prose(text: str) -> list[Span]:
    """The sentences a reader would quote: not headings, code, formulas or tables, and without list markers."""
    found: list[Span] = []
    hidden = [match.span() for match in _FENCE.finditer(text)]
    for start, end in _paragraphs(text):
        for line_start, line_end in _unless_markup(text, start, end):
            if not any(a < line_end and line_start < b for a, b in hidden):
                found += _within(text, line_start, line_end)
    return found


def whole(text: str, sentence: Span) -> Span:
    """A sentence of `prose`, with the one before it if it leans on that: as `It does so.`, or without a beginning."""
    if not _LEANS.match(text, sentence.start, sentence.end):
        return sentence
    before = [span for span in prose(text) if span.end <= sentence.start]
    if not before or text[before[-1].end : sentence.start].strip() or sentence.end - before[-1].start > _LONGEST_PAIR:
        return sentence
    return Span(before[-1].start, sentence.end)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _BREAK.finditer(text):
        yield start, gap.start()
        start = gap.end()
    yield start, len(text)


def _unless_markup(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of lines that are prose; a list item begins a run of its own."""
    run: tuple[int, int] | None = None
    for line in re.finditer(r"[^\n]+", text[start:end]):
        first, last = start + line.start(), start + line.end()
        marker = _MARKER.match(line.group())
        if run and (marker or _NOT_PROSE.match(line.group())):
            yield run
            run = None
        if not _NOT_PROSE.match(line.group()):
            run = (run[0] if run else first + (marker.end() if marker else 0), last)
    if run:
        yield run


def _within(text: str, start: int, end: int) -> Iterator[Span]:
    """The sentences between two offsets, trimmed of white space."""
    begin = start
    for stop in _END.finditer(text, start, end):
        if _ends_here(text, stop):
            yield from _trimmed(text, begin, stop.end())
            begin = stop.end()
    yield from _trimmed(text, begin, end)


def _ends_here(text: str, stop: re.Match[str]) -> bool:
    if stop.group()[0] in "。！？":
        return True
    if not _STARTS_A_SENTENCE.match(text, stop.end()):
        return False
    before = (text, max(0, stop.start() - 12), stop.start())
    shortened = _ABBREVIATION.search(*before) or (_BEFORE_A_NUMBER.search(*before) and _NUMBER.match(text, stop.end()))
    return not (stop.group().startswith(".") and shortened)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield Span(start, end)
