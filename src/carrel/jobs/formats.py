"""How a document is to be read: as its sender says, as its name ends, as it was sent, or as it begins."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from carrel.errors import UnsupportedFormat
from carrel.ingest.stepwise import FORMATS

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_SENT_AS = {
    "application/pdf": ".pdf",
    "application/x-pdf": ".pdf",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/plain": ".txt",
    "text/xml": ".xml",
    "application/xml": ".xml",
    "application/tei+xml": ".xml",
    "application/jats+xml": ".xml",
    "application/json": ".json",
}
_PDF = b"%PDF-"


def suffix_of(name: str, stated: str, media_type: str, suffixes: Collection[str], content: Path | None = None) -> str:
    """The suffix under which a document is kept, which tells the parser."""
    ending = PurePosixPath(name).suffix.lower()
    found = FORMATS.get(stated) or (ending if ending in suffixes else _SENT_AS.get(media_type, ""))
    if found not in suffixes and content is not None:
        with content.open("rb") as file:
            found = ".pdf" if file.read(len(_PDF)) == _PDF else ""
    if found not in suffixes:
        raise UnsupportedFormat(
            f"nothing reads {ending or media_type or 'such'!r} documents",
            hint=f"There are readers for {', '.join(sorted(suffixes))}.",
        )
    return found
