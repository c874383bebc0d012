"""From a ranking to what is shown of it: the same said once, new things first, by paper, page by page."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from carrel.errors import CarrelError, InvalidInput
from carrel.identifiers import paper_of
from carrel.search import diversity, duplicates, grouping
from carrel.search.works import Works
from carrel.telemetry import log
from carrel.types import Degradation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from carrel.catalogs import Catalog
    from carrel.search.paging import Page
    from carrel.types import Passage, Reference
    from carrel.vectors import VectorStore


@dataclass(frozen=True, slots=True)
class Shape:
    """What is made of a ranking."""

    by_paper: bool = False
    diversity: float | None = None
    """From 0, by relevance alone, to 1; None for what the settings say."""
    cursor: str = ""
    """Of the page before."""
    chosen_by: object = None
    """What the filter was made of: a cursor holds for that, whichever papers it means by now. None for the filter."""


PASSAGES = Shape()


@dataclass(frozen=True)
class Arranger:
    """Turns rankings of one search into results."""

    by_paper: bool
    diversity: float
    collapse: bool
    page: Page
    catalog: Catalog
    vectors: VectorStore | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.diversity <= 1:
            raise InvalidInput(
                f"diversity must be between 0 and 1, got {self.diversity:g}", hint="0 orders by relevance alone."
            )

    def arrange(self, passages: Sequence[Passage], degraded: list[Degradation]) -> list[Passage]:
        """What is still to be shown, best first; ranks are those of the whole ranking."""
        kept, known = list(passages), Works()
        if self.collapse:
            kept, known = duplicates.collapse(passages, self._records, by_paper=self.by_paper)
        if self.diversity:
            kept = self._spread(kept, degraded)
        left = list(self._left(kept, {passage.chunk.address: passage for passage in passages}))
        if not self.diversity:
            left.sort(key=lambda passage: passage.rank)
        return grouping.by_paper(left, known) if self.by_paper else left

    def keys(self, shown: Sequence[Passage]) -> Iterator[str]:
        """What a reader who has seen these has seen."""
        for passage in shown:
            for one in (passage, *passage.others):
                yield from map(self._key, (one.chunk.address, *one.duplicates))

    def _key(self, address: str) -> str:
        return paper_of(address) if self.by_paper else address

    def _has_shown(self, passage: Passage) -> bool:
        return self.page.has_shown(self._key(passage.chunk.address))

    def _records(self, paper_ids: Collection[str]) -> list[Reference]:
        return [row.reference for row in self.catalog.papers(paper_ids)]

    def _spread(self, passages: list[Passage], degraded: list[Degradation]) -> list[Passage]:
        try:
            addresses = [passage.chunk.address for passage in passages[: diversity.MOST]]
            return diversity.spread(passages, self.vectors.many(addresses) if self.vectors else {}, self.diversity)
        except CarrelError as error:
            log("search", logging.WARNING, "diversity failed", reason=error.message)
            degraded.append(Degradation("diversity", error.message))
            return passages

    def _left(self, kept: Sequence[Passage], every: dict[str, Passage]) -> Iterator[Passage]:
        """Without what was shown; where it had duplicates that were not, the best of those is left."""
        for passage in kept:
            if not self._has_shown(passage):
                yield passage
                continue
            same = [passage, *(every[address] for address in passage.duplicates)]
            unseen = next((one for one in same if not self._has_shown(one)), None)
            if unseen:
                yield replace(unseen, duplicates=tuple(one.chunk.address for one in same if one is not unseen))
