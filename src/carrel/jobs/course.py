"""The taking in of one document, from its job in the catalog to a paper that every index has.

queued → chunking (fetch, read) → embedding → extracting → complete | failed | cancelled

The catalog says how far a job is; the engine only remembers which steps are done. A step that is done again does the
same again.
"""

from __future__ import annotations

import hashlib
import logging
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from carrel.errors import (
    CarrelError,
    InvalidSource,
    LibraryBusy,
    LibraryTooNew,
    ModelNotInstalled,
    ModelRefused,
    ModelServerUnavailable,
    OutOfTime,
    ReadOnlyLibrary,
    StorageFull,
    StoreUnavailable,
    Unavailable,
    WorkerUnavailable,
)
from carrel.ingest.stepwise import Taken, Wanted
from carrel.jobs import faults, formats, uploads
from carrel.jobs.locating import Roots
from carrel.servers import Refused, pause_after
from carrel.telemetry import log
from carrel.types.service import DocumentStatus, JobStatus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from threading import Event

    from carrel.catalogs.submissions import Submissions
    from carrel.jobs.fetching import Fetcher
    from carrel.library import Library
    from carrel.types.service import Job, Submission

_BYTES_A_CHARACTER = 4
_TOLD = 1.0
"""Seconds between two notes of progress."""
_AWAY = (ModelServerUnavailable, ModelNotInstalled)
_TRANSIENT = (*_AWAY, StoreUnavailable, OutOfTime, Unavailable, WorkerUnavailable, OSError)
_THERE = (LibraryBusy, LibraryTooNew, ReadOnlyLibrary, StorageFull)
"""What a store that is there says of itself. Who writes elsewhere was waited for already."""
_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
"""Seconds until a server that is away, or has too much to do, is asked again: twice as long each time."""
_NOT_DELETED = frozenset(DocumentStatus) - {DocumentStatus.ARCHIVED}
_FETCHED = 10
_READ = 30
_EMBEDDED = 75
_INDEXED = 95


class Step(Protocol):
    """Does something once: what came of it is remembered, and a failure that may pass is tried again."""

    def __call__(self, name: str, work: Callable[[], Any]) -> Any: ...  # noqa: ANN401


class Interrupted(BaseException):
    """No failure: the work is to stop here, and nothing is to be written down of it."""


class Stopped(Interrupted):
    """This process is about to end; another goes on with the job."""


class Lost(Interrupted):
    """Another process has the job now, or nothing can be written down of it; who has it, or gets it, goes on."""


class Cancelled(Interrupted):
    """Nobody wants the document any longer."""


class Failed(Exception):
    """Why a document cannot be taken in, in words for its sender."""


def may_pass(error: BaseException) -> bool:
    """Whether a failure may be another thing's fault than the document's, and over soon."""
    # A server's own refusal gets here only where it refuses every text; a single text that it refuses is named.
    return isinstance(error, _TRANSIENT) and (isinstance(error, Refused) or not isinstance(error, ModelRefused))


def is_away(error: BaseException) -> bool:
    """Whether it is a server that is not there, or does nothing for anybody: every document would fare the same."""
    if isinstance(error, StoreUnavailable):
        return not isinstance(error, _THERE)
    return may_pass(error) and isinstance(error, _AWAY)


