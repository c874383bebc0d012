"""References and files as entries of the catalog."""

from __future__ import annotations

import hashlib
import logging
import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from carrel import chunking, languages
from carrel.catalogs import Entry
from carrel.catalogs.citing import title_key
from carrel.chunking import abstracts
from carrel.errors import TooLarge
from carrel.identifiers import normalise_doi, slug, unused
from carrel.ingest import batches
from carrel.ingest.harmless import harmless, remarks_of
from carrel.references import merge
from carrel.telemetry import log, timed
from carrel.types import BlockKind, Document, Part, Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Mapping, Sequence

    from carrel.catalogs import Catalog, PaperRow
    from carrel.chunking import Limits
    from carrel.chunking.passages import CountTokens
    from carrel.embedders import Embedder
    from carrel.parsers import Parser, Source
    from carrel.stores import Stores
    from carrel.types import Image, Paper, Progress

_AT_ONCE = 1000
_BLOCKS = 200
"""Of a paper, to tell its language from."""
_CODE = re.compile(r"[a-z]{2}")


def put_references(
    references: Sequence[Reference], stores: Stores, *, complete: bool, progress: Progress | None = None
) -> list[str]:
    """Make the catalog say what refs.jsonl says; returns the papers that changed.

    Only if the list is `complete` is a paper that it does not have gone: a line that cannot be read may be its line.
    """
    known = stores.catalog.digests()
    changed = [one for one in references if known.get((one.id, Part.ABSTRACT)) != abstracts.reference_digest(one)]
    done = 0
    for some in batches(changed, _AT_ONCE):
        stores.catalog.put([_reference_entry(reference, stores.embedder.count_tokens) for reference in some])
        done += len(some)
        if progress:
            progress("storing", done, len(changed))
    listed = {paper for paper, part in known if part == Part.ABSTRACT} if complete else set()
    gone = listed - {reference.id for reference in references}
    _unlist(gone, stores.catalog)
    return [*(reference.id for reference in changed), *sorted(gone)]


def _reference_entry(given: Reference, count_tokens: CountTokens) -> Entry:
    """What is kept is harmless; the digest is that of the record as refs.jsonl has it."""
    reference, unseen = harmless(given)
    language = languages.detect(f"{reference.title}\n{reference.abstract}")
    chunks = abstracts.reference_chunks(reference, language=language, count_tokens=count_tokens)
    text, digest = abstracts.reference_text(reference), abstracts.reference_digest(given)
    remarks = remarks_of(f"{reference.title}\n\n{reference.abstract}", unseen)
    document = Document(reference.id, Part.ABSTRACT, text, digest, remarks=remarks)
    return Entry(reference, document, tuple(chunks), listed=True)


def _unlist(paper_ids: Collection[str], catalog: Catalog) -> None:
    """Papers that refs.jsonl no longer has: gone, unless their full text is here."""
    with_body = {row.reference.id for row in catalog.papers(paper_ids) if Part.BODY in row.parts}
    for paper_id in with_body:
        catalog.drop(paper_id, Part.ABSTRACT)
    catalog.retire([paper_id for paper_id in paper_ids if paper_id not in with_body])


