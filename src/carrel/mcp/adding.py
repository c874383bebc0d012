"""The tool that takes documents in, where the user allows it: from folders that the service may read, and no others."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from carrel.jobs.locating import Roots
from carrel.mcp import shapes
from carrel.mcp.calls import Stopped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from carrel.mcp import wishes
    from carrel.mcp.calls import Call
    from carrel.types import Problem, Progress

_MOST = 50
"""Papers and problems that are named."""
_OFTEN = 0.5
"""Seconds between two words on how far it is."""


def add(call: Call, wish: wishes.Add) -> shapes.Added:
    library = call.library
    path = Roots.of(library.layout, library.settings.jobs.roots).find(wish.path)
    library.audit.note("add", caller=call.caller.name, path=wish.path)
    report = library.add(path, tags=wish.tags, progress=_telling(call))
    return shapes.Added(
        new=report.new,
        updated=report.updated,
        unchanged=report.unchanged,
        papers=report.papers[:_MOST],
        failed=_told([*report.failed, *report.skipped]) or None,
        notes=_told(report.remarks) or None,
    )


def _telling(call: Call) -> Progress:
    last = 0.0

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last
        if call.stopped.is_set():
            raise Stopped
        if time.monotonic() - last > _OFTEN:
            last = time.monotonic()
            call.tell(stage, done, total)

    return tell


def _told(problems: Iterable[Problem]) -> tuple[str, ...]:
    return tuple(f"{problem.source}: {problem.reason}" for problem in problems)[:_MOST]
