"""A question on its way through the library: throttled, timed, remembered, counted."""

from __future__ import annotations

import secrets
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel.catalogs.conversations import Turn
from carrel.errors import CarrelError
from carrel.http.telling import told
from carrel.types import EVERYTHING, DoneEvent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Generator, Sequence

    from carrel.http.service import Service
    from carrel.library import Library
    from carrel.types import Answer, Event, Filter


@dataclass(frozen=True)
class Question:
    text: str
    user: str
    top_k: int | None = None
    graph: bool = True
    where: Callable[[Library], Filter] = lambda _: EVERYTHING
    session_id: str = ""
    earlier: Sequence[Turn] = ()
    """Where no session has them."""
    query_id: str = field(default_factory=lambda: secrets.token_hex(16))
    began: float = field(default_factory=time.perf_counter)

    @property
    def milliseconds(self) -> float:
        """Since it was asked."""
        return round((time.perf_counter() - self.began) * 1000, 3)


@asynccontextmanager
async def asked(question: Question, service: Service) -> AsyncIterator[AsyncIterator[Event]]:
    """The events of its answer; who leaves the block stops the work."""
    seconds = service.library.settings.serve.query_seconds
    earlier = question.earlier or service.sessions.turns(question.user, question.session_id)
    with service.tally.watching() as answers:
        async with told(lambda: _begin(question, service, earlier), service.gate, seconds) as telling:
            yield _noted(question, service, telling, answers)


async def answered(question: Question, service: Service) -> Answer:
    async with asked(question, service) as events:
        async for event in events:
            if isinstance(event, DoneEvent):
                return event.answer
    raise CarrelError("the answer ended before it was whole", hint="Ask again.")


def _begin(question: Question, service: Service, earlier: Sequence[Turn]) -> Generator[Event]:
    service.open()
    library = service.library
    return library.stream(
        question.text,
        top_k=question.top_k,
        where=question.where(library),
        graph=question.graph,
        earlier=earlier,
        query_id=question.query_id,
        session_id=question.session_id,
        user=question.user,
    )


async def _noted(
    question: Question, service: Service, events: AsyncIterator[Event], answers: list[Answer]
) -> AsyncIterator[Event]:
    async for event in events:
        if isinstance(event, DoneEvent):
            answer = event.answer
            answers.append(answer)
            service.given.add(question.user, answer)
            service.tally.add(answer, question.milliseconds)
            if question.session_id:
                turn = Turn(question.text, answer.asked or question.text, answer.answer)
                service.sessions.add(question.user, question.session_id, turn)
        yield event
