"""What papers are listed and chosen by, kept at hand: a library of ten thousand is not read anew for every page."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from carrel.identifiers import normalise_title
from carrel.types import Chunk, ChunkKind, Part, Reference, facts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.catalogs import Catalog, PaperRow

_WORDS = re.compile(r"[^\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")


@dataclass(frozen=True)
class Card:
    """A paper's record without its texts, and what is made of it when it is first asked for."""

    reference: Reference
    added: int

    @classmethod
    def of(cls, row: PaperRow) -> Card:
        return cls(replace(row.reference, abstract="", note=""), row.added)

    @property
    def id(self) -> str:
        return self.reference.id

    @property
    def year(self) -> int:
        return self.reference.published.year

    @cached_property
    def title(self) -> str:
        """As titles are ordered by."""
        return plain(self.reference.title)

    @cached_property
    def authors(self) -> tuple[str, ...]:
        """Their names, either way round."""
        both = ((f"{one.first} {one.last}", f"{one.last} {one.first}") for one in self.reference.authors)
        return tuple(plain(name) for names in both for name in names)

    @cached_property
    def words(self) -> str:
        """Of the id, the title and the authors."""
        told = (self.id, self.reference.title, *map(str, self.reference.authors))
        return " ".join(words(" ".join(told)))

    @cached_property
    def chunk(self) -> Chunk:
        """What a filter is asked of: it means the same of a paper as of its chunks."""
        kind = ChunkKind.ABSTRACT
        return Chunk(self.id, self.id, Part.ABSTRACT, kind, "", 0, 0, **facts_of(self.reference, kind))


class _Held(NamedTuple):
    changes: Mapping[str, str]
    cards: dict[str, Card]


class Shelf:
    """The cards of a catalog. Whoever changes a paper, here or elsewhere, the next look finds its new card."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._held = _Held({}, {})

    def cards(self) -> list[Card]:
        """Of every paper, in order of id."""
        changes, held = self._catalog.changes(), self._held
        if changes != held.changes:
            # A paper that changes at this moment has its older mark here, and is looked at once more.
            held = self._held = _Held(changes, self._renewed(changes, held))
        return list(held.cards.values())

    def _renewed(self, changes: Mapping[str, str], held: _Held) -> dict[str, Card]:
        new = [paper_id for paper_id, mark in changes.items() if held.changes.get(paper_id) != mark]
        rows = self._catalog.papers(None if len(new) == len(changes) else new)
        cards = held.cards | {row.reference.id: Card.of(row) for row in rows}
        return {paper_id: cards[paper_id] for paper_id in changes if paper_id in cards}


def plain(text: str) -> str:
    """Without case, accents and punctuation."""
    return " ".join(filter(None, map(normalise_title, text.split())))


def words(text: str) -> list[str]:
    """Without case and accents, parted where letters and digits end."""
    bare = text if text.isascii() else _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return _WORDS.findall(bare.casefold())
