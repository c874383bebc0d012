"""The verb `add`: whatever a user points at, taken in; whatever cannot be, named with its reason."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from carrel.catalogs.locations import KnownFile
from carrel.errors import InvalidInput, SourceError
from carrel.ingest import attached, finding, following
from carrel.ingest.attached import File
from carrel.ingest.entries import Identities, document_digest, put_references, read_document, too_large
from carrel.ingest.indexing import Settled, settle
from carrel.parsers import Source
from carrel.references import Found, Merged, formats, jsonl, merge_all
from carrel.references.zotero_api import is_address
from carrel.types import AddReport, Problem, Reference
from carrel.types.papers import Action, Attachment, Detail, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from carrel.chunking import Limits
    from carrel.parsers import Parser
    from carrel.stores import Stores
    from carrel.types import Progress

_BYTES_A_CHARACTER = 4
_RECORDS_AT_ONCE = 100


@dataclass(frozen=True)
class Request:
    """What is to be added, and how."""

    sources: tuple[Path | str, ...]
    """Files, folders, and addresses of Zotero, which are strings."""
    tags: tuple[str, ...] = ()
    paper_id: str = ""
    force: bool = False
    dry_run: bool = False
    attached: bool = False
    """Take in the files that the references name, too."""
    pdf_root: Path | None = None
    """Where those files are looked for, after the folder of the references."""


@dataclass(frozen=True)
class Workplace:
    """Where it is added: the stores, the refs.jsonl that is the truth, and the rules."""

    stores: Stores
    refs: Path
    parsers: Mapping[str, Parser]
    """By suffix."""
    relative: Callable[[Path], str]
    """How a file's path is remembered."""
    taking_in: Callable[[], AbstractContextManager[None]]
    """Entered while the catalog takes in every line of refs.jsonl."""
    limits: Limits
    longest: int
    batch: int
    curate: Callable[[], Sequence[Problem]] = tuple
    """Makes the graph say what the user's own files say."""

    @cached_property
    def folder(self) -> Path:
        """The library's, from which remembered paths start."""
        return self.refs.parent.parent.resolve()

    def absolute(self, source: str) -> Path:
        return self.folder / source

    def is_own(self, source: str) -> bool:
        """Whether a path is one of the library's own directory."""
        path, own = self.absolute(source), self.refs.parent
        # A folder in it may be a link, and so may it itself be.
        return path.is_relative_to(self.folder / own.name) or path.is_relative_to(own.resolve())

    def parser(self, path: Path) -> Parser:
        return self.parsers[path.suffix.lower()]

    def digest(self, path: Path, content_digest: str) -> str:
        """Of all that a file's chunks are made from."""
        return document_digest(content_digest, self.parser(path), self.limits, self.stores.embedder)


@dataclass
class Tally:
    dry_run: bool
    new: dict[str, None] = field(default_factory=dict)
    updated: dict[str, None] = field(default_factory=dict)
    unchanged: int = 0
    details: list[Detail] = field(default_factory=list)
    """Of a dry run only: of a real one they would keep every title in memory."""
    attached: list[File] = field(default_factory=list)
    retired: dict[str, None] = field(default_factory=dict)
    completed: dict[str, Reference] = field(default_factory=dict)
    """Records of refs.jsonl that say more now, still to be written."""
    read: list[KnownFile] = field(default_factory=list)
    """The files whose text the library has now."""
    remarks: list[Problem] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)
    failed: list[Problem] = field(default_factory=list)

    def count(self, details: Iterable[Detail]) -> None:
        for detail in details:
            if self.dry_run:
                self.details.append(detail)
            if detail.action == Action.SKIP:
                self.unchanged += 1
            elif detail.action == Action.ADD:
                self.new[detail.id] = None
            elif detail.action == Action.RETIRE:
                self.retired[detail.id] = None
            elif detail.id not in self.new:
                self.updated[detail.id] = None

    def report(self, *, embedded: int) -> AddReport:
        return AddReport(
            new=len(self.new),
            updated=len(self.updated),
            unchanged=self.unchanged,
            remarks=tuple(self.remarks),
            skipped=tuple(self.skipped),
            failed=tuple(self.failed),
            papers=(*self.new, *self.updated),
            retired=tuple(self.retired),
            chunks_embedded=embedded,
            dry_run=self.dry_run,
            details=tuple(self.details),
            attached=tuple(Attachment(file.paper_id, str(file.path)) for file in self.attached),
        )


