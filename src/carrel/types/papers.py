"""What a paper is, and what was read of it."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

ANY_YEAR = 0
"""The year of a reference that has none."""


class Part(StrEnum):
    """Which text of a paper a chunk is cut from."""

    ABSTRACT = "abstract"
    BODY = "body"


class BlockKind(StrEnum):
    HEADING = "heading"
    TEXT = "text"
    LIST = "list"
    CODE = "code"
    FORMULA = "formula"
    TABLE = "table"
    FIGURE = "figure"
    """What a text has in a picture's place, as `![alt](file)`."""
    CAPTION = "caption"
    REFERENCE = "reference"
    """An entry of the bibliography: kept as text, cited from, never searched as prose."""


ATOMIC = frozenset({BlockKind.CODE, BlockKind.FORMULA, BlockKind.TABLE})
"""Blocks that are never split: what went in comes out."""


class ChunkKind(StrEnum):
    ABSTRACT = "abstract"
    NOTE = "note"
    """The reader's own words about a paper, and its tags: they lead to it and are never quoted as its own."""
    PASSAGE = "passage"
    EXHIBIT = "exhibit"


QUOTABLE = frozenset({ChunkKind.ABSTRACT, ChunkKind.PASSAGE, ChunkKind.EXHIBIT})
"""What an author wrote."""


LARGEST_CHUNK = 2000
"""Tokens; only what is never split may have more."""


class ExhibitKind(StrEnum):
    FIGURE = "figure"
    TABLE = "table"
    ALGORITHM = "algorithm"


@dataclass(frozen=True, slots=True)
class Author:
    last: str
    first: str = ""
    orcid: str = ""

    def __str__(self) -> str:
        return f"{self.first} {self.last}".strip()


@dataclass(frozen=True, slots=True)
class Published:
    year: int = ANY_YEAR
    month: int = 0
    day: int = 0


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a reference came from: the kind of source and its id there."""

    type: str = "manual"
    id: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """One bibliographic record: a line of refs.jsonl."""

    id: str
    title: str
    doi: str = ""
    authors: tuple[Author, ...] = ()
    abstract: str = ""
    venue: str = ""
    note: str = ""
    published: Published = Published()
    pdf_path: str = ""
    supplement_paths: tuple[str, ...] = ()
    source: Origin = Origin()
    tags: tuple[str, ...] = ()
    supersedes: str = ""
    pmid: str = ""
    pmcid: str = ""
    arxiv_id: str = ""
    s2_id: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in points from its top left corner."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Block:
    """A structural piece of a text: `text[start:end]` of its paper."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: str = ""
    """Of a heading: its words without the markup."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where `text[start:end]` stands on the page: a line, or a block of a source that does not know its lines."""

    start: int
    end: int
    box: Box


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A figure, table or algorithm. `text[start:end]` are the whole blocks that caption and show it."""

    kind: ExhibitKind
    start: int
    end: int
    label: str = ""
    """As the paper prints it: `Figure 3`, `Table S1`; empty when it has none."""
    caption: str = ""
    """The author's words, label included."""
    description: str = ""
    """What else says what is seen, as an image's alternative text."""
    image: str = ""
    """Path of the picture from its paper's file on, or the name of one of the paper's `images`."""
    box: Box | None = None
    """Of the picture or table itself."""


@dataclass(frozen=True, slots=True)
class Cited:
    """An entry of a paper's bibliography, and what can be told of it."""

    text: str
    title: str = ""
    doi: str = ""
    year: int = ANY_YEAR


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that came inside its paper's file."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Paper:
    """What a parser read: the record it found, the text, and the text's structure in reading order."""

    reference: Reference
    text: str
    blocks: tuple[Block, ...]
    format: str
    topic: str = ""
    language: str = ""
    places: tuple[Place, ...] = ()
    """In order of text; none where the source has no pages."""
    exhibits: tuple[Exhibit, ...] = ()
    """In order of text; they do not overlap."""
    cited: tuple[Cited, ...] = ()
    images: tuple[Image, ...] = ()
    remarks: tuple[str, ...] = ()
    """What the reader should know: hidden text left out, pages that could not be read, or only by OCR."""


