"""What goes through the pipes: JSON and bytes, each with its length before it."""

from __future__ import annotations

import json
import struct
from typing import IO, Any

MOST_JSON = 64_000_000
"""Bytes. Parsed, it can take twenty times as much memory."""
_LENGTHS = struct.Struct(">QQ")


class Excess(ValueError):
    """A message is larger than may be sent."""


def write(file: IO[bytes], content: object, data: bytes = b"") -> None:
    # Half a surrogate pair, as in the names of some files, becomes an escape that JSON knows.
    text = json.dumps(content, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")
    if len(text) > MOST_JSON:
        raise Excess
    file.write(_LENGTHS.pack(len(text), len(data)) + text)
    file.write(data)
    file.flush()


def read(file: IO[bytes], *, most: int | None = None) -> tuple[Any, bytes]:
    """The next message, with at most so many bytes of data; `EOFError` when the other side has gone."""
    text_length, data_length = _LENGTHS.unpack(_exactly(file, _LENGTHS.size))
    if text_length > MOST_JSON or (most is not None and data_length > most):
        raise Excess
    return json.loads(_exactly(file, text_length)), _exactly(file, data_length)


def _exactly(file: IO[bytes], length: int) -> bytes:
    content = file.read(length)
    if len(content) < length:
        raise EOFError
    return content
