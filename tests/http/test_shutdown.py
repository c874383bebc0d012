"""A server is told to stop: what was asked is answered, what comes after is refused, and nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from carrel import Library
from carrel.cli.app import run
from tests.http.asking import TRUE, Halting, ask, streamed, streaming
from tests.http.serving import running, wait_until
from tests.saved_answers import RECORDS, opened, put_records

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}


@contextmanager
def process(*arguments: str, **options: Any) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A Python process that prints where it listens, and that address."""
    started = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        **options,
    )
    assert started.stdout is not None
    try:
        yield started, started.stdout.readline().strip()
    finally:
        started.kill()
        started.communicate()


def test_running_answers_finish_and_new_ones_are_refused(tmp_path: Path) -> None:
    with process("-m", "tests.http.slow_service", str(tmp_path), "3") as (server, url):
        with streaming(url) as events:
            assert [next(events).event for _ in range(3)] == ["confidence", "citation", "token"]
            server.terminate()
            wait_until(lambda: httpx2.get(f"{url}/api/health/ready").status_code == 503)
            refused = ask(url)
            assert (refused.status_code, refused.json()["error"]) == (503, "SHUTTING_DOWN")
            assert httpx2.get(f"{url}/api/health/live").status_code == 200
            assert [event.event for event in events][-3:] == ["token", "metadata", "done"]
        out, err = server.communicate(timeout=15)
        assert (server.returncode, out, err) == (0, "closed\n", "")


def test_asked_twice_it_stops_at_once(tmp_path: Path) -> None:
    generator = Halting(TRUE)
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        library.generator = generator
        with running(library, shutdown_seconds=600) as server, streaming(server.url) as events:
            next(events)
            began = time.monotonic()
            server.server.stop()
            server.server.stop()
            error = json.loads(list(events)[-1].data)
            assert (error["code"], error["retryable"]) == ("SHUTTING_DOWN", True)
            assert time.monotonic() - began < 20


def test_an_answer_that_takes_longer_than_the_patience_is_stopped_and_says_so(tmp_path: Path) -> None:
    generator = Halting(TRUE)
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        library.generator = generator
        with running(library, shutdown_seconds=0.3) as server, streaming(server.url) as events:
            next(events)
            began = time.monotonic()
            server.server.stop()
            assert json.loads(list(events)[-1].data)["code"] == "SHUTTING_DOWN"
            assert generator.closed.is_set()
            assert 0.3 <= time.monotonic() - began < 20


def test_who_waits_for_a_turn_is_told_at_once_that_none_will_come(tmp_path: Path) -> None:
    generator = Halting(TRUE)
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        library.generator = generator
        with running(library, concurrent_queries=1) as server, streaming(server.url) as events:
            next(events)
            with ThreadPoolExecutor() as pool:
                waiting = pool.submit(ask, server.url)
                wait_until(lambda: server.service.gate.queued == 1)
                server.server.stop()
                assert waiting.result().json()["error"] == "SHUTTING_DOWN"
            generator.released.set()
            assert [event.event for event in events][-1] == "done"


def test_the_command_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    with Library.init(tmp_path) as library:
        put_records(library, *RECORDS)
    with process("-m", "carrel", "-C", str(tmp_path), "serve", "--port", "0") as (server, url):
        assert urlsplit(url).hostname == "127.0.0.1"
        assert httpx2.get(f"{url}/api/health/live").json() == {"alive": True}
        assert streamed(url, "Which cathode keeps its capacity?")[-1].event == "done"
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=20)
        assert (server.returncode, out) == (0, "")
        assert err.splitlines() == ["Ctrl-C stops it.", "Stopped."]


def test_a_port_that_is_taken_is_named_with_the_next_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Library.init(tmp_path).close()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert run(["-C", str(tmp_path), "serve", "--port", port]) == 1
    said = capsys.readouterr().err
    assert f"cannot listen at 127.0.0.1:{port}: something else listens there" in said
    assert "--port 0" in said


def test_nobody_listens_to_the_world_without_a_token(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Library.init(tmp_path).close()
    assert run(["-C", str(tmp_path), "serve", "--host", "0.0.0.0", "--port", "0"]) == 1  # noqa: S104
    assert "carrel token create" in capsys.readouterr().err


def test_a_head_that_never_ends_is_not_waited_for(library: Library) -> None:
    with running(library, body_seconds=1.0) as server:
        where = urlsplit(server.url)
        for first in (b"", b"GET /api/health/live HT", b"GET / HTTP/1.1\r\nHost: x\r\nX: "):
            with socket.create_connection((where.hostname, where.port)) as connection:
                connection.settimeout(20)
                connection.sendall(first)
                assert connection.recv(100) == b""
        with socket.create_connection((where.hostname, where.port)) as connection:
            connection.settimeout(20)
            whole = f"GET /api/health/live HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode()
            for _ in range(2):
                connection.sendall(whole)
                assert _read_until(connection, b'{"alive":true}').startswith(b"HTTP/1.1 200")
            connection.sendall(whole[:20])
            assert connection.recv(100) == b""


def _read_until(connection: socket.socket, end: bytes) -> bytes:
    read = b""
    while not read.endswith(end):
        read += connection.recv(4096)
    return read
