"""Arms asked at once, each with its own time; one that fails or is late does not sink the query."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from carrel.errors import CarrelError, InvalidInput, StoreUnavailable
from carrel.search.begun import Begun
from carrel.telemetry import log, timed
from carrel.types import Degradation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.search.arms import Arm
    from carrel.types import Filter, Hit


def ask(
    arms: Mapping[str, Arm],
    query: str,
    limits: Mapping[str, int],
    where: Filter,
    timeout: float,
    timings: dict[str, float],
) -> tuple[dict[str, list[Hit]], list[Degradation]]:
    """Every arm at once; one that fails or is late is reported, and none is waited for longer than the deadline."""
    outcomes: dict[str, list[Hit] | BaseException] = {}
    # Their own: one that is late may still write there when the answer is out.
    spent: dict[str, float] = {}

    def run(name: str, arm: Arm) -> None:
        with timed(spent, name):
            try:
                outcomes[name] = arm(query, limits[name], where)
            except BaseException as error:
                outcomes[name] = error

    begun = [Begun(partial(run, name, arm)) for name, arm in arms.items()]
    deadline = time.monotonic() + timeout
    late = StoreUnavailable(f"no answer within {timeout:g} s")
    for one in begun:
        with suppress(StoreUnavailable):
            one.outcome(max(0.0, deadline - time.monotonic()), late)
    for name in arms:
        timings[name] = round(timings.get(name, 0.0) + spent.get(name, timeout * 1000), 3)
    return _sort_out({name: outcomes.get(name, late) for name in arms})


def _sort_out(
    outcomes: Mapping[str, list[Hit] | BaseException],
) -> tuple[dict[str, list[Hit]], list[Degradation]]:
    """Rankings and degradations; a question that is wrong is raised, as is what no other arm can make up for."""
    rankings = {name: hits for name, hits in outcomes.items() if isinstance(hits, list)}
    errors = {name: error for name, error in outcomes.items() if isinstance(error, BaseException)}
    for error in errors.values():
        if not rankings or isinstance(error, InvalidInput) or not isinstance(error, Exception):
            raise error
    degraded = [Degradation(name, reason_of(error)) for name, error in errors.items()]
    for part in degraded:
        log("search", logging.WARNING, "arm failed", arm=part.arm, reason=part.reason)
    return rankings, degraded


def reason_of(error: BaseException) -> str:
    """With what to do about it. An arm may be anybody's, and fail as it likes."""
    if not isinstance(error, CarrelError):
        return f"{type(error).__name__}: {error}"
    return f"{error.message}. {error.hint}" if error.hint else error.message
