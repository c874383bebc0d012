"""Requests byte by byte, as no library would send them."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

LOCAL = "127.0.0.1"


@dataclass(frozen=True)
class Reply:
    status: int
    """0 where the connection was closed without a word."""
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def request(
    method: str, target: str, headers: dict[str, str] | None = None, body: bytes | None = None, *, host: str = LOCAL
) -> bytes:
    """One that asks for the connection to be closed, so that its answer ends."""
    told = {"Host": host, "Connection": "close", **(headers or {})}
    if body is not None and "Transfer-Encoding" not in told:
        told.setdefault("Content-Length", str(len(body)))
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in told.items())]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


def posted(target: str, value: object, headers: dict[str, str] | None = None) -> bytes:
    return request("POST", target, {"Content-Type": "application/json", **(headers or {})}, json.dumps(value).encode())


def connected(url: str, seconds: float = 20.0) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname or LOCAL, parts.port or 80), timeout=seconds)


def sent(url: str, raw: bytes, seconds: float = 20.0) -> Reply:
    with connected(url, seconds) as connection:
        # It may have been told already that this is enough.
        with suppress(OSError):
            connection.sendall(raw)
        return read(connection)


def read(connection: socket.socket) -> Reply:
    """All that comes until the other side closes."""
    received = b""
    with suppress(ConnectionError):
        while piece := connection.recv(65_536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = [line.split(": ", 1) for line in lines]
    headers = {name.lower(): value for name, value in (pair for pair in pairs if len(pair) == 2)}
    whole = _joined(body) if headers.get("transfer-encoding") == "chunked" else body
    return Reply(int(first.split()[1]) if first else 0, headers, whole)


def _joined(chunked: bytes) -> bytes:
    whole = b""
    while chunked:
        size, _, rest = chunked.partition(b"\r\n")
        length = int(size or b"0", 16)
        whole, chunked = whole + rest[:length], rest[length + 2 :]
        if not length:
            break
    return whole
