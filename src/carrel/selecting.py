"""Papers by what their records say: author, title, DOI."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.identifiers import normalise_doi

if TYPE_CHECKING:
    from collections.abc import Iterable

    from carrel.types import Author, Reference


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a paper's record must say; empty fields do not restrict, several authors are all meant."""

    authors: tuple[str, ...] = ()
    """`Yu` is a last name; `Tim Yu` and `Yu, Tim` ask for the beginning of the first name too."""
    title: str = ""
    """Words that the title has, in any order."""
    doi: str = ""

    def matches(self, reference: Reference) -> bool:
        return (
            all(any(_is_author(asked, author) for author in reference.authors) for asked in self.authors)
            and all(word in _plain(reference.title) for word in _plain(self.title).split())
            and (not self.doi or normalise_doi(reference.doi) == (normalise_doi(self.doi) or self.doi.casefold()))
        )


def select(criteria: Criteria, references: Iterable[Reference]) -> frozenset[str]:
    """The ids of the papers that match."""
    return frozenset(reference.id for reference in references if criteria.matches(reference))


def _is_author(asked: str, author: Author) -> bool:
    """Whether a name, written either way round, is this author's."""
    if "," in asked:
        last, _, first = asked.partition(",")
        return _same(last, author.last) and _begins(first, author.first)
    if _same(asked, author.last):
        return True
    words = asked.split()
    splits = ((" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words)))
    return any(_same(last, author.last) and _begins(first, author.first) for first, last in splits)


def _same(one: str, other: str) -> bool:
    return _plain(one) == _plain(other)


def _begins(asked: str, name: str) -> bool:
    return _plain(name).startswith(_plain(asked).rstrip("."))


def _plain(text: str) -> str:
    """Without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold().strip()
