"""Whether a quote really stands in its source, and where.

A quote may differ from the source in how its characters are encoded, never in what they say: white space, the forms
of dashes and quotation marks, ligatures, accents and hyphens at line ends are equalised; words, numbers, powers and
indices are not. It may be a part of a sentence, never of a word or of a number with its sign and unit.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from carrel.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

_NONE, _FIRM, _PERHAPS = range(3)
"""Whether a hyphen stands before a character; perhaps, where a line may have ended there."""
_MOST_TRIES = 3_000
_REMEMBERED = 64
_LONG = 50_000
"""Characters; a text of so many is not asked about often enough to be kept in memory."""
_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_INVISIBLE = r"\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_INVISIBLE_ONLY = re.compile(rf"[{_INVISIBLE}]+")
_HIDES_IN_A_NUMBER = re.compile(rf"\d[{_INVISIBLE}]+\d")
_JOINER = "\u200d"
_LETTER = r"[^\W\d_]"
_NOT_PLAIN = re.compile(rf"[{_INVISIBLE}]+|`|[!-~]?[^\x00-\x7f{_INVISIBLE}]+")
_LAYOUT = re.compile(
    rf"""(?P<dash> \s*—\s* )
    |    (?P<hyphen> (?<={_LETTER})[-\u00ad]\s*(?={_LETTER}) )
    |    (?P<number> (?<=\w)-\s+(?=\w) )
    |    (?P<nothing> (?<!\d)\u00ad | \u00ad(?!\d) | (?<=[{_CJK}])\s+(?=[{_CJK}])
                    | (?<![\w*])\*\*(?=[\w("']) | (?<=[^\s*])\*\*(?![\w*]) )
    |    (?P<space> \s+ )
    |    (?P<marks> '' )""",
    re.VERBOSE,
)
_INSTEAD = {"dash": " - ", "hyphen": "", "number": "-", "nothing": "", "space": " ", "marks": '"'}
_FORMS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–−", "-"),
        "―": "—",
        **dict.fromkeys("‘’‚‛′‹›`´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        "…": "...",
        "℃": "°C",
        "℉": "°F",
    }
)
_SAME_CHARACTER = {"<font>", "<noBreak>", "<wide>", "<narrow>", "<initial>", "<medial>", "<final>", "<isolated>"}
_SAME_LETTERS = {"<compat>", "<square>"}
"""Ligatures, the micro sign, kg in a square: the same if it is letters. Powers, indices and fractions are not here."""
_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))
_PART = rf"[^\W{_CJK}]"
_PARTED = re.compile(
    rf"""{_PART}\x1f{_PART}
    |    \d\x1f[{_CJK}]
    |    \w['/@&=-]\x1f\w          | \w\x1f['/@&=-]\w
    |    [a-z](?:\.\x1f|\x1f\.)[^\W\dA-Z⁰¹²³⁴-⁹] | \d(?:\.\x1f|\x1f\.)[^\WA-Z] | [^\Wa-z\d](?:\.\x1f|\x1f\.)\w
    |    \d[,:]\x1f\d              | \d\x1f[,:]\d          | (?:^|\W)\.\x1f\d
    |    [-+±<>≤≥≈~≠=×·^$€£¥\#]\s?\x1f\d
    |    \w\x1f[+^°%‰\#]           | \d\x1f\s?[%‰°×·^±]    | \d\x1f\s?[-/]\s?\d
    |    \w\x1f[-+]\d""",
    re.VERBOSE,
)
"""What a cut (\\x1f) must not part: a word, a number, its sign, its unit."""


class Plain(NamedTuple):
    """A text with equal things spelled equally, and which characters of the source each of its own stands for."""

    text: str
    starts: array[int]
    ends: array[int]
    hyphens: bytes
    """Those between letters are not in the text, but noted with the letter behind."""


def locate(quote: str, source: str) -> Span | None:
    """The first span of the source that says the same, character for character; None when nothing does."""
    wanted, given = _trimmed(normalise(quote)), normalise(source)
    start = given.text.find(wanted.text) if wanted.text else -1
    for _ in range(_MOST_TRIES):
        if start < 0:
            return None
        span = _span(given, start, start + len(wanted.text))
        if span and _joins_nothing(source, span) and _hyphens_agree(wanted, given, start):
            return span
        start = given.text.find(wanted.text, start + 1)
    return None


def normalise(text: str) -> Plain:
    return _remembered(text) if len(text) < _LONG else _normalised(text)


def equalised(text: str) -> str:
    """The text as it is compared, hyphens between letters in their places; those that a line's end made are gone."""
    plain = normalise(text)
    letters = zip(plain.text, plain.hyphens, strict=True)
    return "".join(f"-{letter}" if hyphen == _FIRM else letter for letter, hyphen in letters)


def _normalised(text: str) -> Plain:
    same = Plain(text, array("q", range(len(text))), array("q", range(1, len(text) + 1)), b"")
    return _without_layout(_in_plain_characters(same))


_remembered = lru_cache(maxsize=_REMEMBERED)(_normalised)


class _Draft:
    """A text as it is written anew, piece by piece."""

    def __init__(self, source: Plain) -> None:
        self._source = source
        self._pieces: list[str] = []
        self._starts, self._ends = array("q"), array("q")
        self._hyphens = {0: _NONE}

    def copy(self, start: int, end: int) -> None:
        self._pieces.append(self._source.text[start:end])
        self._starts.extend(self._source.starts[start:end])
        self._ends.extend(self._source.ends[start:end])

    def write(self, instead: str, start: int, end: int) -> None:
        """What stands for so much of the source: whoever cites a part of it cites the whole."""
        self._pieces.append(instead)
        self._starts.extend([self._source.starts[start]] * len(instead))
        self._ends.extend([self._source.ends[end - 1]] * len(instead))

    def leave_out_a_hyphen(self, kind: int) -> None:
        self._hyphens[len(self._starts)] = kind

    def finished(self) -> Plain:
        hyphens = bytearray(len(self._starts))
        for place, kind in self._hyphens.items():
            hyphens[place : place + 1] = bytes([kind])[: len(hyphens) - place]
        return Plain("".join(self._pieces), self._starts, self._ends, bytes(hyphens))


def _in_plain_characters(given: Plain) -> Plain:
    draft, done = _Draft(given), 0
    for match in _NOT_PLAIN.finditer(given.text):
        if _HIDES_IN_A_NUMBER.match(given.text, match.start() - 1):
            continue
        draft.copy(done, match.start())
        for start, end in _graphemes(given.text, *match.span()):
            draft.write(_plain(given.text[start:end]), start, end)
        done = match.end()
    draft.copy(done, len(given.text))
    return draft.finished()


def _without_layout(given: Plain) -> Plain:
    draft, done = _Draft(given), 0
    for match in _LAYOUT.finditer(given.text):
        draft.copy(done, match.start())
        draft.write(_INSTEAD[match.lastgroup or ""], *match.span())
        if match.lastgroup == "hyphen":
            ends_a_line = match.group() != "-" and given.text[match.end()].islower()
            draft.leave_out_a_hyphen(_PERHAPS if ends_a_line or "\u00ad" in match.group() else _FIRM)
        done = match.end()
    draft.copy(done, len(given.text))
    return draft.finished()


def _graphemes(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A character and the accents on it, which may be characters of their own."""
    while start < end:
        stop = start + 1
        while stop < end and _belongs_to_the_last(text[stop]):
            stop += 1
        yield start, stop
        start = stop


@lru_cache(maxsize=4096)
def _belongs_to_the_last(character: str) -> bool:
    is_vowel_or_coda = "\u1160" <= character <= "\u11ff"
    return is_vowel_or_coda or unicodedata.category(character).startswith("M")


@lru_cache(maxsize=4096)
def _plain(grapheme: str) -> str:
    if _INVISIBLE_ONLY.fullmatch(grapheme):
        return ""
    seen = (character for character in grapheme if character not in _SELECTORS)
    return unicodedata.normalize("NFC", "".join(map(_plain_character, seen)))


def _plain_character(character: str) -> str:
    form = character.translate(_FORMS)
    kind = unicodedata.decomposition(character).partition(" ")[0]
    spelled = unicodedata.normalize("NFKC", form)
    if kind in _SAME_CHARACTER or (kind in _SAME_LETTERS and spelled.isalpha()):
        return spelled.translate(_FORMS)
    return form


def _trimmed(plain: Plain) -> Plain:
    """Without blanks around."""
    whole = slice(len(plain.text) - len(plain.text.lstrip()), len(plain.text.rstrip()))
    return Plain(plain.text[whole], plain.starts[whole], plain.ends[whole], plain.hyphens[whole])


def _span(given: Plain, start: int, end: int) -> Span | None:
    """What so much of the text stands for, unless something is cut in two at an end of it."""
    for cut in (start, end):
        if 0 < cut < len(given.text) and given.starts[cut] == given.starts[cut - 1]:
            return None
        around = f"{given.text[max(0, cut - 3) : cut]}\x1f{given.text[cut : cut + 4]}"
        if _PARTED.search(around):
            return None
    return Span(given.starts[start], given.ends[end - 1])


def _joins_nothing(source: str, span: Span) -> bool:
    return _JOINER not in (source[span.start - 1 : span.start], source[span.end : span.end + 1])


def _hyphens_agree(wanted: Plain, given: Plain, start: int) -> bool:
    """Where one has a hyphen between letters the other has it, too, or may have had it."""
    ours = int.from_bytes(wanted.hyphens[1:])
    theirs = int.from_bytes(given.hyphens[start + 1 : start + len(wanted.text)])
    # One bit of each byte is compared: as numbers, so that a text full of hyphens costs no loop.
    firm = int.from_bytes(bytes([_FIRM]) * (len(wanted.text) - 1))
    return not (ours ^ theirs) & firm & ~((ours | theirs) >> 1)
