"""Which PDF a paper is shown from, and whether it still is the one that was read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from carrel import attachments
from carrel.errors import NotFound
from carrel.files import stamp_of
from carrel.references.paths import RefusedPath
from carrel.types import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from carrel.attachments import PdfRoot
    from carrel.catalogs import Catalog, PaperRow
    from carrel.files import Stamp
    from carrel.types import Document

_LARGEST = 500_000_000
_MOST_KNOWN = 1000
_AGAIN = "Take it in again with 'carrel add'."


@dataclass(frozen=True, slots=True)
class Source:
    paper_id: str
    path: Path
    digest: str
    """SHA-256 of its content."""
    is_own: bool
    """Whether the paper's text was read from it, and not from another file of the same paper."""

    def read(self) -> bytes:
        """Its content, if it has not changed in this moment."""
        content = _content(self.path, self.paper_id)
        if hashlib.sha256(content).hexdigest() != self.digest:
            raise NotFound(f"the PDF of {self.paper_id!r} is being changed", hint="Try again in a moment.")
        return content


class Sources:
    """Looks for PDFs in the library's folder and in the one that references' files lie in."""

    def __init__(self, folder: Path, root: PdfRoot, digest: Callable[[str, str], str]) -> None:
        """`digest` tells, by a parser's name and a file's SHA-256, what the catalog says of a text made from these."""
        self._folder = folder
        self._root = root
        self._digest = digest
        self._known: dict[Path, tuple[Stamp, str]] = {}

    def of(self, row: PaperRow, catalog: Catalog) -> Source:
        """The PDF of a paper; `NotFound` says why there is none that could be shown."""
        document = catalog.document(row.reference.id, Part.BODY)
        if document is not None and _is_pdf(document.source):
            return self._own(row.reference.id, document, catalog)
        path = next(self._others(row, document), None)
        if path is None:
            raise self._none(row, document)
        return Source(row.reference.id, path, self._hashed(path, row.reference.id), is_own=False)

    def _own(self, paper_id: str, document: Document, catalog: Catalog) -> Source:
        path = self._folder / document.source
        if not path.is_file():
            raise NotFound(f"the PDF that {paper_id!r} was read from is no longer where it was", hint=_AGAIN)
        content = self._hashed(path, paper_id)
        if document.digest != self._digest(document.format, content) and content not in _recorded(document, catalog):
            raise NotFound(f"the PDF of {paper_id!r} has changed since its text was read", hint=_AGAIN)
        return Source(paper_id, path, content, is_own=True)

    def _others(self, row: PaperRow, document: Document | None) -> Iterator[Path]:
        """A PDF beside what Marker made of it, and the one that the record names."""
        if document is not None and document.format == "marker":
            name = PurePath(document.source)
            yield from self._followed(f"{name.stem}.pdf", self._folder / name.parent)
        if _is_pdf(row.reference.pdf_path):
            yield from self._followed(row.reference.pdf_path, self._root.folder)

    def _followed(self, path: str, folder: Path) -> Iterator[Path]:
        try:
            found = attachments.follow(path, folder)
        except RefusedPath:
            return
        if found is not None and _is_pdf(found.name):
            yield found

    def _none(self, row: PaperRow, document: Document | None) -> NotFound:
        paper_id = row.reference.id
        if row.reference.pdf_path:
            return NotFound(
                f"the PDF that the record of {paper_id!r} names is not in the folder of PDFs",
                hint="The setting pdf_root says which folder that is.",
            )
        read = "has no text but its record" if document is None else f"was read from {_kind(document)}"
        return NotFound(f"{paper_id!r} has no pages to show: it {read}, and its record names no PDF")

    def _hashed(self, path: Path, paper_id: str) -> str:
        """The digest of a file; of one that did not change since it was last asked for, without reading it."""
        try:
            stamp = stamp_of(path)
        except OSError as error:
            raise _unreadable(paper_id) from error
        known = self._known.get(path)
        if stamp is not None and known is not None and known[0] == stamp:
            return known[1]
        digest = hashlib.sha256(_content(path, paper_id)).hexdigest()
        if stamp is not None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[path] = (stamp, digest)
        return digest


def _is_pdf(name: str) -> bool:
    return name.lower().endswith(".pdf")


def _kind(document: Document) -> str:
    return {"marker": "Marker's JSON", "xml": "XML", "markdown": "Markdown"}.get(document.format, "a text file")


def _recorded(document: Document, catalog: Catalog) -> Iterator[str]:
    """What is known of the file's content, should texts be cut in another way by now."""
    file = catalog.locations.files().get(document.source)
    if file is not None:
        yield file.digest
    yield from (one.file_hash for one in catalog.submissions.by_paper(document.paper_id) if one.path == document.source)


def _content(path: Path, paper_id: str) -> bytes:
    try:
        if path.stat().st_size > _LARGEST:
            raise NotFound(f"the PDF of {paper_id!r} has more than {_LARGEST // 1_000_000} MB, too many to be shown")
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(paper_id) from error


def _unreadable(paper_id: str) -> NotFound:
    return NotFound(f"the PDF of {paper_id!r} cannot be read", hint="Is it where it was, and may it be read?")