class Course:
    """What a workflow does. `step` is the engine's; `stopping` is set when the process is to end."""

    def __init__(self, library: Library, step: Step, stopping: Event, fetcher: Fetcher) -> None:
        self._library = library
        self._step = step
        self._stopping = stopping
        self._fetcher = fetcher
        self._roots = Roots.of(library.layout, library.settings.jobs.roots)

    @property
    def _submissions(self) -> Submissions:
        return self._library.stores.catalog.submissions

    def run(self, job_id: str) -> str:
        """Returns how the job ended."""
        try:
            return self._run(job_id)
        except CarrelError as error:
            # Outside of the steps nothing fails but the catalog, and that is not the document's fault.
            raise Lost from error

    def give_up(self, job_id: str, reason: str) -> None:
        """Set a job aside that is not over but that nobody is at."""
        job = self._submissions.job(job_id)
        if job and not job.status.is_over:
            self._fail(job, reason)

    def _run(self, job_id: str) -> str:
        job = self._submissions.job(job_id)
        if job is None or job.status == JobStatus.COMPLETE:
            return JobStatus.COMPLETE
        if job.status.is_over:
            return self._clean_up(job, job.error_message)
        most = self._library.settings.jobs.attempts
        if job.attempts >= most:
            return self._fail(job, f"set aside after {most} attempts; the last one ended in {job.current_step!r}")
        self._submissions.advance(job_id, attempts=job.attempts + 1)
        self._change(job, status=DocumentStatus.PROCESSING, error_message="")
        try:
            self._take_in(job)
        except Cancelled:
            return self._clean_up(job, "cancelled")
        except Stopped:
            self._submissions.advance(job_id, attempts=job.attempts)
            raise
        except Failed as failure:
            return self._fail(job, str(failure))
        return JobStatus.COMPLETE

    def _take_in(self, job: Job) -> None:
        told = partial(self._advance, job, "wait")
        self._do("fetch", lambda: self._patiently(job, told, lambda: self._fetch(job)))
        taken = Taken(**self._do("read", lambda: self._patiently(job, told, lambda: self._read(job))))
        told = partial(self._advance, job, "wait", taken)
        self._do("embed", lambda: self._patiently(job, told, lambda: self._embed(job, taken)))
        self._do("index", lambda: self._patiently(job, told, lambda: self._index(job, taken)))
        self._patiently(job, told, lambda: self._declare(job, taken))
        self._at("active")
        self._submissions.advance(job.id, status=JobStatus.COMPLETE, current_step="complete", progress=100)
        self._at("complete")

    def _declare(self, job: Job, taken: Taken) -> None:
        if not self._change(job, status=DocumentStatus.ACTIVE, paper_id=taken.paper_id):
            # Deleted after its text was found to be wanted.
            self._library.withdraw_document(replace(self._document(job), paper_id=taken.paper_id))
            raise Cancelled

    def _do(self, name: str, work: Callable[[], Any]) -> Any:  # noqa: ANN401
        """What a step returns, and why it failed, are both remembered."""
        tries = count(1)
        try:
            came = self._step(name, lambda: self._outcome(work, next(tries)))
        except Exception as error:
            raise Failed(self._reason(error)) from error
        if "failed" in came:
            raise Failed(came["failed"])
        return came["done"]

    def _outcome(self, work: Callable[[], Any], number: int) -> dict[str, Any]:
        try:
            return {"done": work()}
        except Exception as error:
            if self._stopping.is_set():
                # What it was read in may be gone already.
                raise Stopped from error
            if may_pass(error) and number < self._library.settings.jobs.attempts:
                raise
            return {"failed": self._reason(error)}

    def _patiently(self, job: Job, tell: Callable[[], object], work: Callable[[], Any]) -> Any:  # noqa: ANN401
        """Wait for a server that is away or busy, so that it slows the work down and fails no document."""
        deadline, pause = time.monotonic() + self._library.settings.jobs.step_seconds, _PAUSE
        while True:
            try:
                return work()
            except CarrelError as error:
                # However long a server wants to be left alone, it is asked once more before the time is up.
                wait = min(pause_after(error, pause), deadline - time.monotonic())
                if not is_away(error) or wait <= 0:
                    raise
                log("jobs", logging.WARNING, "waiting", job=job.id, seconds=round(wait, 1), reason=error.message)
            # The catalog may be what is away.
            with suppress(StoreUnavailable):
                tell()
            self._stopping.wait(wait)
            self._at("waited")
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _fetch(self, job: Job) -> None:
        """See to it that the bytes are here."""
        document = self._document(job)
        self._advance(job, "fetch", status=JobStatus.CHUNKING, progress=0)
        if "://" in document.url:
            self._download(job, document)
        self._at("fetched")

    def _download(self, job: Job, document: Submission) -> None:
        if not self._library.settings.jobs.allow_urls:
            raise InvalidSource(f"{document.url!r} may not be fetched", hint="The setting jobs.allow_urls is off.")
        folder = self._library.layout.uploads
        with uploads.incoming(folder) as waiting:
            with waiting.open("xb") as file:
                got = self._fetcher.fetch(document.url, file, self._watching(job))
            suffix = formats.suffix_of(got.name, document.format, got.media_type, self._library.parsers, waiting)
            name = uploads.safe_name(got.name, suffix)
            stored = uploads.settle(waiting, uploads.digest_of(waiting), name, folder)
        path = self._library.layout.relative(stored.path)
        self._submissions.change(document.id, path=path, file_hash=stored.digest, file_size=stored.size)

    def _read(self, job: Job) -> dict[str, Any]:
        document = self._document(job)
        self._advance(job, "read", status=JobStatus.CHUNKING, progress=_FETCHED)
        if "://" in document.url and not self._roots.has(document.path):
            # Another machine fetched it.
            self._download(job, document)
            document = self._document(job)
        most = self._library.settings.ingest.max_document_characters * _BYTES_A_CHARACTER
        path, content = self._roots.read(document.path, most)
        wanted = _wanted(document, path, content, force=job.force)
        taken = self._library.read_document(wanted, self._watching(job), lambda new: self._change(job, paper_id=new))
        self._at("kept")
        self._change(
            job,
            chunk_count=taken.chunks,
            title=taken.title,
            author=taken.author,
            file_hash=hashlib.sha256(content).hexdigest(),
            file_size=len(content),
        )
        self._at("noted")
        return taken._asdict()

    def _embed(self, job: Job, taken: Taken) -> None:
        self._advance(job, "embed", taken, status=JobStatus.EMBEDDING, progress=_READ, total_chunks=taken.chunks)
        self._library.embed_document(taken.paper_id, self._telling(job, taken))
        self._at("embedded")

    def _index(self, job: Job, taken: Taken) -> None:
        status, chunks = JobStatus.EXTRACTING, taken.chunks
        self._advance(
            job, "index", taken, status=status, progress=_EMBEDDED, total_chunks=chunks, processed_chunks=chunks
        )
        self._library.index_document(taken.paper_id, self._watching(job, taken))
        self._at("indexed")
        self._advance(job, "index", taken, progress=_INDEXED)

    def _change(self, job: Job, **values: Any) -> bool:  # noqa: ANN401
        """False of a document that was deleted, and stays as it is."""
        return self._submissions.change(job.document_id, among=_NOT_DELETED, **values)

    def _document(self, job: Job) -> Submission:
        document = self._submissions.document(job.document_id)
        if document is None:
            raise Cancelled
        return document

    def _advance(self, job: Job, step: str, taken: Taken | None = None, **values: Any) -> None:  # noqa: ANN401
        """Note how far a job is. A text that replaces another is not left half replaced: it goes on."""
        self._at(step)
        wanted = self._submissions.advance(job.id, current_step=step, **values)
        if not wanted and (taken is None or taken.is_new):
            raise Cancelled

    def _watching(self, job: Job, taken: Taken | None = None) -> Callable[[str], None]:
        """What the library asks at every place where it could stop. Once it writes, it is too late for that."""
        told = 0.0

        def at(point: str) -> None:
            nonlocal told
            self._at(point)
            if point in {"keep", "write"} or (point in {"fetch", "wait"} and time.monotonic() - told > _TOLD):
                self._advance(job, self._name(point), taken)
                told = time.monotonic()

        return at

    def _telling(self, job: Job, taken: Taken) -> Callable[[int, int], None]:
        """Notes how many chunks are embedded, once in a while."""
        told = 0.0

        def tell(done: int, total: int) -> None:
            nonlocal told
            self._at("embedding")
            if time.monotonic() - told > _TOLD:
                progress = _READ + (_EMBEDDED - _READ) * done // max(total, 1)
                self._advance(job, "embed", taken, progress=progress, total_chunks=total, processed_chunks=done)
                told = time.monotonic()

        return tell

    @staticmethod
    def _name(point: str) -> str:
        return {"keep": "read", "write": "index"}.get(point, point)

    def _at(self, point: str) -> None:
        faults.reached(point)
        if self._stopping.is_set():
            raise Stopped

    def _fail(self, job: Job, reason: str) -> str:
        log("jobs", logging.WARNING, "failed", job=job.id, document=job.document_id, reason=reason)
        self._clean_up(job, reason)
        self._submissions.advance(job.id, status=JobStatus.FAILED, error_message=reason)
        return JobStatus.FAILED

    def _clean_up(self, job: Job, reason: str) -> str:
        """Leave nothing of a document that was not taken in; what the library had of it before stays."""
        told = partial(self._submissions.advance, job.id, current_step="wait")
        self._patiently(job, told, lambda: self._undo(job, reason))
        return JobStatus.CANCELLED

    def _undo(self, job: Job, reason: str) -> None:
        document = self._document(job)
        latest = self._submissions.jobs(document_id=document.id, limit=1)[0]
        # Another worker may have come to the end of it, while this one was taken to be dead.
        if latest.id == job.id and latest.status != JobStatus.COMPLETE:
            self._library.take_back_document(document, self._at)
            status = DocumentStatus.ACTIVE if self._is_whole(document) else DocumentStatus.FAILED
            self._change(job, status=status, error_message=latest.error_message or reason)

    @staticmethod
    def _reason(error: Exception) -> str:
        """What a sender may know: what Carrel itself has to say, and of anything else only that it happened."""
        if isinstance(error, CarrelError):
            return f"{error.message}. {error.hint}" if error.hint else error.message
        log("jobs", logging.ERROR, "unforeseen", error=repr(error))
        return f"something went wrong: {type(error).__name__}"

    def _is_whole(self, document: Submission) -> bool:
        """Whether the library still has what an earlier job took in."""
        rows = self._library.stores.catalog.papers([document.paper_id]) if document.ingested_at else []
        return any(row.indexed for row in rows)


def _wanted(document: Submission, path: Path, content: bytes, *, force: bool) -> Wanted:
    """What its sender says of it is in the metadata; the rest of the row is what was found."""
    said = document.metadata
    tags = tuple(map(str, said.get("tags", ())))
    title, author = str(said.get("title", "")), str(said.get("author", ""))
    # Until a document is in the library, its paper is only what was about to be made: another may have the name now.
    before, begun = (document.paper_id, "") if document.ingested_at else ("", document.paper_id)
    return Wanted(path, content, document.format, title, author, tags, before, begun, force)
