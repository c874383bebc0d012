"""The verb `add`: whatever a user points at, taken in; whatever cannot be, named with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from carrel.errors import InvalidInput, SourceError
from carrel.ingest.entries import Identities, document_digest, put_references, read_document, too_large
from carrel.ingest.indexing import settle
from carrel.parsers import Source
from carrel.references import Found, Merged, formats, jsonl, merge_all
from carrel.types import AddReport, Problem, Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from carrel.chunking import Limits
    from carrel.parsers import Parser
    from carrel.stores import Stores
    from carrel.types import Progress

_BYTES_A_CHARACTER = 4


@dataclass(frozen=True)
class Request:
    """What is to be added, and how."""

    paths: tuple[Path, ...]
    tags: tuple[str, ...] = ()
    paper_id: str = ""
    force: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class Workplace:
    """Where it is added: the stores, the refs.jsonl that is the truth, and the rules."""

    stores: Stores
    refs: Path
    parsers: Mapping[str, Parser]
    """By suffix."""
    relative: Callable[[Path], str]
    """How a file's path is remembered."""
    limits: Limits
    longest: int
    batch: int


@dataclass
class _Tally:
    new: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: int = 0
    skipped: list[Problem] = field(default_factory=list)
    failed: list[Problem] = field(default_factory=list)

    def report(self, *, embedded: int, dry_run: bool) -> AddReport:
        return AddReport(
            new=len(self.new),
            updated=len(self.updated),
            unchanged=self.unchanged,
            skipped=tuple(self.skipped),
            failed=tuple(self.failed),
            papers=tuple(dict.fromkeys([*self.new, *self.updated])),
            chunks_embedded=embedded,
            dry_run=dry_run,
        )


def add(request: Request, place: Workplace, *, progress: Progress | None = None) -> AddReport:
    """Take everything in, then index it. A bad file or line costs only itself."""
    tally = _Tally()
    files = list(_files(request.paths, place, tally))
    if request.paper_id and len(files) != 1:
        raise InvalidInput(
            f"--paper-id names one paper, but {len(files)} files were given", hint="Add them one by one."
        )
    _add_references([path for path, is_document in files if not is_document], request, place, tally)
    _add_documents([path for path, is_document in files if is_document], request, place, tally, progress)
    embedded = 0 if request.dry_run else settle(place.stores, batch=place.batch, progress=progress)
    return tally.report(embedded=embedded, dry_run=request.dry_run)


def _files(paths: Sequence[Path], place: Workplace, tally: _Tally) -> Iterator[tuple[Path, bool]]:
    """Every file meant, and whether it is a document rather than a list of references.

    One that was named must be usable; one met in a folder may be of another kind.
    """
    for path in paths:
        if not path.exists():
            tally.failed.append(Problem(str(path), "no such file or folder"))
        elif path.is_dir():
            yield from _told_apart(_inside(path), place, tally.skipped)
        else:
            yield from _told_apart([path], place, tally.failed)


def _told_apart(files: Iterable[Path], place: Workplace, others: list[Problem]) -> Iterator[tuple[Path, bool]]:
    for path in files:
        suffix = path.suffix.lower()
        try:
            if formats.sniff(path):
                yield path, False
            elif suffix in place.parsers:
                yield path, True
            else:
                others.append(Problem(str(path), _unsupported(suffix, place)))
        except SourceError as error:
            others.append(Problem(str(path), error.message))


def _unsupported(suffix: str, place: Workplace) -> str:
    known = {*formats.SUFFIXES, *place.parsers}
    if suffix in known:
        return "it holds no references in a format that Carrel knows"
    return f"nothing reads {suffix or 'such'!r} files; there are readers for {', '.join(sorted(known))}"


def _inside(folder: Path) -> Iterator[Path]:
    """The files of a folder, in a stable order; hidden ones and links to elsewhere are left alone."""
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir():
            yield from _inside(entry)
        elif entry.is_file():
            yield entry


# References


