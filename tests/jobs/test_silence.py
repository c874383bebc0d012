"""When silence tells that a worker is dead, and when it does not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from carrel import Library
from carrel.errors import StoreUnavailable
from carrel.jobs import runner
from carrel.jobs.addresses import Policy
from carrel.jobs.fetching import Fetcher
from carrel.jobs.runner import Runner


class Watched:
    """An engine that only notes whose jobs are taken over, and when."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.taken: list[tuple[float, list[str]]] = []

    def take_over(self, workers: Collection[str]) -> list[str]:
        self.taken.append((self._clock.now, sorted(workers)))
        return []

    def enqueue(self, job_ids: Iterable[str]) -> None: ...

    def states(self, job_ids: Collection[str]) -> Mapping[str, tuple[str, str]]:
        return {}

    def forget(self, before: str) -> None: ...


class Clock:
    """Goes on only while the worker rests. The catalog is away from 100 s to 200 s; another worker dies at 300 s."""

    def __init__(self) -> None:
        self.now = 1.0
        self.stop: Any = None

    def wait(self, seconds: float) -> None:
        self.now += seconds
        if self.now > 400:
            self.stop()

    def clear(self) -> None: ...

    def beat(self, _worker: str) -> None:
        if 100 < self.now < 200:
            raise StoreUnavailable("the catalog is away")

    def silent(self, seconds: float) -> list[str]:
        """The other comes back a little later than this one."""
        heard = min(self.now, 300.0) if self.now < 100 or self.now > 205 else 100.0
        return ["elsewhere.1.a"] if self.now - heard >= seconds else []


def test_after_an_outage_the_others_get_the_time_to_be_heard_again(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    worker = Runner(library, Fetcher(1, 1.0, Policy()))
    clock.stop = worker._stopping.set
    engine, submissions = Watched(clock), library.stores.catalog.submissions
    monkeypatch.setattr(worker, "_woken", clock)
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(submissions, "beat", clock.beat)
    monkeypatch.setattr(submissions, "silent", clock.silent)
    worker._tend(engine, SimpleNamespace())  # type: ignore[arg-type]
    when, who = engine.taken[0]
    assert (300 + runner.SILENT <= when < 330, who) == (True, ["elsewhere.1.a"])
