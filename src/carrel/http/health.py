"""How the parts of a served library are: each is put to work, at most every few seconds, for a few seconds at most."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from carrel import pulse
from carrel.errors import CarrelError
from carrel.http.service import Service
from carrel.search.begun import Begun

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastapi import FastAPI

    from carrel.jobs import Ingestion

_FRESH = 5.0
"""Seconds for which what was found out is told again."""
_PATIENCE = 5.0
"""Seconds that a part may take to answer."""


@dataclass(frozen=True, slots=True)
class Component:
    healthy: bool
    latency_ms: float
    message: str
    essential: bool


@dataclass(frozen=True, slots=True)
class Report:
    components: Mapping[str, Component]
    timestamp: str

    @property
    def healthy(self) -> bool:
        """Whether every part works."""
        return all(one.healthy for one in self.components.values())

    @property
    def able(self) -> bool:
        """Whether those work that nothing can be found without."""
        return all(one.healthy for one in self.components.values() if one.essential)


@dataclass
class Health:
    """Who asks while somebody else's question is being answered hears the same answer."""

    probes: Mapping[str, Callable[[], str]]
    essential: frozenset[str]
    fresh: float = _FRESH
    patience: float = _PATIENCE
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _report: Report | None = None
    _at: float = 0.0
    _hung: dict[str, Begun[Component]] = field(default_factory=dict)

    @classmethod
    def of(cls, service: Service) -> Health:
        parts = {name: partial(pulse.felt, name, service.library) for name in pulse.PARTS}
        return cls({**parts, "jobs": partial(_jobs, service.ingestion)}, pulse.ESSENTIAL)

    def report(self) -> Report:
        with self._turn:
            if self._report is None or time.monotonic() - self._at > self.fresh:
                self._report = Report(self._examined(), datetime.now(UTC).isoformat(timespec="milliseconds"))
                self._at = time.monotonic()
            return self._report

    def _examined(self) -> dict[str, Component]:
        begun = {name: self._begun(name) for name in self.probes}
        deadline = time.monotonic() + self.patience
        return {name: self._answered(name, one, deadline) for name, one in begun.items()}

    def _begun(self, name: str) -> Begun[Component]:
        """A part that has not answered yet is not asked a second time."""
        hung = self._hung.pop(name, None)
        return hung if hung and not hung.is_over else Begun(partial(self._felt, name))

    def _answered(self, name: str, begun: Begun[Component], deadline: float) -> Component:
        try:
            return begun.outcome(max(0.0, deadline - time.monotonic()))
        except CarrelError:
            self._hung[name] = begun
            message = f"no answer within {self.patience:g} s"
            return Component(healthy=False, latency_ms=self.patience * 1000, message=message, essential=self._is(name))

    def _felt(self, name: str) -> Component:
        start = time.perf_counter()
        try:
            healthy, message = True, self.probes[name]()
        except CarrelError as error:
            healthy, message = False, f"{error.message}. {error.hint}".removesuffix(". ")
        latency = round((time.perf_counter() - start) * 1000, 3)
        return Component(healthy=healthy, latency_ms=latency, message=message, essential=self._is(name))

    def _is(self, name: str) -> bool:
        return name in self.essential


def _jobs(ingestion: Ingestion) -> str:
    if ingestion.complaint:
        raise CarrelError(ingestion.complaint)
    return f"{ingestion.waiting():,} documents on their way in, {ingestion.running} of them here"


def install(app: FastAPI) -> None:
    app.state.health = Health.of(app.state.service)


def _health(request: Request) -> Health:
    found: Health = request.app.state.health
    return found


Watching = Annotated[Health, Depends(_health)]
