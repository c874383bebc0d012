"""What runs in a worker: one file after the other, each within the budget, until nobody asks any more."""

from __future__ import annotations

import os
import threading
from functools import cache, partial
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any

from carrel import errors, registry
from carrel.errors import SourceError
from carrel.isolation import bounds, messages, papers
from carrel.parsers import Source
from carrel.types import Paper

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from carrel.parsers import Parser

MOST_PICTURES = 256_000_000
"""Bytes that the pictures of one paper may have together."""
MORE_TIME = "more time"
"""Said before each scanned page: it may take as long as one may."""


def main() -> None:
    requests, replies = bounds.pipes()
    budget, _ = messages.read(requests)
    bounds.limit(budget["megabytes"] << 20)
    inbox: SimpleQueue[tuple[Any, bytes]] = SimpleQueue()
    threading.Thread(target=bounds.receive, args=(requests, inbox), daemon=True).start()
    messages.write(replies, "ready")
    # A parser that knows how long it will take asks for each step anew.
    more_time = partial(_more_time, budget["ocr_seconds"], replies)
    make = cache(partial(registry.make, "parsers", ocr_pages=budget["ocr_pages"], more_time=more_time))
    while True:
        request, content = inbox.get()
        bounds.allow_processor(budget["seconds"])
        _answer(request, content, make, budget["characters"], replies)


def _more_time(seconds: float, replies: IO[bytes]) -> None:
    bounds.allow_processor(seconds)
    messages.write(replies, MORE_TIME)


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
        os._exit(bounds.OUT_OF_MEMORY)
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
