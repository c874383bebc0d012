"""Documents on their way in, in dictionaries."""

from __future__ import annotations

from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, Any

from carrel.catalogs.times import earlier, now
from carrel.types.service import DocumentStatus, JobStatus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from carrel.types.service import Job, Submission

_GONE = frozenset({DocumentStatus.FAILED, DocumentStatus.ARCHIVED})
_ON_THEIR_WAY = frozenset({DocumentStatus.PENDING, DocumentStatus.PROCESSING})


class MemorySubmissions:
    def __init__(self) -> None:
        self._documents: dict[str, Submission] = {}
        self._jobs: dict[str, Job] = {}
        self._seen: dict[str, str] = {}
        self._lock = RLock()

    def submit(self, submission: Submission, job: Job) -> bool:
        with self._lock:
            before = self.by_url(submission.url)
            if before and (before.status not in _GONE or self._is_busy(before.id)):
                return False
            document_id, at = before.id if before else submission.id, now()
            registered = replace(submission, id=document_id, created_at=at, updated_at=at, ingested_at="")
            self._documents[document_id] = registered
            return self.resubmit(replace(job, document_id=document_id))

    def resubmit(self, job: Job) -> bool:
        with self._lock:
            if job.document_id not in self._documents or self._is_busy(job.document_id):
                return False
            self._jobs[job.id] = replace(job, created_at=now(), started_at="", completed_at="")
            return True

    def change(self, document_id: str, *, among: Collection[DocumentStatus] | None = None, **values: Any) -> bool:  # noqa: ANN401
        with self._lock:
            before = self._documents.get(document_id)
            if before is None or (among is not None and before.status not in among):
                return False
            at = now()
            active = {"ingested_at": at} if values.get("status") == DocumentStatus.ACTIVE else {}
            self._documents[document_id] = replace(before, **{**values, **active, "updated_at": at})
            return True

    def forsake(self, reason: str) -> int:
        with self._lock:
            pending = self.documents(statuses=_ON_THEIR_WAY, limit=len(self._documents))
            forsaken = [one.id for one in pending if not self._is_busy(one.id)]
            for document_id in forsaken:
                self.change(document_id, status=DocumentStatus.FAILED, error_message=reason)
            return len(forsaken)

    def advance(self, job_id: str, **values: Any) -> bool:  # noqa: ANN401
        with self._lock:
            job = self._jobs.get(job_id)
            if job is None or job.status.is_over:
                return False
            status, at = JobStatus(values.get("status", JobStatus.QUEUED)), now()
            begins = not job.started_at and status != JobStatus.QUEUED and not status.is_over
            started, completed = at if begins else job.started_at, at if status.is_over else ""
            self._jobs[job_id] = replace(job, **values, started_at=started, completed_at=completed)
            return True

    def document(self, document_id: str) -> Submission | None:
        return self._documents.get(document_id)

    def by_url(self, url: str) -> Submission | None:
        return next((one for one in self._latest() if one.url == url), None)

    def by_paper(self, paper_id: str) -> list[Submission]:
        return [one for one in self._latest() if one.paper_id == paper_id != ""]

    def by_hash(self, file_hash: str) -> list[Submission]:
        return [one for one in self._latest() if one.file_hash == file_hash != "" and one.status not in _GONE]

    def documents(
        self, *, statuses: Collection[DocumentStatus] | None = None, limit: int = 100, after: str = ""
    ) -> list[Submission]:
        found = [one for one in self._latest() if statuses is None or one.status in statuses]
        if after:
            seen = self._documents.get(after)
            found = [one for one in found if seen and (one.created_at, one.id) < (seen.created_at, seen.id)]
        return found[:limit]

    def job(self, job_id: str) -> Job | None:
        return self._jobs.get(job_id)

    def jobs(
        self,
        *,
        document_id: str = "",
        statuses: Collection[JobStatus] | None = None,
        limit: int = 100,
        oldest_first: bool = False,
    ) -> list[Job]:
        found = sorted(self._jobs.values(), key=lambda one: (one.created_at, one.id), reverse=not oldest_first)
        ours = [one for one in found if document_id in {"", one.document_id}]
        return [one for one in ours if statuses is None or one.status in statuses][:limit]

    def waiting(self) -> int:
        return sum(not job.status.is_over for job in self._jobs.values())

    def beat(self, worker: str) -> None:
        self._seen[worker] = now()

    def silent(self, seconds: float) -> list[str]:
        with self._lock:
            since = earlier(now(), seconds=seconds)
            silent = sorted(worker for worker, seen in self._seen.items() if seen <= since)
            for worker in silent:
                del self._seen[worker]
            return silent

    def leave(self, worker: str) -> None:
        self._seen.pop(worker, None)

    def _latest(self) -> Iterable[Submission]:
        return sorted(self._documents.values(), key=lambda one: (one.created_at, one.id), reverse=True)

    def _is_busy(self, document_id: str) -> bool:
        return any(job.document_id == document_id and not job.status.is_over for job in self._jobs.values())
