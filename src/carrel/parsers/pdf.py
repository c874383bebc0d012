"""PDF by way of pdfium: the text in reading order, with its structure and where every line stands on the page."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from carrel.errors import EmptyDocument, NoTextLayer, SourceError
from carrel.parsers import Source, bibliography, ocr, title_of
from carrel.parsers.pdf_exhibits import Shown, exhibits_of
from carrel.parsers.pdf_front import front_of
from carrel.parsers.pdf_imprint import without_imprint
from carrel.parsers.pdf_structure import structure_of
from carrel.parsers.pdf_text import written
from carrel.types import Block, BlockKind, Exhibit, Paper, Place, Published, Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from carrel.parsers.pdf_pages import Page
    from carrel.parsers.pdf_parts import Part
    from carrel.parsers.pdf_text import Written

_PASSWORD_ERROR = 4
_SECURITY_ERROR = 5
_MOST_REMARKS = 20


class Pdf:
    name = "pdf"
    suffixes = frozenset({".pdf"})

    def __init__(self, ocr_pages: int = 200, more_time: Callable[[], None] = lambda: None) -> None:
        """Of a file, up to `ocr_pages` scanned pages are recognised; `more_time` is called before each."""
        self._ocr_pages = ocr_pages
        self._more_time = more_time

    def parse(self, source: Source) -> Paper:
        pages, failed, metadata, recognised = self._read(source)
        remarks = (*_failures(failed), *_left_out(pages), *recognised)
        if not any(page.pieces for page in pages):
            said = f" ({'; '.join(remarks)})" if remarks else ""
            raise NoTextLayer(
                f"{source.name!r} has no text layer: its pages are pictures or empty{said}",
                hint=self._how_to_read_scans(),
            )
        return _paper(source, [page for page in pages if page.pieces], metadata, remarks)

    def _read(self, source: Source) -> tuple[list[Page], list[int], dict[str, str], tuple[str, ...]]:
        """Every page that can be read, the numbers of the others, what the file says of itself, and OCR of it."""
        from carrel.parsers.pdf_ocr import with_scans

        with closing(opened(source)) as document:
            pages, failed = _pages(document)
            said: tuple[str, ...] = ()
            if self._ocr_pages and ocr.is_installed():
                pages, said = with_scans(document, pages, self._ocr_pages, self._more_time)
            return pages, failed, document.get_metadata_dict(), said

    def _how_to_read_scans(self) -> str:
        elsewhere = "run it through OCR first (ocrmypdf, for one), then add it again."
        if not self._ocr_pages:
            return f"Set ingest.ocr = 'scans', or {elsewhere}"
        return (
            "OCR, which reads pages that are pictures, found no text on them."
            if ocr.is_installed()
            else f"{ocr.INSTALL} reads scans. Or {elsewhere}"
        )


def _paper(source: Source, pages: Sequence[Page], metadata: dict[str, str], remarks: tuple[str, ...]) -> Paper:
    structure = structure_of(pages, metadata.get("Title", ""))
    front = front_of(structure.parts, written(structure.parts).texts, pages[0], metadata)
    parts, shown = exhibits_of(without_imprint(structure.parts, front.authors), structure.regions)
    text = written(parts)
    blocks = tuple(_blocks(parts, text))
    return Paper(
        reference=Reference(
            id="",
            title=front.title or title_of(source),
            doi=front.doi,
            authors=front.authors,
            abstract=front.abstract,
            published=Published(front.year),
            arxiv_id=front.arxiv,
        ),
        text=text.text,
        blocks=blocks,
        format=Pdf.name,
        places=tuple(_places(text, pages)),
        exhibits=tuple(_exhibits(shown, text, pages)),
        cited=tuple(
            bibliography.cited(text.text[block.start : block.end])
            for block in blocks
            if block.kind == BlockKind.REFERENCE
        ),
        remarks=remarks,
    )


def _blocks(parts: Sequence[Part], text: Written) -> Iterator[Block]:
    for part, (start, end) in zip(parts, text.parts, strict=True):
        heading = part.kind == BlockKind.HEADING
        title = text.text[start:end] if heading else ""
        yield Block(part.kind, start, end, level=part.level if heading else 0, title=title)


def _places(text: Written, pages: Sequence[Page]) -> Iterator[Place]:
    for span in text.spans:
        line = span.line
        if span.end > span.start:
            yield Place(span.start, span.end, pages[line.page].box(line.left, line.top, line.right, line.bottom))


def _exhibits(shown: Sequence[Shown], text: Written, pages: Sequence[Page]) -> Iterator[Exhibit]:
    for one in shown:
        start, end = text.parts[one.caption]
        yield Exhibit(
            one.kind,
            text.parts[one.first][0],
            text.parts[one.last][1],
            label=one.label,
            caption=text.text[start:end],
            box=pages[one.page].box(*one.bounds) if one.bounds else None,
        )


def _failures(failed: Sequence[int]) -> Iterator[str]:
    yield from (f"page {number} could not be read and was left out" for number in failed[:_MOST_REMARKS])
    if len(failed) > _MOST_REMARKS:
        yield f"{len(failed) - _MOST_REMARKS} more pages could not be read and were left out"


def _left_out(pages: Sequence[Page]) -> Iterator[str]:
    for page in pages:
        if page.hidden:
            yield f"page {page.number}: {page.hidden} characters of hidden text left out"
        if page.unread:
            yield f"page {page.number}: {page.unread} characters left out, there are too many to read"


def _pages(document: Any) -> tuple[list[Page], list[int]]:  # noqa: ANN401
    from pypdfium2 import PdfiumError  # type: ignore[import-untyped]

    from carrel.parsers.pdf_pages import read_pages

    pages: list[Page] = []
    failed: list[int] = []
    for number in range(1, len(document) + 1):
        try:
            pages += read_pages(document, number)
        except (PdfiumError, ValueError, OverflowError):
            failed.append(number)
    return pages, failed


def opened(source: Source) -> Any:  # noqa: ANN401
    """A document of pdfium's, to be closed."""
    from pypdfium2 import PdfDocument, PdfiumError

    if not source.content.strip():
        raise EmptyDocument(f"{source.name!r} is empty", hint="There is nothing to index in it.")
    try:
        return PdfDocument(source.content)
    except PdfiumError as error:
        if error.err_code in {_PASSWORD_ERROR, _SECURITY_ERROR}:
            raise SourceError(
                f"{source.name!r} is encrypted and cannot be opened without its password",
                hint="Save a copy without a password, then add that.",
            ) from error
        raise SourceError(
            f"{source.name!r} is damaged, no PDF or without pages: pdfium cannot open it",
            hint="Check the file's true format, or open and save it anew with a PDF viewer.",
        ) from error
