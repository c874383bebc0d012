"""From characters to pieces: runs of text on one baseline, in the order in which they are written."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from carrel.parsers import pdf_bidi

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from carrel.parsers.pdf_regions import Region

ASCENT, DESCENT = 0.75, 0.22
"""Of a line's box, in sizes of its font: no more, or the boxes of close lines would hold each other's letters."""
_WIDEST_BLANK = 1.0
"""In sizes; a wider gap may be one between columns or cells."""
_NARROWEST_BLANK = 0.15
_LARGEST_SHIFT = 0.6
"""Of a baseline within a piece, in sizes: superscripts stay, the next line does not."""
_ACCENTS = {
    "´": "\u0301", "`": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "^": "\u0302", "˜": "\u0303", "ˇ": "\u030c",
    "¸": "\u0327", "˚": "\u030a", "˘": "\u0306", "¯": "\u0304", "˙": "\u0307", "˝": "\u030b", "˛": "\u0328",
}  # fmt: skip
_MOST_ACCENTS = 500
_ACCENT_REACH = 200
"""Characters, of a page, between an accent and its letter."""
_SHORTEST_WORD = 3
_PRESENTATION = re.compile(r"[\ufb00-\ufb4f\ufb50-\ufdfb\ufe70-\ufefc\U0001d400-\U0001d7ff]")
"""Ligatures, letters in the shape they have inside a word, and those of formulas."""
_UNREADABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff0-\ufffc\ufffe\uffff\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)
HYPHEN = "\u00ad"
"""Where a word is divided; only at the end of a piece."""
_SYMBOL_BULLETS = frozenset({0xF0B7, 0xF0A7, 0xF0A8, 0xF0D8, 0xF076, 0xF06E, 0xF0FC})
"""In Symbol and Wingdings."""
_DIVIDED = 2
"""What pdfium has for a hyphen at a line's end."""


@dataclass(frozen=True, slots=True)
class Style:
    size: float = 0.0
    bold: bool = False
    italic: bool = False
    mono: bool = False
    font: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What the characters of a run share."""

    style: Style
    baseline: float


@dataclass(frozen=True, slots=True)
class Glyph:
    text: str
    left: float
    right: float
    setting: Setting


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    left: float
    top: float
    right: float
    bottom: float
    style: Style
    """Of most of its characters."""
    first: Style
    """Of its first character."""
    baseline: float
    region: Region | None = None
    """A figure or table in a piece's place, to be put in order with the text around it."""

    @property
    def is_right_to_left(self) -> bool:
        return pdf_bidi.is_right_to_left(self.text)


def pieces_of(glyphs: Iterable[Glyph | None]) -> Iterator[Piece]:
    """Of the characters of a page in the order of the file; None is a line end."""
    drafted: list[Glyph] = []
    last: Glyph | None = None
    reversed_ = False
    for glyph in _accented(list(glyphs)):
        blank = glyph is not None and glyph.text == " "
        if glyph is None or (not blank and last is not None and not _goes_on(last, glyph, reversed_)):
            yield from _finished(drafted, reversed_=reversed_)
            drafted, last, reversed_ = [], None, False
        if glyph is not None and glyph.text and (drafted or not blank):
            drafted.append(glyph)
            last = last if blank else glyph
            reversed_ = reversed_ or pdf_bidi.is_strong(glyph.text)
    yield from _finished(drafted, reversed_=reversed_)


@lru_cache(maxsize=4096)
def readable(code: int) -> str:
    """A character as it is to be read: ligatures taken apart, every blank alike."""
    if code == _DIVIDED:
        return HYPHEN
    character = chr(code) if 0 < code <= 0x10FFFF else ""
    if code >= 0xFB00 and _PRESENTATION.match(character):
        return unicodedata.normalize("NFKC", character)
    if unicodedata.category(character or "\0") == "Co":
        return "•" if code in _SYMBOL_BULLETS else ""
    return " " if character.isspace() else character


def _goes_on(last: Glyph, glyph: Glyph, reversed_: bool) -> bool:  # noqa: FBT001
    size = max(last.setting.style.size, glyph.setting.style.size)
    if abs(glyph.setting.baseline - last.setting.baseline) > _LARGEST_SHIFT * size:
        return False
    if -_LARGEST_SHIFT * size < glyph.left - last.right < _WIDEST_BLANK * size:
        return True
    return reversed_ or pdf_bidi.is_strong(glyph.text) or _same_box(last, glyph)


def _same_box(one: Glyph, other: Glyph) -> bool:
    """pdfium takes ligatures apart and gives each letter the box of the whole."""
    return (one.left, one.right) == (other.left, other.right)


