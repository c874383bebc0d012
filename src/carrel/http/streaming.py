"""Answers as server-sent events: how sure it is, each source before the first words that cite it, and how it ended."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from carrel.errors import QueryNotFound, Unavailable
from carrel.http import answers, problems, replays
from carrel.http.leaving import unless_gone
from carrel.http.questions import asked
from carrel.types import CitationEvent, ConfidenceEvent, DoneEvent, TokenEvent
from carrel.types.service import LOCAL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from starlette.types import Receive, Scope, Send

    from carrel.errors import CarrelError
    from carrel.http.questions import Question
    from carrel.http.service import Service
    from carrel.http.shapes import Shape
    from carrel.types import Event

HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-store",
    # Proxies that gather what they pass on would hold back the first words.
    "x-accel-buffering": "no",
}
_HEARTBEAT = b": still at work\n\n"
_AHEAD = 16
"""Frames that may wait for a client to read them; until then the answer does not go on."""
_GRACE = 10.0
"""Seconds that a client may read on when the time for its question is over."""
_RECONNECT = 3000
"""Milliseconds after which a browser that lost the connection comes back."""


class Script(Protocol):
    """How the events of an answer are written."""

    def told(self, event: Event) -> Iterator[bytes]: ...

    def ended(self) -> Iterator[bytes]: ...

    def failed(self, error: Exception) -> Iterator[bytes]: ...

    def left(self) -> None:
        """The client is gone."""
        ...


class _End:
    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


class EventStream(Response):
    """An answer as it grows.

    What fails before the first event is an error like any other, unless that takes longer than a heartbeat; later it is
    an event. The work stops when the client leaves.
    """

    def __init__(self, question: Question, service: Service, script: Script) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._question, self._service, self._script = question, service, script
        self._chosen = service.library.settings.serve
        self._outbox: asyncio.Queue[bytes | _End] = asyncio.Queue(_AHEAD)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answering = asyncio.create_task(self._answer())
        try:
            with suppress(ClientDisconnect):
                await unless_gone(self._tell(send), receive, seconds=self._chosen.query_seconds + _GRACE)
        finally:
            if not answering.done():
                self._script.left()
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)

    async def _answer(self) -> None:
        try:
            async with asked(self._question, self._service) as events:
                async for event in events:
                    for frame in self._script.told(event):
                        await self._outbox.put(frame)
            for frame in self._script.ended():
                await self._outbox.put(frame)
            await self._outbox.put(_End())
        except Exception as error:
            await self._outbox.put(_End(error))

    async def _tell(self, send: Send) -> None:
        begun = False
        async for item in self._waiting():
            error = item.error if isinstance(item, _End) else None
            if error and not begun:
                raise error
            if not begun:
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                begun = True
            written = [item] if isinstance(item, bytes) else self._script.failed(error) if error else []
            for frame in written:
                await send({"type": "http.response.body", "body": frame, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _waiting(self) -> AsyncIterator[bytes | _End]:
        """What is to be sent, in time: where there is nothing, a sign of life."""
        while True:
            item: bytes | _End = _HEARTBEAT
            with suppress(TimeoutError):
                async with asyncio.timeout(self._chosen.heartbeat_seconds):
                    item = await self._outbox.get()
            yield item
            if isinstance(item, _End):
                return


class Events:
    """The script of `/api/query/stream`. Its events can be told again."""

    def __init__(self, question: Question, service: Service, request_id: str) -> None:
        self._question = question
        self._request_id = request_id
        self._replay = service.replays.begin(question.query_id, question.user)
        self._count = 0
        self._first_token: float | None = None

    def told(self, event: Event) -> Iterator[bytes]:
        match event:
            case ConfidenceEvent():
                yield self._frame(_confidence(event))
            case CitationEvent():
                yield self._frame({"type": "citation", "citation": _plain(answers.Citation.of(event.citation))})
            case TokenEvent():
                if self._first_token is None:
                    self._first_token = self._question.milliseconds
                yield self._frame({"type": "token", "content": event.text})
            case DoneEvent():
                whole = answers.Response.of(event.answer, self._question.milliseconds, self._first_token)
                yield self._frame({"type": "metadata", "metadata": _plain(whole.metadata)})
                yield self._frame({"type": "done", "queryId": whole.query_id, "response": _plain(whole)})

    def ended(self) -> Iterator[bytes]:
        yield from ()

    def failed(self, error: Exception) -> Iterator[bytes]:
        yield self._frame(failure(error, self._question, self._request_id))

    def left(self) -> None:
        gone = Unavailable("the answer was stopped when its reader left", hint="Ask again.")
        self._frame(failure(gone, self._question, self._request_id))

    def _frame(self, data: dict[str, Any]) -> bytes:
        self._count += 1
        made = frame(data, f"{self._question.query_id}/{self._count}")
        self._replay.add(made)
        return made


def resumed(last_id: str, service: Service, user: str) -> Response:
    """For a client that comes back: what it has missed; nothing, by which it knows that it had all."""
    frames = service.replays.after(last_id, user)
    if frames is None:
        query_id, _ = replays.parsed(last_id)
        unknown = QueryNotFound("nothing is known of that answer any longer", hint="Ask again.")
        frames = [frame(_failure(unknown, query_id), f"{query_id}/end")]
    return Response(b"".join(frames), 200 if frames else 204, HEADERS if frames else None)


def failure(error: Exception, question: Question, request_id: str) -> dict[str, Any]:
    """What went wrong after the answer had begun, and whether it makes sense to ask again."""
    return _failure(problems.told(error, request_id, local=question.user == LOCAL.name), question.query_id)


def _failure(error: CarrelError, query_id: str) -> dict[str, Any]:
    return {
        "type": "error",
        "error": error.message,
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "queryId": query_id,
        "retryable": problems.is_passing(error) or isinstance(error, QueryNotFound),
    }


def frame(data: dict[str, Any], event_id: str) -> bytes:
    # As JSON has no line breaks of its own, nothing in it can end an event or begin another.
    lines = [f"event: {data['type']}", f"data: {json.dumps(data, ensure_ascii=False)}", f"id: {event_id}"]
    return "\n".join([*lines, f"retry: {_RECONNECT}", "", ""]).encode()


def _confidence(event: ConfidenceEvent) -> dict[str, Any]:
    return {
        "type": "confidence",
        "level": event.confidence.value,
        "hasInsufficientEvidence": event.has_insufficient_evidence,
        "topScore": event.top_score,
    }


def _plain(shape: Shape) -> dict[str, Any]:
    return shape.model_dump(mode="json", by_alias=True)
