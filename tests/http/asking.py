"""Who asks a server, and generators that take their time."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from carrel.types import Prompt

QUESTION = "How hard is granite, and at how many degrees does it melt?"
TRUE = "Granite is hard. [1]\n"


def ask(url: str, query: str = QUESTION, **wishes: Any) -> httpx2.Response:
    return httpx2.post(f"{url}/api/query", json={"query": query, **wishes}, timeout=30)


def got(client: httpx2.Client, path: str, **asked: Any) -> Any:
    answer = client.get(path, params=asked)
    assert answer.status_code == 200, answer.text[:300]
    return answer.json()


@contextmanager
def streaming(url: str, query: str = QUESTION, **wishes: Any) -> Iterator[Iterator[httpx2.ServerSentEvent]]:
    """The events of an answer, read by a client that nobody here wrote."""
    body = {"query": query, **wishes}
    with httpx2.stream("POST", f"{url}/api/query/stream", json=body, timeout=30) as response:
        assert response.status_code == 200, response.read()
        yield iter(httpx2.EventSource(response))


def streamed(url: str, query: str = QUESTION, **wishes: Any) -> list[httpx2.ServerSentEvent]:
    with streaming(url, query, **wishes) as events:
        return list(events)


class Halting:
    """Says what is true, then nothing more until it is released or closed; it is known how often it was asked."""

    name = "halting"
    context_tokens = 1_000_000

    def __init__(self, *first: str) -> None:
        self.first = first
        self.asked = 0
        self.released = threading.Event()
        self.closed = threading.Event()

    def stream(self, prompt: Prompt) -> Iterator[str]:
        self.asked += 1
        return _Halt(self)


class _Halt:
    def __init__(self, generator: Halting) -> None:
        self._generator = generator
        self._said = iter(generator.first)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for piece in self._said:
            return piece
        self._generator.released.wait(60)
        raise StopIteration

    def close(self) -> None:
        self._generator.closed.set()
        self._generator.released.set()


class Endless:
    """Goes on saying what nothing proves, and knows how often it did."""

    name = "endless"
    context_tokens = 1_000_000

    def __init__(self) -> None:
        self.said = 0

    def stream(self, prompt: Prompt) -> Iterator[str]:
        yield TRUE
        for self.said in itertools.count(1):
            time.sleep(0.01)
            yield f"Cats fly {self.said} times. [1]\n"
