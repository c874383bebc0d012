"""What every move has in common: papers in batches, the ledger of those that arrived, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from carrel.errors import InvalidInput, StoreUnavailable
from carrel.ingest.indexing import by_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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
    lacking: int = 0
    """Chunks that the old store should have and has not."""
    rounded: int = 0
    """Vectors that are not the same to the bit."""


@dataclass(frozen=True)
class Errand:
    """One store to be moved."""

    seam: str
    source: str
    target: str
    catalog: Catalog
    """Of the library as it is now: what papers and chunks there are."""
    ledger: Ledger
    is_forced: bool
    """Whether what is there already may be replaced."""
    batch: int
    turn: Callable[[], None]
    """Raises once others may write, too, as after a restart of the server that keeps the lock."""
    progress: Progress

    def check(self, old: int, new: int, what: str) -> None:
        """Refuse to replace what is there, by how many each store holds; by nothing at all, even if forced."""
        if new and not (self.is_forced or self.ledger.is_resumed):
            raise InvalidInput(
                f"there are {new:,} {what} in {self.target!r} already",
                hint="'--force' replaces them with this library's.",
            )
        if new and not old:
            raise InvalidInput(
                f"there are {new:,} {what} in {self.target!r}, and none in {self.source!r} that could replace them",
                hint="Run 'carrel index build' first.",
            )

    def batches(self) -> Iterator[list[str]]:
        """The papers, some at a time, and how far it is."""
        counts = {row.reference.id: row.chunk_count for row in self.catalog.papers()}
        done, total = 0, sum(counts.values())
        self.ledger.open()
        for paper_ids in by_size({paper: count * _CHARACTERS for paper, count in counts.items()}, self.batch):
            self.turn()
            yield paper_ids
            done += sum(counts[paper_id] for paper_id in paper_ids)
            self.progress(f"moving the {self.seam}", done, total)

    def moved(self, tally: Tally, *notes: str) -> Moved:
        if tally.lacking:
            notes += (f"{tally.lacking:,} chunks are in neither, which 'carrel index build' brings in",)
        return Moved(self.source, self.target, tally.rows, tally.already, tally.removed, note="; ".join(notes))

    def differs(self, what: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"{what} is not in {self.target!r} as it is in {self.source!r}",
            hint="The old store is as it was. Run the same command again.",
        )
