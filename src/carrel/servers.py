"""Servers that are asked for something: a small HTTP client that sends and receives JSON.

One request is one connection, bounded in time and size. No redirect is followed and no proxy asked: the text goes to
the server that the settings name, or nowhere. An answer comes whole (`Client`) or line by line as it grows (`Call`).
"""

from __future__ import annotations

import http.client
import json
import random
import re
import socket
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from carrel.errors import (
    CarrelError,
    ContextTooLong,
    InvalidInput,
    ModelBusy,
    ModelRefused,
    ModelServerUnavailable,
    ModelTooSlow,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

PAUSES = (0.2, 0.8)
"""Seconds to wait before asking a busy server a second and a third time; up to half as long again, by chance."""
LONGEST_PAUSE = 10.0
"""A server that wants to be left alone for longer is not asked again."""
BUSY = frozenset({429, 502, 503, 504, 529})
OVERDRAWN = frozenset({429, 529})
"""Of these, what says that it is for the number of requests."""
MOST_BYTES = 64_000_000
LONGEST_LINE = 1_000_000
BLOCK = 65_536

_TOO_LONG = re.compile(r"context.(length|size|window)|too (long|large)|maximum .*tokens|must have less than", re.I)


class Unreachable(ModelServerUnavailable):
    """Nothing listens at the server's address."""


class Dropped(ModelServerUnavailable):
    """The server hung up before it had answered."""


class Refused(ModelRefused):
    """The server answered that it will not."""

    def __init__(self, address: str, status: int, words: str, hint: str, wait: float = 0.0) -> None:
        super().__init__(f"the model server {address!r} answered {status}: {words}", hint=hint)
        self.status = status
        self.words = words
        self.wait = wait
        """Seconds that it wants to be left alone for."""

    @property
    def too_long(self) -> bool:
        """Whether it is for the length of a text. Servers have no common status for that, only similar words."""
        return self.status in {400, 413, 422, 500} and _TOO_LONG.search(self.words) is not None


@dataclass(frozen=True)
class Client:
    """Sends and receives JSON."""

    base_url: str
    timeout: float = 30.0
    api_key: str = field(default="", repr=False)
    section: str = "models"
    """The settings that hold the key and the timeout, for the hints."""
    named_in: str = "models.base_url"
    """The setting that names the server."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Further ones, for a server that wants its key elsewhere."""

    def get(self, path: str) -> Any:  # noqa: ANN401
        return self._insist("GET", path, None)

    def post(self, path: str, content: object) -> Any:  # noqa: ANN401
        return self._insist("POST", path, json.dumps(content).encode())

    def _insist(self, method: str, path: str, body: bytes | None) -> Any:  # noqa: ANN401
        for pause in PAUSES:
            try:
                return self._ask(method, path, body)
            except (Dropped, Refused) as failure:
                if not worth_another_try(failure):
                    raise
                time.sleep(pause_after(failure, pause))
        return self._ask(method, path, body)

    def _ask(self, method: str, path: str, body: bytes | None) -> Any:  # noqa: ANN401
        deadline = time.monotonic() + self.timeout
        with closing(self.connection()) as connection, self.explaining():
            response = self.sent(connection, method, path, body)
            return self.parsed(self.content(response, deadline))

    def connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.base_url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        return kind(parts.hostname or "", parts.port, timeout=self.timeout)

    def sent(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None
    ) -> http.client.HTTPResponse:
        connection.request(method, urlsplit(self.base_url).path.rstrip("/") + path, body, self._headers())
        return connection.getresponse()

    def content(self, response: http.client.HTTPResponse, deadline: float) -> bytes:
        """What was answered; raises `Refused` if that is not what was asked for."""
        with response:
            content = read(response, deadline, MOST_BYTES)
        if response.status != 200:
            words = response.headers.get("Location", "") if response.status < 400 else said(content)
            wait = seconds(response.headers.get("Retry-After", ""))
            raise self.refused(response.status, words or response.reason, wait)
        return content

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "Content-Type": "application/json", "Connection": "close"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key.strip()}"
        headers |= self.headers
        # Checked here, as the standard library's own complaint would quote the key.
        if not all(value.isascii() and value.isprintable() for value in headers.values()):
            raise InvalidInput(f"the key in {self.section}.api_key has letters that no key has", hint="Copy it anew.")
        return headers

    def parsed(self, content: bytes) -> Any:  # noqa: ANN401
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self.wrong(f"sent no JSON but {self._shown(content[:60].decode(errors='replace'))!r}") from error

    def wrong(self, what: str) -> ModelServerUnavailable:
        return ModelServerUnavailable(
            f"the model server {self.base_url!r} {what}", hint=f"Is {self.named_in} the address of a model server?"
        )

    def refused(self, status: int, words: str, wait: float = 0.0) -> Refused:
        hint = "Look at the server's log."
        if status in {401, 403}:
            variable = f"CARREL_{self.section.upper()}__API_KEY"
            hint = f"Set {variable}. The key is sent only to a {self.named_in} that you have set yourself."
        elif status == 404 or status < 400:
            hint = f"Is {self.named_in} right? It often ends in /v1."
        return Refused(self.base_url, status, self._shown(words), hint, wait)

    def _shown(self, words: str) -> str:
        """A server's words for the user's eyes: some repeat the key that they were sent."""
        for secret in filter(None, (self.api_key.strip(), self.headers.get("x-api-key"))):
            words = words.replace(secret, "…")
        return printable(words)

    @contextmanager
    def explaining(self) -> Iterator[None]:
        server = f"the model server {self.base_url!r}"
        try:
            yield
        except TimeoutError as error:
            raise ModelServerUnavailable(
                f"{server} did not answer within {self.timeout:g} s",
                hint=f"The setting {self.section}.timeout can be raised.",
            ) from error
        except (ConnectionResetError, ConnectionAbortedError, BrokenPipeError, http.client.IncompleteRead) as error:
            raise Dropped(f"{server} hung up before it had answered", hint="Look at its log.") from error
        except http.client.HTTPException as error:
            raise self.wrong(f"sent what cannot be read: {printable(str(error))}") from error
        except OSError as error:
            raise Unreachable(
                f"{server} cannot be reached: {error}", hint=f"Start it, or set {self.named_in}."
            ) from error


