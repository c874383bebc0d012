"""DBOS, which remembers the steps of every workflow: on SQLite beside the library, or on the catalog's PostgreSQL.

A process runs one engine. What is kept of a job is its id and what its steps returned, as JSON.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from carrel.errors import Unavailable
from carrel.files import writing
from carrel.jobs.course import Lost, may_pass
from carrel.settings import catalog_server
from carrel.telemetry import log

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from pathlib import Path

    from dbos import DBOSConfig

    from carrel.library import Library

_QUEUE = "ingest"
_WORKFLOW = "take_in"
_REVISION = "1"
"""Of the workflow's steps. Jobs of another revision are left to processes that have it: change it only with these."""
_POLL = 0.5
_PAUSE = 1.0
"""Seconds before a step is tried again; twice as long each time."""
_CONNECTIONS = 6
_AT_ONCE = 500
ENDED = frozenset({"SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"})
"""How a workflow can have ended, whatever became of its job."""
_only_one = threading.Lock()
"""DBOS is one for a whole process."""


@dataclass(frozen=True)
class Database:
    """Where DBOS keeps its tables."""

    url: str
    schema: str | None = None

    @classmethod
    def of(cls, library: Library) -> Database:
        chosen, address = library.settings, catalog_server(library.settings.catalog)
        if not address:
            _prepare(library.layout.jobs)
            return cls(f"sqlite:///{library.layout.jobs}")
        # The user's password goes to no server that only the library's config names.
        is_ours = library.origins.get("catalog") != str(library.layout.config)
        password = chosen.catalog_password.get_secret_value() if is_ours else ""
        return cls(_url(address, password), f"carrel_{chosen.catalog_namespace or library.layout.namespace}_jobs")


