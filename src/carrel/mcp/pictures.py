"""A figure's picture, beside what is said of it."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from mcp_types import ImageContent

from carrel.mcp.shapes import Shown
from carrel.reading import FigureView
from carrel.types import ExhibitKind

if TYPE_CHECKING:
    from carrel.library import Library
    from carrel.mcp.shapes import Shape

_KINDS = frozenset(kind.value for kind in ExhibitKind)
_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
_LARGEST = 1_000_000
"""Bytes."""


def picture_of(shape: Shape, library: Library) -> list[ImageContent]:
    """The picture of what is shown, if it is a figure that has one agents can look at."""
    if not isinstance(shape, Shown) or shape.kind not in _KINDS:
        return []
    view = library.show(shape.address)
    path = view.image if isinstance(view, FigureView) else None
    kind = _TYPES.get(path.suffix.lower()) if path else None
    if path is None or kind is None or path.stat().st_size > _LARGEST:
        return []
    return [ImageContent(data=b64encode(path.read_bytes()).decode(), mime_type=kind)]
