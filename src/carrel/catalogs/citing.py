"""Which paper of the library an entry of a bibliography is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from carrel.identifiers import normalise_doi, normalise_title

if TYPE_CHECKING:
    from collections.abc import Iterable

    from carrel.catalogs import CitationRow

SURE_TITLE = 12
"""Letters and digits that a title needs to know a paper by."""
_KEY = 200
"""Characters of a DOI or title that are looked up: enough to find few, and not more than any index can hold."""


class Known:
    """The library's papers by their DOIs and titles."""

    def __init__(self, papers: Iterable[tuple[str, str, str]]) -> None:
        self._by_doi: dict[str, str] = {}
        self._by_title: dict[str, tuple[str, str]] = {}
        for paper_id, title, written in papers:
            doi = normalise_doi(written)
            self._by_doi.setdefault(doi, paper_id)
            self._by_title.setdefault(normalise_title(title), (paper_id, doi))

    def recognised(self, row: CitationRow) -> CitationRow:
        """The entry with the paper it is. Two DOIs that differ are two papers, whatever their titles."""
        doi, title = normalise_doi(row.cited.doi), title_key(row.cited.title)
        if doi and doi in self._by_doi:
            return replace(row, known_as=self._by_doi[doi])
        paper_id, other = self._by_title.get(title, ("", "")) if title else ("", "")
        return replace(row, known_as="" if doi and other else paper_id)


def doi_lookup(doi: str) -> str:
    """What a database has of a DOI; papers that it finds by that are then compared."""
    return normalise_doi(doi)[:_KEY]


def title_lookup(title: str) -> str:
    """The same of a title."""
    return title_key(title)[:_KEY]


def title_key(title: str) -> str:
    """What two spellings of one title share; empty when that is too little to know a paper by."""
    key = normalise_title(title)
    return key if len(key) >= SURE_TITLE else ""
