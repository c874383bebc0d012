"""What the routes work with."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from carrel.errors import CarrelError
from carrel.http.gate import Gate
from carrel.http.given import Given
from carrel.http.replays import Replays
from carrel.http.sessions import Sessions
from carrel.http.tally import Tally
from carrel.jobs import Ingestion
from carrel.reading.papers import Sort, Wanted
from carrel.telemetry import log
from carrel.types.service import LOCAL, Caller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from carrel.library import Library

_PATIENCE = 10.0
"""Seconds that the end waits for what was begun."""


@dataclass
class Service:
    """One library, open for as long as the server runs."""

    library: Library
    gate: Gate
    ingestion: Ingestion
    sessions: Sessions = field(default_factory=Sessions)
    replays: Replays = field(default_factory=Replays)
    given: Given = field(default_factory=Given)
    tally: Tally = field(default_factory=Tally)
    began: float = field(default_factory=time.monotonic)
    is_open: bool = False
    """Whether its stores and models have been opened."""
    when_open: Callable[[], None] = lambda: None
    _opening: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, library: Library) -> Service:
        chosen = library.settings.serve
        gate = Gate(concurrent=chosen.concurrent_queries, queued=chosen.queued_queries, seconds=chosen.queue_seconds)
        return cls(library, gate, Ingestion(library))

    def open(self) -> None:
        """Open what a first question would otherwise wait for; not on the event loop.

        What cannot be opened now, a server that is down perhaps, is tried again by the next question.
        """
        with self._opening:
            if not self.is_open:
                _warm(self.library)
                self.is_open = True
                self.when_open()

    @contextmanager
    def working(self) -> Iterator[None]:
        """While the server runs: the library is opened, and documents are taken in, beside it."""
        opening = threading.Thread(target=self._try_to_open, daemon=True, name="carrel-opening")
        opening.start()
        self.ingestion.start()
        try:
            yield
        finally:
            self.ingestion.stop(_PATIENCE)
            opening.join(_PATIENCE)

    def _try_to_open(self) -> None:
        try:
            self.open()
            # What the first list of a large library would otherwise be made of.
            self.library.papers(Wanted(sort=Sort.TITLE, query="a", limit=1))
        except CarrelError as error:
            log("http", logging.WARNING, "not open", reason=error.message)


def _warm(library: Library) -> None:
    """Open the stores and models and use each once. Only without stores there is nothing to ask."""
    library.stores.catalog.papers([])
    try:
        _ = library.reranker, library.generator
        library.semantic("what is known", limit=1)
    except CarrelError as error:
        # Whoever asks is told, or gets what can be had without.
        log("http", logging.INFO, "not warm", reason=error.message)


def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


def _caller(request: Request) -> Caller:
    """Who was let in by the guard."""
    found: Caller = request.scope.get("carrel.caller", LOCAL)
    return found


def _request_id(request: Request) -> str:
    found: str = request.scope["state"]["request_id"]
    return found


Serving = Annotated[Service, Depends(_service)]
Calling = Annotated[Caller, Depends(_caller)]
RequestId = Annotated[str, Depends(_request_id)]
"""What the log knows the request by."""
