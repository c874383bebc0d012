"""Paths that a file of references names: only those that stay in its own folder are followed."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath, PureWindowsPath

_DRIVE = re.compile(r"[A-Za-z]:")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_LONGEST = 4096


class RefusedPath(ValueError):
    """Why a path is not followed."""


def inside(text: str, folder: Path | None) -> str:
    """The path from the folder on, with forward slashes. Every other is refused, by its look alone.

    Of a folder that is not known only relative paths can be inside.

    Whether a link in the folder leads out of it is for the one who opens the file to see.
    """
    path = text.strip()
    if not path or len(path) > _LONGEST or any(ord(character) < 32 for character in path):
        raise RefusedPath(f"the path {path[:60]!r} is none: it is empty, too long or has control characters")
    if path.startswith(("\\\\", "//")):
        raise RefusedPath(f"the path {path!r} is on another machine")
    relative = _from_folder(path, folder)
    if relative.is_absolute():
        raise RefusedPath(f"the path {path!r} is not in the folder of its file")
    if ".." in relative.parts:
        raise RefusedPath(f"the path {path!r} leads out of its folder by '..'")
    if not relative.parts:
        raise RefusedPath(f"the path {path!r} is a folder")
    return relative.as_posix()


def _from_folder(path: str, folder: Path | None) -> PurePosixPath:
    if path.startswith("/"):
        absolute, root = PurePosixPath(path), folder and PurePosixPath(folder.absolute().as_posix())
        if root and absolute.is_relative_to(root):
            return absolute.relative_to(root)
        raise RefusedPath(f"the path {path!r} is not in the folder of its file")
    if path.startswith("~") or _DRIVE.match(path) or _SCHEME.match(path):
        raise RefusedPath(f"the path {path!r} is not in the folder of its file")
    return PurePosixPath(PureWindowsPath(path).as_posix())


def is_address(text: str) -> bool:
    """Whether it is on the web, and so no file at all."""
    return text.strip().lower().startswith(("http://", "https://", "ftp://"))


def is_pdf(text: str) -> bool:
    return text.strip().lower().endswith(".pdf")
