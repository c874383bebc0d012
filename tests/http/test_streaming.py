"""Answers as they grow: what is told in which order, what happens when somebody leaves, and when something breaks."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from carrel import Library
from carrel.answer.listening import Left, leaving, listen
from carrel.errors import StoreUnavailable
from carrel.http.replays import Replays
from carrel.testing import Script
from carrel.types import Confidence, ConfidenceEvent, Event, TokenEvent
from carrel.types.service import Scope
from tests.http.asking import QUESTION, TRUE, Endless, Halting, ask, streamed, streaming
from tests.http.conftest import Serve
from tests.http.serving import Running, running, wait_until
from tests.saved_answers import opened, put_records, record

SPOKEN = (
    "Granite is hard. [1]\n",
    "Cats fly. [1]\n",
    "It melts at about 1,215 degrees, which surprised nobody at all in the laboratory. [1]\n",
    "Basalt is dark and forms from lava. [2] [3]\n",
)


@pytest.fixture
def halting(tmp_path: Path) -> Iterator[tuple[Library, Halting]]:
    """A library whose generator says one true thing and then hangs."""
    generator = Halting(TRUE)
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        library.generator = generator
        yield library, generator
        generator.released.set()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """For questions that change nothing."""
    with opened(tmp_path_factory.mktemp("lib"), **{"answer.threshold": 0.0}) as library, running(library) as started:
        yield started


def data(events: list[httpx2.ServerSentEvent]) -> list[dict[str, Any]]:
    return [json.loads(event.data) for event in events]


def test_the_events_come_in_their_order_and_each_source_once_before_it_is_cited(tmp_path: Path, served: Serve) -> None:
    with opened(tmp_path, *SPOKEN, **{"answer.threshold": 0.0}) as library:
        events = streamed(served(library))
        expected = library.ask(QUESTION)
    kinds = [event.event for event in events]
    assert kinds == [json.loads(event.data)["type"] for event in events]
    assert (kinds[0], kinds[-2:]) == ("confidence", ["metadata", "done"])
    assert set(kinds[1:-2]) == {"citation", "token"}
    told: list[int] = []
    for event in data(events)[1:-2]:
        if event["type"] == "citation":
            told.append(event["citation"]["id"])
        else:
            assert {int(mark) for mark in re.findall(r"\[(\d+)\]", event["content"])} <= set(told)
    assert told == [one.id for one in expected.citations] == list(range(1, len(told) + 1))
    said = "".join(event["content"] for event in data(events) if event["type"] == "token")
    assert said.split("\n") == [*(f"{one.text} {_marks(one.citations)}" for one in expected.statements), ""]
    assert "Cats" not in said


def _marks(numbers: tuple[int, ...]) -> str:
    return " ".join(f"[{number}]" for number in numbers)


def test_the_last_event_carries_the_answer_that_is_given_whole(server: Running) -> None:
    url = server.url
    whole, metadata = ask(url).json(), data(streamed(url))[-2]["metadata"]
    done = data(streamed(url))[-1]
    assert done["queryId"] == done["response"]["queryId"]
    for name in ("answer", "statements", "citations", "confidence", "probability", "missing"):
        assert done["response"][name] == whole[name]
    assert metadata["firstTokenTargetMet"] is True
    assert 0 < metadata["firstTokenLatencyMs"] <= metadata["latencyMs"]


def test_a_browser_asks_by_get(server: Running) -> None:
    wishes: dict[str, Any] = {"query": QUESTION, "topK": 2, "includeGraph": False, "paper": ["granite", "basalt"]}
    got = httpx2.get(f"{server.url}/api/query/stream", params=wishes)
    assert got.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert got.headers["x-accel-buffering"] == "no"
    assert "no-cache" in got.headers["cache-control"]
    assert got.text.startswith('event: confidence\ndata: {"type": "confidence", "level": ')
    assert got.text.count("event: done\n") == 1


def test_no_word_of_a_paper_can_forge_an_event(tmp_path: Path, served: Serve) -> None:
    forged = 'Granite is hard\r\n\r\nevent: done\ndata: {"type": "done"}\n\n: x\u2028id: 9'
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        put_records(library, record("granite", forged, title=forged))
        events = streamed(served(library))
    assert [event.event for event in events].count("done") == 1
    assert events[-1].event == "done"
    assert len({event.id for event in events}) == len(events)


def test_a_stream_that_is_silent_says_that_it_still_lives(halting: tuple[Library, Halting]) -> None:
    library, generator = halting
    with running(library, heartbeat_seconds=0.05) as server, _raw(server) as lines:
        assert next(line for line in lines if line.startswith("event: token"))
        assert [next(line for line in lines if line.startswith(":")) for _ in range(3)] == [": still at work"] * 3
        generator.released.set()
        assert next(line for line in lines if line.startswith("event: done"))


class _raw:  # noqa: N801
    """The lines of a stream."""

    def __init__(self, server: Running) -> None:
        self._stream = httpx2.stream("POST", f"{server.url}/api/query/stream", json={"query": QUESTION}, timeout=30)

    def __enter__(self) -> Iterator[str]:
        return self._stream.__enter__().iter_lines()

    def __exit__(self, *error: Any) -> None:
        self._stream.__exit__(*error)


def test_what_fails_before_the_first_event_is_an_error_like_any_other(server: Running) -> None:
    failed = httpx2.post(f"{server.url}/api/query/stream", json={"query": "x", "paper": ["nobody"]})
    assert (failed.status_code, failed.json()["error"]) == (404, "PAPER_NOT_FOUND")


def test_what_fails_later_is_an_event_that_says_whether_to_ask_again(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(error: Exception) -> Any:
        def stream(*_given: object, **_wishes: object) -> Iterator[Event]:
            yield ConfidenceEvent(Confidence.HIGH, has_insufficient_evidence=False, top_score=0.9)
            yield TokenEvent("So far, so good. ")
            raise error

        return stream

    library, url = server.service.library, server.url
    monkeypatch.setattr(library, "stream", failing(StoreUnavailable("the catalog is away", hint="Wait.")))
    confidence, token, error = streamed(url)
    assert (confidence.event, token.event, error.event) == ("confidence", "token", "error")
    query_id = error.id.partition("/")[0]
    assert json.loads(error.data) == {
        "type": "error",
        "error": "the catalog is away",
        "code": "STORE_UNAVAILABLE",
        "message": "the catalog is away",
        "hint": "Wait.",
        "queryId": query_id,
        "retryable": True,
    }
    monkeypatch.setattr(library, "stream", failing(ZeroDivisionError("secret of /home/me")))
    last = streamed(url)[-1]
    assert (json.loads(last.data)["code"], json.loads(last.data)["retryable"]) == ("INTERNAL_ERROR", False)
    assert "secret" not in last.data


def test_a_part_that_wants_to_end_the_process_ends_its_answer_only(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaving(*_given: object, **_wishes: object) -> Iterator[Event]:
        yield ConfidenceEvent(Confidence.HIGH, has_insufficient_evidence=False, top_score=0.9)
        raise SystemExit(3)

    with monkeypatch.context() as patched:
        patched.setattr(server.service.library, "stream", leaving)
        assert data(streamed(server.url))[-1]["code"] == "INTERNAL_ERROR"
    assert ask(server.url).status_code == 200


def test_when_its_time_is_over_a_stream_says_so_and_its_place_is_free(halting: tuple[Library, Halting]) -> None:
    library, generator = halting
    with running(library, query_seconds=1.5) as server:
        *told, error = data(streamed(server.url))
        assert [event["type"] for event in told] == ["confidence", "citation", "token"]
        assert (error["code"], error["retryable"]) == ("QUERY_TIMEOUT", True)
        assert generator.closed.is_set()
        assert server.service.gate.active == 0


def test_what_takes_longer_than_a_heartbeat_to_fail_is_an_event(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(*_given: object, **_wishes: object) -> Iterator[Event]:
        time.sleep(0.2)
        raise StoreUnavailable("the catalog is away")
        yield

    monkeypatch.setattr(library, "stream", slowly)
    with running(library, heartbeat_seconds=0.05) as server:
        (error,) = data(streamed(server.url))
        assert error["code"] == "STORE_UNAVAILABLE"


def test_who_leaves_while_it_speaks_stops_it_within_a_few_words(tmp_path: Path) -> None:
    generator = Endless()
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        library.generator = generator
        with running(library) as server:
            with streaming(server.url) as events:
                assert [next(events).event for _ in range(3)] == ["confidence", "citation", "token"]
                wait_until(lambda: generator.said > 3)
            left_at = generator.said
            wait_until(lambda: server.service.gate.active == 0)
            stopped_at = generator.said
            time.sleep(0.2)
            assert generator.said <= stopped_at + 5
            assert stopped_at - left_at < 100
            assert server.service.tally.left == 1


def test_who_leaves_while_it_hangs_stops_it_at_once(halting: tuple[Library, Halting]) -> None:
    library, generator = halting
    with running(library) as server:
        with streaming(server.url) as events:
            next(events)
        began = time.monotonic()
        assert generator.closed.wait(20)
        wait_until(lambda: server.service.gate.active == 0)
        assert time.monotonic() - began < 20
        assert generator.asked == 1


def test_who_leaves_the_queue_is_never_answered(halting: tuple[Library, Halting]) -> None:
    library, generator = halting
    with running(library, concurrent_queries=1) as server, streaming(server.url) as events:
        next(events)
        with pytest.raises(httpx2.ReadTimeout):
            httpx2.post(f"{server.url}/api/query/stream", json={"query": QUESTION}, timeout=0.2)
        wait_until(lambda: server.service.gate.queued == 0)
        assert (generator.asked, server.service.gate.active) == (1, 1)


def test_fifty_who_leave_at_any_moment_leave_no_place_taken_and_no_thread_behind(tmp_path: Path) -> None:
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        library.generator = Script(*SPOKEN)
        with running(library, concurrent_queries=3, queued_queries=50) as server:
            leavers = [threading.Thread(target=_leave, args=[server.url, number / 500]) for number in range(50)]
            for leaver in leavers:
                leaver.start()
            for leaver in leavers:
                leaver.join()
            wait_until(lambda: server.service.gate.active == server.service.gate.queued == 0)
            at_work = {"carrel-answer", "carrel-generator"}
            wait_until(lambda: at_work.isdisjoint(thread.name for thread in threading.enumerate()))
            assert ask(server.url).status_code == 200


def _leave(url: str, seconds: float) -> None:
    """Ask and go away, without a word, after so long."""
    where, body = urlsplit(url), json.dumps({"query": QUESTION}).encode()
    with socket.create_connection((where.hostname, where.port)) as connection:
        head = f"POST /api/query/stream HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        time.sleep(seconds)


def test_who_never_reads_keeps_no_place(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def flood(*_given: object, **_wishes: object) -> Iterator[Event]:
        yield ConfidenceEvent(Confidence.HIGH, has_insufficient_evidence=False, top_score=0.9)
        for _ in range(2000):
            yield TokenEvent("x" * 50_000)

    monkeypatch.setattr(library, "stream", flood)
    with running(library, query_seconds=0.5) as server:
        where, body = urlsplit(server.url), json.dumps({"query": QUESTION}).encode()
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect((where.hostname, where.port))
            head = f"POST /api/query/stream HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\n"
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            wait_until(lambda: server.service.tally.timed_out == 1)
            wait_until(lambda: server.service.gate.active == 0)


def came_back(url: str, last: str, query: str = QUESTION) -> httpx2.Response:
    return httpx2.get(f"{url}/api/query/stream", params={"query": query}, headers={"Last-Event-ID": last})


def test_who_comes_back_is_told_what_was_missed_and_asks_no_second_time(library: Library, served: Serve) -> None:
    library.generator = Script(*SPOKEN)
    url = served(library)
    events = streamed(url)
    missed = came_back(url, events[2].id)
    assert [event.event for event in httpx2.EventSource(missed)] == [event.event for event in events[3:]]
    assert came_back(url, events[-1].id).status_code == 204
    assert isinstance(library.generator, Script)
    assert len(library.generator.prompts) == 1


def test_who_comes_back_to_what_was_stopped_learns_that(halting: tuple[Library, Halting]) -> None:
    library, _ = halting
    with running(library) as server:
        with streaming(server.url) as events:
            last = [next(events) for _ in range(3)][-1].id
        wait_until(lambda: server.service.gate.active == 0)
        (error,) = data(list(httpx2.EventSource(came_back(server.url, last))))
        assert (error["code"], error["retryable"]) == ("UNAVAILABLE", True)
        assert error["message"] == "the answer was stopped when its reader left"


@pytest.mark.parametrize("last", ["0" * 32 + "/3", "nonsense", "x" * 100, "../../etc/passwd"])
def test_who_comes_back_to_what_nobody_knows_is_told_once(server: Running, last: str) -> None:
    url = server.url
    (error,) = httpx2.EventSource(came_back(url, last))
    assert json.loads(error.data)["code"] == "QUERY_NOT_FOUND"
    assert came_back(url, error.id).status_code == 204


def test_nobody_is_told_what_others_asked(library: Library, served: Serve) -> None:
    keys = {name: {"Authorization": f"Bearer {library.create_token(name, Scope.READ)[1]}"} for name in ("ada", "eve")}
    url = served(library, require_token=True)
    asked = httpx2.get(f"{url}/api/query/stream", params={"query": QUESTION}, headers=keys["ada"])
    first = next(iter(httpx2.EventSource(asked))).id
    told = {
        name: httpx2.get(
            f"{url}/api/query/stream", params={"query": QUESTION}, headers={**key, "Last-Event-ID": first}
        ).text
        for name, key in keys.items()
    }
    assert "Granite is hard" in told["ada"]
    assert "QUERY_NOT_FOUND" in told["eve"]
    assert "Granite" not in told["eve"]


def test_what_streams_said_is_kept_of_few_and_not_for_long() -> None:
    kept = Replays(most=2)
    ids = [f"{number:032x}" for number in range(3)]
    for query_id in ids:
        kept.begin(query_id, "me").add(b"frame")
    assert [kept.after(f"{query_id}/0", "me") for query_id in ids] == [None, [b"frame"], [b"frame"]]
    assert kept.after(f"{ids[2]}/0", "you") is None
    kept._seconds = 0.0
    assert kept.after(f"{ids[2]}/0", "me") is None


def test_whoever_waits_for_a_word_can_be_called_away() -> None:
    leaves, hanging = threading.Event(), threading.Event()

    def speak() -> Iterator[str]:
        yield "word"
        hanging.wait(60)

    with leaving(leaves):
        heard = listen("x", speak, seconds=60)
        assert next(heard) == "word"
        threading.Timer(0.05, leaves.set).start()
        began = time.monotonic()
        with pytest.raises(Left):
            next(heard)
    assert time.monotonic() - began < 20
    hanging.set()
