"""Papers by what their records say: author, title, DOI."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from carrel.identifiers import normalise_doi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from carrel.queries import Fields
    from carrel.types import Author, Filter, Reference


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a paper's record must say; empty fields do not restrict. Several authors or venues are all meant."""

    authors: tuple[str, ...] = ()
    """`Yu` is a last name; `Tim Yu` and `Yu, Tim` ask for the beginning of the first name too."""
    title: str = ""
    """Words that the title has, in any order."""
    doi: str = ""
    venues: tuple[str, ...] = ()
    """Parts of the venue's name."""
    tags: frozenset[str] = frozenset()
    """Any of them suffices."""

    def matches(self, reference: Reference) -> bool:
        return (
            all(any(_is_author(asked, author) for author in reference.authors) for asked in self.authors)
            and all(venue.casefold() in reference.venue.casefold() for venue in self.venues)
            and (not self.tags or not self.tags.isdisjoint(reference.tags))
            and all(word in _plain(reference.title) for word in _plain(self.title).split())
            and (not self.doi or normalise_doi(reference.doi) == (normalise_doi(self.doi) or self.doi.casefold()))
        )


def select(criteria: Criteria, references: Iterable[Reference]) -> frozenset[str]:
    """The ids of the papers that match."""
    return frozenset(reference.id for reference in references if criteria.matches(reference))


def narrowed(where: Filter, criteria: Criteria, references: Iterable[Reference]) -> Filter | None:
    """What both allow; None when that is no paper."""
    chosen = select(criteria, references)
    ids = where.paper_ids & chosen if where.paper_ids else chosen
    return replace(where, paper_ids=ids) if ids else None


def narrowed_by_fields(fields: Fields, where: Filter, references: Callable[[], Iterable[Reference]]) -> Filter | None:
    """What a query's fields and the filter both allow; None when that is no paper. A query never widens a filter."""
    within = replace(
        where,
        year_min=_extreme(max, where.year_min, fields.year_min),
        year_max=_extreme(min, where.year_max, fields.year_max),
        # What the filter has no room for is asked of the records.
        venue=where.venue or next(iter(fields.venues), ""),
        tags=where.tags or fields.tags,
    )
    asked = Criteria(
        authors=fields.authors,
        title=fields.title,
        venues=fields.venues if where.venue else fields.venues[1:],
        tags=fields.tags if where.tags else frozenset(),
    )
    return within if asked == Criteria() else narrowed(within, asked, references())


def _extreme(choose: Callable[[Iterable[int]], int], *years: int | None) -> int | None:
    known = [year for year in years if year is not None]
    return choose(known) if known else None


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
    if text.isascii():
        return text.casefold().strip()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold().strip()
