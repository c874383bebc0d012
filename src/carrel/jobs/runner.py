"""A worker: runs the engine, says that it lives, and sees to it that no job is forgotten."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from carrel import locking
from carrel.errors import CarrelError
from carrel.files import writing
from carrel.jobs import heart, uploads
from carrel.jobs.course import Course, Interrupted
from carrel.jobs.engine import ENDED, Database, Engine
from carrel.jobs.heart import Heart
from carrel.telemetry import log
from carrel.types.service import DocumentStatus, JobStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from carrel.catalogs.submissions import Submissions
    from carrel.jobs.fetching import Fetcher
    from carrel.library import Library
    from carrel.types.service import Job, Submission

_TICK = 1.0
_CARE = 30.0
"""Seconds between two looks at every job that is not over."""
_KEPT = timedelta(days=1)
"""How long the engine remembers what has ended."""
_LAST = 5.0
"""Seconds that the very end may take."""
_AGAIN = 5.0
"""Seconds until another try after the engine could not be started."""
_UNFINISHED = tuple(status for status in JobStatus if not status.is_over)
_BEGUN = (DocumentStatus.PENDING, DocumentStatus.PROCESSING)
_PAGE = 500
_AT_ONCE = 100
"""Jobs that are put into the queue between two looks at everything else."""


class Runner:
    """Takes in documents in the background from `start` to `stop`. A database that is away is waited for."""

    def __init__(self, library: Library, fetcher: Fetcher) -> None:
        self.name = f"{socket.gethostname()}.{os.getpid()}.{secrets.token_hex(4)}"
        self.complaint = ""
        """Why nothing can be done; empty where all is well."""
        self._library = library
        self._fetcher = fetcher
        self._stopping, self._woken = threading.Event(), threading.Event()
        self._running: set[str] = set()
        self._enqueued: set[str] = set()
        self._suspects: set[str] = set()
        """Jobs that seem to be ours but that nobody here is at."""
        self._doubted: set[str] = set()
        """Workers that were not heard when somebody idle looked."""
        self._dead: set[str] = set()
        """Workers whose jobs nobody has yet."""
        self._left_something = False
        self._is_reconciled = False
        self._patience = 0.0
        self._looked = 0.0
        self._heart = Heart(lambda: self._submissions.beat(self.name))
        self._keeper = threading.Thread(target=self._keep, name="carrel-jobs", daemon=True)

    def start(self) -> None:
        self._keeper.start()

    def wake(self) -> None:
        """There is something new to do."""
        self._woken.set()

    @property
    def running(self) -> int:
        return len(self._running)

    def stop(self, seconds: float) -> None:
        """Leave every job where another can go on with it."""
        self._patience = seconds
        self._stopping.set()
        self._woken.set()
        if self._keeper.is_alive():
            self._keeper.join(seconds + _LAST)

    # The keeper's own thread

    def _keep(self) -> None:
        while not self._stopping.is_set():
            try:
                if self._is_wanted():
                    self._work()
                else:
                    self._woken.wait(_TICK)
                    self._woken.clear()
            # Whatever it is, jobs are to go on when it is over.
            except Exception as error:
                self.complaint = error.message if isinstance(error, CarrelError) else type(error).__name__
                log("jobs", logging.WARNING, "engine not running", reason=repr(error))
                self._heart.distrust()
                self._stopping.wait(_AGAIN)

    def _is_wanted(self) -> bool:
        """Whether there is anything to do: an engine that nobody needs is not started."""
        if not self._is_reconciled:
            self._reconcile()
            self._is_reconciled = True
        return self._submissions.waiting() > 0 or self._has_died()

    def _has_died(self) -> bool:
        """Whether a worker has, of whose jobs something may be left to be undone although all of them are over."""
        if time.monotonic() - self._looked >= _CARE:
            silent = self._silent()
            # Seen twice: who does not beat cannot tell whether the others could.
            self._dead |= silent & self._doubted
            self._doubted = silent
            self._looked = time.monotonic()
        return bool(self._dead) or any(self._unlocked())

    def _work(self) -> None:
        chosen = self._library.settings.jobs
        database = Database.of(self._library)
        engine = Engine(database, name=self.name, concurrent=chosen.concurrent, attempts=chosen.attempts)
        with ExitStack() as stack:
            stack.enter_context(self._being_alive())
            course = Course(self._library, engine.step, self._stopping, self._fetcher)
            stack.callback(self._leave)
            stack.enter_context(self._heart.beating())
            engine.start(lambda job_id: self._run(course, job_id))
            stack.callback(engine.stop)
            self._enqueued.clear()
            self.complaint = ""
            self._tend(engine, course)
            self._wait_for_the_running()

    def _tend(self, engine: Engine, course: Course) -> None:
        looked, care = 0.0, 0.0
        while not self._stopping.is_set():
            now = time.monotonic()
            try:
                if now - looked >= heart.BEAT:
                    looked = now
                    self._take_over(engine)
                if now - care >= _CARE:
                    self._care(engine, course)
                    care = now
                self._enqueue(engine)
            except CarrelError as error:
                log("jobs", logging.WARNING, "a round of care failed", reason=error.message)
            self._woken.wait(_TICK)
            self._woken.clear()

    def _wait_for_the_running(self) -> None:
        """Until each has come to a place where it can be left; one that has not is as good as killed."""
        self._wait(self._patience)
        if self._running:
            # Only reading a file takes long without asking whether it should go on.
            self._library.rest()
            self._wait(_LAST / 2)
        self._left_something |= bool(self._running)

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self._running and time.monotonic() < deadline:
            time.sleep(0.02)

    def _run(self, course: Course, job_id: str) -> str:
        self._running.add(job_id)
        try:
            return course.run(job_id)
        except Interrupted:
            self._left_something = True
            raise
        finally:
            self._running.discard(job_id)
            if not self._running:
                self._library.rest()

    def _enqueue(self, engine: Engine) -> None:
        """What was submitted since the last look, the oldest first."""
        queued = [job.id for job in self._jobs(JobStatus.QUEUED)]
        self._enqueued &= set(queued)
        new = [job_id for job_id in queued if job_id not in self._enqueued][:_AT_ONCE]
        engine.enqueue(new)
        self._enqueued.update(new)

    def _care(self, engine: Engine, course: Course) -> None:
        """Every job that is not over is somebody's."""
        unfinished = [job.id for job in self._jobs(*_UNFINISHED)]
        known = engine.states(unfinished)
        engine.enqueue(job_id for job_id in unfinished if job_id not in known)
        for job_id, state in known.items():
            if state in ENDED:
                course.give_up(job_id, "its workflow ended without a result")
        # Of a job that is over something may be left to be undone.
        idle = engine.begun() - self._running
        # Seen twice: one that has just been taken from the queue is not running yet either.
        for job_id in idle & self._suspects:
            engine.begin_again(job_id)
        self._suspects = idle
        engine.forget((datetime.now(UTC) - _KEPT).isoformat())

    def _take_over(self, engine: Engine) -> None:
        """Go on with what dead workers were at."""
        if self._heart.is_heard:
            self._dead |= self._silent()
        dead = self._dead | {path.stem for path in self._unlocked()}
        if dead:
            taken = engine.take_over(dead)
            log("jobs", logging.WARNING, "taken over", workers=sorted(dead), jobs=taken)
        for name in dead:
            self._submissions.leave(name)
            self._file(name).unlink(missing_ok=True)
        self._dead.clear()

    def _silent(self) -> set[str]:
        names = {name for name in self._submissions.silent(heart.SILENT) if name != self.name}
        for name in names:
            # Should we die on the way, somebody else is told of it once more.
            self._submissions.beat(name)
        return names

    def _jobs(self, *statuses: JobStatus) -> list[Job]:
        # More than may wait: several may have been let in at once.
        most = self._library.settings.jobs.queued + _PAGE
        return self._submissions.jobs(statuses=statuses, limit=most, oldest_first=True)

    # Signs of life

    @contextmanager
    def _being_alive(self) -> Iterator[None]:
        """Hold a file that others on this machine can see to be held: it is let go however the process ends."""
        path = self._file(self.name)
        with writing(path):
            path.parent.mkdir(exist_ok=True)
        with locking.held(path, timeout=0):
            try:
                yield
            finally:
                if not self._left_something:
                    path.unlink(missing_ok=True)

    def _unlocked(self) -> Iterator[Path]:
        """The files of workers of this machine that are no more."""
        folder = self._library.layout.workers
        for path in folder.glob("*.lock") if folder.is_dir() else ():
            host = path.stem.rsplit(".", 2)[0]
            if host == socket.gethostname() and path.stem != self.name and not locking.is_held(path):
                yield path

    def _file(self, name: str) -> Path:
        return self._library.layout.workers / f"{name}.lock"

    def _leave(self) -> None:
        """Who has left something is found to be dead, so that somebody goes on with it."""
        if not self._left_something:
            with suppress(CarrelError):
                self._submissions.leave(self.name)

    # Documents whose story has no end

    def _reconcile(self) -> None:
        """Documents whose paper or whose job is gone, and copies that no document is made of."""
        for page in self._pages(*_BEGUN):
            self._undo_forsaken(page)
        self._submissions.forsake("its job is gone")
        for page in self._pages(DocumentStatus.ACTIVE):
            self._reconcile_some(page)
        for digest, folder in uploads.orphans(self._library.layout.uploads):
            if not self._submissions.by_hash(digest):
                uploads.discard(folder)

    def _pages(self, *statuses: DocumentStatus) -> Iterator[Sequence[Submission]]:
        after = ""
        while page := self._submissions.documents(statuses=statuses, limit=_PAGE, after=after):
            yield page
            after = page[-1].id

    def _undo_forsaken(self, documents: Sequence[Submission]) -> None:
        """What was begun of documents whose jobs are over: whoever was to undo that may have died over it."""
        for one in documents:
            if not self._submissions.jobs(document_id=one.id, statuses=_UNFINISHED, limit=1):
                # Its job may have come to its end since the page was read.
                document = self._submissions.document(one.id)
                if document and document.status in _BEGUN:
                    self._take_back(document)

    def _take_back(self, document: Submission) -> None:
        try:
            self._library.take_back_document(document, lambda _: None)
        except CarrelError as error:
            log("jobs", logging.WARNING, "not taken back", document=document.id, reason=error.message)

    def _reconcile_some(self, documents: Sequence[Submission]) -> None:
        held = {row.reference.id for row in self._library.stores.catalog.papers({one.paper_id for one in documents})}
        for one in documents:
            if one.paper_id not in held and not self._submissions.jobs(document_id=one.id, statuses=_UNFINISHED):
                try:
                    # Somebody may have begun to take it out of the stores.
                    self._library.withdraw_document(one)
                except CarrelError as error:
                    log("jobs", logging.WARNING, "not archived", document=one.id, reason=error.message)

    @property
    def _submissions(self) -> Submissions:
        return self._library.stores.catalog.submissions
