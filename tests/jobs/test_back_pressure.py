"""Work that waits: for a server of models that is slow, busy or away, and for a place in the queue."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from carrel import Library
from carrel.errors import QueueFull
from carrel.jobs import Ingestion
from carrel.testing import HashedWords
from carrel.types.service import JobStatus
from tests.embedders.test_ollama import Reply, Serve, _impatient, serve
from tests.embedders.test_openai import openai
from tests.jobs.documents import finished, is_sound, long_text, taken_in, until, upload
from tests.jobs.test_ingestion import Gated
from tests.jobs.working import Worker, ended

__all__ = ["_impatient", "serve"]
pytestmark = pytest.mark.usefixtures("reading_here")


class Overworked:
    """Answers one at a time, and refuses whoever comes meanwhile."""

    def __init__(self, seconds: float = 0.1) -> None:
        self._seconds = seconds
        self._busy = threading.Lock()
        self.refused = 0
        self.answered = 0

    def __call__(self, path: str, question: Any) -> Reply:
        if not self._busy.acquire(blocking=False):
            self.refused += 1
            return Reply({"error": {"message": "too many requests"}}, 429)
        try:
            time.sleep(self._seconds)
            self.answered += 1
            return openai(path, question)
        finally:
            self._busy.release()


def asking(url: str, **others: Any) -> dict[str, Any]:
    return {"embedder": "openai:small", "models.base_url": f"{url}/v1", "models.dimensions": 64, **others}


@contextmanager
def at_work(folder: Path, settings: dict[str, Any]) -> Iterator[tuple[Library, Ingestion]]:
    with Library.init(folder, overrides=settings) as library:
        ingestion = Ingestion(library)
        ingestion.start()
        yield library, ingestion
        ingestion.stop()


def test_workers_that_share_an_overworked_server_slow_down_and_lose_no_document(tmp_path: Path, serve: Serve) -> None:
    script = Overworked()
    settings = asking(serve(script).url, **{"jobs.concurrent": 3})
    with at_work(tmp_path, settings) as (library, ingestion):
        tickets = [upload(ingestion, long_text(2, f"rock {number}"), f"rock{number}.md") for number in range(5)]
        assert [taken_in(ingestion, ticket).attempts for ticket in tickets] == [1] * 5
        assert script.refused > 0
        assert len(library.list()) == 5
        assert is_sound(library)


@pytest.mark.parametrize(
    ("status", "words"), [(429, "later"), (503, "later"), (500, "out of memory"), (401, "who?"), (404, "no such model")]
)
def test_a_server_that_does_nothing_for_anybody_is_waited_for(
    tmp_path: Path, serve: Serve, status: int, words: str
) -> None:
    """Longer than a single request insists; what waits says so."""
    opened = threading.Event()

    def busy(path: str, question: Any) -> Reply:
        return openai(path, question) if opened.is_set() else Reply({"error": {"message": words}}, status)

    with at_work(tmp_path, asking(serve(busy).url)) as (library, ingestion):
        ticket = upload(ingestion)
        until(lambda: ingestion.job(ticket.job.id).current_step == "wait")
        opened.set()
        assert taken_in(ingestion, ticket).attempts == 1
        assert is_sound(library)


def test_a_server_that_stays_busy_fails_the_document_with_its_own_words(tmp_path: Path, serve: Serve) -> None:
    server = serve(lambda *_: Reply({"error": {"message": "no more today"}}, 429))
    with at_work(tmp_path, asking(server.url, **{"jobs.step_seconds": 1, "jobs.attempts": 1})) as (library, ingestion):
        job = finished(ingestion, upload(ingestion))
        assert job.status == JobStatus.FAILED
        assert "answered 429: no more today" in job.error_message
        assert library.list() == []


def test_a_text_that_is_refused_fails_at_once(tmp_path: Path, serve: Serve) -> None:
    def picky(path: str, question: Any) -> Reply:
        if any("granite" in text.lower() for text in question["input"]):
            return Reply({"error": {"message": "not this one"}}, 422)
        return openai(path, question)

    with at_work(tmp_path, asking(serve(picky).url)) as (_, ingestion):
        start = time.monotonic()
        job = finished(ingestion, upload(ingestion))
        assert (job.status, time.monotonic() - start < 20) == (JobStatus.FAILED, True)
        assert "not this one" in job.error_message


def test_a_job_that_waits_for_a_server_can_be_cancelled(tmp_path: Path, serve: Serve) -> None:
    server = serve(lambda *_: Reply({"error": {"message": "later"}}, 503))
    with at_work(tmp_path, asking(server.url)) as (library, ingestion):
        ticket = upload(ingestion)
        until(lambda: ingestion.job(ticket.job.id).current_step == "wait")
        ingestion.cancel(ticket.job.id)
        assert finished(ingestion, ticket).status == JobStatus.CANCELLED
        assert library.list() == []


def test_each_worker_takes_no_more_at_a_time_than_it_was_told(tmp_path: Path) -> None:
    """Whatever another worker of the same queue was told, and whichever of them began first."""
    embedder = Gated()
    overrides = {"jobs.concurrent": 1}
    with Library.init(tmp_path, embedder=embedder, overrides=overrides) as library:
        first = Ingestion(library)
        tickets = [upload(first, long_text(1, f"rock {number}"), f"rock{number}.md") for number in range(5)]
        first.start()
        assert embedder.reached.wait(60)
        other = Worker(tmp_path, variables=(("CARREL_JOBS__CONCURRENT", "2"),), slowly=6.0).start()
        begun = [JobStatus.CHUNKING, JobStatus.EMBEDDING, JobStatus.EXTRACTING]
        until(lambda: len(library.stores.catalog.submissions.jobs(statuses=begun)) == 3)
        # Time enough for both to look again at what the queue has for them.
        time.sleep(1.0)
        assert (first.running, len(library.stores.catalog.submissions.jobs(statuses=begun))) == (1, 3)
        embedder.open.set()
        for ticket in tickets:
            taken_in(first, ticket)
        assert ended(other) == 0
        first.stop()
        assert is_sound(library)


def test_the_queue_lets_in_no_more_than_it_may_hold(tmp_path: Path) -> None:
    with Library.init(tmp_path, embedder=HashedWords(), overrides={"jobs.queued": 2}) as library:
        idle = Ingestion(library)
        for number in range(2):
            upload(idle, long_text(1, f"rock {number}"), f"rock{number}.md")
        with pytest.raises(QueueFull, match="2 documents are waiting already"):
            upload(idle, long_text(1, "rock 3"), "rock3.md")