def _add_references(paths: Sequence[Path], request: Request, place: Workplace, tally: _Tally) -> None:
    ours = read_refs(place.refs)
    tally.failed += ours.problems
    known = {reference.id: reference for reference in ours.references}
    incoming: list[Reference] = []
    for path in paths:
        try:
            found = formats.read(path)
        except (SourceError, OSError) as error:
            tally.failed.append(Problem(str(path), str(error)))
            continue
        tally.failed += found.problems
        tally.skipped += found.remarks
        if not found.references and not found.problems:
            tally.failed.append(Problem(str(path), "there is no reference in it"))
        incoming += [_tagged(reference, request.tags) for reference in found.references]
    merged = merge_all(known, incoming)
    tally.new += merged.new
    tally.updated += merged.updated
    tally.unchanged += merged.unchanged
    if not request.dry_run:
        _keep(merged, known, place, complete=not ours.problems)


def read_refs(path: Path) -> Found:
    """The library's own references; a broken line is named and left as it is."""
    if not path.exists():
        return Found([], [Problem(str(path), "the library's refs.jsonl is missing")])
    found = jsonl.read(path)
    return Found(list({reference.id: reference for reference in found.references}.values()), found.problems)


def _keep(merged: Merged, known: Mapping[str, Reference], place: Workplace, *, complete: bool) -> None:
    if merged.changed:
        jsonl.write(place.refs, merged.changed)
    put_references(list({**known, **merged.changed}.values()), place.stores, complete=complete)


def _tagged(reference: Reference, tags: Sequence[str]) -> Reference:
    return replace(reference, tags=tuple(dict.fromkeys([*reference.tags, *tags])))


# Documents


def _add_documents(
    paths: Sequence[Path], request: Request, place: Workplace, tally: _Tally, progress: Progress | None
) -> None:
    if not paths:
        return
    identities = Identities(place.stores.catalog)
    for number, path in enumerate(paths, start=1):
        try:
            _add_document(path, request, place, tally, identities)
        except SourceError as error:
            tally.failed.append(Problem(str(path), error.message))
        except OSError as error:
            tally.failed.append(Problem(str(path), error.strerror or str(error)))
        if progress:
            progress("reading", number, len(paths))


def _add_document(path: Path, request: Request, place: Workplace, tally: _Tally, identities: Identities) -> None:
    if path.stat().st_size > place.longest * _BYTES_A_CHARACTER:
        raise too_large(path.name, path.stat().st_size, place.longest)
    content, parser = path.read_bytes(), place.parsers[path.suffix.lower()]
    if not request.force and _is_here(content, parser, request, place, identities):
        tally.unchanged += 1
        return
    source = place.relative(path)
    entry = read_document(
        Source(path.name, content),
        parser=parser,
        identify=lambda found: identities.of(
            found, source=source, stem=path.stem, asked=request.paper_id, tags=request.tags
        ),
        path=source,
        limits=place.limits,
        longest=place.longest,
        embedder=place.stores.embedder,
    )
    paper_id = entry.reference.id
    before = identities.held(paper_id)
    (tally.updated if before else tally.new).append(paper_id)
    entry = replace(entry, listed=identities.is_listed(paper_id))
    identities.learn(entry)
    if not request.dry_run:
        place.stores.catalog.put([entry])
        if entry.listed and entry.reference != before:
            _keep_tags(entry.reference, place)


def _is_here(content: bytes, parser: Parser, request: Request, place: Workplace, identities: Identities) -> bool:
    """Whether this very text, tags and all, is in the library, under whatever path it came."""
    held = identities.holding(document_digest(content, parser, place.limits, place.stores.embedder))
    return held is not None and request.paper_id in ("", held.id) and set(request.tags) <= set(held.tags)


def _keep_tags(reference: Reference, place: Workplace) -> None:
    """Tags that a text brought belong into refs.jsonl, too."""
    references = {one.id: one for one in read_refs(place.refs).references}
    _keep(Merged({reference.id: reference}, [], [], 0), references, place, complete=False)
