"""What every process that files are read in is made of: its pipes, and the bounds it lives within."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import IO, TYPE_CHECKING, Any

from carrel.isolation import messages

if TYPE_CHECKING:
    from queue import SimpleQueue

OUT_OF_MEMORY = 87
"""Exit code of a worker that got no more memory."""
_BETWEEN_LOOKS = 0.05


def pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Moved away from the standard streams: what a parser prints goes nowhere."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    return requests, replies


def receive(requests: IO[bytes], inbox: SimpleQueue[tuple[Any, bytes]]) -> None:
    """In a thread, so that a busy worker, too, leaves when the process that asked it is gone."""
    code = 0
    try:
        while True:
            inbox.put(messages.read(requests))
    except MemoryError:
        code = OUT_OF_MEMORY
    finally:
        os._exit(code)


def limit(memory: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    if sys.platform == "linux":
        # Not RLIMIT_AS: what a library maps or reserves and does not write to is no memory.
        _lower(resource.RLIMIT_DATA, memory)
    else:
        # macOS takes such a limit and does not keep it.
        threading.Thread(target=_watch_memory, args=(memory,), daemon=True).start()


def _lower(limit: int, value: int) -> None:
    import resource

    _, hard = resource.getrlimit(limit)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (value, value))


def _watch_memory(most: int) -> None:
    import resource

    while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < most:
        time.sleep(_BETWEEN_LOOKS)
    os._exit(OUT_OF_MEMORY)


def allow_processor(seconds: float) -> None:
    """For a worker that nobody is left to stop, and that leaves its own threads no turn to."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = int(time.process_time() + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
