"""What the routes work with."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from carrel.http.gate import Gate
from carrel.types.service import LOCAL, Caller

if TYPE_CHECKING:
    from carrel.library import Library


@dataclass
class Service:
    """One library, open for as long as the server runs."""

    library: Library
    gate: Gate
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, library: Library) -> Service:
        chosen = library.settings.serve
        gate = Gate(concurrent=chosen.concurrent_queries, queued=chosen.queued_queries, seconds=chosen.queue_seconds)
        return cls(library, gate)


def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


def _caller(request: Request) -> Caller:
    """Who was let in by the guard."""
    found: Caller = request.scope.get("carrel.caller", LOCAL)
    return found


Serving = Annotated[Service, Depends(_service)]
Calling = Annotated[Caller, Depends(_caller)]
