"""Every query of a collection asked in every way, and its rankings scored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel.errors import InvalidInput
from carrel.evaluate import metrics, reports
from carrel.evaluate.collections import Remark

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from carrel.evaluate.collections import Collection
    from carrel.evaluate.reports import Row
    from carrel.library import Library
    from carrel.trials.ways import Way
    from carrel.types import Progress

DEPTH = 100
"""How many documents are asked for."""
_NAMED = 3


@dataclass
class Asked:
    """What became of a collection's queries in one way of searching."""

    way: Way
    library: Library
    scores: dict[str, Mapping[str, float]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    """Queries that a search does not take, and why."""
    degraded: dict[str, str] = field(default_factory=dict)
    """Queries that were answered without an arm or the reranker, and why."""

    @property
    def remarks(self) -> list[Remark]:
        told = {"queries that a search refuses, scored 0": self.refused, "queries answered in part": self.degraded}
        return [
            Remark(
                f"{self.way.name}: {what}",
                len(found),
                tuple(f"{query}: {why}" for query, why in list(found.items())[:_NAMED]),
            )
            for what, found in told.items()
            if found
        ]

    def row(self, seed: int) -> Row:
        way = self.way
        if self.refused.keys() == self.scores.keys():
            raise InvalidInput(f"{way.name}: every query is refused: {next(iter(self.refused.values()))}")
        return reports.row(way.name, self.scores, seed=seed, settings=way.settings, is_arm=way.is_arm)

    def ask(self, query: str, text: str) -> list[str]:
        """The documents that are found, best first."""
        try:
            result = self.library.search(text, mode=self.way.mode, limit=DEPTH, by_paper=True)
        except InvalidInput as error:
            self.refused[query] = error.message
            return []
        for part in result.degraded:
            self.degraded[query] = f"{part.arm}: {part.reason}"
        return [passage.chunk.paper_id for passage in result.passages]


def ask(
    collection: Collection, wanted: Sequence[Asked], forget: Callable[[], None], progress: Progress | None = None
) -> None:
    """Query by query, so that the ways can share what they find; `forget` is called between two."""
    for number, (query, text) in enumerate(collection.queries.items(), start=1):
        for asked in wanted:
            asked.scores[query] = metrics.scores(asked.ask(query, text), collection.relevant[query])
        forget()
        if progress:
            progress("searching", number, len(collection.queries))
