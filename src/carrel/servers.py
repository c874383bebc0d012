"""Servers that are asked for something: a small HTTP client that sends and receives JSON.

One request is one connection, bounded in time and size. No redirect is followed and no proxy asked: the text goes to
the server that the settings name, or nowhere.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from carrel.errors import ModelRefused, ModelServerUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

PAUSES = (0.2, 0.8)
"""Seconds to wait before asking a busy server a second and a third time."""
BUSY = frozenset({429, 502, 503, 504})
MOST_BYTES = 64_000_000
BLOCK = 65_536

_TOO_LONG = re.compile(r"context (length|size|window)|too (long|large)|maximum .*tokens|must have less than", re.I)


class Unreachable(ModelServerUnavailable):
    """Nothing listens at the server's address."""


class Dropped(ModelServerUnavailable):
    """The server hung up before it had answered."""


class Refused(ModelRefused):
    """The server answered that it will not."""

    def __init__(self, address: str, status: int, words: str, hint: str) -> None:
        super().__init__(f"the model server {address!r} answered {status}: {words}", hint=hint)
        self.status = status
        self.words = words

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

    def get(self, path: str) -> Any:  # noqa: ANN401
        return self._insist("GET", path, None)

    def post(self, path: str, content: object) -> Any:  # noqa: ANN401
        return self._insist("POST", path, json.dumps(content).encode())

    def _insist(self, method: str, path: str, body: bytes | None) -> Any:  # noqa: ANN401
        for pause in PAUSES:
            try:
                return self._ask(method, path, body)
            except Dropped:
                time.sleep(pause)
            except Refused as refusal:
                if refusal.status not in BUSY:
                    raise
                time.sleep(pause)
        return self._ask(method, path, body)

    def _ask(self, method: str, path: str, body: bytes | None) -> Any:  # noqa: ANN401
        deadline = time.monotonic() + self.timeout
        connection = self._connection()
        try:
            with self._explaining():
                connection.request(method, urlsplit(self.base_url).path.rstrip("/") + path, body, self._headers())
                with connection.getresponse() as response:
                    content = read(response, deadline, MOST_BYTES)
        finally:
            connection.close()
        if response.status != 200:
            words = response.headers.get("Location", "") if response.status < 400 else said(content)
            raise self._refused(response.status, printable(words or response.reason))
        return self._parsed(content)

    def _connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.base_url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        return kind(parts.hostname or "", parts.port, timeout=self.timeout)

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "Content-Type": "application/json", "Connection": "close"}
        return headers | ({"Authorization": f"Bearer {self.api_key.strip()}"} if self.api_key else {})

    def _parsed(self, content: bytes) -> Any:  # noqa: ANN401
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self.wrong(f"sent no JSON but {printable(content[:60].decode(errors='replace'))!r}") from error

    def wrong(self, what: str) -> ModelServerUnavailable:
        return ModelServerUnavailable(
            f"the model server {self.base_url!r} {what}", hint=f"Is {self.named_in} the address of a model server?"
        )

    def _refused(self, status: int, words: str) -> Refused:
        hint = "Look at the server's log."
        if status in {401, 403}:
            variable = f"CARREL_{self.section.upper()}__API_KEY"
            hint = f"Set {variable}. The key is sent only to a {self.named_in} that you have set yourself."
        elif status == 404 or status < 400:
            hint = f"Is {self.named_in} right? It often ends in /v1."
        return Refused(self.base_url, status, words, hint)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
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


class TooLong(http.client.HTTPException):
    """An answer that has no end."""


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