def add(request: Request, place: Workplace, *, progress: Progress | None = None) -> AddReport:
    """Take everything in, then index it. A bad file or line costs only itself."""
    tally = Tally(request.dry_run)
    files = list(found_at(request.sources, place, tally))
    if request.paper_id and len(files) != 1:
        raise InvalidInput(
            f"--paper-id names one paper, but {len(files)} files were given", hint="Add them one by one."
        )
    if not request.dry_run:
        following.follow(request, place)
    _add_references([source for source, is_document in files if not is_document], request, place, tally, progress)
    documents = _documents([Path(source) for source, is_document in files if is_document], request, tally)
    if documents:
        # Not kept beyond this line: of a large library it is hundreds of megabytes.
        add_documents(documents, request, place, tally, Identities.of_all(place.stores.catalog), progress)
    return finish(place, tally, progress)


def finish(place: Workplace, tally: Tally, progress: Progress | None) -> AddReport:
    """Remember what was read where, and index what is new."""
    if not tally.dry_run:
        following.note_texts(tally.read, place)
        following.tidy(place)
    settled = Settled(0, []) if tally.dry_run else settle(place.stores, batch=place.batch, progress=progress)
    tally.failed += settled.failed
    tally.remarks += [*settled.remarks, *([] if tally.dry_run else place.curate())]
    return tally.report(embedded=settled.embedded)


def found_at(sources: Sequence[Path | str], place: Workplace, tally: Tally) -> Iterator[tuple[Path | str, bool]]:
    """Every file and address meant, and whether it is a document rather than a list of references.

    One that was named must be usable; one met in a folder may be of another kind.
    """
    for source in sources:
        if isinstance(source, str) and is_address(source):
            yield source, False
            continue
        path = Path(source)
        if not path.exists():
            tally.failed.append(Problem(str(path), "no such file or folder"))
        elif path.is_dir():
            yield from finding.told_apart(finding.inside(path), place.parsers, tally.skipped, named=False)
        elif not path.is_file():
            tally.failed.append(Problem(str(path), "it is a pipe or device, not a file"))
        else:
            yield from finding.told_apart([path], place.parsers, tally.failed, named=True)


# References


class Incoming(NamedTuple):
    reference: Reference
    folder: Path | None
    """Where the paths of its files start."""
    file: KnownFile
    """What it stands in."""


def _add_references(
    sources: Sequence[Path | str], request: Request, place: Workplace, tally: Tally, progress: Progress | None
) -> None:
    ours = read_refs(place.refs)
    tally.failed += ours.problems
    known = {reference.id: reference for reference in ours.references}
    incoming = [one for source in sources for one in read_list(source, request.tags, place, tally, progress)]
    merged = merge_all(known, (one.reference for one in incoming))
    tally.count(merged.details)
    ids = [detail.id for detail in merged.details]
    _offer(zip(ids, incoming, strict=True), request, place, tally)
    if not request.dry_run:
        keep(merged, known, place, complete=not ours.problems, progress=progress)
        told = place.stores.catalog.remarks(merged.changed)
        tally.remarks += [Problem(paper_id, remark) for paper_id, remarks in told.items() for remark in remarks]
        following.note_lists(zip(ids, incoming, strict=True), place)


def read_list(
    source: Path | str, tags: Sequence[str], place: Workplace, tally: Tally, progress: Progress | None
) -> Iterator[Incoming]:
    """The references of a file or address; what is wrong with it is told the tally."""
    try:
        file = following.look(source, place)
        found = formats.read(source, progress)
    except (SourceError, OSError) as error:
        tally.failed.append(Problem(str(source), str(error)))
        return
    tally.failed += found.problems
    tally.remarks += found.remarks
    if not found.references and not found.problems:
        tally.failed.append(Problem(str(source), "there is no reference in it"))
    # One that has faults is to be read again, and they are to be told again.
    file = replace(file, digest="") if found.problems else file
    for reference in found.references:
        yield Incoming(_tagged(reference, tags) if tags else reference, found.folder, file)


def read_refs(path: Path) -> Found:
    """The library's own references; a broken line is named and left as it is."""
    if not path.exists():
        return Found([], [Problem(str(path), "the library's refs.jsonl is missing")])
    found = jsonl.read(path)
    return Found(list({reference.id: reference for reference in found.references}.values()), found.problems)


def keep(
    merged: Merged,
    known: Mapping[str, Reference],
    place: Workplace,
    *,
    complete: bool,
    progress: Progress | None = None,
) -> None:
    if merged.changed:
        jsonl.write(place.refs, merged.changed)
    with place.taking_in() if complete else nullcontext():
        references = list({**known, **merged.changed}.values())
        put_references(references, place.stores, complete=complete, progress=progress)


def _tagged(reference: Reference, tags: Sequence[str]) -> Reference:
    return replace(reference, tags=tuple(dict.fromkeys([*reference.tags, *tags])))


# Files that references name