class Engine:
    def __init__(self, database: Database, *, name: str, concurrent: int, attempts: int) -> None:
        self.name = name
        self._database = database
        self._concurrent = concurrent
        self._attempts = attempts

    def start(self, run: Callable[[str], str]) -> None:
        """Run whatever is in the queue, `run` being given the id of a job."""
        if not _only_one.acquire(blocking=False):
            raise Unavailable("this process takes in documents for another library already")
        try:
            self._launch(run)
        except BaseException:
            self.stop()
            raise

    def _launch(self, run: Callable[[str], str]) -> None:
        from dbos import DBOS

        _disarm()
        DBOS(config=self._config())
        self._workflow = DBOS.workflow(name=_WORKFLOW, max_recovery_attempts=None)(_named(run))
        DBOS.listen_queues([_QUEUE])
        DBOS.launch()
        self._keep_to_our_own_concurrency()
        DBOS.register_queue(
            _QUEUE, worker_concurrency=self._concurrent, polling_interval_sec=_POLL, on_conflict="always_update"
        )

    def _keep_to_our_own_concurrency(self) -> None:
        """What the database says of the queue is what the last worker said: each is to take no more than it can."""
        from dbos._dbos import _get_dbos_instance

        system = _get_dbos_instance()._sys_db
        load = system.get_queue

        def get_queue(name: str, **options: Any) -> Any:  # noqa: ANN401
            found = load(name, **options)
            if found is not None:
                found._worker_concurrency = self._concurrent
            return found

        system.get_queue = get_queue  # type: ignore[method-assign]

    def _config(self) -> DBOSConfig:
        from dbos import DBOSPortableJSONSerializer

        return {
            "name": "carrel",
            "system_database_url": self._database.url,
            "dbos_system_schema": self._database.schema or "dbos",
            "executor_id": self.name,
            "application_version": _REVISION,
            "serializer": DBOSPortableJSONSerializer(),
            "sys_db_pool_size": _CONNECTIONS,
            "use_listen_notify": False,
            "enable_otlp": False,
            "log_level": "CRITICAL",
        }

    def stop(self) -> None:
        from dbos import DBOS

        try:
            DBOS.destroy(destroy_registry=True)
        finally:
            _only_one.release()

    def step(self, name: str, work: Callable[[], Any]) -> Any:  # noqa: ANN401
        """Do something once. A failure that may pass is tried again; of the last try, `work` returns why it failed.

        So whatever is raised is the engine's own failure, and not the job's.
        """
        from dbos import DBOS, StepOptions, error

        options = StepOptions(
            name=name,
            retries_allowed=True,
            max_attempts=self._attempts,
            interval_seconds=_PAUSE,
            should_retry=may_pass,
        )
        try:
            return DBOS.run_step(options, work)
        except (Exception, error.DBOSWorkflowConflictIDError, error.DBOSWorkflowCancelledError) as failure:
            raise Lost from failure

    def enqueue(self, job_ids: Iterable[str]) -> None:
        """Each once, whoever else does the same."""
        from dbos import DBOS, SetWorkflowID

        for job_id in job_ids:
            with SetWorkflowID(job_id):
                DBOS.enqueue_workflow(_QUEUE, self._workflow, job_id)

    def take_over(self, workers: Collection[str]) -> list[str]:
        """Put what these were at when they died back into the queue; whoever asks twice changes nothing."""
        from dbos import DBOS

        # The one call that looks whose a workflow is and puts it back in the same step. What it fails at it leaves.
        taken = [handle.workflow_id for handle in DBOS._recover_pending_workflows(list(workers))]
        left = DBOS.list_workflows(
            status="PENDING",
            executor_id=list(workers),
            app_version=_REVISION,
            limit=1,
            load_input=False,
            load_output=False,
        )
        if left:
            raise Unavailable(f"job {left[0].workflow_id!r} of a worker that died could not be taken over")
        return taken

    def begin_again(self, job_id: str) -> None:
        from dbos import DBOS

        DBOS.resume_workflow(job_id, queue_name=_QUEUE)

    def forget(self, before: str) -> None:
        """What ended before a time, as ISO 8601 has it, some at a time: the catalog knows how."""
        from dbos import DBOS

        old = DBOS.list_workflows(
            status=sorted(ENDED), end_time=before, limit=_AT_ONCE, load_input=False, load_output=False
        )
        if old:
            DBOS.delete_workflows([one.workflow_id for one in old])

    def begun(self) -> set[str]:
        """The jobs that this worker has, as far as the engine knows."""
        from dbos import DBOS

        found = DBOS.list_workflows(
            status="PENDING", executor_id=self.name, app_version=_REVISION, load_input=False, load_output=False
        )
        return {one.workflow_id for one in found}

    def states(self, job_ids: Collection[str]) -> Mapping[str, str]:
        """Of those jobs that the engine knows: how far it is with them."""
        from dbos import DBOS

        found = DBOS.list_workflows(workflow_ids=list(job_ids), load_input=False, load_output=False) if job_ids else []
        return {one.workflow_id: one.status for one in found}


def _named(run: Callable[[str], str]) -> Callable[[str], str]:
    def take_in(job_id: str) -> str:
        return run(job_id)

    return take_in


def _disarm() -> None:
    """Nothing that lies in a database is unpickled, and DBOS's own log is not printed."""
    from dbos import _serialization

    def refuse(_self: object, _serialized: str) -> NoReturn:
        raise ValueError("pickled data is not read")

    _serialization.DefaultSerializer.deserialize = refuse  # type: ignore[assignment]
    silent = logging.getLogger("dbos")
    silent.propagate = False
    silent.handlers = [logging.NullHandler()]


def _url(address: str, password: str) -> str:
    from sqlalchemy import make_url

    given = make_url(address)
    made = given.set(drivername="postgresql+psycopg", database=given.database or given.username)
    return (made.set(password=password) if password else made).render_as_string(hide_password=False)


def _prepare(path: Path) -> None:
    """Several processes write to it; one that is broken is made anew, the catalog being the one that knows."""
    try:
        _use_log(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise Unavailable(f"cannot open {str(path)!r}: {error}") from error
        log("jobs", logging.WARNING, "made anew", path=str(path), reason=str(error))
        for name in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            with suppress(FileNotFoundError):
                name.unlink()
        _use_log(path)


def _use_log(path: Path) -> None:
    with writing(path), closing(sqlite3.connect(path, timeout=30)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("SELECT count(*) FROM sqlite_master").fetchone()
