"""What runs where pages are drawn: one request after the other, until nobody has asked for a while."""

from __future__ import annotations

import importlib
import os
import threading
from dataclasses import astuple
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from carrel.errors import NotFound, SourceError
from carrel.isolation import bounds, messages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.facsimile.drawing import Drawing


def main() -> None:
    requests, replies = bounds.pipes()
    limits, _ = messages.read(requests)
    bounds.limit(limits["megabytes"] << 20)
    inbox: SimpleQueue[tuple[Any, bytes]] = SimpleQueue()
    threading.Thread(target=bounds.receive, args=(requests, inbox), daemon=True).start()
    # Now, so that the first page has all of its time to itself.
    importlib.import_module("carrel.facsimile.drawing")
    messages.write(replies, "ready")
    desk = Desk()
    while True:
        try:
            request, content = inbox.get(timeout=limits["idle_seconds"])
        except Empty:
            os._exit(0)
        bounds.allow_processor(limits["seconds"])
        try:
            messages.write(replies, *desk.answer(request, content))
        except MemoryError:
            os._exit(bounds.OUT_OF_MEMORY)


class Desk:
    """The PDF that was opened last, and what is asked of it."""

    def __init__(self) -> None:
        self._drawing: Drawing | None = None

    def answer(self, request: Mapping[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
        """`content` is the PDF, if the request says that it is a new one."""
        reply, data = self._tried(request, content)
        return {**reply, "is_open": self._drawing is not None}, data

    def _tried(self, request: Mapping[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
        try:
            if request["is_new"]:
                self._open(request["name"], content)
            return _done(self._drawing, request)
        except (NotFound, SourceError) as error:
            return {"refused": error.message, "hint": error.hint}, b""
        except MemoryError:
            raise
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {error}"[:1000]}, b""

    def _open(self, name: str, content: bytes) -> None:
        from carrel.facsimile.drawing import Drawing

        self.close()
        self._drawing = Drawing(name, content)

    def close(self) -> None:
        if self._drawing is not None:
            self._drawing.close()
        self._drawing = None


def _done(drawing: Drawing | None, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    from carrel.facsimile import Wanted
    from carrel.types import Box

    if drawing is None:
        raise ValueError("nothing is open")
    match request:
        case {"do": "sizes"}:
            return {"sizes": list(map(list, drawing.sizes())), "total": drawing.total}, b""
        case {"do": "picture", "page": page, "width": width}:
            return {}, drawing.picture(page, width)
        case {"do": "words", "page": page}:
            size, words = drawing.words(page)
            return {"size": list(size), "words": list(map(list, words))}, b""
        case {"do": "marks", "page": page, "wanted": wanted}:
            asked = [Wanted(Box(page, *box), *rest) for box, *rest in wanted]
            marks = drawing.marks(page, asked)
            return {"marks": [[list(astuple(box)[1:]) for box in boxes] for boxes in marks]}, b""
    raise ValueError(f"nobody can do {request.get('do')!r}")
