"""One document on its way in, a step at a time. Every step can be done again: nothing comes of it but the same."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from carrel.catalogs.locations import KnownFile
from carrel.chunking import is_embeddable
from carrel.errors import ModelRefused, PaperNotFound, UnsupportedFormat
from carrel.ingest import adding, following, indexing
from carrel.ingest.entries import Identities, document_digest, read_document
from carrel.ingest.harmless import harmless
from carrel.parsers import Source
from carrel.references import Found, Merged, names
from carrel.types import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from carrel.catalogs import PaperRow
    from carrel.ingest.adding import Workplace
    from carrel.ingest.entries import Read
    from carrel.parsers import Parser
    from carrel.stores import Stores
    from carrel.types import Chunk, Paper, Reference

    Alone = Callable[[str], AbstractContextManager[object]]
    """Keeps others from writing to a paper."""

FORMATS: Mapping[str, str] = {
    "markdown": ".md",
    "text": ".txt",
    "pdf": ".pdf",
    "xml": ".xml",
    "marker": ".json",
}
"""How a document may be said to be written, and the suffix whose parser reads it."""
_AT_ONCE = 256
"""Chunks that are embedded before their vectors are written to the cache."""


@dataclass(frozen=True)
class Wanted:
    """A document that is to be taken in, and what its sender says of it."""

    path: Path
    content: bytes
    format: str = ""
    title: str = ""
    author: str = ""
    tags: tuple[str, ...] = ()
    paper_id: str = ""
    """What it was taken in as before."""
    begun_as: str = ""
    """The new paper that an earlier try was about to make of it."""
    force: bool = False
    """Read it again although the library has this very text."""


class Taken(NamedTuple):
    """What became of it."""

    paper_id: str
    title: str
    author: str
    chunks: int
    is_new: bool
    """Whether the library had no text of this paper before, so that this one can be taken back."""


class Draft(NamedTuple):
    """A document that was read but is not kept yet."""

    found: Reference
    read: Read
    cut: Callable[[Callable[[Reference], Reference]], Read]
    """Cuts it once more, as another paper."""
    is_listed: bool
    """Whether refs.jsonl has the paper, so that its record there may be completed."""


def held(wanted: Wanted, place: Workplace) -> Taken | None:
    """The paper that has this very text, tags and all."""
    if wanted.force:
        return None
    content = hashlib.sha256(wanted.content).hexdigest()
    digest = document_digest(content, _parser(wanted, place), place.limits, place.stores.embedder)
    catalog = place.stores.catalog
    rows = [row for row in catalog.papers([catalog.holding(digest)]) if set(wanted.tags) <= set(row.reference.tags)]
    return next((_taken(row.reference, place.stores, is_new=_is_begun(row, wanted, place)) for row in rows), None)


def draft(wanted: Wanted, place: Workplace) -> Draft:
    """Read a document and cut it. Takes its time, and changes nothing."""
    parser = _parser(wanted, place)
    source = Source(wanted.path.name, wanted.content, wanted.path)
    paper = parser.parse(source)
    cut = partial(
        read_document,
        source,
        parser=_Parsed(parser.name, parser.suffixes, paper),
        path=place.relative(wanted.path),
        limits=place.limits,
        longest=place.longest,
        embedder=place.stores.embedder,
    )
    found = _described(harmless(paper.reference)[0], wanted)
    identities, reference = _identified(found, wanted, place)
    read = cut(identify=lambda _: reference)
    return Draft(found, read, lambda identify: cut(identify=identify), identities.is_listed(reference.id))


def keep(draft: Draft, wanted: Wanted, place: Workplace, alone: Alone, note: Callable[[str], object]) -> Taken:
    """Tell the catalog. Which paper it is, is looked up again: others may have written since it was read.

    `note` is told of a paper that the library has no text of, before it gets this one.
    """
    identities, reference = _identified(draft.found, wanted, place)
    listed, before = identities.is_listed(reference.id), identities.held(reference.id)
    ours = adding.read_refs(place.refs) if listed else Found([], [])
    known = {one.id: one for one in ours.references}
    if listed and before and reference.id not in known:
        # Another machine has the refs.jsonl that lists it: what that says is not completed from here.
        reference = before
    read = draft.read if draft.read.entry.reference == reference else draft.cut(lambda _: reference)
    entry = replace(read.entry, listed=listed)
    with alone(reference.id):
        is_new = _is_new(reference.id, wanted, place)
        if is_new:
            note(reference.id)
        place.stores.pictures.keep(reference.id, read.images)
        place.stores.catalog.put([entry])
        if listed and entry.reference != before:
            adding.keep(Merged({reference.id: entry.reference}), known, place, complete=not ours.problems)
    _note(wanted, reference.id, place)
    return _taken(reference, place.stores, is_new=is_new)


def embed(paper_id: str, stores: Stores, tell: Callable[[int, int], None]) -> None:
    """Fill the cache with a paper's vectors, so many at a time: what is there once is not computed again.

    `tell` is told how many chunks are done, of how many.
    """
    chunks = [chunk for chunk in stores.catalog.chunks_of([paper_id]) if is_embeddable(chunk)]
    kept = stores.cache.recall(paper_id, chunks)
    # What is there comes first: the cache keeps exactly what it is given.
    known = [chunk for chunk in chunks if chunk.text_hash in kept]
    missing = [chunk for chunk in chunks if chunk.text_hash not in kept]
    tell(len(known), len(chunks))
    for done in range(0, len(missing), _AT_ONCE):
        some = [*known, *missing[: done + _AT_ONCE]]
        _, _, refused = indexing.embed(
            some, stores.embedder, stores.cache, tell=partial(_still, tell, len(known) + done, chunks)
        )
        if refused:
            row, reason = next(iter(refused.items()))
            raise ModelRefused(
                f"the embedder refuses {some[row].address!r}: {reason}",
                hint="Another embedder may take it; see 'carrel config show embedder'.",
            )
        tell(len(some), len(chunks))


def _still(tell: Callable[[int, int], None], done: int, chunks: Sequence[Chunk], _characters: int) -> None:
    tell(done, len(chunks))


def is_indexed(paper_id: str, stores: Stores) -> bool:
    """Whether every index has what the catalog has of a paper."""
    rows = stores.catalog.papers([paper_id])
    if not rows:
        raise PaperNotFound(f"Paper {paper_id!r} was removed while it was taken in", hint="Submit the document again.")
    return rows[0].indexed


def withdraw(paper_id: str, source: str, stores: Stores) -> None:
    """Take the text that a file gave out of every store; a paper that was no more than that text goes with it.

    A paper that has its text from elsewhere stays. What an earlier try has left half done is finished.
    """
    row = next(iter(stores.catalog.papers([paper_id])), None)
    # The catalog is told first, so that whatever stops this, the next to write finishes it.
    if row is None:
        indexing.finish_removal([one for one in stores.catalog.unfinished().retired if one == paper_id], stores)
    elif row.listed:
        _withdraw_body(row, source, stores)
    elif source in row.sources:
        stores.catalog.retire([paper_id])
        indexing.finish_removal([paper_id], stores)


def _withdraw_body(row: PaperRow, source: str, stores: Stores) -> None:
    paper_id = row.reference.id
    if source in row.sources:
        stores.catalog.drop(paper_id, Part.BODY)
    elif row.indexed or Part.BODY in row.parts:
        return
    indexing.empty([paper_id], stores)
    indexing.put(indexing.prepare([paper_id], stores), stores)


@dataclass
class _Parsed:
    """A parser that has read its file."""

    name: str
    suffixes: frozenset[str]
    paper: Paper

    def parse(self, _source: Source) -> Paper:
        return self.paper


def _parser(wanted: Wanted, place: Workplace) -> Parser:
    suffix = FORMATS.get(wanted.format) or wanted.path.suffix.lower()
    if suffix not in place.parsers:
        raise UnsupportedFormat(
            f"nothing reads {suffix or 'such'!r} files",
            hint=f"There are readers for {', '.join(sorted(place.parsers))}.",
        )
    return place.parsers[suffix]


def _described(found: Reference, wanted: Wanted) -> Reference:
    """What the sender says of a document goes before what it says itself."""
    title = " ".join(wanted.title.split()) or found.title
    authors = (names.inverted(wanted.author),) if wanted.author and not found.authors else found.authors
    return harmless(replace(found, title=title, authors=authors))[0]


def _identified(found: Reference, wanted: Wanted, place: Workplace) -> tuple[Identities, Reference]:
    source, asked = place.relative(wanted.path), wanted.paper_id
    identities = Identities.of_one(place.stores.catalog, found, source=source, asked=asked)
    return identities, identities.of(found, source=source, stem=wanted.path.stem, asked=asked, tags=wanted.tags)


def _note(wanted: Wanted, paper_id: str, place: Workplace) -> None:
    """Write down for `sync` what was read; what lies in the library's own directory is none of its business."""
    path = place.relative(wanted.path)
    if not place.is_own(path):
        digest = hashlib.sha256(wanted.content).hexdigest()
        following.note_texts([KnownFile(path, "", digest, str(len(wanted.content)), paper_id)], place)


def _taken(reference: Reference, stores: Stores, *, is_new: bool) -> Taken:
    chunks = stores.catalog.chunks_of([reference.id])
    author = "; ".join(map(str, reference.authors))
    return Taken(reference.id, reference.title, author, len(chunks), is_new)


def _is_new(paper_id: str, wanted: Wanted, place: Workplace) -> bool:
    """Whether the catalog has no text of a paper but what an earlier try has put there."""
    rows = [row for row in place.stores.catalog.papers([paper_id]) if Part.BODY in row.parts]
    return not wanted.paper_id and all(_is_begun(row, wanted, place) for row in rows)


def _is_begun(row: PaperRow, wanted: Wanted, place: Workplace) -> bool:
    return row.reference.id == wanted.begun_as and place.relative(wanted.path) in row.sources
