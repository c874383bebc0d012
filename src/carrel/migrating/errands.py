"""What every move has in common: papers in batches, the ledger of those that arrived, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from carrel.errors import InvalidInput, StoreUnavailable
from carrel.ingest.indexing import by_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from carrel.catalogs import Catalog
    from carrel.ingest.ledger import Ledger
    from carrel.types import Progress

_CHARACTERS = 1000
"""Of a chunk, about."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A store that is now elsewhere, too."""

    source: str
    """As the setting has it."""
    target: str
    rows: int
    """All that were compared: of tables, vectors, chunks, papers' contributions."""
    already: int = 0
    """Those of them that an interrupted move had brought there."""
    removed: int = 0
    """Papers that were there and are not of this library."""
    tables: Mapping[str, int] = field(default_factory=dict)
    """Rows by table, of a catalog."""
    note: str = ""


class Mover(Protocol):
    def check(self) -> None:
        """Refuse a target that cannot be used, or that holds what would be lost."""
        ...

    def run(self) -> Moved: ...


@dataclass
class Tally:
    rows: int = 0
    already: int = 0
    removed: int = 0


@dataclass(frozen=True)
class Errand:
    """One store to be moved."""

    seam: str
    source: str
    target: str
    catalog: Catalog
    """Of the library as it is now: what papers and chunks there are."""
    ledger: Ledger
    may_replace: bool
    batch: int
    progress: Progress

    def check_empty(self, held: int, what: str) -> None:
        if held and not self.may_replace:
            raise InvalidInput(
                f"there are {held:,} {what} in {self.target!r} already",
                hint="'--force' replaces them with this library's.",
            )

    def batches(self) -> Iterator[list[str]]:
        """The papers, some at a time, and how far it is."""
        counts = {row.reference.id: row.chunk_count for row in self.catalog.papers()}
        done, total = 0, sum(counts.values())
        self.ledger.open()
        for paper_ids in by_size({paper: count * _CHARACTERS for paper, count in counts.items()}, self.batch):
            yield paper_ids
            done += sum(counts[paper_id] for paper_id in paper_ids)
            self.progress(f"moving the {self.seam}", done, total)

    def moved(self, tally: Tally, note: str = "") -> Moved:
        return Moved(self.source, self.target, tally.rows, tally.already, tally.removed, note=note)

    def differs(self, what: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"{what} is not in {self.target!r} as it is in {self.source!r}",
            hint="The old store is as it was. Run the same command again.",
        )
