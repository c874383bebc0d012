"""What a first page says of a paper and not in it: authors and where they work, and the imprint beside the text.

Names, DOI and year are in the paper's reference; as prose they would be found for every question about universities.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from carrel.parsers.pdf_headings import is_known
from carrel.types import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.parsers.pdf_parts import Part
    from carrel.types import Author

_MOST_PARTS = 60
"""Between a title and the first section."""
_LONGEST = 4_000
_LETTERS = re.compile(r"[^\W\d_]+")
_LABELLED = re.compile(r"[^\W\d_][\w -]{2,25}[:—–]")
"""`Keywords: …`, `Abstract – …`."""
_EMAIL = re.compile(r"(?:\{[^{}]{1,500}\}|[\w.+-]{1,80})\s?@[\w.-]{1,80}")
_MARKED = re.compile(r"[\d*†‡§¶∗]{1,3}\s?[^\W\d_][^,]*,")
_PLACE = re.compile(
    r"universi|institut|department|departamento|dept\b|school|college|laborator|\bcent(?:er|re)\b|faculty|fakultät|"
    r"academy|hospital|hochschule|école|research|\b(?:inc|ltd|gmbh|llc|corp)\b|corresponding author",
    re.IGNORECASE,
)
_SAYING = re.compile(
    r"\b(?:is|are|was|were|be|been|[Ww]e|[Oo]ur|[Tt]his|that|[Tt]hese|those|which|has|have|had|can|may|will|it|its|"
    r"their|they|you|not|with|ist|sind|wird|werden|[Ww]ir|est|sont|[Nn]ous)\b"
)
"""Words of sentences, and of no address."""
_CAPITALISED = 0.6
"""Of the longer words of an address."""
_IMPRINT = re.compile(
    r"(?:•\s*)?(?:"
    r"(?:doi\b|https?:|www\.|@|issn\b|©|copyright\b|authors of papers retain|creative commons|open access\b|"
    r"(?:editors?|edited by|reviewers?|reviewed by|citation|handling editor)\s*:|"
    r"(?:submitted|received|revised|accepted|published|available online)\b[^\d]{0,20}\d|"
    r"this (?:is an open|(?:work|article|paper) is (?:licensed|distributed))).*|"
    r"(?:software|review|repository|archive|licen[cs]e|editors?|reviewers?|code|data|article info|article history))",
    re.IGNORECASE | re.DOTALL,
)


def without_imprint(parts: Sequence[Part], authors: Sequence[Author]) -> tuple[Part, ...]:
    """The parts, without the authors' names and addresses under the title and the imprint beside the text; all of them
    where there is nothing else."""
    title = next((index for index, part in enumerate(parts) if part.level == 1), None)
    if title is None:
        return tuple(parts)
    front = list(takewhile(_may_be_front, parts[title + 1 : title + 1 + _MOST_PARTS]))
    after = parts[title + 1 + len(front) : title + 2 + len(front)]
    left_out = {id(part) for part in (*_imprint(front), *_names_and_addresses(front, after, authors))}
    kept = tuple(part for part in parts if id(part) not in left_out)
    return kept if any(part.kind == BlockKind.TEXT for part in kept) else tuple(parts)


def _may_be_front(part: Part) -> bool:
    return part.kind in {BlockKind.TEXT, BlockKind.LIST} and len(part.text) <= _LONGEST


def _imprint(front: Sequence[Part]) -> Iterator[Part]:
    return (part for part in front if part.aside and _IMPRINT.fullmatch(part.text))


def _names_and_addresses(front: Sequence[Part], after: Sequence[Part], authors: Sequence[Author]) -> list[Part]:
    """Names, and addresses that come after them; names alone may be something else unless a paper's text follows."""
    known = {"and"}.union(*(_words(f"{author.first} {author.last}") for author in authors))
    under = [part for part in front if not part.aside]
    names = [part for part in under if authors and _is_of(part.text, known)]
    addresses = [part for part in under[under.index(names[0]) :] if _is_address(part.text)] if names else []
    sure = addresses or any(is_known(part.text) for part in after)
    return [*names, *addresses] if sure else []


def _is_of(text: str, known: set[str]) -> bool:
    """Whether a text is made of known names, with or without their mail."""
    return bool(_words(text)) and _words(_EMAIL.sub(" ", text)) <= known


def _is_address(text: str) -> bool:
    text = _EMAIL.sub(" ", text)
    longer = [word for word in _LETTERS.findall(text) if len(word) > 3]
    capitalised = sum(word[0].isupper() for word in longer) >= _CAPITALISED * len(longer)
    if not capitalised or _LABELLED.match(text) or _SAYING.search(text):
        return False
    return bool(_MARKED.match(text) or _PLACE.search(text))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _LETTERS.findall(text)}
