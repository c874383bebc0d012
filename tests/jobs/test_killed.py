"""Workers that are killed, at every step, on every database that keeps jobs: nothing is lost, and nothing is twice."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from carrel import Library
from carrel.jobs import Ingestion
from carrel.testing import HashedWords
from carrel.types.service import DocumentStatus, JobStatus
from tests import servers
from tests.jobs.documents import is_sound, long_text, until, upload
from tests.jobs.working import Worker, ended

pytestmark = pytest.mark.usefixtures("reading_here")

POINTS = (
    "fetch",
    "fetched",
    "read",
    "keep",
    "kept",
    "noted",
    "embed",
    "embedding",
    "embedded",
    "index",
    "write",
    "graph written",
    "indexes written",
    "indexed",
    "active",
    "complete",
)
"""In the order in which a document passes them."""
KILLED = -signal.SIGKILL
TEXT = long_text(6)


@dataclass
class Home:
    """Where libraries of one kind are made."""

    folder: Path
    settings: Mapping[str, str]

    def make(self, name: str) -> Library:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        if not (folder / ".carrel").exists():
            Library.init(folder).close()
        with pytest.MonkeyPatch.context() as patch:
            for key, value in self.settings.items():
                patch.setenv(key, value)
            return Library.open(folder, embedder=HashedWords())

    def worker(self, library: Library, variables: Mapping[str, str] | None = None, **told: Any) -> Worker:
        every = {**self.settings, **(variables or {})}
        return Worker(library.layout.root.parent, variables=tuple(every.items()), **told)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "sqlite":
        return Home(folder, {})
    server: servers.Server = request.getfixturevalue("postgresql_server")
    return Home(folder, {"CARREL_CATALOG": server.address, "CARREL_CATALOG_PASSWORD": servers.PASSWORD})


@dataclass(frozen=True)
class Outcome:
    exits: tuple[int | None, int | None]
    status: DocumentStatus
    job: JobStatus
    attempts: int
    is_sound: bool
    content: str
    papers: tuple[str, ...]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Of a document whose first worker dies at a point, and whose second does not; all points at once."""
    home = Home(tmp_path_factory.mktemp("points"), {})
    libraries = {point: home.make(point.replace(" ", "_")) for point in ("", *POINTS)}
    tickets = {point: upload(Ingestion(library), TEXT) for point, library in libraries.items()}
    exits: dict[str, list[int | None]] = {point: [] for point in libraries}
    for fault in (True, False):
        running = {
            point: home.worker(library, fault=point if fault else "").start() for point, library in libraries.items()
        }
        for point, process in running.items():
            exits[point].append(ended(process))
    made = {}
    for point, library in libraries.items():
        idle, ticket = Ingestion(library), tickets[point]
        job = idle.job(ticket.job.id)
        made[point] = Outcome(
            (exits[point][0], exits[point][1]),
            idle.document(ticket.document.id).status,
            job.status,
            job.attempts,
            is_sound(library),
            content_of(library),
            tuple(row.reference.id for row in library.list()),
        )
        library.close()
    return made


def content_of(library: Library) -> str:
    """All that the stores hold, as one digest."""
    stores, whole = library.stores, hashlib.sha256()
    for chunk in stores.catalog.chunks_of([row.reference.id for row in library.list()]):
        vector = stores.vectors.get(chunk.address)
        whole.update(f"{chunk.address}\0{chunk.text}\0".encode() + (vector.tobytes() if vector is not None else b""))
    whole.update("\0".join(sorted(stores.keywords.addresses())).encode())
    whole.update(repr(stores.graph.size()).encode())
    return whole.hexdigest()


@pytest.mark.parametrize("point", POINTS)
def test_a_document_whose_worker_is_killed_is_finished_by_the_next(outcomes: dict[str, Outcome], point: str) -> None:
    got, undisturbed = outcomes[point], outcomes[""]
    begun = 1 if point == "complete" else 2
    assert got.exits == (KILLED, 0)
    assert (got.status, got.job, got.attempts) == (DocumentStatus.ACTIVE, JobStatus.COMPLETE, begun)
    assert got.papers == undisturbed.papers == ("granite",)
    assert got.is_sound
    assert got.content == undisturbed.content


