"""A real server of a library, at a free port of this machine, for as long as a test needs it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from carrel import Library, http
from carrel.http.server import Server, address, listen
from carrel.http.service import Service
from carrel.settings import Settings


@dataclass(frozen=True)
class Running:
    url: str
    server: Server
    service: Service


@contextmanager
def running(library: Library, **settings: Any) -> Iterator[Running]:
    """Serve a library under these settings: `require_token` is one of `serve`, `jobs__queued` one of `jobs`."""
    library.settings = changed(library.settings, **settings)
    app = http.create(library)
    server, listening = Server(app), listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.run_at, args=[listening])
    thread.start()
    wait_until(lambda: server.started or not thread.is_alive())
    try:
        yield Running(address(listening), server, app.state.service)
    finally:
        server.stop()
        thread.join()


@contextmanager
def visited(library: Library, **settings: Any) -> Iterator[httpx2.Client]:
    """Who asks a server of this library, as often as a test likes."""
    server = running(library, requests_per_minute=0, **settings)
    with server as served, httpx2.Client(base_url=served.url, timeout=60) as client:
        yield client


def wait_until(true: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def changed(chosen: Settings, **settings: Any) -> Settings:
    values = chosen.model_dump()
    for name, value in settings.items():
        section, _, key = name.rpartition("__")
        values[section or "serve"][key] = value
    return Settings.model_validate(values)
