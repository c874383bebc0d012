"""How deep the headings of a Marker file are.

Marker guesses levels from the size of letters, and `section_hierarchy` repeats the guess: `2.1` comes out deeper than
`2.2`. Where a paper numbers its headings, the numbers are believed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.parsers import bibliography

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER = re.compile(
    r"(?:(?P<digits>\d{1,2}(?:\.\d{1,2}){0,4})\.?|(?P<letter>[A-H](?:\.\d{1,2}){0,3})\.?|(?P<roman>[IVX]{1,5})\.)\s+\S"
)
_CHAPTERS = frozenset({
    "abstract", "summary", "introduction", "acknowledgment", "acknowledgments", "acknowledgement", "acknowledgements",
    "appendix", "appendices", "conclusion", "conclusions", "discussion", "keywords", "supplementary material",
    "references", "author contributions", "funding", "data availability", "conflict of interest",
})  # fmt: skip
_FEWEST_NUMBERED = 3
_CHAPTER = 2


def levels(titles: Sequence[str], guesses: Sequence[int]) -> list[int]:
    """The level of each heading, the first being the paper's title when it has no number: 1, chapters 2, and so on.
    0 for what is no heading at all: names of authors between the title and the first chapter."""
    has_title = bool(titles) and not _is_chapter(titles[0])
    numbered = sum(_depth(title) > 0 for title in titles) >= _FEWEST_NUMBERED
    found = _by_number(titles) if numbered else _by_guess(guesses, has_title=has_title)
    if has_title:
        found[0] = 1
        start = next((place for place, title in enumerate(titles) if place and _is_chapter(title)), 1)
        found[1:start] = [0] * (start - 1)
    return found


def _is_chapter(title: str) -> bool:
    return _plain(title) in _CHAPTERS or _depth(title) == 1 or bibliography.is_heading(title)


def _plain(title: str) -> str:
    return title.strip(" .:—-").casefold()


def _depth(title: str) -> int:
    """Of a numbered heading: 1 for `3`, 2 for `3.1`; 0 without a number."""
    found = _NUMBER.match(title)
    return 1 + (found["digits"] or found["letter"] or "").count(".") if found else 0


def _by_number(titles: Sequence[str]) -> list[int]:
    """Headings without a number are chapters when they are called as chapters are, else parts of what they follow."""
    found, numbered = [], 0
    for title in titles:
        depth = _depth(title)
        if not depth and (not numbered or _is_chapter(title)):
            numbered = 0
            found.append(_CHAPTER)
            continue
        numbered = depth or numbered
        found.append(_CHAPTER - 1 + numbered + (not depth))
    return found


def _by_guess(guesses: Sequence[int], *, has_title: bool) -> list[int]:
    """Marker's own levels, moved so that nothing but the title is as high as it."""
    top = min(guesses[1:] if has_title else guesses, default=1)
    return [guess - top + _CHAPTER for guess in guesses]
