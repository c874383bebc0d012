"""How often, how much and how slowly a client may ask, asked of the guard itself."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from carrel.errors import TooManyRequests
from carrel.http import limits
from carrel.http.guard import Guard
from carrel.http.limits import Rates
from carrel.types.service import Scope
from tests.http.door import Doors, bearer


def test_a_client_that_asks_too_often_has_to_wait(door: Doors) -> None:
    made = door(requests_per_minute=5)
    assert [made.ask().status for _ in range(7)] == [200] * 5 + [429] * 2
    answer = made.ask()
    assert (answer.error, answer.headers["retry-after"]) == ("TOO_MANY_REQUESTS", "12")
    assert made.ask(client="192.0.2.1").status == 200


def test_who_is_turned_away_is_counted_too_and_bearers_are_counted_each_for_themselves(door: Doors) -> None:
    made = door(requests_per_minute=3, require_token=True)
    _, first = made.library.create_token("first", Scope.READ)
    _, second = made.library.create_token("second", Scope.READ)
    assert [made.ask(headers=bearer("carrel_guess")).status for _ in range(4)] == [401, 401, 401, 429]
    assert [made.ask(headers=bearer(first)).status for _ in range(4)] == [200, 200, 200, 429]
    assert made.ask(headers=bearer(second)).status == 200


def test_the_addresses_of_one_subscriber_are_one_client(door: Doors) -> None:
    made = door(requests_per_minute=2)
    assert [made.ask(client=f"2001:db8::{number}").status for number in range(1, 4)] == [200, 200, 429]
    assert made.ask(client="2001:db8:0:1::1").status == 200


def test_clients_are_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MOST_CLIENTS", 100)
    rates = Rates(1)
    for number in range(1000):
        rates.charge(f"client {number}")
    assert len(rates._left) == 100
    with pytest.raises(TooManyRequests):
        rates.charge("client 999")


def test_time_gives_requests_back(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    rates = Rates(60)
    for _ in range(60):
        rates.charge("a")
    with pytest.raises(TooManyRequests):
        rates.charge("a")
    clock[0] = 2.0
    rates.charge("a")
    rates.charge("a")
    with pytest.raises(TooManyRequests):
        rates.charge("a")


def test_a_body_as_large_as_it_says_is_refused_unread(door: Doors) -> None:
    made = door(body_kilobytes=1)
    answer = made.ask("/api/query", "POST", headers={"content-length": "1001"}, pieces=(b"x",))
    assert (answer.status, answer.error, answer.headers["connection"]) == (413, "TOO_LARGE", "close")
    assert made.inside.callers == []


def test_a_body_that_does_not_say_how_large_it_is_is_counted(door: Doors) -> None:
    made = door(body_kilobytes=1)
    chunked = {"transfer-encoding": "chunked"}
    assert made.ask("/api/query", "POST", headers=chunked, pieces=(b"x" * 500, b"x" * 500)).status == 200
    answer = made.ask("/api/query", "POST", headers=chunked, pieces=(b"x" * 500, b"x" * 500, b"x", b"x" * 10**6))
    assert (answer.status, answer.error) == (413, "TOO_LARGE")
    assert len(made.inside.received) == 2000
    assert b"secret" not in answer.body


def test_only_files_to_be_taken_in_may_be_large(door: Doors) -> None:
    made = door(body_kilobytes=1, upload_megabytes=1)
    form = {"content-type": "multipart/form-data; boundary=x", "transfer-encoding": "chunked"}
    assert made.ask("/api/ingest", "POST", headers=form, pieces=(b"x" * 900_000, b"x" * 100_000)).status == 200
    assert made.ask("/api/ingest", "POST", headers=form, pieces=(b"x" * 900_000, b"x" * 300_000)).status == 413
    assert made.ask("/api/query", "POST", headers=form, pieces=(b"x" * 2000,)).status == 413
    plain = {"content-type": "application/json"}
    assert made.ask("/api/ingest", "POST", headers=plain, pieces=(b"x" * 2000,)).status == 413


def test_a_body_that_does_not_come_is_waited_for_so_long(door: Doors) -> None:
    made = door(body_seconds=0.1)
    trickle = tuple(piece for _ in range(50) for piece in (b"x", 0.02))
    for pieces in ((b"x", 5.0, b"x"), (*trickle, b"x")):
        answer = made.ask("/api/query", "POST", headers={"transfer-encoding": "chunked"}, pieces=pieces)
        assert (answer.status, answer.error) == (408, "REQUEST_TIMEOUT")


def test_a_large_file_may_take_longer_if_it_keeps_coming(door: Doors) -> None:
    made = door(body_seconds=1.5, body_kilobytes=1)
    form = {"content-type": "multipart/form-data; boundary=x", "transfer-encoding": "chunked"}
    steady = tuple(piece for _ in range(8) for piece in (b"x" * 1000, 0.25))
    assert made.ask("/api/ingest", "POST", headers=form, pieces=(*steady, b"x")).status == 200


def test_an_answer_may_take_longer_than_a_request(door: Doors) -> None:
    made = door(body_seconds=0.3)
    original = made.inside

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await asyncio.sleep(0.5)
        await original(scope, _nothing_more, send)

    async def _nothing_more() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    made.guard = Guard(slow, made.library)
    assert made.ask("/api/query", "POST", pieces=(b"{}",)).status == 200
