"""The library's work is synchronous: it is done in threads, which are told when nobody waits for it any longer."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

import anyio
from anyio import to_thread
from anyio.lowlevel import checkpoint_if_cancelled

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


async def stoppable(work: Callable[[threading.Event], Result]) -> Result:
    """Do something in a thread; whoever is cancelled meanwhile tells it to stop, and waits until it has."""
    stopped = threading.Event()
    results: list[Result] = []
    errors: list[Exception] = []

    def done() -> None:
        try:
            results.append(work(stopped))
        except Exception as error:
            errors.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(_set_in_the_end, stopped)
        await to_thread.run_sync(done)
        group.cancel_scope.cancel()
    # What it raises when it is stopped is for nobody.
    await checkpoint_if_cancelled()
    for error in errors:
        raise error
    return results[0]


async def _set_in_the_end(stopped: threading.Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        stopped.set()
