"""`carrel worker`, and what becomes of a worker whose database goes away."""

from __future__ import annotations

import base64
import io
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from dbos import _recovery

from carrel import Library
from carrel.cli.app import run
from carrel.errors import StoreUnavailable
from carrel.jobs import Ingestion, Said, course, faults, heart, runner
from carrel.testing import HashedWords
from carrel.types.service import DocumentStatus
from tests import servers
from tests.jobs.documents import GRANITE, is_sound, taken_in, until, upload
from tests.jobs.test_ingestion import Gated
from tests.jobs.working import Worker, ended

pytestmark = pytest.mark.usefixtures("reading_here")


def test_a_worker_takes_in_what_is_waiting_and_ends_when_told_to_drain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Library.init(tmp_path) as library:
        ticket = upload(Ingestion(library))
        assert run(["-C", str(tmp_path), "worker", "--drain", "--concurrent", "1"]) == 0
        assert capsys.readouterr() == ("", f"Taking in documents of {tmp_path}\n")
        assert Ingestion(library).document(ticket.document.id).status == DocumentStatus.ACTIVE
        assert is_sound(library)


def test_a_worker_that_may_take_in_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Library.init(tmp_path).close()
    assert run(["-C", str(tmp_path), "--set", "jobs.concurrent=0", "worker"]) == 1
    assert "jobs.concurrent is 0" in capsys.readouterr().err


def test_a_polite_kill_ends_a_worker_in_peace(tmp_path: Path) -> None:
    Library.init(tmp_path).close()
    command = [sys.executable, "-m", "carrel", "-C", str(tmp_path), "worker"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == f"Taking in documents of {tmp_path}\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert (process.wait(30), process.stderr.read()) == (0, "")


def test_a_planted_pickle_is_not_opened(tmp_path: Path) -> None:
    """FIELD 5.2, 14: a library from elsewhere may bring a jobs.db of its own."""

    class Bomb:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (tmp_path / "opened",))

    with Library.init(tmp_path, embedder=HashedWords()) as library:
        ingestion = Ingestion(library)
        ingestion.start()
        taken_in(ingestion, upload(ingestion))
        ingestion.stop()
        with closing(sqlite3.connect(library.layout.jobs)) as database:
            planted = base64.b64encode(pickle.dumps(Bomb())).decode()
            database.execute(
                "UPDATE workflow_status SET status = 'ENQUEUED', queue_name = 'ingest', serialization = 'py_pickle'"
            )
            database.execute("UPDATE workflow_input SET inputs = ?", [planted])
            assert database.total_changes == 2
            database.commit()
        ingestion = Ingestion(library)
        ingestion.start()
        ticket = ingestion.upload("other.md", io.BytesIO(b"# Other\n\nAnother text about rocks."), "", Said())
        taken_in(ingestion, ticket)
        ingestion.stop()
        assert not (tmp_path / "opened").exists()


def test_a_job_goes_on_when_its_database_is_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        starting = servers.postgresql_to_stop()
        server = starting.__enter__()
    except servers.CannotStart as reason:
        pytest.skip(str(reason))
    try:
        monkeypatch.setenv("CARREL_CATALOG", server.address)
        monkeypatch.setenv("CARREL_CATALOG_PASSWORD", servers.PASSWORD)
        # A step has one try, so that nothing but waiting helps, and asks the catalog whenever it could.
        monkeypatch.setenv("CARREL_JOBS__ATTEMPTS", "1")
        monkeypatch.setattr(course, "_TOLD", 0.0)
        monkeypatch.setattr(course, "_PAUSE", 0.2)
        passed: list[str] = []
        monkeypatch.setattr(faults, "reached", passed.append)
        embedder = Gated()
        with Library.init(tmp_path, embedder=embedder) as library:
            ingestion = Ingestion(library)
            ingestion.start()
            ticket = upload(ingestion)
            assert embedder.reached.wait(60)
            server.stop()
            embedder.open.set()
            with pytest.raises(StoreUnavailable):
                upload(ingestion, GRANITE.replace("hard", "soft"), "soft.md")
            until(lambda: passed.count("waited") >= 3)
            server.start()
            assert taken_in(ingestion, ticket).attempts == 1
            again = upload(ingestion, GRANITE.replace("hard", "soft"), "soft.md")
            taken_in(ingestion, again)
            ingestion.stop()
            assert is_sound(library)
    finally:
        starting.__exit__(None, None, None)


def test_what_cannot_be_taken_over_at_once_is_taken_over_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DBOS only logs why it could not put a job back, and goes on with the next."""
    recover, tries = _recovery._recover_workflow, count(1)

    def recover_the_third_time(*given: Any) -> Any:
        if next(tries) < 3:
            raise StoreUnavailable("the engine's database is away")
        return recover(*given)

    with Library.init(tmp_path, embedder=HashedWords()) as library:
        ingestion = Ingestion(library)
        ticket = upload(ingestion)
        assert ended(Worker(tmp_path, fault="embed").start()) == -signal.SIGKILL
        monkeypatch.setattr(_recovery, "_recover_workflow", recover_the_third_time)
        monkeypatch.setattr(heart, "BEAT", 0.2)
        ingestion.start()
        assert taken_in(ingestion, ticket).attempts == 2
        ingestion.stop()
        assert (next(tries), is_sound(library)) == (4, True)


def test_a_worker_whose_first_sign_of_life_is_lost_begins_anew(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat, tries = library.stores.catalog.submissions.beat, count(1)

    def lost_at_first(worker: str) -> None:
        if next(tries) == 1:
            raise StoreUnavailable("the catalog is away")
        beat(worker)

    monkeypatch.setattr(library.stores.catalog.submissions, "beat", lost_at_first)
    monkeypatch.setattr(runner, "_AGAIN", 0.1)
    ingestion = Ingestion(library)
    ingestion.start()
    assert taken_in(ingestion, upload(ingestion)).attempts == 1
    ingestion.stop()
    assert (ingestion.complaint, next(tries) > 2) == ("", True)


def test_documents_wait_for_a_database_that_is_not_there_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_CATALOG", "postgresql://nobody@127.0.0.1:1/nothing")
    with Library.init(tmp_path, embedder=HashedWords()) as library:
        ingestion = Ingestion(library)
        ingestion.start()
        deadline = time.monotonic() + 30
        while not ingestion.complaint and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "127.0.0.1" in ingestion.complaint
        with pytest.raises(StoreUnavailable):
            upload(ingestion)
        ingestion.stop()
