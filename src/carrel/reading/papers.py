"""A paper's record and outline, and the list of papers."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from carrel import cursors
from carrel.errors import InvalidInput, StoreUnavailable
from carrel.identifiers import normalise_title
from carrel.reading.chapters import Chapter, chapters_of
from carrel.reading.naming import resolve_all
from carrel.references import jsonl
from carrel.types import EVERYTHING, Chunk, ChunkKind, Filter, Part

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from carrel.catalogs import Catalog, PaperRow
    from carrel.graphs import GraphStore
    from carrel.types import Reference

_CONCEPTS = 12


class Sort(StrEnum):
    ID = "id"
    YEAR = "year"
    """The newest first; papers without a year last."""
    TITLE = "title"
    ADDED = "added"
    """The newest first."""


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


def listing(wanted: Wanted, catalog: Catalog) -> Listing:
    """The papers that are wanted, in that order."""
    if wanted.limit < 0:
        raise InvalidInput(f"limit must not be negative, got {wanted.limit}", hint="0 means all.")
    asked = (wanted.names, wanted.where, wanted.authors, wanted.sort)
    place = cursors.opened(wanted.cursor, papers=asked)
    rows = _chosen(wanted.names, catalog)
    matching = _sorted([row for row in rows if _matches(row.reference, wanted)], wanted.sort)
    page = place.page(matching, lambda row: row.reference.id, limit=wanted.limit)
    return Listing(tuple(map(PaperSummary, page.items)), len(matching), page.next_cursor)


def tags(names: Sequence[str], catalog: Catalog) -> dict[str, int]:
    """How many of these papers, or of all, have each tag, the most used first."""
    counted = Counter(tag for row in _chosen(names, catalog) for tag in row.reference.tags)
    return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))


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


def _chosen(names: Sequence[str], catalog: Catalog) -> Collection[PaperRow]:
    """Each paper once, in order of id."""
    if not names:
        return catalog.papers()
    rows = {row.reference.id: row for row in resolve_all(names, catalog)}
    return [rows[paper_id] for paper_id in sorted(rows)]


def _sorted(rows: list[PaperRow], sort: Sort) -> list[PaperRow]:
    # Stable, so that equal ones stay in order of id.
    match sort:
        case Sort.YEAR:
            return sorted(rows, key=lambda row: -row.reference.published.year)
        case Sort.TITLE:
            return sorted(rows, key=lambda row: _words(row.reference.title))
        case Sort.ADDED:
            return sorted(rows, key=lambda row: -row.added)
        case Sort.ID:
            return rows


def _matches(reference: Reference, wanted: Wanted) -> bool:
    # A filter means the same of a paper as of its chunks.
    bare = Chunk(reference.id, reference.id, Part.ABSTRACT, ChunkKind.ABSTRACT, "", 0, 0).with_facts(reference)
    names = [
        _words(name)
        for author in reference.authors
        for name in (f"{author.first} {author.last}", f"{author.last} {author.first}")
    ]
    asked = [_words(author) for author in wanted.authors]
    return wanted.where.matches(bare) and (not asked or any(one in name for one in asked for name in names))


def _words(text: str) -> str:
    """Without case, accents and punctuation."""
    return " ".join(filter(None, map(normalise_title, text.split())))
