"""The `file` fields of BibTeX: every program has its own way to name attachments in one string."""

from __future__ import annotations

import base64
import binascii
import plistlib
import re
from typing import Any

from carrel.references import latex

_PARTS = re.compile(r"(?:[^;\\]|\\.)+", re.DOTALL)
_FIELDS = re.compile(r"(?:[^:\\]|\\.)*+(?::|$)", re.DOTALL)
_CALIBRE = re.compile(r",\s+(?=:)")
_ESCAPE = re.compile(r"\\([\\:;_&%#$~{}])")
_ACCENT = re.compile(r"\\[\"'`^=.]|\{\\")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]")
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://")
_MENDELEY = "$\\backslash$"
_BINARY = "YnBsaXN0"
"""How BibDesk's property lists begin in base 64."""
_LONGEST = 200_000


def paths_in(text: str) -> list[str]:
    """The paths that a field names, as they are written there."""
    text = text.strip().replace(_MENDELEY, "\\")
    if not text or len(text) > _LONGEST:
        return []
    if text.startswith(_BINARY):
        return _bibdesk(text)
    entries = [entry for part in _PARTS.findall(text) for entry in _CALIBRE.split(part)]
    split = [_fields(entry.strip()) for entry in entries]
    # A plain path may have a semicolon in a name; then the pieces are not of the form `name:path:type`.
    if _WINDOWS.match(text) or _ADDRESS.match(text) or not all(len(fields) >= 2 for fields in split):
        return [_unescaped(text)]
    return [path for fields in split if (path := _unescaped(_path(fields)))]


def _fields(entry: str) -> list[str]:
    return [found.removesuffix(":") for found in _FIELDS.findall(entry)[:-1]] if entry else ["", ""]


def _path(fields: list[str]) -> str:
    """`name:path:type`, or `path:type` as some write it; a drive's colon is part of the path."""
    if len(fields) == 2:
        return fields[0]
    return ":".join(fields[1:-1])


def _unescaped(path: str) -> str:
    if _ACCENT.search(path):
        path = latex.decode(path)
    return _ESCAPE.sub(r"\1", path).strip()


def _bibdesk(text: str) -> list[str]:
    """BibDesk keeps a property list of the file in base 64, one of its strings the path from the .bib on."""
    try:
        content = plistlib.loads(base64.b64decode("".join(text.split())), fmt=plistlib.FMT_BINARY)
    except (binascii.Error, plistlib.InvalidFileException, RecursionError, ValueError, KeyError, TypeError):
        return []
    return [path] if (path := _relative_path(content)) else []


def _relative_path(content: Any) -> str:  # noqa: ANN401
    if not isinstance(content, dict):
        return ""
    path = content.get("relativePath")
    objects = content.get("$objects")
    if path is None and isinstance(objects, list):
        strings = [item for item in objects if isinstance(item, str)]
        path = next((item for item in strings if "/" in item or item.lower().endswith(".pdf")), "")
    return path if isinstance(path, str) else ""