@pytest.mark.parametrize("home", ["postgresql"], indirect=True)
def test_a_row_of_workers_that_die_one_by_one_loses_no_document(home: Home) -> None:
    """Each dies at another point, with a document of its own and whatever those before it have left."""
    with home.make("row") as library:
        idle, patient = Ingestion(library), {"CARREL_JOBS__ATTEMPTS": "100"}
        tickets = []
        for number, point in enumerate(POINTS):
            tickets.append(upload(idle, long_text(2, f"rock {number}"), f"rock{number}.md"))
            assert ended(home.worker(library, patient, fault=point).start()) == KILLED
        assert ended(home.worker(library, patient).start()) == 0
        assert {idle.document(ticket.document.id).status for ticket in tickets} == {DocumentStatus.ACTIVE}
        assert {idle.job(ticket.job.id).status for ticket in tickets} == {JobStatus.COMPLETE}
        assert len(library.list()) == len(POINTS)
        assert is_sound(library)


def test_a_document_that_kills_every_worker_is_set_aside(home: Home) -> None:
    with home.make("poison") as library:
        idle = Ingestion(library)
        ticket = upload(idle, TEXT)
        worker = home.worker(library, {"CARREL_JOBS__ATTEMPTS": "2"}, fault="embedded")
        assert [ended(worker.start()) for _ in range(3)] == [KILLED, KILLED, 0]
        job, document = idle.job(ticket.job.id), idle.document(ticket.document.id)
        assert (job.status, document.status) == (JobStatus.FAILED, DocumentStatus.FAILED)
        assert document.error_message == "set aside after 2 attempts; the last one ended in 'embed'"
        assert library.list() == []
        assert is_sound(library)


def test_another_worker_finishes_what_one_that_is_killed_was_at(home: Home) -> None:
    """They believe to be on two machines, so that only silence tells."""
    with home.make("two") as library:
        ticket = upload(Ingestion(library), TEXT)
        idle = Ingestion(library)
        first = home.worker(library, host="here", slowly=30.0, silent=2.0).start()
        until(lambda: idle.job(ticket.job.id).status == JobStatus.EMBEDDING)
        second = home.worker(library, host="there", silent=2.0).start()
        time.sleep(1.0)
        assert first.pid is not None
        os.kill(first.pid, signal.SIGKILL)
        killed = time.monotonic()
        assert (ended(first), ended(second)) == (KILLED, 0)
        assert time.monotonic() - killed < 20
        job = idle.job(ticket.job.id)
        assert (job.status, job.attempts) == (JobStatus.COMPLETE, 2)
        assert is_sound(library)


def test_a_worker_that_was_taken_to_be_dead_and_goes_on_after_all_changes_nothing(home: Home) -> None:
    """Halted while it embeds, by the system perhaps, until another has finished what it was at."""
    with home.make("stopped") as library:
        idle = Ingestion(library)
        ticket = upload(idle, TEXT)
        first = home.worker(library, host="here", slowly=3.0, silent=2.0).start()
        assert first.pid is not None
        until(lambda: idle.job(ticket.job.id).status == JobStatus.EMBEDDING)
        halt(first.pid, library)
        second = home.worker(library, host="there", silent=2.0).start()
        try:
            assert ended(second) == 0
            finished, document = idle.job(ticket.job.id), idle.document(ticket.document.id)
            assert (finished.status, finished.attempts) == (JobStatus.COMPLETE, 2)
            content = content_of(library)
        finally:
            os.kill(first.pid, signal.SIGCONT)
        assert ended(first) == 0
        assert (idle.job(ticket.job.id), idle.document(ticket.document.id)) == (finished, document)
        assert (document.status, document.error_message) == (DocumentStatus.ACTIVE, "")
        assert [row.reference.id for row in library.list()] == [document.paper_id]
        assert content_of(library) == content
        assert is_sound(library)


def halt(process_id: int, library: Library) -> None:
    """At any moment, but not while it writes to a file: nobody could then until it goes on. A server can tell."""
    layout = library.layout
    files = [layout.database, layout.jobs] if library.settings.catalog == "sqlite" else []
    while True:
        os.kill(process_id, signal.SIGSTOP)
        if not any(map(is_locked, files)):
            return
        os.kill(process_id, signal.SIGCONT)
        time.sleep(0.05)


def is_locked(path: Path) -> bool:
    with closing(sqlite3.connect(path, timeout=0.5, isolation_level=None)) as database:
        try:
            database.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        return False


def test_several_workers_share_the_work_and_nothing_is_done_twice(home: Home) -> None:
    with home.make("several") as library:
        idle = Ingestion(library)
        tickets = [upload(idle, long_text(2, f"rock {number}"), f"rock{number}.md") for number in range(4)]
        workers = [home.worker(library).start() for _ in range(2)]
        assert [ended(one) for one in workers] == [0, 0]
        assert [idle.job(ticket.job.id).attempts for ticket in tickets] == [1] * 4
        assert {idle.document(ticket.document.id).status for ticket in tickets} == {DocumentStatus.ACTIVE}
        assert len(library.list()) == 4
        assert is_sound(library)
