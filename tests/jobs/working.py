"""Workers in processes of their own, that die where they are told to."""

from __future__ import annotations

import multiprocessing
import os
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from carrel import Library
from carrel.errors import CarrelError
from carrel.jobs import Ingestion, engine, faults, heart
from carrel.testing import HashedWords
from carrel.types import Matrix

_PATIENCE = 90.0
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.jobs.warm"])


@dataclass(frozen=True)
class Worker:
    """What a process is to be told."""

    folder: Path
    fault: str = ""
    host: str = ""
    """The name of the machine that it believes to be on."""
    silent: float = heart.SILENT
    variables: tuple[tuple[str, str], ...] = ()
    slowly: float = 0.0
    """Seconds that embedding takes."""

    def start(self) -> BaseProcess:
        process = _context.Process(target=_work, args=(self,))
        process.start()
        return process


def ended(process: BaseProcess) -> int | None:
    """How it ended: -9 for one that was killed."""
    process.join(_PATIENCE)
    assert not process.is_alive(), "it did not end"
    return process.exitcode


class _Slow(HashedWords):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        time.sleep(self._seconds)
        return super().embed_passages(texts)


def _work(worker: Worker) -> None:
    """Take in whatever is waiting, then end."""
    os.environ.update(worker.variables)
    os.environ["CARREL_INGEST__ISOLATE"] = "false"
    if worker.fault:
        os.environ[faults.VARIABLE] = worker.fault
    if worker.host:
        socket.gethostname = lambda: worker.host
    engine._POLL = 0.1
    heart.SILENT = worker.silent
    heart.BEAT = min(heart.BEAT, worker.silent / 4)
    with Library.open(worker.folder, embedder=_Slow(worker.slowly)) as library:
        ingestion = Ingestion(library)
        ingestion.start()
        while True:
            time.sleep(0.05)
            with suppress(CarrelError):
                if not ingestion.waiting() and not ingestion.running:
                    break
        ingestion.stop()
