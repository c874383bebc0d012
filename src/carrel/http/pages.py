"""Papers as they look, over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from carrel.http.answers import Box
from carrel.http.passages import Neighbour
from carrel.http.shapes import Shape
from carrel.types import Part

if TYPE_CHECKING:
    from carrel import facsimile
    from carrel.reading import proofs


class Page(Shape):
    page: int = Field(description="From 1.")
    width: float = Field(description="In points.")
    height: float


class Pages(Shape):
    paper_id: str
    pages: list[Page] = Field(description="The first ten thousand, if there are more.")
    total: int
    version: str = Field(description="Another one when the PDF is another.")

    @classmethod
    def of(cls, found: facsimile.Sheets) -> Pages:
        pages = [Page(page=one.page, width=one.width, height=one.height) for one in found.sheets]
        return cls(paper_id=found.paper_id, pages=pages, total=found.total, version=found.version)


class Word(Shape):
    """In points from the top left corner of the page."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


class Words(Page):
    words: list[Word] = Field(description="In the order of the file; the first ten thousand, if there are more.")

    @classmethod
    def of(cls, found: facsimile.Lettering) -> Words:
        sheet = found.sheet
        words = [
            Word(text=one.text, left=one.left, top=one.top, right=one.right, bottom=one.bottom) for one in found.words
        ]
        return cls(page=sheet.page, width=sheet.width, height=sheet.height, words=words)


class Proof(Shape):
    address: str
    paper_id: str
    title: str
    authors: list[str]
    year: int | None
    section_path: list[str]
    part: Part
    quote: str
    start: int = Field(description="It is `text[start:end]` of what `/api/text/{address}` gives.")
    end: int
    before: str = Field(description="What stands before it in the same text.")
    after: str
    page: int | None = Field(description="Where it begins; null where that is not known.")
    boxes: list[Box] = Field(description="Of the quote alone, line by line.")
    has_pages: bool = Field(description="Whether `/api/pages/{paper}` has pictures of the pages.")
    no_pages: str | None = Field(description="Why it has none.")
    previous: Neighbour | None
    next: Neighbour | None
    notice: str | None = Field(description="`RETRACTED`, or what else became of the paper.")

    @classmethod
    def of(cls, found: proofs.Proof) -> Proof:
        return cls.model_validate(found.as_dict())
