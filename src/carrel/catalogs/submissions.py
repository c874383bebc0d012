"""Documents on their way in, and the jobs that take them in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection

    from carrel.types.service import DocumentStatus, Job, JobStatus, Submission


@runtime_checkable
class Submissions(Protocol):
    """Each method is one transaction. Times are the catalog's to say."""

    def submit(self, submission: Submission, job: Job) -> bool:
        """Register a document and its job, both or neither; False, and nothing changed, if its url is known.

        One that was archived, or failed, is registered anew under its old id.
        """
        ...

    def resubmit(self, job: Job) -> bool:
        """Register a further job for a known document; False if one of its jobs is not over."""
        ...

    def change(self, document_id: str, *, among: Collection[DocumentStatus] | None = None, **values: Any) -> bool:  # noqa: ANN401
        """Set these fields of a document; `ingested_at` when it becomes active.

        False, and nothing changed, if there is none, or its status is not among these.
        """
        ...

    def forsake(self, reason: str) -> int:
        """Declare those documents failed that are on their way in without a job that is not over; how many."""
        ...

    def advance(self, job_id: str, **values: Any) -> bool:  # noqa: ANN401
        """Set these fields of a job that is not over, and its times; False if it is over, or there is none."""
        ...

    def document(self, document_id: str) -> Submission | None: ...

    def by_url(self, url: str) -> Submission | None: ...

    def by_paper(self, paper_id: str) -> list[Submission]: ...

    def by_hash(self, file_hash: str) -> list[Submission]:
        """Those of these bytes that are neither failed nor archived."""
        ...

    def documents(
        self, *, statuses: Collection[DocumentStatus] | None = None, limit: int = 100, after: str = ""
    ) -> list[Submission]:
        """The latest first; `after` is the id of the last that was seen."""
        ...

    def job(self, job_id: str) -> Job | None: ...

    def jobs(
        self,
        *,
        document_id: str = "",
        statuses: Collection[JobStatus] | None = None,
        limit: int = 100,
        oldest_first: bool = False,
    ) -> list[Job]:
        """The latest first, unless they are wanted in the order in which they came."""
        ...

    def waiting(self) -> int:
        """How many jobs are not over."""
        ...

    def beat(self, worker: str) -> None:
        """Note that a worker is alive, at this moment of the catalog's clock."""
        ...

    def silent(self, seconds: float) -> list[str]:
        """Workers that have not been heard of for so long; they are not told twice until they beat again."""
        ...

    def leave(self, worker: str) -> None:
        """Forget a worker that has stopped as it should."""
        ...
