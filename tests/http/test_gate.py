"""So many at a time, so many waiting, in the order they came; and no place is ever lost."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.errors import QueueFull, QueueTimeout, ShuttingDown
from carrel.http.gate import Gate
from tests.http.asking import TRUE, Halting, ask, streaming
from tests.http.serving import running, wait_until
from tests.saved_answers import opened


def gate(concurrent: int = 1, queued: int = 1, seconds: float = 10.0) -> Gate:
    return Gate(concurrent=concurrent, queued=queued, seconds=seconds)


async def hold(held: Gate, seconds: float, order: list[int] | None = None, number: int = 0) -> None:
    async with held.place():
        if order is not None:
            order.append(number)
        await asyncio.sleep(seconds)


def begun(*work: Coroutine[Any, Any, None]) -> list[asyncio.Task[None]]:
    return [asyncio.create_task(one) for one in work]


def test_who_comes_first_is_served_first_and_never_more_than_there_are_places() -> None:
    async def crowd() -> tuple[list[int], int]:
        held, order, most = gate(2, 8), list[int](), 0
        tasks = begun(*(hold(held, 0.002, order, number) for number in range(10)))
        while not all(task.done() for task in tasks):
            most = max(most, held.active)
            await asyncio.sleep(0)
        return order, most

    assert asyncio.run(crowd()) == (list(range(10)), 2)


def test_who_finds_the_queue_full_is_told_so_at_once() -> None:
    async def third() -> None:
        held = gate(1, 1)
        tasks = begun(hold(held, 60), hold(held, 60))
        await asyncio.sleep(0)
        assert (held.active, held.queued) == (1, 1)
        with pytest.raises(QueueFull, match="1 questions are waiting already"):
            await hold(held, 0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (held.active, held.queued) == (0, 0)

    asyncio.run(third())


def test_who_waits_too_long_leaves_the_queue() -> None:
    async def late() -> None:
        held = gate(1, 5, seconds=0.01)
        (first,) = begun(hold(held, 60))
        await asyncio.sleep(0)
        with pytest.raises(QueueTimeout, match=r"no place became free within 0.01 s"):
            await hold(held, 0)
        assert (held.active, held.queued) == (1, 0)
        first.cancel()

    asyncio.run(late())


def test_when_it_closes_who_waits_is_told_and_who_is_in_stays() -> None:
    async def closing() -> None:
        held = gate(1, 5)
        inside, waiting = begun(hold(held, 0.01), hold(held, 0))
        await asyncio.sleep(0)
        held.close()
        with pytest.raises(ShuttingDown):
            await waiting
        with pytest.raises(ShuttingDown):
            await hold(held, 0)
        await inside
        assert (held.active, held.queued) == (0, 0)

    asyncio.run(closing())


def test_who_is_expelled_leaves_with_the_word_that_the_service_stops() -> None:
    async def expelling() -> None:
        held = gate(2, 5)
        tasks = begun(hold(held, 60), hold(held, 60), hold(held, 60))
        await asyncio.sleep(0)
        held.expel()
        held.expel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [ShuttingDown] * 3
        assert (held.active, held.queued) == (0, 0)

    asyncio.run(expelling())


@given(
    st.integers(1, 3),
    st.integers(0, 4),
    st.lists(st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(0, 6))), max_size=12),
)
def test_whoever_leaves_whenever_no_place_is_lost(
    concurrent: int, queued: int, visits: list[tuple[int, int | None]]
) -> None:
    """Each visitor stays for some turns of the loop and may be called away after some."""

    async def visit(held: Gate, turns: int) -> None:
        async with held.place():
            assert held.active <= concurrent
            for _ in range(turns):
                await asyncio.sleep(0)

    async def crowd() -> tuple[int, int]:
        held = gate(concurrent, queued)
        tasks = [asyncio.create_task(visit(held, turns)) for turns, _ in visits]
        for turn in range(7):
            for task, (_, leaves) in zip(tasks, visits, strict=True):
                if leaves == turn:
                    task.cancel()
            await asyncio.sleep(0)
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            assert outcome is None or isinstance(outcome, QueueFull | asyncio.CancelledError)
        return held.active, held.queued

    assert asyncio.run(crowd()) == (0, 0)


def test_a_stream_holds_its_place_to_the_end_and_the_others_wait_or_are_turned_away(tmp_path: Path) -> None:
    generator = Halting(TRUE)
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library, ExitStack() as streams:
        library.generator = generator
        server = streams.enter_context(running(library, concurrent_queries=2, queued_queries=0))
        both = [streams.enter_context(streaming(server.url)) for _ in range(2)]
        for events in both:
            assert [next(events).event for _ in range(3)] == ["confidence", "citation", "token"]
        refused = ask(server.url)
        assert (refused.status_code, refused.json()["error"]) == (503, "QUEUE_FULL")
        assert (refused.headers["x-throttle-active"], refused.headers["x-throttle-queued"]) == ("2", "0")
        assert int(refused.headers["retry-after"]) > 0
        generator.released.set()
        wait_until(lambda: server.service.gate.active == 0)
        assert ask(server.url).status_code == 200


def test_who_waited_in_vain_is_told_so(tmp_path: Path) -> None:
    generator = Halting(TRUE)
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        library.generator = generator
        with running(library, concurrent_queries=1, queue_seconds=0.1) as server, streaming(server.url) as events:
            next(events)
            late = ask(server.url)
            assert (late.status_code, late.json()["error"]) == (504, "QUEUE_TIMEOUT")
            generator.released.set()