class Identities:
    """Which paper a file is: by the id it is given, its path, its DOI, its title; else a new one."""

    def __init__(
        self, rows: Sequence[PaperRow], sources: Mapping[str, str], taken: Container[str], left: Collection[str] = ()
    ) -> None:
        self.learned: set[str] = set()
        """The papers that got a text."""
        self._sources = dict(sources)
        self._taken = taken
        """Ids that no new paper can have, besides those of the rows."""
        self._contents: dict[str, str] = {}
        self._rows = {row.reference.id: (row.reference, row.listed) for row in rows}
        self._dois = {doi: row.reference.id for row in rows if (doi := normalise_doi(row.reference.doi))}
        # A title alone says which reference a text belongs to, never that it is to replace another text.
        waiting = (
            row.reference for row in rows if row.reference.id in left or (row.listed and Part.BODY not in row.parts)
        )
        self._titles = {title: one.id for one in waiting if (title := title_key(one.title))}

    @classmethod
    def of_all(cls, catalog: Catalog, *, left: Collection[str] = (), changed: Collection[str] = ()) -> Identities:
        """For many files: every paper is read, once.

        `left` are papers whose file is gone: their text may be replaced by another that has their title. `changed` are
        papers whose file has another content now: what they hold is no longer theirs.
        """
        made = cls(catalog.papers(), catalog.sources(), (), left)
        bodies = {paper: digest for (paper, part), digest in catalog.digests().items() if part == Part.BODY}
        made._contents = {digest: paper for paper, digest in bodies.items() if paper not in {*left, *changed}}
        return made

    @classmethod
    def of_one(cls, catalog: Catalog, found: Reference, *, source: str, asked: str) -> Identities:
        """For one file: only the papers are read that it may be, however many there are."""
        sources = catalog.sources([source])
        alike = catalog.alike(titles=[found.title], dois=[found.doi])
        return cls(catalog.papers({*alike, *sources.values(), asked, found.id}), sources, _Taken(catalog))

    def holding(self, digest: str) -> Reference | None:
        """The paper that has exactly this text already."""
        paper_id = self._contents.get(digest)
        return self._rows[paper_id][0] if paper_id in self._rows else None

    def held(self, paper_id: str) -> Reference | None:
        """The record that the library has of a paper."""
        return self._rows[paper_id][0] if paper_id in self._rows else None

    def __contains__(self, paper_id: object) -> bool:
        return paper_id in self._rows or paper_id in self._taken

    def is_listed(self, paper_id: str) -> bool:
        return self._rows.get(paper_id, (None, False))[1]

    def of(self, found: Reference, *, source: str, stem: str, asked: str, tags: Sequence[str]) -> Reference:
        """The record under which a document is kept. What it says itself completes the user's own, no more."""
        known = asked or found.id or self._sources.get(source) or self._by_doi(found)
        known = known or self._titles.get(title_key(found.title), "")
        paper_id = known or unused(slug(stem), self)
        held, listed = self._rows.get(paper_id, (found, False))
        reference = replace(merge(found, held) if listed else found, id=paper_id)
        return replace(reference, tags=tuple(dict.fromkeys([*held.tags, *found.tags, *tags])))

    def _by_doi(self, found: Reference) -> str:
        """A paper that has just got its text is not given another: a copy of an older one may lie beside it."""
        paper_id = self._dois.get(found.doi, "")
        return "" if paper_id in self.learned else paper_id

    def learn(self, entry: Entry) -> None:
        self._rows[entry.reference.id] = (entry.reference, entry.listed)
        self._sources[entry.document.source] = entry.reference.id
        self._contents[entry.document.digest] = entry.reference.id
        self._titles.pop(title_key(entry.reference.title), None)
        self.learned.add(entry.reference.id)


class _Taken:
    """The ids that are a paper's."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def __contains__(self, paper_id: object) -> bool:
        return bool(self._catalog.papers([str(paper_id)]))


class Read(NamedTuple):
    """What a file gave."""

    entry: Entry
    images: tuple[Image, ...]
    remarks: tuple[str, ...]


def read_document(
    source: Source,
    *,
    parser: Parser,
    identify: Callable[[Reference], Reference],
    path: str,
    limits: Limits,
    longest: int,
    embedder: Embedder,
) -> Read:
    """Parse a file and cut it into chunks."""
    timings: dict[str, float] = {}
    with timed(timings, "parsing"):
        paper = parser.parse(source)
    if len(paper.text) > longest:
        raise too_large(source.name, len(paper.text), longest)
    with timed(timings, "cutting"):
        paper = replace(paper, reference=identify(harmless(paper.reference)[0]), language=_language(paper))
        chunks = chunking.split(paper, count_tokens=embedder.count_tokens, limits=limits)
    log("ingest", logging.INFO, "read", source=path, chunks=len(chunks), milliseconds=timings)
    digest = document_digest(hashlib.sha256(source.content).hexdigest(), parser, limits, embedder)
    remarks = (*paper.remarks, *remarks_of(paper.text))
    document = Document(paper.reference.id, Part.BODY, paper.text, digest, path, parser.name, remarks)
    entry = Entry(paper.reference, document, chunks, exhibits=paper.exhibits, cited=paper.cited, places=paper.places)
    return Read(entry, paper.images, remarks)


def _language(paper: Paper) -> str:
    """What the source says, or else what its prose looks like; names, tables and code look like anything."""
    if _CODE.fullmatch(paper.language):
        return paper.language
    prose = (paper.text[block.start : block.end] for block in paper.blocks if block.kind == BlockKind.TEXT)
    return languages.detect(" ".join(islice(prose, _BLOCKS)) or paper.text)


def document_digest(content: str, parser: Parser, limits: Limits, embedder: Embedder) -> str:
    """Of all that a file's chunks are made from, `content` being its digest: equal digests need no parsing."""
    return chunking.digest(parser.name, limits, embedder.name, content)


def too_large(name: str, size: int, most: int) -> TooLarge:
    return TooLarge(
        f"{name!r} has {size:,} characters, more than the {most:,} allowed",
        hint="Split it, or raise ingest.max_document_characters with 'carrel config set'.",
    )
