"""When silence tells that a worker is dead, and when it does not."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from types import SimpleNamespace

import pytest

from carrel import Library
from carrel.errors import StoreUnavailable, Unavailable
from carrel.jobs import heart, runner
from carrel.jobs.addresses import Policy
from carrel.jobs.fetching import Fetcher
from carrel.jobs.heart import BEAT, SILENT, Heart
from carrel.jobs.runner import Runner

OTHER = "elsewhere.1.a"


class Clock:
    """Goes on only when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1.0
        for module in (heart, runner):
            monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self.now))

    def beating(self, until: float, tell: Callable[[], None]) -> list[float]:
        """When a worker that beats as it should could tell that others are dead."""
        beating, sure = Heart(tell), []
        while self.now < until:
            with suppress(StoreUnavailable):
                beating.beat()
            if beating.is_heard:
                sure.append(self.now)
            self.now += BEAT
        return sure


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def worker(library: Library) -> Runner:
    return Runner(library, Fetcher(1, 1.0, Policy()))


def test_after_an_outage_the_others_get_the_time_to_be_heard_again(clock: Clock) -> None:
    def tell() -> None:
        if 100 < clock.now < 200:
            raise StoreUnavailable("the catalog is away")

    sure = clock.beating(300, tell)
    lost, back = max(now for now in sure if now < 200), min(now for now in sure if now > 200)
    assert (lost <= 100 + SILENT / 2, 200 + SILENT <= back <= 200 + SILENT + 2 * BEAT) == (True, True)


def test_after_a_beat_that_took_long_the_others_get_the_same_time(clock: Clock) -> None:
    def tell() -> None:
        if clock.now == 101:
            clock.now += SILENT

    sure = clock.beating(200, tell)
    assert [now for now in sure if 101 <= now < 101 + 2 * SILENT] == []
    assert sure[-1] > 190


class Engine:
    """Only notes whose jobs are taken over, the first time in vain."""

    def __init__(self) -> None:
        self.taken: list[list[str]] = []

    def take_over(self, workers: Collection[str]) -> list[str]:
        self.taken.append(sorted(workers))
        if len(self.taken) == 1:
            raise Unavailable("the engine's database is away")
        return []


def test_who_is_not_heard_takes_nobody_for_dead_and_a_dead_one_is_not_forgotten(
    library: Library, worker: Runner
) -> None:
    engine, submissions = Engine(), library.stores.catalog.submissions
    submissions.beat(OTHER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heart, "SILENT", -1.0)
        worker._take_over(engine)  # type: ignore[arg-type]
        assert engine.taken == []
        worker._heart._last = float("inf")
        with pytest.raises(Unavailable):
            worker._take_over(engine)  # type: ignore[arg-type]
    worker._take_over(engine)  # type: ignore[arg-type]
    worker._take_over(engine)  # type: ignore[arg-type]
    assert engine.taken == [[OTHER], [OTHER]]
    assert submissions.silent(-1.0) == []


def test_one_that_is_idle_looks_twice_before_it_takes_another_for_dead(
    library: Library, worker: Runner, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = {100.0: [OTHER], 200.0: [], 300.0: [OTHER], 400.0: [OTHER]}
    monkeypatch.setattr(library.stores.catalog.submissions, "silent", lambda _: silent[clock.now])
    wanted = {}
    for now in silent:
        clock.now = now
        wanted[now] = worker._is_wanted()
    assert wanted == {100.0: False, 200.0: False, 300.0: False, 400.0: True}