def _finished(glyphs: Sequence[Glyph], *, reversed_: bool) -> Iterator[Piece]:
    shown = [glyph for glyph in glyphs if glyph.text != " "]
    ordered = pdf_bidi.logical(glyphs) if reversed_ else glyphs
    text = _clean("".join(_characters(ordered)))
    if not text:
        return
    settings = {id(glyph.setting): glyph.setting for glyph in shown}
    (main, _), *_ = Counter(id(glyph.setting) for glyph in shown).most_common(1)
    setting = settings[main]
    yield Piece(
        text=text,
        left=min(glyph.left for glyph in shown),
        top=setting.baseline - ASCENT * setting.style.size,
        right=max(glyph.right for glyph in shown),
        bottom=setting.baseline + DESCENT * setting.style.size,
        style=_common(setting.style, shown),
        first=shown[0].setting.style,
        baseline=setting.baseline,
    )


def _common(style: Style, glyphs: Sequence[Glyph]) -> Style:
    """A style, bold and of one width only where every letter is."""
    styles = [glyph.setting.style for glyph in glyphs if glyph.text.isalpha()]
    bold = style.bold and all(one.bold for one in styles)
    mono = style.mono and all(one.mono for one in styles)
    return style if (bold, mono) == (style.bold, style.mono) else replace(style, bold=bold, mono=mono)


def _characters(glyphs: Sequence[Glyph]) -> Iterator[str]:
    """With a blank where pdfium misses one, as where the font changes, and before the number of a note."""
    last: Glyph | None = None
    letters, at_start = 0, True
    for glyph in glyphs:
        if last is not None and (_stands_apart(last, glyph) or _is_note(last, glyph, letters, at_start)):
            yield " "
        yield glyph.text
        at_start = at_start and glyph.text.isdigit()
        letters = letters + 1 if glyph.text.isalpha() else 0
        last = glyph


def _stands_apart(last: Glyph, glyph: Glyph) -> bool:
    size = max(last.setting.style.size, glyph.setting.style.size)
    gap = max(glyph.left - last.right, last.left - glyph.right)
    return " " not in (last.text, glyph.text) and gap > _NARROWEST_BLANK * size


def _is_note(last: Glyph, glyph: Glyph, letters: int, at_start: bool) -> bool:  # noqa: FBT001
    """Whether a raised digit follows a word or a sentence, or begins a note; `km²` and `10⁻³` are none."""
    if at_start and glyph.text.isalpha() and _is_raised(last, glyph):
        return True
    if not glyph.text.isdigit() or not (letters >= _SHORTEST_WORD or last.text in ".,;:”’)"):
        return False
    return _is_raised(glyph, last)


def _is_raised(small: Glyph, beside: Glyph) -> bool:
    size = beside.setting.style.size
    return small.setting.style.size < 0.85 * size and small.setting.baseline < beside.setting.baseline - 0.15 * size


def _accented(glyphs: Sequence[Glyph | None]) -> Iterator[Glyph | None]:
    """TeX sets accents and the letters under them one by one, not always beside each other: put together again."""
    marks = [index for index, glyph in enumerate(glyphs) if glyph is not None and glyph.text in _ACCENTS]
    made: dict[int, Glyph | None] = {}
    for index in marks[:_MOST_ACCENTS]:
        accent = glyphs[index]
        around = (
            index + 1,
            index - 1,
            *range(index + 2, min(index + _ACCENT_REACH, len(glyphs))),
            *range(max(0, index - _ACCENT_REACH), index - 1),
        )
        for place in around:
            letter = glyphs[place] if 0 <= place < len(glyphs) else None
            if accent is not None and letter is not None and place not in made and _is_accent_of(accent, letter):
                text = unicodedata.normalize("NFC", letter.text + _ACCENTS[accent.text])
                made |= {place: replace(letter, text=text), index: None}
                break
    for index, glyph in enumerate(glyphs):
        if index not in made:
            yield glyph
        elif made[index] is not None:
            yield made[index]


def _is_accent_of(accent: Glyph, letter: Glyph) -> bool:
    if not letter.text.isalpha() or not letter.left < (accent.left + accent.right) / 2 < letter.right:
        return False
    return abs(accent.setting.baseline - letter.setting.baseline) < _LARGEST_SHIFT * letter.setting.style.size


def _clean(text: str) -> str:
    divided = text.endswith(HYPHEN)
    text = " ".join(_UNREADABLE.sub("", text).split())
    return text + HYPHEN if divided and text else text
