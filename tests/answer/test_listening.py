"""A generator that hangs, never ends or fails holds nobody up, and stops when nobody listens."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator

import pytest

from carrel.answer.listening import listen
from carrel.errors import ModelTooSlow


class Counting:
    """Says numbers without end, and remembers how many it said and whether it was closed."""

    def __init__(self) -> None:
        self.said = 0
        self.closed = threading.Event()

    def stream(self) -> Iterator[str]:
        try:
            for self.said in itertools.count(1):
                yield f"{self.said} "
        finally:
            self.closed.set()


def speakers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "carrel-generator"}


@pytest.fixture(autouse=True)
def nobody_is_left_speaking() -> Iterator[None]:
    before = speakers()
    yield
    deadline = time.monotonic() + 10
    while speakers() - before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert speakers() <= before


def test_everything_that_is_said_is_heard_in_order() -> None:
    pieces = [str(number) for number in range(100)]
    assert list(listen("x", lambda: iter(pieces), seconds=10)) == pieces


def test_who_stops_listening_stops_the_speaker_within_a_few_words() -> None:
    speaker = Counting()
    heard = listen("x", speaker.stream, seconds=10)
    assert [next(heard) for _ in range(3)] == ["1 ", "2 ", "3 "]
    heard.close()
    assert speaker.closed.wait(10)
    assert speaker.said <= 3 + 4 + 2


def test_one_that_hangs_is_left_when_its_time_is_over() -> None:
    released = threading.Event()

    def hang() -> Iterator[str]:
        yield "one"
        released.wait(30)

    heard, began = listen("gguf:model", hang, seconds=1.5), time.monotonic()
    assert next(heard) == "one"
    with pytest.raises(ModelTooSlow, match=r"'gguf:model' was still at work after 1\.5 s"):
        next(heard)
    assert time.monotonic() - began < 20
    released.set()


def test_time_is_counted_over_all_pieces_not_from_one_to_the_next() -> None:
    def drip() -> Iterator[str]:
        while True:
            time.sleep(0.02)
            yield "drip "

    with pytest.raises(ModelTooSlow):
        list(listen("x", drip, seconds=0.3))


def test_one_that_never_ends_is_heard_only_so_long() -> None:
    speaker = Counting()
    assert len("".join(listen("x", lambda: ("word " * 10 for _ in speaker.stream()), seconds=60))) == 50_000


@pytest.mark.parametrize("error", [ConnectionError("gone"), ValueError("odd"), KeyError("x")])
def test_what_the_speaker_raises_is_raised_to_the_listener_after_what_it_said(error: Exception) -> None:
    def fail() -> Iterator[str]:
        yield "before"
        raise error

    heard = listen("x", fail, seconds=10)
    assert next(heard) == "before"
    with pytest.raises(type(error)) as raised:
        next(heard)
    assert raised.value is error


def test_a_speaker_that_cannot_even_begin_is_an_error_not_a_silence() -> None:
    def begin() -> Iterator[str]:
        raise OSError("no such model")

    with pytest.raises(OSError, match="no such model"):
        list(listen("x", begin, seconds=10))
