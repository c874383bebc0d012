"""The server itself: where it listens, how long it waits for a request, and how it takes its leave."""

from __future__ import annotations

import errno
import gc
import logging
import socket
import time
from typing import TYPE_CHECKING, Any, ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from carrel.errors import InvalidInput
from carrel.http.app import create
from carrel.http.guard import check_bind
from carrel.telemetry import log

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from types import FrameType

    from fastapi import FastAPI

    from carrel.http.service import Service
    from carrel.library import Library

_LAST_WORDS = 3.0
"""Seconds in which those who are sent away are told so, and again for what is no question."""
_MOST_CONNECTIONS = 1000
_LONGEST_HEAD = 32_768
"""Bytes of a request's first line and headers."""


def serve(library: Library, told: Callable[[str], None], *, host: str = "", port: int | None = None) -> None:
    """Serve a library, here or where its settings say, until somebody wants it to stop; `told` hears the address."""
    chosen = library.settings.serve
    host = host or chosen.host
    check_bind(library, host)
    listening = listen(host, chosen.port if port is None else port)
    app = create(library, host)
    app.state.service.when_open = _settle
    server = Server(app)
    server.told = lambda: told(address(listening))
    server.run_at(listening)


def _settle() -> None:
    """What is there now stays: the collector need not walk through it in the midst of an answer, for 40 ms a time."""
    gc.collect()
    gc.freeze()


def listen(host: str, port: int) -> socket.socket:
    """A socket at this address; where that cannot be had, the reason and the next step."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        listening = socket.create_server(found[0][4][:2], family=found[0][0], backlog=2048)
        # What is accepted inherits it; asyncio sees to it only where a socket was made with its protocol's number, and
        # without it every answer over a connection that is kept waits 40 ms for an acknowledgement.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        raise InvalidInput(
            f"cannot listen at {host}:{port}: {_reason(error)}", hint="Choose another with --port, or --port 0."
        ) from error


def _reason(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "something else listens there"
    return (error.strerror or str(error)).lower()


def address(listening: socket.socket) -> str:
    """What to type into a browser."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Server(uvicorn.Server):
    """Asked to stop, it answers what was asked before and refuses what comes after; asked twice, it stops at once."""

    def __init__(self, app: FastAPI) -> None:
        self._service: Service = app.state.service
        self._leaving_since: float | None = None
        self.told: Callable[[], None] = lambda: None
        """What is called once it listens."""
        chosen = self._service.library.settings.serve
        self._patience = chosen.shutdown_seconds
        super().__init__(
            uvicorn.Config(
                app,
                http=type("Hasty", (Impatient,), {"seconds": chosen.body_seconds}),
                ws="none",
                loop="asyncio",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=_MOST_CONNECTIONS,
                timeout_graceful_shutdown=int(_LAST_WORDS),
                h11_max_incomplete_event_size=_LONGEST_HEAD,
            )
        )

    def run_at(self, listening: socket.socket) -> None:
        """Serve until asked to stop."""
        logger = logging.getLogger("uvicorn")
        logger.handlers, logger.propagate = [_Forwarding(logging.WARNING)], False
        self.run(sockets=[listening])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.told()

    def stop(self) -> None:
        """May be called from any thread, and by a signal."""
        if self._leaving_since is None:
            self._leaving_since = time.monotonic()
        elif self._patience:
            self._patience = 0.0
        else:
            self.should_exit = self.force_exit = True

    # Uvicorn's own would kill the process by the same signal once more, before the library is closed.
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.stop()

    async def on_tick(self, counter: int) -> bool:
        if self._leaving_since is not None:
            self._take_leave(time.monotonic() - self._leaving_since)
        return await super().on_tick(counter)

    def _take_leave(self, waited: float) -> None:
        gate = self._service.gate
        gate.close()
        if waited >= self._patience:
            gate.expel()
        if not gate.active or waited > self._patience + _LAST_WORDS:
            self.should_exit = True


class Impatient(H11Protocol):
    """HTTP/1.1, where a connection that does not bring a whole head in time is closed."""

    seconds: ClassVar[float]
    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401
        super().connection_made(transport)
        self._limit = self.loop.call_later(self.seconds, self._give_up)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._is_between:
            self._forget()
        elif self._limit is None:
            self._limit = self.loop.call_later(self.seconds, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    @property
    def _is_between(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _forget(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _give_up(self) -> None:
        self._limit = None
        if self._is_between:
            self.transport.close()


class _Forwarding(logging.Handler):
    """What uvicorn has to say becomes lines of our own log."""

    def emit(self, record: logging.LogRecord) -> None:
        trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
        log("http", record.levelno, record.getMessage().strip(), trace=trace)
