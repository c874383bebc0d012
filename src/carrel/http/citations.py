"""Who cites whom, over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from carrel import cursors
from carrel.http import bounds
from carrel.http.shapes import Shape

if TYPE_CHECKING:
    from carrel.cited import Bibliography, CitedBy


_LONGEST = 800
"""Bytes of a title. A hundred of these lists' entries, with their papers' ids, are less than half a megabyte."""
_DOI = 200
_AUTHORS = 700


class CitedWork(Shape):
    """An entry of a bibliography, and what could be read of it."""

    position: int = Field(description="In the bibliography, from 0.")
    text: str
    title: str
    year: int | None
    doi: str
    paper_id: str | None = Field(description="The paper of the library that it is.")


class CitingPaper(Shape):
    paper_id: str
    title: str
    authors: list[str] = Field(description="The first of very many; `authorCount` says how many there are.")
    author_count: int
    year: int | None
    entry: str = Field(description="How it cites the paper.")


class Citations(Shape):
    paper_id: str
    title: str
    cites: list[CitedWork]
    cited_by: list[CitingPaper] = Field(description="Papers of the library.")
    cited: int = Field(description="Works that the paper cites, on all pages.")
    in_library: int = Field(description="Those of them that are here.")
    citing: int = Field(description="Papers of the library that cite it, on all pages.")
    next_cursor: str | None = Field(description="Goes on with `cites`.")
    next_citing: str | None = Field(description="Goes on with `citedBy`.")

    @classmethod
    def of(cls, cites: Bibliography, cited_by: CitedBy, *, limit: int, cursor: str, citing: str) -> Citations:
        told, of = cites.as_dict(), cites.source.id
        works = cursors.opened(cursor, cites=of).page(told["entries"], lambda one: str(one["position"]), limit=limit)
        papers = cited_by.as_dict()["papers"]
        citers = cursors.opened(citing, cited_by=of).page(papers, lambda one: str(one["id"]), limit=limit)
        shown = {
            "paper_id": of,
            "title": bounds.cut(cites.source.title, _LONGEST),
            "cites": [_work({**one, "paper_id": one["known_as"]}) for one in works.items],
            "cited_by": [_citer({**one, "paper_id": one["id"]}) for one in citers.items],
            "cited": told["total"],
            "in_library": told["in_library"],
            "citing": len(papers),
            "next_cursor": works.next_cursor,
            "next_citing": citers.next_cursor,
        }
        return cls.model_validate(shown)


def _work(told: dict[str, Any]) -> dict[str, Any]:
    return bounds.with_texts(told, text=_LONGEST, title=_LONGEST, doi=_DOI)


def _citer(told: dict[str, Any]) -> dict[str, Any]:
    authors = {"author_count": len(told["authors"]), "authors": bounds.texts(told["authors"], _AUTHORS)}
    return bounds.with_texts({**told, **authors}, title=_LONGEST, entry=_LONGEST)