def _offer(incoming: Iterable[tuple[str, Incoming]], request: Request, place: Workplace, tally: Tally) -> None:
    """See which files beside the references could be taken in, too."""
    roots = (request.pdf_root,) if request.pdf_root else ()
    named: dict[str, attached.Named] = {}
    for paper_id, (reference, folder, _) in incoming:
        if reference.pdf_path or reference.supplement_paths:
            named.setdefault(paper_id, attached.Named(reference, (folder, *roots) if folder else roots))
    files, absent = attached.find(named, place.parsers.keys())
    tally.attached = files if request.force else attached.without_text(files, place.stores.catalog)
    # A missing file is worth a word only to those who want the files.
    tally.skipped += absent if request.attached else ()


def _documents(paths: Sequence[Path], request: Request, tally: Tally) -> list[File]:
    """What is to be read. A file that a reference names is that paper's, wherever it was met."""
    owners = {file.path: file.paper_id for file in tally.attached}
    files = [File(path, request.paper_id or owners.pop(path.resolve(), "")) for path in paths]
    left = [file for file in tally.attached if file.path in owners]
    is_wanted = request.attached and not request.dry_run
    tally.attached = [] if is_wanted else left
    return [*files, *left] if is_wanted else files


# Documents


def add_documents(
    files: Sequence[File],
    request: Request,
    place: Workplace,
    tally: Tally,
    identities: Identities,
    progress: Progress | None,
) -> None:
    for number, file in enumerate(files, start=1):
        try:
            _add_document(file, request, place, tally, identities)
        except SourceError as error:
            tally.failed.append(Problem(str(file.path), error.message))
        except OSError as error:
            tally.failed.append(Problem(str(file.path), error.strerror or str(error)))
        if len(tally.completed) >= _RECORDS_AT_ONCE:
            _keep_completed(place, tally)
        if progress:
            progress("reading", number, len(files))
    _keep_completed(place, tally)


def _add_document(file: File, request: Request, place: Workplace, tally: Tally, identities: Identities) -> None:
    path = file.path
    if path.stat().st_size > place.longest * _BYTES_A_CHARACTER:
        raise too_large(path.name, path.stat().st_size, place.longest)
    mark, content = following.mark_of([path]), path.read_bytes()
    known = KnownFile(place.relative(path), "", hashlib.sha256(content).hexdigest(), mark)
    held = None if request.force else _held(known, file, request, place, identities)
    if held:
        tally.read.append(replace(known, paper_id=held.id))
        tally.count([Detail(held.id, Action.SKIP, held.title, Reason.UNCHANGED)])
        return
    source = known.path
    entry, images, remarks = read_document(
        Source(path.name, content, path),
        parser=place.parser(path),
        identify=lambda found: identities.of(
            found, source=source, stem=path.stem, asked=file.paper_id, tags=request.tags
        ),
        path=source,
        limits=place.limits,
        longest=place.longest,
        embedder=place.stores.embedder,
    )
    paper_id = entry.reference.id
    before = identities.held(paper_id)
    tally.count([_detail(entry.reference, file, is_known=before is not None or paper_id in tally.new)])
    entry = replace(entry, listed=identities.is_listed(paper_id))
    identities.learn(entry)
    tally.read.append(replace(known, paper_id=paper_id))
    tally.remarks += [Problem(str(path), remark) for remark in remarks]
    if not request.dry_run:
        place.stores.pictures.keep(paper_id, images)
        place.stores.catalog.put([entry])
        if entry.listed and entry.reference != before:
            tally.completed[paper_id] = entry.reference


def _detail(reference: Reference, file: File, *, is_known: bool) -> Detail:
    """What becomes of a text, and by what its paper was recognised."""
    if not is_known:
        return Detail(reference.id, Action.ADD, reference.title, Reason.NEW)
    reason = Reason.ID_MATCH if file.paper_id else Reason.KNOWN_PAPER
    return Detail(reference.id, Action.UPDATE, reference.title, reason)


def _held(known: KnownFile, file: File, request: Request, place: Workplace, identities: Identities) -> Reference | None:
    """The paper that has this very text, tags and all, under whatever path it came."""
    held = identities.holding(place.digest(file.path, known.digest))
    is_same = held is not None and file.paper_id in ("", held.id) and set(request.tags) <= set(held.tags)
    return held if is_same else None


def _keep_completed(place: Workplace, tally: Tally) -> None:
    """What texts added to the records of their papers belongs into refs.jsonl, too."""
    if tally.completed:
        ours = read_refs(place.refs)
        known = {reference.id: reference for reference in ours.references}
        keep(Merged(dict(tally.completed)), known, place, complete=not ours.problems)
        tally.completed.clear()
