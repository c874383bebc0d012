"""The names of authors, split into the two parts that a record has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.references import latex, texts
from carrel.types import Author

if TYPE_CHECKING:
    from collections.abc import Iterator

_AND = re.compile(r"[{}]|(?<!\s)\s++and(?=\s)", re.IGNORECASE)
_COMMA = re.compile(r"[{},]")
_SPACE = re.compile(r"[{}]|[\s~]+")
_EXTENDED = re.compile(r"(?:^|,)\s*(family|given|prefix|suffix)\s*=\s*", re.IGNORECASE)
_MOST = 10_000


def read_latex(text: str) -> list[Author]:
    """The names of a BibTeX field; `and others` is nobody."""
    raw = (name.strip() for name in _outside_braces(text, _AND))
    return [author for name in raw if name and name.lower() != "others" and (author := _latex_name(name)).last][:_MOST]


def inverted(text: str) -> Author:
    """`Last, First, Suffix` as RIS writes it; without a comma the last word is the name."""
    last, comma, first = texts.line(text).partition(",")
    if comma:
        return Author(last.strip(), first.strip())
    words = last.split()
    return Author(words[-1] if words else "", " ".join(words[:-1]))


def made(last: str, first: str = "", *, particle: str = "", suffix: str = "", orcid: str = "") -> Author:
    """A name of its parts: particles belong to the last name, `Jr` follows the first."""
    first = ", ".join(part for part in (texts.line(first), texts.line(suffix)) if part)
    family = texts.line(f"{particle} {last}")
    return Author(family, first, _orcid(orcid)) if family else Author(first, "", _orcid(orcid))


def _orcid(text: str) -> str:
    found = re.search(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]", text)
    return found.group() if found else ""


def _latex_name(raw: str) -> Author:
    if _is_one_group(raw):
        return made(latex.decode(raw))
    if _EXTENDED.match(raw):
        return _extended_name(raw)
    parts = [part.strip() for part in _outside_braces(raw, _COMMA)]
    if len(parts) == 1:
        return _natural_name(parts[0])
    last, *between, first = parts
    return made(latex.decode(last), latex.decode(first), suffix=latex.decode(", ".join(between)))


def _natural_name(raw: str) -> Author:
    """`First von Last`: the last name begins at the first small word, or is the last one."""
    words = [word for word in _outside_braces(raw, _SPACE) if word]
    plain = [latex.decode(word) for word in words]
    small = (place for place, word in enumerate(plain[:-1]) if place and _is_small(words[place], word))
    start = next(small, len(words) - 1)
    if len(words) > 1 and _is_small(words[0], plain[0]):
        start = 0
    return made(" ".join(plain[start:]), " ".join(plain[:start]))


def _extended_name(raw: str) -> Author:
    """biblatex's `family=Yu, given=Tim`."""
    pieces = _EXTENDED.split(raw)[1:]
    parts = {
        name.lower(): latex.decode(value.split(", ")[0].strip()).strip('" ')
        for name, value in zip(pieces[::2], pieces[1::2], strict=True)
    }
    return made(
        parts.get("family", ""),
        parts.get("given", ""),
        particle=parts.get("prefix", ""),
        suffix=parts.get("suffix", ""),
    )


def _is_small(raw: str, plain: str) -> bool:
    """Whether a word is a particle such as `van`; one in braces never is."""
    if raw.startswith("{") and not raw.startswith("{\\"):
        return False
    first = next((character for character in plain if character.isalpha()), "")
    return first.islower()


def _is_one_group(raw: str) -> bool:
    depth = 0
    if not raw.startswith("{") or raw.startswith("{\\"):
        return False
    for place, character in enumerate(raw):
        depth += (character == "{") - (character == "}")
        if not depth:
            return place == len(raw) - 1
    return False


def _outside_braces(text: str, separator: re.Pattern[str]) -> Iterator[str]:
    """The pieces of a text between separators that no brace encloses."""
    depth = start = 0
    for found in separator.finditer(text):
        if found.group() == "{":
            depth += 1
        elif found.group() == "}":
            depth = max(depth - 1, 0)
        elif not depth:
            yield text[start : found.start()]
            start = found.end()
    yield text[start:]
