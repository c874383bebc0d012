"""Many who write at once, from machines that share nothing but servers: nothing is lost, and nothing is twice."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.process import BaseProcess
from pathlib import Path
from zlib import crc32

import pytest

from carrel import Library
from carrel.databases.advisory import AdvisoryLocks
from carrel.errors import LibraryBusy, StoreUnavailable
from carrel.ingest.stepwise import Wanted
from carrel.jobs import Ingestion
from carrel.locking import Lock
from carrel.testing import HashedWords
from carrel.types.service import DocumentStatus, JobStatus
from tests import servers
from tests.congruence.fleet import PASSWORDS, Shared
from tests.jobs.documents import is_sound, long_text, taken_in, upload
from tests.jobs.working import Worker, ended

KILLED = -signal.SIGKILL


@pytest.fixture
def shared(
    request: pytest.FixtureRequest,
    postgresql_server: servers.Server,
    milvus_server: servers.Server,
    bolt_server: servers.Server,
) -> Shared:
    name = f"w{crc32(request.node.name.encode())}"
    return Shared.on(postgresql_server.address, milvus_server.address, bolt_server.address, name)


@pytest.fixture
def here(shared: Shared, tmp_path: Path) -> Iterator[Library]:
    with shared.machine(tmp_path / "here", uploads=tmp_path / "uploads", embedder=HashedWords()) as library:
        yield library


@pytest.fixture
def there(shared: Shared, here: Library, tmp_path: Path) -> Iterator[Library]:
    with shared.machine(tmp_path / "there", uploads=tmp_path / "uploads", embedder=HashedWords()) as library:
        yield library


def worker(library: Library, shared: Shared, host: str, **told: object) -> Worker:
    variables = tuple({**shared.variables, **PASSWORDS}.items())
    return Worker(library.layout.root.parent, variables=variables, host=host, **told)  # type: ignore[arg-type]


def test_workers_of_two_machines_share_the_work_and_nothing_is_done_twice(
    here: Library, there: Library, shared: Shared
) -> None:
    idle = Ingestion(here)
    tickets = [upload(idle, long_text(2, f"rock {number}"), f"rock{number}.md") for number in range(4)]
    assert [ended(one) for one in both_at_work(here, there, shared)] == [0, 0]
    assert [idle.job(ticket.job.id).attempts for ticket in tickets] == [1] * 4
    assert {idle.document(ticket.document.id).status for ticket in tickets} == {DocumentStatus.ACTIVE}
    for library in (here, there):
        assert len(library.list()) == 4
        assert is_sound(library)
        assert library.search("sample of rock 3", limit=1).passages


def test_a_worker_that_is_killed_is_replaced_by_one_of_another_machine(
    here: Library, there: Library, shared: Shared
) -> None:
    """Its lock dies with it, its silence tells the others, and what it had embedded is embedded again there."""
    idle = Ingestion(here)
    ticket = upload(idle, long_text(3))
    first = worker(here, shared, "here", fault="graph written", silent=2.0).start()
    assert ended(first) == KILLED
    second = worker(there, shared, "there", silent=2.0).start()
    assert ended(second) == 0
    job = idle.job(ticket.job.id)
    assert (job.status, job.attempts) == (JobStatus.COMPLETE, 2)
    assert is_sound(there)


def test_an_upload_that_another_machine_keeps_to_itself_fails_with_the_reason(shared: Shared, tmp_path: Path) -> None:
    with (
        shared.machine(tmp_path / "here", embedder=HashedWords()) as here,
        shared.machine(tmp_path / "there", embedder=HashedWords()) as there,
    ):
        ticket = upload(Ingestion(here))
        assert ended(worker(there, shared, "there").start()) == 0
        job = Ingestion(here).job(ticket.job.id)
        assert job.status == JobStatus.FAILED
        assert job.error_message == (
            "the copy of 'granite.md' that was sent is not on the machine of the worker that was to read it. "
            "Workers on several machines need one folder 'uploads' in the library's directory: share that, and submit "
            "the document again."
        )
        assert here.list() == []


def test_two_machines_write_at_the_same_time(here: Library, there: Library) -> None:
    """Each is in the middle of a paper while the other is: one lock for both would never let them meet."""
    meeting = threading.Barrier(2, timeout=30)
    for library, name in ((here, "basalt"), (there, "granite")):
        upload(Ingestion(library), long_text(2, name), f"{name}.md")

    def at(point: str) -> None:
        if point == "write":
            meeting.wait()

    def put(library: Library, paper_id: str) -> None:
        library.index_document(paper_id, at)

    for library in (here, there):
        _kept(library)
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(put, here, "basalt"), pool.submit(put, there, "granite")]:
            done.result(60)
    assert {row.reference.id for row in there.list() if row.indexed} == {"basalt", "granite"}
    assert is_sound(here)


def _kept(library: Library) -> None:
    """Read and embed whatever is waiting, as a worker would, up to where it is written."""
    submissions = library.stores.catalog.submissions
    for document in submissions.documents(statuses=[DocumentStatus.PENDING]):
        path = library.layout.root.parent / document.path
        if document.paper_id or not path.exists():
            continue
        taken = library.read_document(Wanted(path, path.read_bytes()), lambda _: None)
        library.embed_document(taken.paper_id, lambda *_: None)


def test_documents_of_one_name_do_not_become_one_paper(here: Library, there: Library) -> None:
    """Which name is free is told to one at a time."""

    def read(library: Library, number: int) -> str:
        path = library.layout.root.parent / str(number) / "rock.md"
        wanted = Wanted(path, long_text(1, f"rock {number}").encode())
        return library.read_document(wanted, lambda _: None).paper_id

    with ThreadPoolExecutor(4) as pool:
        named = sorted(pool.map(read, (here, there, here, there), range(4)))
    assert (named[0], len({*named})) == ("rock", 4)


def test_who_writes_alone_waits_for_all_others_and_they_for_it(here: Library, there: Library) -> None:
    with here.lock.beside("paper a", timeout=1), there.lock.beside("paper b", timeout=1):
        with pytest.raises(LibraryBusy, match="another process is writing"):
            there.lock.alone(timeout=0.2).__enter__()
        with pytest.raises(LibraryBusy):
            there.lock.beside("paper a", timeout=0.2).__enter__()
    with here.lock.alone(timeout=1):
        with pytest.raises(LibraryBusy):
            there.lock.beside("paper a", timeout=0.2).__enter__()
        with pytest.raises(LibraryBusy):
            there.lock.alone(timeout=0.2).__enter__()
    with there.lock.alone(timeout=1) as check:
        check()


def test_a_library_of_files_has_one_writer_whatever_its_catalog(
    postgresql_server: servers.Server, tmp_path: Path
) -> None:
    settings = {"catalog": postgresql_server.address, "catalog_namespace": "one_writer"}
    with Library.init(tmp_path, overrides=settings, embedder=HashedWords()) as library:
        assert not library.lock.side_by_side
        with library.lock.beside("paper a", timeout=1), pytest.raises(LibraryBusy):
            library.lock.beside("paper b", timeout=0.2).__enter__()


def test_a_lock_that_was_lost_is_noticed() -> None:
    with servers.postgresql_to_stop() as server:
        locks = AdvisoryLocks(server.address, "lost", servers.PASSWORD)
        with locks.held([Lock("library")], timeout=1) as check:
            check()
            server.stop()
            with pytest.raises(StoreUnavailable, match="cannot lock 'lost' on"):
                check()
        with pytest.raises(StoreUnavailable, match="refused"):
            locks.held([Lock("library")], timeout=1).__enter__()
        server.start()
        with locks.held([Lock("library")], timeout=1) as check:
            check()


def test_writers_beside_each_other_lose_nothing(here: Library, there: Library, shared: Shared) -> None:
    """Six papers, put and replaced by workers of two machines, two at a time each, and partly deleted meanwhile."""
    idle = [Ingestion(here), Ingestion(there)]
    tickets = [upload(idle[number % 2], long_text(2, f"rock {number}"), f"rock{number}.md") for number in range(6)]
    assert [ended(one) for one in both_at_work(here, there, shared)] == [0, 0]
    for number, ticket in enumerate(tickets):
        taken_in(idle[number % 2], ticket)
    again = [tickets[number] for number in range(1, 6, 3)]
    forced = [
        upload(idle[1], long_text(2, f"rock {number}"), f"rock{number}.md", force=True) for number in range(1, 6, 3)
    ]
    workers = both_at_work(here, there, shared)
    with ThreadPoolExecutor(2) as deleting:
        gone = [tickets[number].document.id for number in range(0, 6, 3)]
        for done in [deleting.submit(one.delete, document) for one, document in zip(idle, gone, strict=True)]:
            done.result(60)
    assert [ended(one) for one in workers] == [0, 0]
    for ticket in forced:
        taken_in(idle[0], ticket)
    assert [ticket.document.id for ticket in forced] == [ticket.document.id for ticket in again]
    for library in (here, there):
        assert {row.reference.id for row in library.list()} == {f"rock{number}" for number in range(6) if number % 3}
        assert is_sound(library)
        assert library.stores.vectors.count() == len(library.stores.catalog.addresses())


def both_at_work(here: Library, there: Library, shared: Shared) -> list[BaseProcess]:
    """A worker of each machine, in processes of their own: one process has one engine."""
    return [worker(library, shared, host).start() for library, host in ((here, "here"), (there, "there"))]
