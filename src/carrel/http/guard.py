"""Who is let in: the one way in of every request, whatever it is for."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from anyio import CapacityLimiter, to_thread

from carrel.errors import CarrelError, Forbidden, InvalidInput, TooManyRequests, Unauthorized
from carrel.http import doors, problems, scopes
from carrel.http.doors import Doors, is_own
from carrel.http.heads import Head
from carrel.http.limits import Body, Rates
from carrel.http.passages import is_user
from carrel.telemetry import log
from carrel.tokens import PREFIX, is_live
from carrel.types.service import LOCAL, Caller, Scope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Send
    from starlette.types import Scope as Connection

    from carrel.library import Library

    Headers = Sequence[tuple[bytes, bytes]]
    Note = Callable[[int], Awaitable[None]]

Outcome = TypeVar("Outcome")

ANYONE = Caller("anyone", Scope.READ)
"""Who asks for what everybody may know."""
_SAFE: Headers = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
"""What every answer says to a browser, unless a route says otherwise."""
_THREADS = 4
_LINGER_SECONDS = 1.0
_LINGER_BYTES = 8_000_000
"""How much of a refused body is still taken in, so that its sender comes to read why."""


def check_bind(library: Library, host: str) -> None:
    """Refuse to listen where other machines can reach the library, unless there is a token to ask them for."""
    if not is_own(host.lower()) and not any(map(is_live, library.tokens())):
        raise InvalidInput(
            f"nobody may listen at {host!r} without a token: whoever reaches this machine could read the library",
            hint="Make one with 'carrel token create NAME'.",
        )


class Guard:
    """Middleware that finds out who is asking, and turns away who may not.

    A request that gets through has its `Caller` in `scope["carrel.caller"]`. Where the server can be reached from this
    machine alone, who addresses it as such needs no token; what a proxy passes on is not of this machine.
    """

    def __init__(self, app: ASGIApp, library: Library, host: str = "") -> None:
        self._app = app
        self._library = library
        self._chosen = library.settings.serve
        bound = host or self._chosen.host
        self._doors = Doors.of(bound, self._chosen.allowed_hosts, self._chosen.allowed_origins)
        self._rates = Rates(self._chosen.requests_per_minute)
        # Its own, so that who is to be let in does not wait for those who were.
        self._threads = CapacityLimiter(_THREADS)
        self._always_asks = self._chosen.require_token or not is_own(bound.lower())

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Connection, receive: Receive, send: Send) -> None:
        head = Head.of(scope)
        body, reply = Body(receive, head, self._chosen), _Reply(send, self._doors.trusted(head))
        try:
            caller = await self._admitted(head)
            if body.failure:
                raise body.failure
        except CarrelError as error:
            await self._refuse(error, head, receive, reply)
            return
        if doors.is_preflight(head):
            await reply.permit()
            return
        scope["carrel.caller"] = caller
        is_user.set(caller is LOCAL)
        note = partial(self._write_down, head, caller) if scopes.changes(head.method, head.path) else None
        try:
            await self._app(scope, body.receive, reply.sending(body, note))
        except Exception:
            # Whatever the application makes of a request that was cut off, its sender is told why it was.
            if body.failure is None or reply.has_begun:
                raise
        if body.failure and not reply.has_begun:
            await self._refuse(body.failure, head, receive, reply)

    async def _admitted(self, head: Head) -> Caller:
        payer = head.household
        try:
            name = self._doors.check(head)
            need = None if doors.is_preflight(head) else scopes.needed(head.method, head.path)
            caller = await self._caller(head, name) if need else ANYONE
            payer = payer if caller is LOCAL or caller is ANYONE else f"token {caller.name}"
            if need and not caller.scope.includes(need):
                raise Forbidden(
                    f"this needs the scope {need.value!r}; token {caller.name!r} has {caller.scope.value!r}"
                )
        finally:
            # Also for who is turned away: then it is this that they are told.
            self._rates.charge(payer)
        return caller

    async def _caller(self, head: Head, name: str) -> Caller:
        asks = self._always_asks or head.is_forwarded or not is_own(name)
        # Clients that must send some key send any; one of ours that is not good any more is told so.
        if not asks and not head.bearer.startswith(PREFIX):
            return LOCAL
        if not head.bearer:
            raise Unauthorized("this needs a token", hint="Send it as 'Authorization: Bearer …'.")
        found = await self._aside(partial(self._library.bearer, head.bearer))
        if found is None:
            raise Unauthorized("this token is not good, or not any more", hint="'carrel token create' makes another.")
        return found

    async def _refuse(self, error: CarrelError, head: Head, receive: Receive, reply: _Reply) -> None:
        log("http", logging.INFO, "refused", code=error.code, client=head.client, path=head.path)
        fields = {"client": head.client, "method": head.method, "path": head.path, "status": error.http_status}
        await self._aside(partial(self._library.audit.refuse, error.code, **fields))
        more = [(b"connection", b"close")] if head.has_body else []
        if isinstance(error, Unauthorized):
            more.append((b"www-authenticate", b"Bearer"))
        if isinstance(error, TooManyRequests):
            more.append((b"retry-after", str(self._rates.wait).encode()))
        answer = problems.answer(error.http_status, problems.body(error), path=head.path)
        # Who asks before sending does not send now.
        await reply.refuse(answer, more, receive if head.has_body and not head.all("expect") else None)

    async def _aside(self, work: Callable[[], Outcome]) -> Outcome:
        return await to_thread.run_sync(work, limiter=self._threads)

    async def _write_down(self, head: Head, caller: Caller, status: int) -> None:
        fields = {"caller": caller.name, "client": head.client, "path": head.path, "status": status}
        await self._aside(partial(self._library.audit.note, head.method, **fields))


class _Reply:
    """What is sent back, with the headers that every answer has."""

    def __init__(self, send: Send, origin: str) -> None:
        self.has_begun = False
        self._send = send
        self._origin = origin

    def sending(self, body: Body, note: Note | None) -> Send:
        """What the application sends by; it is not heard once its request was cut off."""

        async def send(message: Message) -> None:
            if body.failure and not self.has_begun:
                return
            if message["type"] == "http.response.start":
                if note:
                    await note(message["status"])
                message = {**message, "headers": self._headers(message.get("headers", ()))}
                self.has_begun = True
            await self._send(message)

        return send

    async def refuse(self, answer: Response, more: Headers, unread: Receive | None) -> None:
        headers = self._headers([*answer.raw_headers, *more])
        await self._send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
        await self._send({"type": "http.response.body", "body": answer.body, "more_body": unread is not None})
        if unread is not None:
            await _linger(unread)
            await self._send({"type": "http.response.body", "body": b""})

    async def permit(self) -> None:
        headers = doors.permissions(self._origin, asked_before=True) if self._origin else []
        await self._send({"type": "http.response.start", "status": 204, "headers": headers})
        await self._send({"type": "http.response.body", "body": b""})

    def _headers(self, given: Headers) -> list[tuple[bytes, bytes]]:
        told = {name.lower() for name, _ in given}
        shared = doors.permissions(self._origin) if self._origin else []
        return [*given, *(pair for pair in _SAFE if pair[0] not in told), *shared]


async def _linger(receive: Receive) -> None:
    taken = 0
    try:
        async with asyncio.timeout(_LINGER_SECONDS):
            while taken < _LINGER_BYTES:
                message = await receive()
                taken += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
    except TimeoutError:
        return
