"""What the library holds: papers, their texts and chunks, and the history of its use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from carrel.types import Chunk, Document, Part, Reference


@dataclass(frozen=True, slots=True)
class Entry:
    """A paper on its way into the catalog: its record and one of its texts, already cut."""

    reference: Reference
    document: Document
    chunks: tuple[Chunk, ...]
    listed: bool = False
    """Whether refs.jsonl has it."""


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A paper as the catalog lists it."""

    reference: Reference
    listed: bool
    indexed: bool
    parts: tuple[Part, ...]
    sources: tuple[str, ...]
    chunk_count: int


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What a crash left: papers still to be indexed, and papers still to be taken out of the indexes."""

    pending: Mapping[str, int]
    """How many characters of each are to be indexed."""
    retired: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """What is remembered of a query. Keys of `metrics` are the columns of retrieval_metrics."""

    id: str
    text: str
    strategy: str
    execution_time_ms: float
    hits: Mapping[str, int] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Catalog(Protocol):
    """The one store that is asked for text; every other keeps addresses into it.

    Each method is one transaction. A paper enters `pending`, becomes active once every index has it, and leaves
    by way of `retired`: whatever interrupts that, `unfinished` tells what is left to do.
    """

    def put(self, entries: Sequence[Entry]) -> None:
        """Store or replace these papers' records and these texts; other texts of the papers stay."""
        ...

    def activate(self, paper_ids: Collection[str]) -> None: ...

    def retire(self, paper_ids: Collection[str]) -> None: ...

    def remove(self, paper_ids: Collection[str]) -> None: ...

    def drop(self, paper_id: str, part: Part) -> None:
        """Forget one text of a paper that has another; the paper is pending, without an abstract also not listed."""
        ...

    def reopen(self, paper_ids: Collection[str] | None = None) -> None:
        """Make these papers, or all, pending again."""
        ...

    def unfinished(self) -> Unfinished: ...

    def digests(self) -> dict[tuple[str, Part], str]:
        """The digest of every text, for telling what changed."""
        ...

    def sources(self) -> dict[str, str]:
        """Which paper each known file is the text of."""
        ...

    def papers(self, paper_ids: Collection[str] | None = None) -> list[PaperRow]:
        """These papers, or all, in order of id. Retired ones are not among them."""
        ...

    def chunks(self, addresses: Sequence[str]) -> list[Chunk]:
        """These chunks, in the order asked; those that are not there are left out."""
        ...

    def chunks_of(self, paper_ids: Collection[str]) -> list[Chunk]:
        """All chunks of these papers, in reading order."""
        ...

    def addresses(self) -> set[str]: ...

    def document(self, paper_id: str, part: Part) -> Document | None: ...

    def record_query(self, query: QueryRecord, *, keep_text: bool) -> None: ...

    def close(self) -> None: ...