class SectionStart(NamedTuple):
    """From where on a text stands in a section, and the titles down to that section's own."""

    start: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """The piece that is embedded, searched and cited: `text[start:end]` of one part of a paper.

    It carries what a `Filter` asks, so that every store can filter without asking another.
    """

    address: str
    paper_id: str
    part: Part
    kind: ChunkKind
    text: str
    start: int
    end: int
    position: int = 0
    """Reading order within its part, from 0."""
    chapter: int = 0
    section: int = 0
    section_path: tuple[str, ...] = ()
    """Of the section that most of it stands in."""
    sections: tuple[SectionStart, ...] = ()
    """Those that it covers, where these are several: short ones are joined."""
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int = ANY_YEAR
    venue: str = ""
    tags: tuple[str, ...] = ()
    topic: str = ""
    note: str = ""
    """The reader's own words about the paper; with its abstract only, so that they are found once."""
    language: str = ""
    token_count: int = 0
    has_code: bool = False
    has_formula: bool = False
    has_table: bool = False
    page_start: int | None = None
    page_end: int | None = None
    exhibits: tuple[str, ...] = ()
    """Addresses of the figures, tables and algorithms of its paper that it mentions."""

    def with_facts(self, reference: Reference) -> Chunk:
        """The same chunk, with what its paper's record says."""
        return replace(self, **facts_of(reference, self.kind))

    @property
    def is_oversized(self) -> bool:
        """Whether it is one piece of code, formula or table that is larger than a chunk should be."""
        return self.token_count > LARGEST_CHUNK

    def section_at(self, place: int) -> tuple[str, ...]:
        """The titles down to the section in which a place of the paper's text stands."""
        return next((path for start, path in reversed(self.sections) if start <= place), self.section_path)

    @property
    def heading(self) -> str:
        return " — ".join((self.title, *self.section_path))

    @property
    def embedded_text(self) -> str:
        if self.kind == ChunkKind.NOTE:
            return self.text
        # Joined by a space: line breaks cost the bundled model half a point of nDCG on SciFact.
        return f"{self.heading} {self.text}".strip()

    @property
    def text_hash(self) -> str:
        return hashlib.sha256(self.embedded_text.encode("utf-8", "replace")).hexdigest()


def facts_of(reference: Reference, kind: ChunkKind) -> dict[str, Any]:
    """What a chunk of this kind carries of its paper's record."""
    return {
        "title": reference.title,
        "authors": tuple(str(author) for author in reference.authors),
        "year": reference.published.year,
        "venue": reference.venue,
        "tags": reference.tags,
        "note": reference.note if kind == ChunkKind.ABSTRACT else "",
    }


@dataclass(frozen=True, slots=True)
class Document:
    """The stored source text of one part of a paper, and where it came from."""

    paper_id: str
    part: Part
    text: str
    digest: str
    """Of all that its chunks are made from; equal digests need no work."""
    source: str = ""
    """Path of the file it was read from; empty for an abstract."""
    format: str = "reference"
    remarks: tuple[str, ...] = ()
    """What its reader should know of it, as of a paper that was just read."""


@dataclass(frozen=True, slots=True)
class Problem:
    source: str
    reason: str


class Action(StrEnum):
    ADD = "add"
    UPDATE = "update"
    SKIP = "skip"
    RETIRE = "retire"


class Reason(StrEnum):
    """How a paper was recognised, or why it was not."""

    NEW = "new"
    ID_TAKEN = "id_taken"
    """New; another paper has its id, so that it gets a number behind."""
    SOURCE_ID_MATCH = "source_id_match"
    DOI_MATCH = "doi_match"
    ID_MATCH = "id_match"
    KNOWN_PAPER = "known_paper"
    """Of a text: recognised by its front matter, path, DOI or title."""
    DUPLICATE_IN_BATCH = "duplicate_in_batch"
    """It is a paper that came earlier in the same run."""
    UNCHANGED = "unchanged"
    MOVED = "moved"
    """Its file has another path now and the same content."""
    FILE_GONE = "file_gone"
    ENTRY_GONE = "entry_gone"
    """No file of references has it any longer."""


@dataclass(frozen=True, slots=True)
class Detail:
    """What becomes of one paper that was offered, and why."""

    id: str
    action: Action
    title: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that a paper's record names."""

    paper_id: str
    path: str


@dataclass(frozen=True, slots=True)
class AddReport:
    """What became of everything that was offered."""

    new: int = 0
    updated: int = 0
    unchanged: int = 0
    remarks: tuple[Problem, ...] = ()
    """What is to be known of something that was taken in: a part left out, a page read by OCR."""
    skipped: tuple[Problem, ...] = ()
    failed: tuple[Problem, ...] = ()
    papers: tuple[str, ...] = ()
    """The papers that are new or updated."""
    retired: tuple[str, ...] = ()
    """The papers that left the library, because nothing that is followed has them any longer."""
    chunks_embedded: int = 0
    dry_run: bool = False
    details: tuple[Detail, ...] = ()
    """Of a dry run: what would become of each paper."""
    attached: tuple[Attachment, ...] = ()
    """Files beside the references that could be taken in: of papers whose text the library does not have."""

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "papers": list(self.papers), "retired": list(self.retired)}
