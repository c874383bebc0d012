"""What the library holds: papers, their texts and chunks, and the history of its use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    from carrel.catalogs.analytics import Analytics
    from carrel.catalogs.conversations import Conversations
    from carrel.catalogs.credentials import Credentials
    from carrel.catalogs.locations import Locations
    from carrel.catalogs.submissions import Submissions
    from carrel.types import Chunk, Cited, Document, Exhibit, Part, Place, Reference


@dataclass(frozen=True, slots=True)
class Entry:
    """A paper on its way into the catalog: its record and one of its texts, already cut."""

    reference: Reference
    document: Document
    chunks: tuple[Chunk, ...]
    listed: bool = False
    """Whether refs.jsonl has it."""
    exhibits: tuple[Exhibit, ...] = ()
    """In the order of their addresses, `fig1` first."""
    cited: tuple[Cited, ...] = ()
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class ExhibitRow:
    """An exhibit as the catalog keeps it."""

    address: str
    paper_id: str
    exhibit: Exhibit


@dataclass(frozen=True, slots=True)
class CitationRow:
    """An entry of a paper's bibliography, and the paper of the library that it is, if there is one."""

    paper_id: str
    position: int
    cited: Cited
    known_as: str = ""


@dataclass(frozen=True, slots=True)
class Embedding:
    """What a paper's vector was made of and by what."""

    paper_id: str
    model_name: str
    abstract_hash: str
    indexed_at: int = 0
    """Seconds since 1970; the catalog's to say."""


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A paper as the catalog lists it."""

    reference: Reference
    listed: bool
    indexed: bool
    parts: tuple[Part, ...]
    sources: tuple[str, ...]
    chunk_count: int
    figure_count: int = 0
    added: int = 0
    """Grows from paper to paper in the order in which they came."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much there is; figures are chunks, too."""

    papers: int
    chunks: int
    figures: int


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
    session_id: str = ""
    """Of a conversation over HTTP; empty where there is none."""
    user: str = ""
    """Who asked; kept as a salted hash."""
    confidence: str = ""
    """Of an answer; empty for a search."""
    is_unanswered: bool = False
    degraded: tuple[str, ...] = ()
    """The parts that failed."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds, by stage."""


@runtime_checkable
class Catalog(Protocol):
    """The one store that is asked for text; every other keeps addresses into it.

    Each method is one transaction. A paper enters `pending`, becomes active once every index has it, and leaves
    by way of `retired`: whatever interrupts that, `unfinished` tells what is left to do.
    """

    @property
    def locations(self) -> Locations:
        """What the user has pointed `add` at."""
        ...

    @property
    def conversations(self) -> Conversations:
        """What the user wants kept of what was asked."""
        ...

    @property
    def submissions(self) -> Submissions:
        """Documents on their way in."""
        ...

    @property
    def analytics(self) -> Analytics:
        """What was asked, and how it went."""
        ...

    @property
    def credentials(self) -> Credentials:
        """Who may use the service."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """What this thread writes inside, here and to the stores that live in the same database, or nothing of it.

        Only of a database that others can write to meanwhile; elsewhere each method stays a transaction of its own.
        """
        ...

    def put(self, entries: Sequence[Entry]) -> None:
        """Store or replace these papers' records and these texts; other texts of the papers stay."""
        ...

    def activate(self, paper_ids: Collection[str], embeddings: Sequence[Embedding] = ()) -> None:
        """Declare papers indexed, and remember what the vectors of their abstracts were made of."""
        ...

    def retire(self, paper_ids: Collection[str]) -> None: ...

    def remove(self, paper_ids: Collection[str]) -> None: ...

    def drop(self, paper_id: str, part: Part) -> None:
        """Forget one text of a paper that has another; the paper is pending, without an abstract also not listed."""
        ...

    def move(self, sources: Mapping[str, str]) -> None:
        """These files have other paths now; all move at once, so that two may change places."""
        ...

    def reopen(self, paper_ids: Collection[str] | None = None) -> None:
        """Make these papers, or all, pending again."""
        ...

    def unfinished(self) -> Unfinished: ...

    def embeddings(self) -> dict[str, Embedding]:
        """By paper: what `activate` was last told of it."""
        ...

    def digests(self) -> dict[tuple[str, Part], str]:
        """The digest of every text, for telling what changed."""
        ...

    def sources(self, among: Collection[str] | None = None) -> dict[str, str]:
        """Which paper each known file is the text of, of these or of all."""
        ...

    def holding(self, digest: str) -> str:
        """The paper of which the body has this digest; empty if there is none."""
        ...

    def alike(self, *, titles: Collection[str] = (), dois: Collection[str] = ()) -> set[str]:
        """Papers that may have one of these titles or DOIs in some spelling: perhaps some too many, never too few."""
        ...

    def papers(self, paper_ids: Collection[str] | None = None) -> list[PaperRow]:
        """These papers, or all, in order of id. Retired ones are not among them."""
        ...

    def changes(self) -> dict[str, str]:
        """By paper, in order of id: what becomes another whenever its record does. Retired ones are not among them."""
        ...

    def sizes(self) -> Sizes:
        """Without what is retired."""
        ...

    def chunks(self, addresses: Sequence[str]) -> list[Chunk]:
        """These chunks, in the order asked; those that are not there are left out."""
        ...

    def chunks_of(self, paper_ids: Collection[str]) -> list[Chunk]:
        """All chunks of these papers, in reading order."""
        ...

    def addresses(self) -> set[str]: ...

    def exhibits(self, paper_ids: Collection[str]) -> list[ExhibitRow]:
        """The figures, tables and algorithms of these papers, in order."""
        ...

    def places(self, paper_id: str, part: Part) -> tuple[Place, ...]:
        """Where the text of a part stands on its pages, in order of text."""
        ...

    def citations(self, paper_ids: Collection[str] | None = None) -> list[CitationRow]:
        """The bibliographies of these papers, or all: each entry with the library's paper of its DOI or title."""
        ...

    def citing(self, paper_id: str) -> list[CitationRow]:
        """The entries of other papers' bibliographies that are this paper. Not every bibliography is read for it."""
        ...

    def document(self, paper_id: str, part: Part) -> Document | None: ...

    def remarks(self, paper_ids: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
        """By paper, of these or of all: what its reader should know of its texts. Papers of which nothing is to be
        known are not among them."""
        ...

    def close(self) -> None: ...
