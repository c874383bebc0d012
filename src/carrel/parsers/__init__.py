"""From a file to a paper with its structure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from carrel.errors import EmptyDocument, SourceError

if TYPE_CHECKING:
    from pathlib import Path

    from carrel.types import Paper

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_MOST_CONTROL = 0.01
_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True, slots=True)
class Source:
    """A file's name and bytes, and where it lies."""

    name: str
    content: bytes
    path: Path | None = None
    """For formats made of several files; a parser opens nothing outside this file's folder."""


@runtime_checkable
class Parser(Protocol):
    """Reads one format.

    The text of the paper it returns is the file's own, or, where a file has none, built from it, without what no reader
    sees of it: every block is a slice of it, blocks are in reading order and do not overlap. It writes no files and
    prints nothing. Raises a `SourceError` that names the file and says why when it cannot be read.
    """

    name: str
    suffixes: frozenset[str]

    def parse(self, source: Source) -> Paper: ...


def title_of(source: Source) -> str:
    """The title of a paper that names none: the file's name, as much of it as can be seen."""
    return PurePath(source.name).stem.strip() or source.name


def decode(source: Source) -> str:
    """The text of a file: line ends as \\n, refused when it is empty or no text at all."""
    text = _decoded(source).replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise EmptyDocument(f"{source.name!r} is empty", hint="There is nothing to index in it.")
    if len(_CONTROL.findall(text[:100_000])) > _MOST_CONTROL * min(len(text), 100_000):
        raise SourceError(f"{source.name!r} is not text but binary data", hint="Check the file's true format.")
    return _CONTROL.sub("\ufffd", text)


def _decoded(source: Source) -> str:
    encoding = next((name for bom, name in _BOMS.items() if source.content.startswith(bom)), "utf-8")
    try:
        return source.content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8" or _CONTROL.search(source.content[:100_000].decode("latin-1")):
            raise SourceError(
                f"{source.name!r} is not text in UTF-8: byte {error.start} cannot be read",
                hint="Check the file's true format, or convert it to UTF-8.",
            ) from error
        return source.content.decode("cp1252", "replace")
