"""Which paragraphs are headings, and of which level: by their numbers, their words, and how they are set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.parsers import bibliography
from carrel.parsers.captions import label_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.parsers.pdf_paragraphs import Measures, Paragraph

_NUMBERED = re.compile(
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z](?:\.\d{1,2}){1,4}|[IVX]{1,5}(?=\.)|[A-Z](?=\.?\s))[.)]?\s+"
    r"(?P<words>(?:[^\W\d_]{2,}|A\s).*)"
)
_KNOWN = frozenset({
    "abstract", "summary", "introduction", "background", "related work", "method", "methods", "methodology",
    "materials and methods", "results", "results and discussion", "discussion", "conclusion", "conclusions",
    "conclusions and future work", "future work", "limitations", "acknowledgement", "acknowledgements",
    "acknowledgment", "acknowledgments", "appendix", "appendices", "statement of need", "experiments", "evaluation",
    "motivation", "overview", "author contributions", "funding", "data availability", "conflict of interest",
    "conflicts of interest", "ethics statement", "supplementary material", "zusammenfassung", "einleitung", "résumé",
    "摘要", "引言", "结论",
})  # fmt: skip
_LARGER = 0.8
"""Points above the size of the text."""
_GAP = 1.05
"""Above a heading, in usual distances of lines."""
_DEEPEST = 6
_LONGEST = 200
_MOST_LINES = 4
_NO_END = re.compile(r"[,;]$|[^.]\.$|[-–]$")
_LEADERS = re.compile(r"(?:\.\s?){4}")
"""Between a heading and its page, in a table of contents."""
_LETTERS = re.compile(r"[^\W\d_]")


def words_of(text: str) -> str:
    """A heading's words, without its number."""
    found = _NUMBERED.fullmatch(text.strip())
    return found["words"] if found else text.strip()


def is_known(text: str) -> bool:
    return words_of(text).strip(" .:").casefold() in _KNOWN or bibliography.is_heading(text)


def is_section(text: str) -> bool:
    """Whether a heading must be one of the text, by its number or words."""
    return is_known(text) or bool(_NUMBERED.fullmatch(text.strip()))


def is_heading(paragraph: Paragraph, measures: Measures) -> bool:
    text = paragraph.text.strip()
    if not _may_be(paragraph, text):
        return False
    if is_known(text):
        return paragraph.gap > _GAP or paragraph.bold or paragraph.size > measures.size + 0.3
    if _NO_END.search(text):
        return False
    larger = paragraph.size >= measures.size + _LARGER
    bold = paragraph.bold and not measures.bold and paragraph.size >= measures.size - 0.6
    return larger or bold or _stands_out(paragraph, text, mono=measures.mono)


def _stands_out(paragraph: Paragraph, text: str, *, mono: bool) -> bool:
    """A line for itself, in capitals, or in italics with a number."""
    if len(paragraph.lines) > 1 or paragraph.gap <= _GAP or (paragraph.lines[0].mono and not mono):
        return False
    if text.isupper() and len(_LETTERS.findall(text)) > 4:
        return True
    return paragraph.lines[0].style.italic and bool(_NUMBERED.fullmatch(text))


def _may_be(paragraph: Paragraph, text: str) -> bool:
    if len(text) > _LONGEST or len(paragraph.lines) > _MOST_LINES or any(line.region for line in paragraph.lines):
        return False
    if label_of(text) or len(_LETTERS.findall(text)) < 2 or "@" in text or _LEADERS.search(text):
        return False
    if any(line.widest_gap > 4 for line in paragraph.lines):
        return False
    first = words_of(text)[:1]
    return not first.islower() and first not in "•–*(=<>"


def levels_of(headings: Sequence[Paragraph]) -> list[int]:
    """Of each heading; the title of the paper has level 1, its sections 2. Those without a number have the level of the
    numbered ones set like them, or else come below those set larger."""
    by_style: dict[tuple[float, bool, bool], int] = {}
    for paragraph in headings:
        if (depth := _depth(paragraph.text)) is not None:
            by_style.setdefault(_style(paragraph), depth + 1)
    for style in sorted({_style(paragraph) for paragraph in headings}, key=_rank):
        above = [level for other, level in by_style.items() if _rank(other) < _rank(style)]
        by_style.setdefault(style, min(max(above, default=1) + 1, _DEEPEST))
    return [_level(paragraph, by_style) for paragraph in headings]


def _level(paragraph: Paragraph, by_style: dict[tuple[float, bool, bool], int]) -> int:
    depth = _depth(paragraph.text)
    return depth + 1 if depth is not None else by_style[_style(paragraph)]


def _depth(text: str) -> int | None:
    found = _NUMBERED.fullmatch(text.strip())
    return found["number"].count(".") + 1 if found else None


def _style(paragraph: Paragraph) -> tuple[float, bool, bool]:
    style = paragraph.lines[0].style
    return round(paragraph.size * 2) / 2, paragraph.bold, style.italic


def _rank(style: tuple[float, bool, bool]) -> tuple[float, bool, bool]:
    size, bold, italic = style
    return -size, not bold, italic
