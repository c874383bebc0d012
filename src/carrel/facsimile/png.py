"""PNG, as far as pictures of pages need it."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY, _COLOUR = 0, 2
_LEVEL = 4


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Of rows of red, green and blue; without colours, a third of it is enough."""
    height, width, _ = pixels.shape
    is_grey = bool((pixels[..., 0] == pixels[..., 1]).all() and (pixels[..., 1] == pixels[..., 2]).all())
    rows = pixels[..., 0] if is_grey else pixels.reshape(height, width * 3)
    # Each row begins with its filter: none.
    lines = np.zeros((height, rows.shape[1] + 1), dtype=np.uint8)
    lines[:, 1:] = rows
    head = struct.pack(">IIBBBBB", width, height, 8, _GREY if is_grey else _COLOUR, 0, 0, 0)
    content = zlib.compress(lines.tobytes(), _LEVEL)
    return _SIGNATURE + _part(b"IHDR", head) + _part(b"IDAT", content) + _part(b"IEND", b"")


def _part(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
