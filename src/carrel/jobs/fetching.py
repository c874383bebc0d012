"""Documents from the web, under a policy: one lookup, that very address, few redirects, so many bytes and seconds."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from carrel.errors import InvalidSource, TooLarge, Unavailable
from carrel.jobs.addresses import Policy
from carrel.release import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from carrel.jobs.addresses import Target

_REDIRECTS = 5
_MOVED = frozenset({301, 302, 303, 307, 308})
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
_PIECE = 65_536


class Fetched(NamedTuple):
    name: str
    """What the document may be called."""
    media_type: str
    size: int


@dataclass(frozen=True)
class Fetcher:
    most: int
    """Bytes."""
    seconds: float
    policy: Policy = field(default_factory=Policy)

    def fetch(self, url: str, into: IO[bytes], at: Callable[[str], None]) -> Fetched:
        """Write what a URL leads to; `at` may raise to stop it."""
        deadline = time.monotonic() + self.seconds
        target = self.policy.target(url)
        for _ in range(_REDIRECTS + 1):
            at("fetch")
            with _answered(target, deadline) as answer:
                location = answer.getheader("Location")
                if answer.status not in _MOVED or not location:
                    return self._received(answer, target, into, at)
            target = self.policy.redirected(target, location)
        raise InvalidSource(f"{target.host!r} leads from one address to the next, more than {_REDIRECTS} times")

    def _received(
        self, answer: http.client.HTTPResponse, target: Target, into: IO[bytes], at: Callable[[str], None]
    ) -> Fetched:
        _check(answer, target)
        size = 0
        while piece := answer.read1(_PIECE):
            at("fetch")
            size += len(piece)
            if size > self.most:
                raise TooLarge(f"{target.host!r} sends more than the {self.most:,} bytes allowed")
            into.write(piece)
        if answer.length:
            raise Unavailable(f"{target.host!r} broke off with {answer.length:,} bytes to come")
        return Fetched(unquote(urlsplit(target.url).path.rpartition("/")[2]), answer.headers.get_content_type(), size)


def _check(answer: http.client.HTTPResponse, target: Target) -> None:
    if answer.status in _LATER:
        raise Unavailable(f"{target.host!r} answered {answer.status}", hint="It may answer later.")
    if answer.status != http.client.OK:
        raise InvalidSource(f"{target.host!r} answered {answer.status}, not with a document")
    if answer.getheader("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise InvalidSource(f"{target.host!r} compresses what was asked for as it is")


@contextmanager
def _answered(target: Target, deadline: float) -> Iterator[http.client.HTTPResponse]:
    """The head of an answer. All of it, body included, has to be over by the deadline, however it trickles."""
    connection = _Connection(target, deadline)
    alarm = threading.Timer(max(deadline - time.monotonic(), 0.0), connection.cut)
    alarm.daemon = True
    alarm.start()
    try:
        headers = {"Host": target.host_header, "User-Agent": f"carrel/{VERSION}", "Accept-Encoding": "identity"}
        connection.request("GET", target.path, headers=headers)
        yield connection.getresponse()
        if connection.is_cut:
            # A body without a length ends where its connection does.
            raise TimeoutError
    except (OSError, http.client.HTTPException) as error:
        is_late = connection.is_cut or isinstance(error, TimeoutError)
        why = "took too long" if is_late else f"cannot be fetched from: {error or type(error).__name__}"
        raise Unavailable(f"{target.host!r} {why}", hint="It may answer later.") from error
    finally:
        alarm.cancel()
        connection.close()


class _Connection(http.client.HTTPConnection):
    """To one of the addresses that were checked; the name is not looked up again, and no proxy is asked."""

    def __init__(self, target: Target, deadline: float) -> None:
        super().__init__(target.host, target.port, timeout=max(deadline - time.monotonic(), 0.001))
        self.is_cut = False
        self._target = target
        self._plug: socket.socket | None = None
        """The socket, also when the answer has taken it over."""

    def connect(self) -> None:
        self.sock = self._plug = self._connected()
        if self._target.scheme == "https":
            context = ssl.create_default_context()
            # Wrapped first and greeted then, so that a slow greeting can be cut, too.
            wrapped = context.wrap_socket(self.sock, server_hostname=self._target.host, do_handshake_on_connect=False)
            self.sock = self._plug = wrapped
            wrapped.do_handshake()

    def _connected(self) -> socket.socket:
        failure: OSError | None = None
        for address in self._target.addresses:
            made = self._plug = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
            made.settimeout(self.timeout)
            try:
                made.connect((address, self._target.port))
            except OSError as error:
                made.close()
                failure = error
            else:
                return made
            if self.is_cut:
                break
        raise failure or OSError("no address")

    def cut(self) -> None:
        self.is_cut = True
        with suppress(OSError):
            if self._plug:
                self._plug.shutdown(socket.SHUT_RDWR)
