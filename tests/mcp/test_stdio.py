"""`carrel mcp` as an agent starts it: a process of its own, whose standard output is the protocol's alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel import Library
from mcp import StdioServerParameters
from tests.mcp.agents import asked
from tests.saved_answers import BASALT, put_records, record

SRC = str(Path(__file__).parents[2] / "src")
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("rocks")
    with Library.init(made, overrides={"answer.threshold": 0.0}) as library:
        put_records(library, record("basalt", BASALT))
    return made


def environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")}
    return {**kept, "PYTHONPATH": SRC, "XDG_CONFIG_HOME": str(folder / "user"), **more}


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    running: list[subprocess.Popen[bytes]] = []

    def started(*arguments: str, **more: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "carrel", *arguments]
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        running.append(subprocess.Popen(command, env=environment(folder, **more), cwd="/", **pipes))
        return running[-1]

    yield started
    for process in running:
        process.kill()
        process.communicate()


def say(process: subprocess.Popen[bytes], *messages: dict[str, Any] | bytes) -> None:
    assert process.stdin
    for message in messages:
        process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def heard(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout
    message: dict[str, Any] = json.loads(process.stdout.readline())
    return message


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_gets_an_answer_with_citations_over_standard_input_and_output(folder: Path, mode: str) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "carrel", "-C", str(folder), "mcp"], env=environment(folder), cwd="/"
    )
    answer, told = asked(server, "Does basalt float on water?", mode=mode)
    citation = answer["citations"][0]
    assert (citation["paper_id"], citation["quote"] in BASALT) == ("basalt", True)
    assert told[-1] == "statements proved: 1"


def test_the_library_may_be_named_by_the_environment_and_the_process_ends_with_its_input(
    start: Start, folder: Path
) -> None:
    process = start("mcp", CARREL_LIBRARY=str(folder))
    say(process, HELLO)
    assert heard(process)["result"]["serverInfo"]["name"] == "carrel"
    out, _ = process.communicate(timeout=20)
    assert (out, process.returncode) == (b"", 0)


def test_nothing_but_the_protocol_is_written_to_standard_output_whatever_comes_in(start: Start, folder: Path) -> None:
    process = start("-C", str(folder), "--log-level", "debug", "mcp")
    say(process, HELLO)
    heard(process)
    say(process, READY, b"not json\n", b"\xff\xfe\x00\n", b"{}\n", b"[" * 100_000 + b"\n", b"x" * 3_000_000 + b"\n")
    call = {"name": "search", "arguments": {"query": "basalt \x1b[2J \u202e"}}
    say(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
    answered = heard(process)
    while answered.get("id") != 2:
        answered = heard(process)
    assert answered["result"]["structuredContent"]["results"][0]["paper_id"] == "basalt"
    out, err = process.communicate(timeout=20)
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert b'"logger": "carrel' in err


def test_the_same_command_serves_over_http(start: Start, folder: Path) -> None:
    process = start("-C", str(folder), "mcp", "--http", "--port", "0")
    assert process.stdout
    address = process.stdout.readline().decode().strip()
    answer, _ = asked(f"{address}/mcp", "Does basalt float on water?")
    assert answer["citations"][0]["paper_id"] == "basalt"
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err.decode().splitlines()[0]) == (0, "Agents find the tools at /mcp of this address.")


def test_a_missing_library_is_told_in_a_sentence_with_the_next_step(start: Start, tmp_path: Path) -> None:
    process = start("-C", str(tmp_path), "mcp")
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (2, b"")
    assert err.decode() == f"error: no library in '{tmp_path}' or above it\n\nMake one with 'carrel init'.\n"


def test_ctrl_c_ends_it_at_once(start: Start, folder: Path) -> None:
    process = start("-C", str(folder), "mcp")
    say(process, HELLO)
    heard(process)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    assert time.monotonic() - began < 10


def test_the_list_of_tools_is_there_before_anything_heavy_is_imported() -> None:
    program = (
        "import sys, carrel.cli.mcp, carrel.layout, carrel.settings, carrel.mcp.serving as serving;"
        "from carrel.mcp.server import Desk;"
        "Desk(None).server(); [verb.listed() for verb in Desk(None, allow_add=True).verbs.values()];"
        "print({'numpy', 'onnxruntime', 'tantivy', 'carrel.library', 'fastapi', 'dbos', 'psycopg'} & set(sys.modules))"
    )
    told = subprocess.check_output([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": SRC}, text=True)
    assert told == "set()\n"
