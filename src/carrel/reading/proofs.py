"""A quote as proof: where it stands, in which words, and what stands around it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from carrel.errors import InvalidInput, NotFound
from carrel.reading.chunks import Around, ChunkView
from carrel.reading.figures import FigureView

if TYPE_CHECKING:
    from carrel.reading import View
    from carrel.types import Box, Chunk

_AROUND = 1200
"""Characters that are shown before a quote, and after it."""
_LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class Proof:
    chunk: Chunk
    quote: str
    start: int
    """It is `text[start:end]` of the text that the chunk is cut from."""
    end: int
    before: str
    after: str
    around: Around
    boxes: tuple[Box, ...]
    no_pages: str = ""
    """Why no page can be shown; empty where one can."""
    notice: str = ""

    @property
    def page(self) -> int | None:
        """Where it begins, as far as that is known."""
        return self.boxes[0].page if self.boxes else self.chunk.page_start

    def as_dict(self) -> dict[str, Any]:
        chunk = self.chunk
        return {
            "address": chunk.address,
            "paper_id": chunk.paper_id,
            "title": chunk.title,
            "authors": list(chunk.authors),
            "year": chunk.year or None,
            "section_path": list(chunk.section_at(self.start)),
            "part": chunk.part.value,
            "quote": self.quote,
            "start": self.start,
            "end": self.end,
            "before": self.before,
            "after": self.after,
            "page": self.page,
            "boxes": [asdict(box) for box in self.boxes],
            "has_pages": not self.no_pages,
            "no_pages": self.no_pages or None,
            **self.around.as_dict(),
            "notice": self.notice or None,
        }


def proof(view: View, text: str, start: int | None, end: int | None) -> Proof:
    """What is quoted at an address: `text[start:end]` of its text, or all that stands there."""
    chunk, around, shown = _chunk(view)
    first, last = chunk.start if start is None else start, chunk.end if end is None else end
    if not 0 <= first < last <= len(text):
        raise InvalidInput(f"there is no quote from {first} to {last} in a text of {len(text)} characters")
    if last - first > max(_LONGEST, chunk.end - chunk.start):
        raise InvalidInput(f"a quote has at most {_LONGEST:,} characters, not {last - first:,}")
    before, after = text[max(0, first - _AROUND) : first], text[last : last + _AROUND]
    return Proof(chunk, text[first:last], first, last, before, after, around, shown)


def _chunk(view: View) -> tuple[Chunk, Around, tuple[Box, ...]]:
    """What is quoted, its neighbours, and the box of what has no words on a page."""
    match view:
        case ChunkView():
            return view.chunk, view.around, ()
        case FigureView():
            box = view.figure.exhibit.box
            return view.figure.chunk, Around(), (box,) if box else ()
    raise NotFound("a whole paper, chapter or section proves nothing", hint="Name a passage, as paper/ch1/s2/p3.")