class Call:
    """A server that is listened to while its answer grows, line by line, and that can be left from another thread.

    The client's timeout is for silence, `seconds` for all of it.
    """

    def __init__(self, client: Client, path: str, *, seconds: float) -> None:
        self.client = client
        self._path = path
        self._seconds = seconds
        self._left = threading.Event()
        self._socket: socket.socket | None = None
        self._heard = False

    def hang_up(self) -> None:
        """At once, also while another thread waits for the server's next word."""
        self._left.set()
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def lines(self, content: object) -> Generator[bytes]:
        """Each line that is not blank. A busy server is asked again, but never after it has said something."""
        body, deadline = json.dumps(content).encode(), time.monotonic() + self._seconds
        for pause in (*PAUSES, None):
            try:
                yield from self._lines(body, deadline)
                return
            except (Dropped, Refused) as failure:
                if pause is None or self._heard or not worth_another_try(failure):
                    raise typed(failure) from failure.__cause__
                if self._left.wait(pause_after(failure, pause)):
                    return

    def _lines(self, body: bytes, deadline: float) -> Iterator[bytes]:
        client = self.client
        with closing(client.connection()) as connection, client.explaining(), self._in_time(deadline):
            connection.connect()
            self._socket = connection.sock
            if self._left.is_set():
                return
            response = client.sent(connection, "POST", self._path, body)
            if response.status != 200:
                client.content(response, deadline)
            with response:
                for line in split(response, deadline, MOST_BYTES):
                    self._heard = True
                    yield line

    @contextmanager
    def _in_time(self, deadline: float) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            over, client = time.monotonic() > deadline, self.client
            how = f"still at work after {self._seconds:g} s" if over else f"silent for {client.timeout:g} s"
            raise ModelTooSlow(
                f"the model server {client.base_url!r} was {how}",
                hint=f"The setting {client.section}.{'seconds' if over else 'timeout'} can be raised.",
            ) from error


def worth_another_try(failure: ModelServerUnavailable) -> bool:
    if isinstance(failure, Refused):
        return is_busy(failure) and failure.wait <= LONGEST_PAUSE
    return True


def is_busy(failure: BaseException) -> bool:
    """Whether a server has too much to do, whatever it is asked."""
    return isinstance(failure, Refused) and failure.status in BUSY


def pause_after(failure: CarrelError, pause: float) -> float:
    """Seconds; not the same for all who are waiting, lest they all come back at once."""
    asked = failure.wait if isinstance(failure, Refused) else 0.0
    return max(asked, pause * random.uniform(1.0, 1.5))  # noqa: S311


def seconds(text: str) -> float:
    """What a header `Retry-After` says, if it is a number."""
    return float(text) if text.strip().isdecimal() else 0.0


def typed(failure: ModelServerUnavailable) -> CarrelError:
    """A refusal as what it is for."""
    if not isinstance(failure, Refused):
        return failure
    if failure.too_long:
        return ContextTooLong(failure.message, hint="Ask for fewer passages, or lower generation.context_tokens.")
    if failure.status in OVERDRAWN:
        wait = f" It asks for {failure.wait:g} s." if failure.wait else ""
        return ModelBusy(failure.message, hint=f"Wait a while and ask again.{wait}")
    return failure


class TooLong(http.client.HTTPException):
    """An answer that has no end."""


def split(response: http.client.HTTPResponse, deadline: float, most: int) -> Iterator[bytes]:
    """An answer's lines as they come, those left out that are blank."""
    rest, count = b"", 0
    while piece := response.read1(BLOCK):
        if time.monotonic() > deadline:
            raise TimeoutError
        count += len(piece)
        *lines, rest = (rest + piece).split(b"\n")
        if count > most or len(rest) > LONGEST_LINE:
            raise TooLong(f"a line of more than {LONGEST_LINE:,} bytes, or more than {most:,} in all")
        yield from filter(None, map(bytes.strip, lines))
    if rest.strip():
        yield rest.strip()


def read(response: http.client.HTTPResponse, deadline: float, most: int) -> bytes:
    """The whole answer, unless it takes too long or has no end."""
    expected, content = response.length, bytearray()
    while (expected is None or len(content) < expected) and (piece := response.read1(BLOCK)):
        content += piece
        if len(content) > most:
            raise TooLong(f"an answer of more than {most:,} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError
    if expected is not None and len(content) < expected:
        raise http.client.IncompleteRead(bytes(content))
    return bytes(content)


def said(content: bytes) -> str:
    """The server's own words on what is wrong."""
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return content[:300].decode(errors="replace")
    for key in ("error", "message", "detail"):
        while isinstance(answer, dict) and key in answer:
            answer = answer[key]
    return str(answer)


def printable(text: str) -> str:
    """What a stranger wrote, on one line and without commands to the terminal."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text[:300]).split())


def whole(text: str) -> str:
    """The text without what JSON or a server written in C cannot carry."""
    return text.encode("utf-8", errors="replace").decode("utf-8").replace("\x00", " ")
