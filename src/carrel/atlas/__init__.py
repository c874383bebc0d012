"""The graph of concepts as people look at it: listed, one by one, as a neighbourhood, as a path of study, as a page.

Everything here is told of the small reads that every `GraphStore` has, so that it is the same on each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel import cursors
from carrel.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.graphs import GraphStore
    from carrel.types import ConceptRow

EVERY = 2**31 - 1
"""A limit that leaves nothing out."""
_EDITS = 2
_SHOWN = 5
_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Concepts:
    """Concepts, those first of which the papers make most."""

    query: str
    rows: tuple[ConceptRow, ...]
    total: int
    """How many there are without the limit."""
    next_cursor: str | None = None
    """Leads to the next page; None when there is none."""

    def as_dict(self) -> dict[str, Any]:
        return {"query": self.query, "concepts": [summary(row) for row in self.rows], "total": self.total}


def summary(row: ConceptRow) -> dict[str, Any]:
    concept = row.concept
    return {
        "key": row.key,
        "name": concept.name,
        "aliases": list(concept.aliases),
        "category": concept.category,
        "definition": concept.definition,
        "defined_at": concept.defined_at or None,
        "papers": row.papers,
        "chunks": row.chunks,
        "weight": round(row.weight, 4),
        "curated": row.curated,
    }


def concepts(query: str, graph: GraphStore, *, limit: int, cursor: str = "") -> Concepts:
    """Concepts whose name or alias has this in it, or all; a limit of 0 means all of these."""
    if limit < 0:
        raise InvalidInput(f"limit must not be negative, got {limit}", hint="0 means all.")
    asked = query.strip()
    place = cursors.opened(cursor, concepts=asked)
    # Only of what contains a text is it not known how many there are.
    looked_at = EVERY if asked or not limit else min(EVERY, place.shown + limit + 1)
    rows = graph.find(asked, limit=looked_at)
    page = place.page(rows, lambda row: row.key, limit=limit)
    return Concepts(asked, page.items, len(rows) if asked else graph.size().concepts, page.next_cursor)


def concept_named(name: str, graph: GraphStore) -> ConceptRow:
    """The concept that is called so, or the only one whose name has this in it."""
    if not name.strip():
        raise InvalidInput("no concept was named", hint="'carrel concepts' shows what there is.")
    key = graph.resolve([name]).get(name)
    if key is not None:
        return graph.concepts([key])[key]
    if not graph.size().concepts:
        raise _nothing()
    containing = graph.find(name, limit=_SHOWN + 1)
    if len(containing) == 1:
        return containing[0]
    if containing:
        raise NotFound(
            f"{_short(name)} is in the names of several concepts: {_named(containing)}", hint="Name one of them whole."
        )
    raise _unknown(name, graph)


def require_concepts(graph: GraphStore) -> None:
    if not graph.size().concepts:
        raise _nothing()


def _nothing() -> NotFound:
    return NotFound(
        "the library has no concepts yet",
        hint="Take papers in with 'carrel add'; 'carrel index build' makes the graph of those that are there.",
    )


def _unknown(name: str, graph: GraphStore) -> NotFound:
    near = graph.near(name, edits=_EDITS, limit=_SHOWN)
    rows = graph.concepts(near)
    others = f"; the nearest {'is' if len(near) == 1 else 'are'} {_named([rows[key] for key in near])}" if near else ""
    return NotFound(
        f"there is no concept {_short(name)} in the library{others}", hint="'carrel concepts TEXT' looks for one."
    )


def _named(rows: Sequence[ConceptRow]) -> str:
    shown = ", ".join(_short(row.concept.name) for row in rows[:_SHOWN])
    return f"{shown} and more" if len(rows) > _SHOWN else shown


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")
