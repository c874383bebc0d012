"""What runs in a worker: one file after the other, each within the budget, until nobody asks any more."""

from __future__ import annotations

import os
import sys
import threading
import time
from functools import cache, partial
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any

from carrel import errors, registry
from carrel.errors import SourceError
from carrel.isolation import messages, papers
from carrel.parsers import Source
from carrel.types import Paper

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from carrel.parsers import Parser

OUT_OF_MEMORY = 87
"""Exit code of a worker that got no more memory."""
MOST_PICTURES = 256_000_000
"""Bytes that the pictures of one paper may have together."""
MORE_TIME = "more time"
"""Said before each scanned page: it may take as long as one may."""
_BETWEEN_LOOKS = 0.05


def main() -> None:
    requests, replies = _pipes()
    budget, _ = messages.read(requests)
    _limit(budget["megabytes"] << 20)
    inbox: SimpleQueue[tuple[Any, bytes]] = SimpleQueue()
    threading.Thread(target=_receive, args=(requests, inbox), daemon=True).start()
    messages.write(replies, "ready")
    # A parser that knows how long it will take asks for each step anew.
    more_time = partial(_more_time, budget["ocr_seconds"], replies)
    make = cache(partial(registry.make, "parsers", ocr_pages=budget["ocr_pages"], more_time=more_time))
    while True:
        request, content = inbox.get()
        _allow_processor(budget["seconds"])
        _answer(request, content, make, budget["characters"], replies)


def _pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Moved away from the standard streams: what a parser prints goes nowhere."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    return requests, replies


# Limits


def _limit(memory: int) -> None:
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


def _allow_processor(seconds: float) -> None:
    """For a worker that nobody is left to stop, and that leaves its own threads no turn to."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = int(time.process_time() + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def _more_time(seconds: float, replies: IO[bytes]) -> None:
    _allow_processor(seconds)
    messages.write(replies, MORE_TIME)


def _receive(requests: IO[bytes], inbox: SimpleQueue[tuple[Any, bytes]]) -> None:
    """In a thread, so that a busy worker, too, leaves when the process that asked it is gone."""
    code = 0
    try:
        while True:
            inbox.put(messages.read(requests))
    except MemoryError:
        code = OUT_OF_MEMORY
    finally:
        os._exit(code)


# Reading


def _answer(
    request: Mapping[str, str], content: bytes, make: Callable[[str], Parser], longest: int, replies: IO[bytes]
) -> None:
    try:
        reply, data = _read(request, content, make, longest)
        messages.write(replies, reply, data)
    except SourceError as error:
        messages.write(replies, {"refused": _public_name(error), "message": error.message, "hint": error.hint})
    except messages.Excess:
        messages.write(replies, {"too_much": True})
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BaseException as error:  # SystemExit, too: a parser does not end the worker.
        messages.write(replies, {"failed": f"{type(error).__name__}: {error}"[:1000]})


def _read(
    request: Mapping[str, str], content: bytes, make: Callable[[str], Parser], longest: int
) -> tuple[dict[str, Any], bytes]:
    path = Path(request["path"]) if request["path"] else None
    paper = make(request["parser"]).parse(Source(request["name"], content, path))
    if not isinstance(paper, Paper):
        raise TypeError(f"it gave back {type(paper).__name__}, not Paper")
    if len(paper.text) > longest:
        return {"too_long": len(paper.text)}, b""
    if sum(len(image.content) for image in paper.images) > MOST_PICTURES:
        raise messages.Excess
    return papers.packed(paper)


def _public_name(error: SourceError) -> str:
    """Of the nearest class that `carrel.errors` has."""
    known: list[str] = [kind.__name__ for kind in type(error).__mro__ if getattr(errors, kind.__name__, None) is kind]
    return known[0]
