"""Documents that are handed to the service: registered at once, taken in later by whoever is free."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from carrel.errors import (
    DocumentExists,
    DocumentNotFound,
    InvalidInput,
    InvalidSource,
    JobNotFound,
    QueueFull,
    Unavailable,
)
from carrel.ingest.stepwise import FORMATS
from carrel.jobs import formats, uploads
from carrel.jobs.addresses import Policy
from carrel.jobs.fetching import Fetcher
from carrel.jobs.locating import Roots
from carrel.jobs.runner import Runner
from carrel.telemetry import log
from carrel.types.service import DocumentStatus, Job, JobStatus, Submission

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from carrel.catalogs.submissions import Submissions
    from carrel.jobs.uploads import Stored
    from carrel.library import Library

_LONGEST_TITLE = 255
_LONGEST_METADATA = 16_384
_MOST_TAGS = 100
_CHARACTERS_A_TOKEN = 4
_MEGABYTE = 1_000_000
_PLAIN = frozenset({".md", ".markdown", ".txt", ".text"})


@dataclass(frozen=True)
class Said:
    """What a sender says of a document."""

    title: str = ""
    format: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    force: bool = False
    """Take it in again although it is known."""

    @property
    def kept(self) -> dict[str, Any]:
        """All that is remembered of it; a title goes with the rest."""
        return {**self.metadata, **({"title": self.title} if self.title else {})}

    def check(self) -> None:
        if len(self.title) > _LONGEST_TITLE or any(not letter.isprintable() for letter in self.title):
            raise InvalidInput(f"a title has at most {_LONGEST_TITLE} characters, all of them printable")
        if self.format and self.format not in FORMATS:
            raise InvalidInput(f"unknown format {self.format!r}", hint=f"There are {', '.join(sorted(FORMATS))}.")
        tags = self.metadata.get("tags", [])
        if not isinstance(tags, list) or len(tags) > _MOST_TAGS or not all(map(_is_word, tags)):
            raise InvalidInput(f"metadata.tags is a list of at most {_MOST_TAGS} words")
        if not all(isinstance(self.metadata.get(name, ""), str) for name in ("author", "title")):
            raise InvalidInput("metadata.author and metadata.title are texts")
        if len(json.dumps(dict(self.metadata))) > _LONGEST_METADATA:
            raise InvalidInput(f"metadata has at most {_LONGEST_METADATA:,} characters")


class Ticket(NamedTuple):
    job: Job
    document: Submission
    estimated_chunks: int | None
    """Told from the size of a plain text; None of any other."""


class Ingestion:
    """Takes documents in, in the background of this process or of `carrel worker`'s."""

    def __init__(self, library: Library, *, policy: Policy | None = None) -> None:
        chosen = library.settings.jobs
        self._library = library
        self._policy = policy or Policy()
        self._roots = Roots.of(library.layout, chosen.roots)
        fetcher = Fetcher(chosen.url_megabytes * _MEGABYTE, chosen.url_seconds, self._policy)
        self._runner = Runner(library, fetcher) if chosen.concurrent else None

    def start(self) -> None:
        """Begin to work, unless this process is to leave that to others."""
        if self._runner:
            self._runner.start()

    def stop(self, seconds: float = 10.0) -> None:
        if self._runner:
            self._runner.stop(seconds)

    @property
    def complaint(self) -> str:
        """Why nothing is taken in by this process; empty where all is well, or others are to do it."""
        return self._runner.complaint if self._runner else ""

    @property
    def running(self) -> int:
        """How many documents this process is at."""
        return self._runner.running if self._runner else 0

    def waiting(self) -> int:
        """How many jobs are not over, whoever is at them."""
        return self._submissions.waiting()

    def submit(self, source: str, said: Said) -> Ticket:
        """Register a file that the service may read, or an address that it may fetch from."""
        said.check()
        if "://" in source:
            return self._register(self._address(source, said), said)
        path = self._roots.find(source)
        suffix = formats.suffix_of(path.name, said.format, "", self._library.parsers)
        name = self._library.layout.relative(path)
        submission = _submission(name, said, path=name, file_size=path.stat().st_size)
        return self._register(submission, said, suffix)

    def upload(self, name: str, content: IO[bytes], media_type: str, said: Said) -> Ticket:
        """Keep a copy of what a client sends, and register that."""
        said.check()
        folder, most = self._library.layout.uploads, self._library.settings.serve.upload_megabytes * _MEGABYTE
        self._check_room()
        with uploads.incoming(folder) as waiting:
            uploads.receive(content, waiting, most)
            suffix = formats.suffix_of(name, said.format, media_type, self._library.parsers, waiting)
            digest = uploads.digest_of(waiting)
            same = self._submissions.by_hash(digest)
            if same and not said.force:
                raise _exists(same[0])
            kept = Path(same[0].path).name if same else uploads.safe_name(name, suffix)
            stored = uploads.settle(waiting, digest, kept, folder)
        submission = self._uploaded(stored, said)
        return self._register(replace(submission, url=same[0].url) if same else submission, said, suffix)

    def job(self, job_id: str) -> Job:
        found = self._submissions.job(job_id)
        if found is None:
            raise JobNotFound(f"there is no job {job_id!r}", hint="GET /api/ingest lists the latest.")
        return found

    def latest_job(self, document_id: str) -> Job | None:
        return next(iter(self._submissions.jobs(document_id=document_id, limit=1)), None)

    def document(self, document_id: str) -> Submission:
        found = self._submissions.document(document_id)
        if found is None:
            raise DocumentNotFound("Document not found", hint=f"No document has the id {document_id!r}.")
        return found

    def documents(
        self, *, statuses: Collection[DocumentStatus] | None = None, limit: int = 100, after: str = ""
    ) -> list[Submission]:
        return self._submissions.documents(statuses=statuses, limit=limit, after=after)

    def cancel(self, job_id: str) -> Job:
        """Have a job stop as soon as it can, leaving nothing; one that is over stays as it is."""
        job = self.job(job_id)
        if (
            self._submissions.advance(job_id, status=JobStatus.CANCELLED, error_message="cancelled")
            and not job.attempts
        ):
            document = self.document(job.document_id)
            was_active = DocumentStatus.ACTIVE if document.ingested_at else DocumentStatus.FAILED
            begun = [DocumentStatus.PENDING, DocumentStatus.PROCESSING, DocumentStatus.ACTIVE]
            self._submissions.change(document.id, among=begun, status=was_active, error_message="cancelled")
        return self.job(job_id)

    def delete(self, document_id: str) -> Submission:
        """Take a document out of every store, and archive it. One that is archived already stays so."""
        document = self.document(document_id)
        for job in self._submissions.jobs(document_id=document_id, limit=1):
            self._submissions.advance(job.id, status=JobStatus.CANCELLED, error_message="the document was deleted")
        if document.status != DocumentStatus.ARCHIVED:
            self._library.withdraw_document(self.document(document_id))
        return self.document(document_id)

    def _address(self, url: str, said: Said) -> Submission:
        if not self._library.settings.jobs.allow_urls:
            raise InvalidSource(
                "documents are not fetched from the web here", hint="Upload it, or set jobs.allow_urls to true."
            )
        plain = url.partition("#")[0]
        self._policy.target(plain)
        return _submission(plain, said)

    def _uploaded(self, stored: Stored, said: Said) -> Submission:
        path = self._library.layout.relative(stored.path)
        url = f"upload:{stored.digest}/{stored.path.name}"
        return _submission(url, said, path=path, file_hash=stored.digest, file_size=stored.size)

    def _register(self, submission: Submission, said: Said, suffix: str = "") -> Ticket:
        self._check_room()
        known = self._submissions.by_url(submission.url)
        job = Job(str(uuid4()), known.id if known else submission.id, force=said.force)
        if not self._submissions.submit(submission, job):
            self._resubmit(job, submission, said)
        if self._runner:
            self._runner.wake()
        kept = self.job(job.id)
        log("jobs", logging.INFO, "submitted", job=kept.id, document=kept.document_id)
        return Ticket(kept, self.document(kept.document_id), self._estimate(submission.file_size, suffix))

    def _resubmit(self, job: Job, submission: Submission, said: Said) -> None:
        known = self._submissions.by_url(submission.url)
        if known is None:
            raise Unavailable("the catalog changed in the meantime", hint="Submit the document again.")
        if not said.force or not self._submissions.resubmit(replace(job, document_id=known.id)):
            raise _exists(known, busy=said.force)
        here: dict[str, Any] = {"path": submission.path, "file_size": submission.file_size} if submission.path else {}
        self._submissions.change(
            known.id, metadata={**known.metadata, **said.kept}, format=said.format or known.format, **here
        )

    def _check_room(self) -> None:
        waiting = self._submissions.waiting()
        if waiting >= self._library.settings.jobs.queued:
            raise QueueFull(f"{waiting:,} documents are waiting already", hint="Submit it again in a while.")

    def _estimate(self, size: int, suffix: str) -> int | None:
        tokens = self._library.settings.chunking.target_tokens
        return -(-size // (tokens * _CHARACTERS_A_TOKEN)) if suffix in _PLAIN and size else None

    @property
    def _submissions(self) -> Submissions:
        return self._library.stores.catalog.submissions


def _submission(url: str, said: Said, **values: Any) -> Submission:  # noqa: ANN401
    author = str(said.metadata.get("author", ""))
    return Submission(str(uuid4()), url, said.title, said.format, author, metadata=said.kept, **values)


def _exists(known: Submission, *, busy: bool = False) -> DocumentExists:
    if busy:
        return DocumentExists(f"document {known.id!r} is being taken in", hint="Wait for its job, or cancel that.")
    return DocumentExists(
        f"the document is known as {known.id!r}", hint="Set force to have it read again, or delete it first."
    )


def _is_word(tag: object) -> bool:
    return isinstance(tag, str) and bool(tag.strip()) and len(tag) <= _LONGEST_TITLE and tag.isprintable()
