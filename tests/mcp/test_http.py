"""The same tools over HTTP, behind the guard of the service (FIELD 5.2: 1, 2, 5, 15, 20)."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from carrel import Library
from carrel.testing import HashedWords
from carrel.types import Prompt
from carrel.types.service import Scope
from mcp import Client
from tests.http.serving import Running, running
from tests.mcp.agents import asked, text, with_agent
from tests.saved_answers import BASALT, put_records, record

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPTED = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
ASKED = {"question": "Does basalt float on water?"}


class Slow:
    """Says a word now and then, for a minute, unless it is stopped."""

    name = "slow"
    context_tokens = 100_000

    def __init__(self) -> None:
        self.speaking = threading.Event()
        self.stopped = threading.Event()

    def stream(self, _prompt: Prompt) -> Iterator[str]:
        try:
            for _ in range(1200):
                self.speaking.set()
                yield "well "
                time.sleep(0.05)
        finally:
            self.stopped.set()


@pytest.fixture
def server(small: Library) -> Iterator[Running]:
    with running(small) as served:
        yield served


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Library]:
    with Library.init(tmp_path, embedder=HashedWords(), generator=Slow(), overrides={"answer.threshold": 0.0}) as made:
        put_records(made, record("basalt", BASALT))
        yield made


def posted(url: str, body: Any = HELLO, **headers: str) -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.post(f"{url}/mcp", content=content, headers={**ACCEPTED, **headers}, timeout=20)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_gets_an_answer_with_citations_over_http(server: Running, mode: str) -> None:
    answer, told = asked(f"{server.url}/mcp", ASKED["question"], mode=mode)
    citation = answer["citations"][0]
    assert (citation["paper_id"], citation["quote"] in BASALT) == ("basalt", True)
    assert told[-1] == "statements proved: 1"


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "rebound.example"},
        {"host": "rebound.example:8080"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost.evil.example"},
        {"sec-fetch-site": "cross-site"},
    ],
    ids=lambda headers: " ".join(*headers.items()),
)
def test_foreign_hosts_and_pages_are_refused(server: Running, headers: dict[str, str]) -> None:
    assert posted(server.url, **headers).status_code == 403


@pytest.mark.parametrize(
    ("body", "statuses"),
    [
        (b"x" * 2_000_000, {413}),
        (b"not json", {400}),
        (b"\xff\xfe", {400}),
        (b"[" * 50_000, {400}),
        (b"", {400}),
        ([HELLO] * 3, {400}),
        ({**HELLO, "method": "tools/call", "params": {"name": "search"}}, {200, 400, 404}),
    ],
    ids=["giant", "no JSON", "bad UTF-8", "deep", "empty", "batch", "no session"],
)
def test_what_is_no_message_is_refused_and_the_next_is_answered(server: Running, body: Any, statuses: set[int]) -> None:
    refused = posted(server.url, body)
    assert refused.status_code in statuses
    assert "Traceback" not in refused.text
    assert posted(server.url).status_code == 200


def test_there_is_no_stream_that_stays_open_for_news(server: Running) -> None:
    refused = httpx2.get(f"{server.url}/mcp", headers={"accept": "text/event-stream"})
    assert (refused.status_code, refused.headers["allow"]) == (405, "DELETE, POST")


def with_token(server: Running, token: str, talk: Callable[[Client], Any]) -> Any:
    async def talked() -> Any:
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
        async with http, Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client:
            return await talk(client)

    return anyio.run(talked)


def test_tokens_are_asked_for_and_adding_needs_one_that_may_write(small: Library) -> None:
    (small.layout.root.parent / "notes.md").write_text("# Schist\n\nSchist glitters with mica.\n", encoding="utf-8")
    reading, writing = (small.create_token(scope.value, scope)[1] for scope in (Scope.READ, Scope.WRITE))
    with running(small, require_token=True, mcp__allow_add=True) as server:
        assert posted(server.url).status_code == 401
        assert posted(server.url, authorization="Bearer carrel_nonsense").status_code == 401
        refused = with_token(server, reading, lambda client: client.call_tool("add", {"path": "notes.md"}))
        assert (refused.is_error, text(refused)) == (
            True,
            "add needs a token of scope write. Ask who runs this library.",
        )
        added = with_token(server, writing, lambda client: client.call_tool("add", {"path": "notes.md"}))
        assert added.structured_content["papers"] == ["notes"]
    assert '"caller": "write"' in (small.layout.home / "audit.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_who_stops_waiting_stops_the_work_and_frees_the_place(slow: Library, mode: str) -> None:
    generator = slow.generator
    assert isinstance(generator, Slow)

    async def impatient(client: Client) -> None:
        with anyio.move_on_after(20) as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "ask", ASKED)
                await anyio.to_thread.run_sync(generator.speaking.wait, 15)
                group.cancel_scope.cancel()
        assert not scope.cancelled_caught
        await anyio.to_thread.run_sync(generator.stopped.wait, 10)

    with running(slow) as server:
        with_agent(f"{server.url}/mcp", impatient, mode=mode)
        assert generator.stopped.is_set()
        deadline = time.monotonic() + 5
        while server.service.gate.active and time.monotonic() < deadline:
            time.sleep(0.02)
        assert server.service.gate.active == 0


def test_questions_wait_for_their_turn_with_all_others_and_a_full_queue_is_told(slow: Library) -> None:
    generator = slow.generator
    assert isinstance(generator, Slow)

    async def talk(client: Client) -> str:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "ask", ASKED)
            await anyio.to_thread.run_sync(generator.speaking.wait, 15)
            refused = await client.call_tool("search", {"query": "basalt"})
            listed = await client.call_tool("list_papers", {})
            assert not listed.is_error
            group.cancel_scope.cancel()
        assert refused.is_error
        return text(refused)

    with running(slow, concurrent_queries=1, queued_queries=0) as server:
        assert "waiting already" in with_agent(f"{server.url}/mcp", talk)


def test_an_answer_that_takes_too_long_is_told(slow: Library) -> None:
    with running(slow, query_seconds=2.0) as server:
        done = with_agent(f"{server.url}/mcp", lambda client: client.call_tool("ask", ASKED))
    assert text(done) == "ask took longer than 2 s. Ask for less."
    assert isinstance(slow.generator, Slow)
    assert slow.generator.stopped.wait(20)
