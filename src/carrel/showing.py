"""The verbs of a library that show a paper as it looks, and what a quote is the proof of."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from carrel import chunking, reading, retractions
from carrel.chunking import Limits
from carrel.errors import CarrelError, NotFound
from carrel.facsimile import Lettering, Picture, Sheets, quoting
from carrel.facsimile.keeping import Kept
from carrel.facsimile.sources import Source, Sources
from carrel.isolation import sheets
from carrel.isolation.drawers import Allowance, Drawers, Draws, Inside, Pdf
from carrel.once import once
from carrel.reading import naming, proofs
from carrel.taking import Taking
from carrel.telemetry import log

if TYPE_CHECKING:
    from collections.abc import Collection

    from carrel.catalogs import PaperRow
    from carrel.facsimile.quoting import Printed
    from carrel.reading.proofs import Proof
    from carrel.types import Box

_VERSION = 1
"""Changes whenever the same page would be drawn otherwise."""


class Showing(Taking):
    """Pages are drawn in processes of their own, as papers are read, unless the user wants it otherwise."""

    def pages(self, name: str) -> Sheets:
        """The pages of a paper, by its id or title, and their sizes."""
        source = self._source(self._row(name))
        total, found = sheets.sizes(self._drawers, _pdf(source))
        return Sheets(source.paper_id, found, total, _mark(source))

    def page_image(self, name: str, page: int, width: int = 1000, *, known: Collection[str] = ()) -> Picture:
        """A page as a picture so many pixels wide; without content, if its mark is a `known` one."""
        source = self._source(self._row(name))
        mark = f"{_mark(source)}-{page}-{width}"
        if mark in known:
            return Picture(b"", mark)
        kept = Kept(self.layout.pages)
        content = kept.get(f"{mark}.png")
        if content is None:
            content = sheets.picture(self._drawers, _pdf(source), page, width)
            kept.put(f"{mark}.png", content)
        return Picture(content, mark)

    def page_words(self, name: str, page: int) -> Lettering:
        """The words of a page, and where they stand on it."""
        return sheets.words(self._drawers, _pdf(self._source(self._row(name))), page)

    def proof(self, address: str, start: int | None = None, end: int | None = None) -> Proof:
        """What stands at an address, or `text[start:end]` of its text: with its boxes and what is around it."""
        catalog = self.stores.catalog
        view, text = reading.show(address, catalog, self.pictures), reading.source_text(address, catalog)
        found = proofs.proof(view, text, start, end)
        paper_id = found.chunk.paper_id
        found = replace(found, notice=retractions.headline(self.standing(paper_id).flags))
        printed = quoting.printed(found.chunk, text, found.start, found.end, catalog)
        try:
            source = self._source(self._row(paper_id))
        except NotFound as error:
            return replace(found, boxes=printed.nearly if printed else found.boxes, no_pages=error.message)
        return replace(found, boxes=self._exact(printed, source)) if printed else found

    def _exact(self, printed: Printed, source: Source) -> tuple[Box, ...]:
        """The boxes of a quote as the page itself has them, if it can be asked."""
        marks = partial(sheets.marks, self._drawers, _pdf(source))
        try:
            return quoting.exact(printed, marks, is_line=source.is_own)
        except CarrelError as error:
            log("pages", logging.INFO, "quote not looked for on its page", paper=source.paper_id, reason=error.message)
            return printed.nearly

    def close(self) -> None:
        if drawers := self.__dict__.pop("_drawers", None):
            drawers.close()
        super().close()

    def _row(self, name: str) -> PaperRow:
        return naming.resolve(name, self.stores.catalog)

    def _source(self, row: PaperRow) -> Source:
        return self._sources.of(row, self.stores.catalog)

    @once
    def _drawers(self) -> Draws:
        chosen = self.settings.ingest
        return Drawers(Allowance(megabytes=chosen.parse_megabytes)) if chosen.isolate else Inside()

    @once
    def _sources(self) -> Sources:
        return Sources(self.layout.root.parent, self.pdf_root, self._text_digest)

    def _text_digest(self, parser_name: str, content: str) -> str:
        chosen = self.settings.chunking
        limits = Limits(chosen.min_tokens, chosen.target_tokens, chosen.max_tokens)
        return chunking.digest(parser_name, limits, self.embedder.name, content)


def _pdf(source: Source) -> Pdf:
    return Pdf(source.paper_id, source.digest, source.read)


def _mark(source: Source) -> str:
    return f"{source.digest[:32]}-{_VERSION}"
