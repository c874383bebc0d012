"""A paper's record and outline, and the list of papers."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from carrel import cursors
from carrel.errors import InvalidInput, StoreUnavailable
from carrel.reading.chapters import Chapter, chapters_of
from carrel.reading.naming import resolve_all
from carrel.reading.shelf import Card, plain, words
from carrel.references import jsonl
from carrel.types import EVERYTHING, Filter, Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from carrel.catalogs import Catalog, PaperRow
    from carrel.graphs import GraphStore
    from carrel.reading.shelf import Shelf
    from carrel.types import Chunk, Reference

_CONCEPTS = 12


class Sort(StrEnum):
    ID = "id"
    YEAR = "year"
    """The newest first; papers without a year last."""
    TITLE = "title"
    ADDED = "added"
    """The newest first."""


class Order(StrEnum):
    ASC = "asc"
    DESC = "desc"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which papers are to be listed, and how."""

    names: tuple[str, ...] = ()
    """Ids or titles; an unknown one is an error."""
    where: Filter = EVERYTHING
    """Years, venue and tags are asked of the paper's record."""
    authors: tuple[str, ...] = ()
    """A part of the name of any author; several mean any of them."""
    sort: Sort = Sort.ID
    limit: int = 0
    """0 means all."""
    cursor: str = ""
    """Of the page before."""
    offset: int = 0
    """How many come before; instead of a cursor, for who shows any part of a long list."""
    query: str = ""
    """Words, or their parts, each of which is in the id, the title or the authors' names."""
    order: Order | None = None
    """None: as the sort has it."""


EVERY = Wanted()


@dataclass(frozen=True, slots=True)
class PaperSummary:
    row: PaperRow

    @property
    def figure_count(self) -> int:
        return self.row.figure_count

    @property
    def chunk_count(self) -> int:
        """Its figures are counted by themselves."""
        return self.row.chunk_count - self.row.figure_count

    def as_dict(self) -> dict[str, Any]:
        row, reference = self.row, self.row.reference
        return {
            "id": reference.id,
            "title": reference.title,
            "authors": [str(author) for author in reference.authors],
            "year": reference.published.year or None,
            "venue": reference.venue,
            "doi": reference.doi,
            "tags": list(reference.tags),
            "parts": [part.value for part in row.parts],
            "sources": list(row.sources),
            "chunk_count": self.chunk_count,
            "figure_count": self.figure_count,
            "listed": row.listed,
            "indexed": row.indexed,
            "record": jsonl.as_record(reference),
        }


@dataclass(frozen=True, slots=True)
class Listing:
    papers: tuple[PaperSummary, ...]
    total: int
    """How many there are without the limit."""
    next_cursor: str | None = None
    """Leads to the next page; None when there is none."""

    def as_dict(self) -> dict[str, Any]:
        return {"papers": [paper.as_dict() for paper in self.papers], "total": self.total}


@dataclass(frozen=True, slots=True)
class PaperView:
    summary: PaperSummary
    chapters: tuple[Chapter, ...]
    cited: int
    """Entries of its bibliography."""
    in_library: int
    """Entries that are papers of the library."""
    concepts: tuple[str, ...] | None = ()
    """What it speaks of most; None where the graph cannot be asked."""
    remarks: tuple[str, ...] = ()
    """What its reader should know: hidden text that was left out, instructions to machines."""

    @property
    def reference(self) -> Reference:
        return self.summary.row.reference

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": "paper",
            **self.summary.as_dict(),
            "abstract": self.reference.abstract,
            "chapters": [chapter.outline() for chapter in self.chapters],
            "bibliography": {"cited": self.cited, "in_library": self.in_library},
            "concepts": None if self.concepts is None else list(self.concepts),
            "remarks": list(self.remarks),
        }


def view(row: PaperRow, chunks: Sequence[Chunk], catalog: Catalog, graph: GraphStore | None) -> PaperView:
    """A paper and its outline; a paper without a text has none, and cites nobody."""
    cited = catalog.citations([row.reference.id]) if Part.BODY in row.parts else []
    known = sum(bool(entry.known_as) for entry in cited)
    concepts = _concepts(chunks, graph) if graph else ()
    remarks = catalog.remarks([row.reference.id]).get(row.reference.id, ())
    return PaperView(PaperSummary(row), chapters_of(chunks), len(cited), known, concepts, remarks)


