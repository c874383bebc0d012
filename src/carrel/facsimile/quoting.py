"""Where a quote stands on the pages of its paper, to the letter."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from carrel import quotes
from carrel.chunking import pages
from carrel.facsimile import Wanted
from carrel.types import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from carrel.catalogs import Catalog
    from carrel.types import Box, Chunk, Place

    Marks: TypeAlias = Callable[[int, Sequence[Wanted]], list[tuple[Box, ...]]]


@dataclass(frozen=True, slots=True)
class Printed:
    """A stretch of a text that stands on pages."""

    places: Sequence[Place]
    text: str
    start: int
    end: int

    @property
    def nearly(self) -> tuple[Box, ...]:
        """Its boxes without a look at the pages."""
        return pages.boxes(self.places, self.start, self.end, self.text)

    def wanted(self, place: Place, *, is_line: bool) -> Wanted:
        first, last = max(self.start, place.start), min(self.end, place.end)
        return Wanted(place.box, self.text[place.start : first], self.text[first:last], is_line)

    def fills(self, place: Place) -> bool:
        return self.start <= place.start and place.end <= self.end


def printed(chunk: Chunk, text: str, start: int, end: int, catalog: Catalog) -> Printed | None:
    """Where `text[start:end]` of a chunk's text is printed; an abstract of a record, in the paper itself.

    None where the paper has no pages, or not these words on them.
    """
    places = catalog.places(chunk.paper_id, chunk.part)
    if places or chunk.part == Part.BODY:
        return Printed(places, text, start, end) if places else None
    document = catalog.document(chunk.paper_id, Part.BODY)
    span = quotes.locate(text[start:end], document.text) if document else None
    if document is None or span is None:
        return None
    return Printed(catalog.places(chunk.paper_id, Part.BODY), document.text, span.start, span.end)


def exact(printed: Printed, marks: Marks, *, is_line: bool) -> tuple[Box, ...]:
    """Its boxes; `marks` tells where a part of what stands in a box stands on its page.

    Of the very PDF that the text was read from (`is_line`), places are lines, and only those that the stretch fills in
    part are looked at. Elsewhere they are blocks, and what is not found there is not marked.
    """
    touched = list(pages.within(printed.places, printed.start, printed.end))
    asked: defaultdict[int, list[Place]] = defaultdict(list)
    for place in touched:
        if not (is_line and printed.fills(place)):
            asked[place.box.page].append(place)
    found: dict[Place, tuple[Box, ...]] = {}
    for page, some in asked.items():
        wanted = [printed.wanted(place, is_line=is_line) for place in some]
        found |= dict(zip(some, marks(page, wanted), strict=True))
    boxes = (found.get(place) or _otherwise(place, printed, is_line=is_line) for place in touched)
    return tuple(dict.fromkeys(box for some in boxes for box in some))


def _otherwise(place: Place, printed: Printed, *, is_line: bool) -> tuple[Box, ...]:
    return (pages.cut(place, printed.start, printed.end, printed.text),) if is_line else ()
