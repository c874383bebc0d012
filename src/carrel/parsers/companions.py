"""The files that lie beside a paper's: its pictures, its record."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from carrel.parsers import Source

_FOLDERS = ("", "images", "figures", "media")
_ENDINGS = ("", ".jpg", ".jpeg", ".png", ".gif", ".webp", ".svg", ".tif", ".tiff")
_PICTURES = frozenset(_ENDINGS[1:])
_MAGIC = {b"\xff\xd8\xff": ".jpeg", b"\x89PNG": ".png", b"GIF8": ".gif", b"RIFF": ".webp"}
_NOT_IN_NAME = re.compile(r"[^\w.-]+")


def companion(source: Source, name: str) -> Path | None:
    """A file in the folder of a paper's file; None when there is none, or when a link leads elsewhere."""
    if source.path is None:
        return None
    try:
        # Asked first, for it is by far the cheaper question: most names that are tried are not there.
        if not (source.path.parent / name).is_file():
            return None
        folder = source.path.parent.resolve()
        found = (folder / name).resolve(strict=True)
        return found if found.is_relative_to(folder) else None
    except (OSError, ValueError, RuntimeError):
        return None


def picture(source: Source, name: str) -> str:
    """The path of a picture from its paper's file on; empty when no such file is there. Only its name counts, so that
    a paper cannot ask for files elsewhere."""
    plain = PurePosixPath(name.replace("\\", "/")).name
    if source.path is None or not plain or plain.startswith("."):
        return ""
    places = (PurePosixPath(folder, f"{plain}{ending}") for folder in _FOLDERS for ending in _ENDINGS)
    found = (place for place in places if place.suffix.lower() in _PICTURES and companion(source, str(place)))
    return str(next(found, ""))


def picture_name(name: str, content: bytes = b"") -> str:
    """For a picture that came inside a file: `/page/2/Figure/3` → `_page_2_Figure_3.jpeg`, as Marker names it."""
    plain = _NOT_IN_NAME.sub("_", name).lstrip(".")[:200] or "picture"
    ending = next((ending for magic, ending in _MAGIC.items() if content.startswith(magic)), "")
    return plain if PurePosixPath(plain).suffix.lower() in _PICTURES else f"{plain}{ending}"
