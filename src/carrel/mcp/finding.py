"""The tools that find: passages, figures, papers like another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carrel.mcp import budget, shapes
from carrel.mcp.calls import by
from carrel.selecting import Criteria
from carrel.types import ExhibitKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from carrel.mcp import wishes
    from carrel.mcp.calls import Call
    from carrel.reading.figures import Finding
    from carrel.types import Passage, Reference, SearchResult

_FACTS = 130
"""Tokens that a result takes beside its text."""
_LEAST = 60
_TITLE = 60
_ALSO = 8


def search(call: Call, wish: wishes.Search) -> shapes.Found:
    result = call.library.search(
        wish.query,
        mode=wish.mode,
        limit=wish.limit,
        where=call.where(wish),
        criteria=Criteria(authors=wish.authors) if wish.authors else None,
        by_paper=wish.by_paper,
        cursor=wish.cursor,
    )
    notices = call.library.headlines({one.chunk.paper_id for one in result.passages})
    room = share(call.tokens, len(result.passages))
    return shapes.Found(
        results=tuple(passage(one, wish.query, room, notices) for one in result.passages),
        notes=(*call.notes(result.degraded), *_understood(result)) or None,
        next_cursor=result.next_cursor,
    )


def search_figures(call: Call, wish: wishes.SearchFigures) -> shapes.FiguresFound:
    found = call.library.figures(
        wish.query,
        kind=ExhibitKind(wish.kind) if wish.kind else None,
        limit=wish.limit,
        where=call.where(wish),
        cursor=wish.cursor,
    )
    room = share(call.tokens, len(found.figures))
    return shapes.FiguresFound(
        results=tuple(_figure(one, room) for one in found.figures),
        notes=(*call.notes(found.result.degraded), *_understood(found.result)) or None,
        next_cursor=found.result.next_cursor,
    )


def similar(call: Call, wish: wishes.Similar) -> shapes.Papers:
    paper_id = call.library.find(wish.paper)[0].reference.id
    found = call.library.similar(paper_id, limit=wish.limit).papers
    notices = call.library.headlines([one.reference.id for one in found])
    papers = (paper(one.reference, notices, similarity=round(one.similarity, 4)) for one in found)
    return shapes.Papers(papers=tuple(papers), total=len(found))


def share(tokens: int, results: int) -> int:
    """What each of so many results may take for its text."""
    return max(_LEAST, tokens // max(results, 1) - _FACTS)


def passage(found: Passage, query: str, room: int, notices: Mapping[str, str]) -> shapes.Passage:
    chunk = found.chunk
    return shapes.Passage(
        address=chunk.address,
        paper_id=chunk.paper_id,
        title=budget.cut(chunk.title, _TITLE),
        year=chunk.year or None,
        section=budget.cut(" — ".join(chunk.section_path), _TITLE) or None,
        page=chunk.page_start,
        score=round(found.score, 4),
        text=budget.excerpt(chunk.text, query, room),
        also=tuple(one.chunk.address for one in found.others[:_ALSO]) or None,
        notice=notices.get(chunk.paper_id),
    )


def _understood(result: SearchResult) -> Iterator[str]:
    """What was made of a query that its asker might not expect."""
    yield from (f"{step.found} → {step.taken}" for step in result.understood if step.is_told)
    if result.no_concepts and not result.passages:
        yield result.no_concepts


def _figure(finding: Finding, room: int) -> shapes.Figure:
    figure, chunk = finding.view.figure, finding.view.figure.chunk
    return shapes.Figure(
        address=chunk.address,
        paper_id=chunk.paper_id,
        title=budget.cut(chunk.title, _TITLE),
        year=chunk.year or None,
        kind=figure.exhibit.kind.value,
        label=figure.exhibit.label,
        caption=budget.cut(figure.exhibit.caption or figure.exhibit.description, room),
        page=figure.page,
        score=round(finding.passage.score, 4),
        mentioned_by=tuple(one.address for one in finding.view.referenced_by[:_ALSO]) or None,
    )


def paper(reference: Reference, notices: Mapping[str, str], **more: Any) -> shapes.Paper:  # noqa: ANN401
    """What is said of a paper in any list, and more."""
    return shapes.Paper(
        id=reference.id,
        title=budget.cut(reference.title, _TITLE),
        authors=by(reference.authors),
        year=reference.published.year or None,
        notice=notices.get(reference.id),
        **more,
    )
