"""Whether a quote really stands in its source, and where.

A quote may differ from the source in how its characters are encoded, never in what they say: white space, the forms
of dashes and quotation marks, ligatures and hyphens at line ends are equalised; words and numbers are not.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from carrel.types import Span

_JOINED_LATER = re.compile(r"(?<=\w)[-\u00ad\u2010]\s*\n\s*(?=[a-z])")
_FORMS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
        "…": "...",
    }
)


def locate(quote: str, source: str) -> Span | None:
    """The span of the source that says the same, character for character; None when nothing does."""
    start = source.find(quote)
    if quote.strip() and start >= 0:
        return Span(start, start + len(quote))
    wanted = normalise(quote)[0].strip()
    if not wanted:
        return None
    text, offsets = normalise(source)
    start = text.find(wanted)
    if start < 0:
        return None
    return Span(offsets[start], offsets[start + len(wanted) - 1] + 1)


@lru_cache(maxsize=64)
def normalise(text: str) -> tuple[str, tuple[int, ...]]:
    """The text with equal things spelled equally, and the offset each of its characters came from."""
    characters: list[str] = []
    offsets: list[int] = []
    skipped = {offset for join in _JOINED_LATER.finditer(text) for offset in range(*join.span())}
    for offset, character in enumerate(text):
        if offset in skipped:
            continue
        for plain in _plain(character):
            if plain == " " and characters and characters[-1] == " ":
                continue
            characters.append(plain)
            offsets.append(offset)
    return "".join(characters), tuple(offsets)


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    if character.isspace():
        return " "
    return unicodedata.normalize("NFKC", character.translate(_FORMS)).translate(_FORMS)
