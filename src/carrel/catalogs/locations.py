"""What the user has pointed `add` at, and what was found there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Location:
    """A file, folder or address of Zotero that `sync` looks at again."""

    path: str
    """From the library's folder on where it lies inside."""
    folder: bool = False
    tags: tuple[str, ...] = ()
    """Of every paper that comes from there."""
    attached: bool = False
    """Whether the files that its references name are taken in, too."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file or address as it was when it was last taken in."""

    path: str
    location: str
    digest: str = ""
    """SHA-256 of its content; empty for an address."""
    mark: str = ""
    paper_id: str = ""
    """Whose text it is; empty for a file of references."""


class KnownEntry(NamedTuple):
    """A reference as a file gave it, and the paper that it is."""

    digest: str
    """SHA-256 of the record."""
    paper_id: str
    record: str
    """As a line of refs.jsonl."""


@runtime_checkable
class Locations(Protocol):
    """Each method is one transaction."""

    def all(self) -> list[Location]:
        """In order of path."""
        ...

    def put(self, location: Location) -> None:
        """Store or replace a location; what was found there stays."""
        ...

    def forget(self, path: str) -> None:
        """Forget a location and all that was found there."""
        ...

    def files(self) -> dict[str, KnownFile]:
        """By path."""
        ...

    def put_files(self, files: Sequence[KnownFile]) -> None:
        """Store or replace these, of known locations; their entries stay."""
        ...

    def forget_files(self, paths: Collection[str]) -> None:
        """Forget these files and their entries."""
        ...

    def entries(self, path: str) -> dict[str, str]:
        """Of a file of references, by digest: which paper each entry is."""
        ...

    def records(self, path: str, digests: Collection[str]) -> list[KnownEntry]:
        """These entries whole, in order of digest."""
        ...

    def put_entries(self, path: str, entries: Iterable[KnownEntry]) -> None:
        """Add to the entries of a known file."""
        ...

    def forget_entries(self, path: str, digests: Collection[str]) -> None: ...

    def papers_listed(self) -> dict[str, frozenset[str]]:
        """By paper: the files of references that have it."""
        ...
