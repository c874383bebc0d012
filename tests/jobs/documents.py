"""Documents to take in, and waiting for what becomes of them."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable

from carrel import Library
from carrel.jobs import Ingestion, Said, Ticket
from carrel.jobs.addresses import Policy
from carrel.jobs.course import Course
from carrel.jobs.fetching import Fetcher
from carrel.types.service import Job, JobStatus

GRANITE = "# On granite\n\n## Hardness\n\nGranite is hard. It melts at about 1,215 degrees, as every smelter knows.\n"
BASALT = "# On basalt\n\n## Colour\n\nBasalt is dark and forms from lava. It does not float on water at all.\n"
_PATIENCE = 60.0


def long_text(sections: int, topic: str = "granite") -> str:
    """A paper of so many chunks, each of which says something else."""
    return f"# A treatise on {topic}\n\n" + "".join(
        f"## Section {number}\n\nSample {number} of {topic} weighed {number * 7} grams. "
        f"{f'It was cut in quarry {number} and polished by hand number {number}. ' * 12}\n\n"
        for number in range(1, sections + 1)
    )


class Inline(Ingestion):
    """Takes documents in by the same steps, without an engine: in this thread, or in one of its own."""

    def __init__(self, library: Library, policy: Policy | None = None) -> None:
        super().__init__(library, policy=policy)
        self._shelf = library
        self._runner = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self.work)
        self._thread.start()

    def stop(self, seconds: float = 10.0) -> None:
        if self._thread:
            self._thread.join(seconds)

    def work(self) -> None:
        for job in reversed(self._submissions.jobs(statuses=[JobStatus.QUEUED])):
            self._course.run(job.id)

    def again(self, ticket: Ticket) -> None:
        """Go on with what somebody was at who died."""
        self._course.run(ticket.job.id)

    @property
    def _course(self) -> Course:
        fetcher = Fetcher(1_000_000, 5.0, self._policy)
        return Course(self._shelf, lambda _name, work: work(), threading.Event(), fetcher)

    @property
    def running(self) -> int:
        return int(self._thread is not None and self._thread.is_alive())


def upload(ingestion: Ingestion, text: str = GRANITE, name: str = "granite.md", **said: object) -> Ticket:
    return ingestion.upload(name, io.BytesIO(text.encode()), "text/markdown", Said(**said))  # type: ignore[arg-type]


def finished(ingestion: Ingestion, ticket: Ticket) -> Job:
    if isinstance(ingestion, Inline) and not ingestion.running:
        ingestion.work()
    until(lambda: ingestion.job(ticket.job.id).status.is_over)
    # Whoever has ended a job may still be tidying up.
    until(lambda: not ingestion.running)
    return ingestion.job(ticket.job.id)


def taken_in(ingestion: Ingestion, ticket: Ticket) -> Job:
    job = finished(ingestion, ticket)
    assert (job.status, job.error_message) == (JobStatus.COMPLETE, "")
    return job


def until(true: Callable[[], bool], seconds: float = _PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def is_sound(library: Library) -> bool:
    return library.verify().problems == ()
