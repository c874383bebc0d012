"""Sentences of a paper that cite papers of the library, by number or by author and year, without the marks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel import sentences
from carrel.types import ANY_YEAR, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from carrel.catalogs import CitationRow
    from carrel.types import Reference

MOST_CITED = 3
"""Works in one sentence: of more, each is responsible for too little of it."""
_MOST_OF_A_RANGE = 50
_LONGEST_NAME = 60
_LONGEST = 1000
"""Characters of a sentence; what is longer was never one."""
_NEXT = r"\]?\s?[,;–—-]\s?\[?"
_MARK = re.compile(rf"\s?\[\s?(?P<numbers>\d{{1,4}}(?:{_NEXT}\d{{1,4}})*)\s?\]")
"""`[3]`, `[3, 5–7]`, and several that belong together: `[3], [5]–[7]`."""
_STOP = re.compile(rf"[.!?]{_MARK.pattern}(?=\s+[A-Z])")
_RANGE = re.compile(r"(\d+)(?:\]?\s?[–—-]\s?\[?(\d+))?")
_LABEL = re.compile(r"\s*[\[(]?(\d{1,4})[\]).]*\s")
_YEAR = r"(?:1[89]\d\d|20\d\d)[a-z]?"
_INSIDE = r"[^()\[\]]*"
_IN_BRACKETS = re.compile(
    rf"\s?[(\[](?={_INSIDE}\b{_YEAR}\b)(?:{_INSIDE}[A-Z]{_INSIDE}|{_YEAR}(?:[,;]\s?{_YEAR})*)[)\]]"
)
"""`(Smith et al., 2019; Yu, 2020a)` and `(2019)`."""
_ANY_YEAR = re.compile(rf"\b{_YEAR}\b")
_SPACE_BEFORE = re.compile(r"\s+(?=[.,;:)])")
_LEFT_BEHIND = re.compile(r"\s*[(\[]\s*[,;–-]?\s*[)\]]|(?<=[,;])\s*[,;]+")


@dataclass(frozen=True, slots=True)
class Citing:
    """A sentence, what is left of it without its marks, and the library's papers that it cites."""

    span: Span
    words: str
    cited: frozenset[str]


class Marks:
    """How one paper's text points at its bibliography, as far as that is in the library."""

    def __init__(self, rows: Sequence[CitationRow], papers: Mapping[str, Reference], texts: Iterable[str]) -> None:
        self._by_number = _by_number(rows, texts)
        self._by_name = dict(_by_name(rows, papers))

    def found(self, text: str) -> Iterator[Citing]:
        """The sentences of a text that cite papers of the library, and few others."""
        for span in _sentences(text):
            sentence = " ".join(text[span.start : span.end].split())
            if len(sentence) > _LONGEST:
                continue
            cited = self._numbered(sentence) or self._named(sentence)
            if cited:
                yield Citing(span, self._without_marks(sentence), cited)

    def _numbered(self, sentence: str) -> frozenset[str]:
        numbers = {number for mark in _MARK.finditer(sentence) for number in _expanded(mark["numbers"])}
        if not self._by_number or len(numbers) > MOST_CITED:
            return frozenset()
        return frozenset(self._by_number[number] for number in numbers if self._by_number.get(number))

    def _named(self, sentence: str) -> frozenset[str]:
        if len(_ANY_YEAR.findall(sentence)) > MOST_CITED:
            return frozenset()
        return frozenset(paper for paper, (said, _) in self._by_name.items() if said.search(sentence))

    def _without_marks(self, sentence: str) -> str:
        plain = without_marks(sentence)
        for _, names in self._by_name.values():
            plain = names.sub("", plain)
        return _SPACE_BEFORE.sub("", _LEFT_BEHIND.sub("", " ".join(plain.split()))).strip(" ,;")


def _sentences(text: str) -> list[Span]:
    """The sentences of a text, a mark behind the full stop with the sentence before it."""
    found: list[Span] = []
    for span in sentences.prose(text):
        start = span.start
        late = _MARK.match(text, start, span.end)
        if late and found and not text[found[-1].end : start].strip():
            found[-1] = Span(found[-1].start, late.end())
            start = late.end()
        for stop in _STOP.finditer(text, start, span.end):
            found.append(Span(start, stop.end()))
            start = stop.end()
        if text[start : span.end].strip():
            found.append(Span(start, span.end))
    return found


def without_marks(text: str) -> str:
    """Without what points at the bibliography: `[12]`, `(Smith et al., 2019)`."""
    return _IN_BRACKETS.sub("", _MARK.sub("", text))


def _by_number(rows: Sequence[CitationRow], texts: Iterable[str]) -> dict[int, str]:
    """The library's paper of each number; nothing where the text does not cite by number.

    Entries carry their numbers, or are counted. Where they carry none, numbers in brackets may be anything: they are
    marks if they name most of the entries.
    """
    labels = [_LABEL.match(row.cited.text) for row in rows]
    if sum(map(bool, labels)) * 2 > len(rows):
        return {int(label[1]): row.known_as for label, row in zip(labels, rows, strict=True) if label}
    named = {n for text in texts for mark in _MARK.finditer(text) for n in _expanded(mark["numbers"])}
    entries = {number: row.known_as for number, row in enumerate(rows, start=1)}
    return entries if len(named & entries.keys()) * 2 > len(entries) else {}


def _by_name(
    rows: Sequence[CitationRow], papers: Mapping[str, Reference]
) -> Iterator[tuple[str, tuple[re.Pattern[str], re.Pattern[str]]]]:
    """For each cited paper: what cites it by first author and year, and what names its authors.

    An author with two entries of one year is told apart by letters that entries seldom keep: none of them counts.
    """
    for row in rows:
        paper = papers.get(row.known_as)
        year = row.cited.year or (paper.published.year if paper else ANY_YEAR)
        if not paper or not paper.authors or year == ANY_YEAR:
            continue
        first = paper.authors[0].last
        alike = [other for other in rows if other.cited.year == row.cited.year and first in _first_of(other)]
        if len(first) > 1 and len(alike) == 1:
            name = re.escape(first)
            said = re.compile(rf"\b{name}\b[^()\[\];]{{0,60}}?[\s,(\[]{year}[a-z]?\b")
            others = "|".join(re.escape(author.last) for author in paper.authors[1:3] if author.last)
            joint = rf"(?:,?\s(?:and|&)\s(?:{others})\b)?" if others else ""
            yield paper.id, (said, re.compile(rf"\b{name}\b{joint}(?:,?\set\sal\b\.?(?:['’]s)?|\sand\scolleagues)?"))


def _first_of(row: CitationRow) -> str:
    """Where an entry names its first author."""
    return row.cited.text[:_LONGEST_NAME].partition(",")[0]


def _expanded(numbers: str) -> Iterator[int]:
    """`3–5, 9` → 3, 4, 5, 9; what makes no sensible range, as its ends."""
    for first, last in _RANGE.findall(numbers):
        start, end = int(first), int(last or first)
        yield from range(start, end + 1) if 0 <= end - start <= _MOST_OF_A_RANGE else (start, end)
