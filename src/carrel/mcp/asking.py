"""The tool that answers."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from carrel.answer.listening import Left, leaving
from carrel.mcp import budget, shapes
from carrel.mcp.calls import Stopped, by
from carrel.mcp.finding import passage, share
from carrel.retractions import sentence
from carrel.types import ConfidenceEvent, DoneEvent, TokenEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.mcp import wishes
    from carrel.mcp.calls import Call
    from carrel.types import Answer, Citation, Event

_NEAR_MISSES = 3
_QUOTES = 0.7
"""The part of a result that quotes may fill."""


def ask(call: Call, wish: wishes.Ask) -> shapes.Answered:
    answer = _answer(call, wish)
    room = int(call.tokens * _QUOTES) // max(len(answer.citations), 1)
    return shapes.Answered(
        query_id=answer.query_id,
        answer=answer.answer,
        confidence=answer.confidence.value,
        has_insufficient_evidence=answer.has_insufficient_evidence,
        citations=tuple(_citation(one, room) for one in answer.citations),
        near_misses=_near_misses(call, answer) or None,
        notes=(*call.notes(answer.degraded), *_left_out(answer)) or None,
    )


def _answer(call: Call, wish: wishes.Ask) -> Answer:
    where, user = call.where(wish), call.caller.name
    events = call.library.stream(wish.question, top_k=wish.top_k, where=where, user=user)
    try:
        with leaving(call.stopped), closing(events):
            return _listened(call, events)
    except Left as left:
        raise Stopped from left


def _listened(call: Call, events: Iterator[Event]) -> Answer:
    """The whole answer, told of as it grows."""
    said = 0
    for event in events:
        if isinstance(event, DoneEvent):
            return event.answer
        if isinstance(event, ConfidenceEvent):
            call.tell(f"evidence found, confidence {event.confidence.value}", 1, 0)
        elif isinstance(event, TokenEvent):
            said += 1
            call.tell(f"statements proved: {said}", 1 + said, 0)
    raise RuntimeError("an answer ended before it was whole")


def _citation(citation: Citation, room: int) -> shapes.Citation:
    chunk = citation.chunk
    return shapes.Citation(
        id=citation.id,
        address=chunk.address,
        paper_id=chunk.paper_id,
        title=budget.cut(chunk.title, room // 2),
        authors=by(chunk.authors),
        year=chunk.year or None,
        quote=budget.cut(citation.quote, room),
        start=citation.start,
        end=citation.end,
        page=citation.page,
        url=citation.standing.url or None,
        notices=tuple(map(sentence, citation.standing.flags)) or None,
    )


def _near_misses(call: Call, answer: Answer) -> tuple[shapes.Passage, ...]:
    shown = answer.near_misses[:_NEAR_MISSES]
    notices = call.library.headlines({one.chunk.paper_id for one in shown})
    room = share(call.tokens // 2, len(shown))
    return tuple(passage(one, answer.question, room, notices) for one in shown)


def _left_out(answer: Answer) -> Iterator[str]:
    if answer.unsupported:
        yield f"{len(answer.unsupported)} statements left out: nothing in the papers proves them"
    if answer.certainty.missing and answer.has_insufficient_evidence:
        yield f"the evidence does not speak of: {', '.join(answer.certainty.missing)}"
