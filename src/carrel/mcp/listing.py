"""The tools that list: papers, tags, concepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel import cursors
from carrel.errors import NotFound
from carrel.mcp import budget, shapes
from carrel.mcp.finding import paper
from carrel.reading.papers import Sort, Wanted
from carrel.types import Filter, Part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.atlas.views import ConceptView, Related
    from carrel.catalogs import PaperRow
    from carrel.mcp import wishes
    from carrel.mcp.calls import Call
    from carrel.types import ConceptRow

_VENUE = 60
_DEFINITION = 80
_TAGS = 8
_PASSAGES = 10
_RELATIONS = 0.5
"""The part of a result that a concept's relations may fill."""


def list_papers(call: Call, wish: wishes.ListPapers) -> shapes.Papers:
    found = _papers(call, wish, wish.limit)
    fitting = _fitting(found.papers, call.tokens)
    return found if fitting == len(found.papers) else _papers(call, wish, fitting)


def list_tags(call: Call, wish: wishes.ListTags) -> shapes.Tags:
    every = [shapes.Tag(name=name, papers=count) for name, count in call.library.tags().items()]
    place = cursors.opened(wish.cursor, tags=True)
    page = budget.fitted(place, every, lambda one: one.name, _tokens, call.tokens)
    return shapes.Tags(tags=page.items, total=len(every), next_cursor=page.next_cursor)


def concepts(call: Call, wish: wishes.Concepts) -> shapes.ConceptsFound:
    view = _whole(call, wish.query) if wish.query and not wish.cursor else None
    room = int(call.tokens * (1 - _RELATIONS)) if view else call.tokens
    found = _concepts(call, wish, wish.limit)
    fitting = _fitting(found.concepts, room)
    found = found if fitting == len(found.concepts) else _concepts(call, wish, fitting)
    return found.model_copy(update=_about(view, call.tokens - room)) if view else found


def _papers(call: Call, wish: wishes.ListPapers, limit: int) -> shapes.Papers:
    where = Filter(year_min=wish.year_from, year_max=wish.year_to, venue=wish.venue, tags=frozenset(wish.tags))
    wanted = Wanted(wish.papers, where, wish.authors, Sort(wish.sort), limit, wish.cursor)
    found = call.library.papers(wanted)
    notices = call.library.headlines([one.row.reference.id for one in found.papers])
    papers = tuple(_listed(one.row, notices) for one in found.papers)
    return shapes.Papers(papers=papers, total=found.total, next_cursor=found.next_cursor)


def _listed(row: PaperRow, notices: Mapping[str, str]) -> shapes.Paper:
    venue = budget.cut(row.reference.venue, _VENUE) or None
    tags = row.reference.tags[:_TAGS] or None
    return paper(row.reference, notices, venue=venue, tags=tags, has_text=Part.BODY in row.parts)


def _concepts(call: Call, wish: wishes.Concepts, limit: int) -> shapes.ConceptsFound:
    found = call.library.concepts(wish.query, limit=limit, cursor=wish.cursor)
    rows = tuple(map(_concept, found.rows))
    return shapes.ConceptsFound(concepts=rows, total=found.total, next_cursor=found.next_cursor)


def _concept(row: ConceptRow) -> shapes.Concept:
    concept = row.concept
    definition = budget.cut(concept.definition, _DEFINITION)
    return shapes.Concept(
        name=concept.name, papers=row.papers, definition=definition or None, address=concept.defined_at or None
    )


def _whole(call: Call, query: str) -> ConceptView | None:
    """All about the concept that is called so, if one is."""
    try:
        return call.library.concept(query)
    except NotFound:
        return None


def _about(view: ConceptView, room: int) -> dict[str, object]:
    relations = [_relation(one) for one in view.related]
    count = budget.how_many(map(_tokens, relations), room)
    passages = tuple(one.where.address for one in view.spoken[:_PASSAGES])
    return {"relations": tuple(relations[:count]) or None, "passages": passages or None}


def _relation(related: Related) -> shapes.Relation:
    said = tuple(
        shapes.Text(address=one.where.address, text=budget.cut(one.text, _DEFINITION), page=one.where.page)
        for one in related.edge.evidence[:1]
    )
    return shapes.Relation(phrase=related.phrase, other=related.other, evidence=said or None)


def _fitting(found: tuple[shapes.Shape, ...], most: int) -> int:
    return min(len(found), budget.how_many(map(_tokens, found), most))


def _tokens(shape: shapes.Shape) -> int:
    return budget.tokens(shape.model_dump(exclude_none=True))