def listing(wanted: Wanted, shelf: Shelf, catalog: Catalog) -> Listing:
    """The papers that are wanted, in that order."""
    _check(wanted)
    asked = (wanted.names, wanted.where, wanted.authors, wanted.sort, wanted.query, wanted.order)
    place = cursors.opened(wanted.cursor, papers=asked)
    cards = _sorted(_matching(_chosen(wanted.names, shelf, catalog), wanted), wanted)
    page = place.page(cards, lambda card: card.id, limit=wanted.limit, offset=wanted.offset)
    rows = {row.reference.id: row for row in catalog.papers([card.id for card in page.items])}
    shown = (PaperSummary(rows[card.id]) for card in page.items if card.id in rows)
    return Listing(tuple(shown), len(cards), page.next_cursor)


def tags(names: Sequence[str], shelf: Shelf, catalog: Catalog) -> dict[str, int]:
    """How many of these papers, or of all, have each tag, the most used first."""
    return _counted(tag for card in _chosen(names, shelf, catalog) for tag in card.reference.tags)


def venues(query: str, shelf: Shelf) -> dict[str, int]:
    """How many papers appeared at each venue whose name has this in it, the most used first."""
    named = Filter(venue=query)
    told = (card.reference.venue for card in shelf.cards())
    return _counted(venue for venue in told if venue and named.allows_venue(venue))


def _concepts(chunks: Sequence[Chunk], graph: GraphStore) -> tuple[str, ...] | None:
    """The graph is a courtesy here: a server that is down does not hide a paper."""
    weight: defaultdict[str, float] = defaultdict(float)
    try:
        for spot in graph.spoken([chunk.address for chunk in chunks]):
            weight[spot.key] += spot.relevance
        most = sorted(weight, key=lambda key: (-weight[key], key))[:_CONCEPTS]
        rows = graph.concepts(most)
    except StoreUnavailable:
        return None
    return tuple(rows[key].concept.name for key in most if key in rows)


def _check(wanted: Wanted) -> None:
    if wanted.limit < 0:
        raise InvalidInput(f"limit must not be negative, got {wanted.limit}", hint="0 means all.")
    if wanted.offset < 0:
        raise InvalidInput(f"offset must not be negative, got {wanted.offset}", hint="0 is the beginning.")
    if wanted.offset and wanted.cursor:
        raise InvalidInput("offset and cursor each say where to begin", hint="Leave one of them out.")


def _chosen(names: Sequence[str], shelf: Shelf, catalog: Catalog) -> list[Card]:
    """Each paper once, in order of id."""
    if not names:
        return shelf.cards()
    rows = {row.reference.id: row for row in resolve_all(names, catalog)}
    return [Card.of(rows[paper_id]) for paper_id in sorted(rows)]


def _sorted(cards: list[Card], wanted: Wanted) -> list[Card]:
    """Equal ones stay in order of id, papers without a year at the end."""
    newest_first = wanted.sort in {Sort.YEAR, Sort.ADDED}
    down = newest_first if wanted.order is None else wanted.order == Order.DESC
    match wanted.sort:
        case Sort.YEAR:
            return sorted(cards, key=lambda card: (not card.year, -card.year if down else card.year))
        case Sort.TITLE:
            return sorted(cards, key=lambda card: card.title, reverse=down)
        case Sort.ADDED:
            return sorted(cards, key=lambda card: card.added, reverse=down)
        case Sort.ID:
            return cards[::-1] if down else cards


def _matching(cards: list[Card], wanted: Wanted) -> list[Card]:
    if wanted.where != EVERYTHING:
        cards = [card for card in cards if wanted.where.matches(card.chunk)]
    if wanted.authors:
        asked = [plain(author) for author in wanted.authors]
        cards = [card for card in cards if any(one in name for one in asked for name in card.authors)]
    if wanted.query.strip():
        # What has no letter in it is in nobody's name.
        sought = words(wanted.query) or [wanted.query]
        cards = [card for card in cards if all(word in card.words for word in sought)]
    return cards


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0])))
