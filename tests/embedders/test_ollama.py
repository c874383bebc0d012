"""Ollama, as a server that speaks its API and can be told to misbehave."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from carrel import servers
from carrel.embedders.http import text_windows
from carrel.embedders.ollama import Ollama
from carrel.errors import CarrelError, DimensionMismatchError, ModelNotInstalled, ModelServerUnavailable
from carrel.library import Library
from carrel.testing import HashedWords
from tests.embedders import test_contract as contract

PROMISES = [
    contract.test_it_is_an_embedder_with_a_name_and_sizes,
    contract.test_one_finite_float32_row_of_unit_length_for_each_text,
    contract.test_no_texts_give_no_rows_of_the_right_width,
    contract.test_a_query_is_one_float32_unit_vector,
    contract.test_a_text_has_the_same_vector_alone_in_a_batch_and_in_any_order,
    contract.test_a_question_is_nearer_to_the_passage_that_answers_it,
    contract.test_the_end_of_a_passage_beyond_the_limit_is_seen,
    contract.test_a_long_passage_is_embedded_the_same_alone_and_among_short_ones,
    contract.test_a_different_text_has_a_different_vector,
]
WORDLESS = ["", "   ", "\n\t\n", "\x00", "\ud800", "🙂", "." * 50]


@dataclass(frozen=True)
class Reply:
    content: object = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drip: float = 0.0
    """Seconds between the bytes."""
    resets: bool = False

    @property
    def body(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else json.dumps(self.content).encode()


class Scripted(ThreadingHTTPServer):
    """Answers as its script says, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self, script: Callable[[str, Any], Reply]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.asked: list[tuple[str, Any]] = []
        self.keys: list[str | None] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The client may leave whenever it likes."""


class Handler(BaseHTTPRequestHandler):
    server: Scripted

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"null")
        self.server.asked.append((self.path, question))
        self.server.keys.append(self.headers.get("Authorization"))
        reply = self.server.script(self.path, question)
        if reply.resets:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        self.send_response(reply.status)
        for name, value in ({"Content-Length": str(len(reply.body))} | reply.headers).items():
            self.send_header(name, value)
        self.end_headers()
        for piece in [reply.body] if not reply.drip else [bytes([byte]) for byte in reply.body]:
            time.sleep(reply.drip)
            self.wfile.write(piece)
            self.wfile.flush()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[str, Any], Reply]], Scripted]]:
    running: list[Scripted] = []

    def start(script: Callable[[str, Any], Reply]) -> Scripted:
        running.append(Scripted(script))
        return running[-1]

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


Serve = Callable[[Callable[[str, Any], Reply]], Scripted]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "PAUSES", (0.01, 0.01))


def vectors(texts: list[str]) -> list[list[float]]:
    """Not of unit length: that is the client's affair."""
    rows: list[list[float]] = (3 * HashedWords(max_tokens=10_000).embed_passages(texts)).tolist()
    return rows


def ollama(path: str, question: Any) -> Reply:
    if path == "/api/tags":
        return Reply({"models": [{"name": "nomic-embed-text:latest"}, {"name": "all-minilm:l6-v2"}]})
    if path == "/api/embed":
        return Reply({"embeddings": vectors(question["input"])})
    return Reply(b"404 page not found", 404)


def old_ollama(path: str, question: Any) -> Reply:
    if path == "/api/embeddings":
        return Reply({"embedding": vectors([question["prompt"]])[0]})
    return ollama(path, question) if path == "/api/tags" else Reply(b"404 page not found", 404)


def answering(reply: Reply) -> Callable[[str, Any], Reply]:
    """An Ollama that gives one answer to every request for embeddings."""
    return lambda path, question: ollama(path, question) if path == "/api/tags" else reply


@pytest.fixture(params=[ollama, old_ollama])
def embedder(request: pytest.FixtureRequest, serve: Serve) -> Ollama:
    return Ollama("nomic-embed-text", base_url=serve(request.param).url)


@pytest.mark.parametrize("promise", PROMISES)
def test_it_keeps_the_contract_with_new_and_old_servers(embedder: Ollama, promise: Callable[[Any], None]) -> None:
    promise(embedder)


@pytest.mark.parametrize("text", WORDLESS)
def test_a_text_without_words_still_has_a_unit_vector(embedder: Ollama, text: str) -> None:
    assert np.linalg.norm(embedder.embed_passages([text, "word"]), axis=1) == pytest.approx(np.ones(2), abs=1e-5)


def test_making_one_asks_the_server_nothing(serve: Serve) -> None:
    server = serve(ollama)
    assert Ollama("nomic-embed-text", base_url=server.url).name == "ollama:nomic-embed-text"
    assert server.asked == []


def test_texts_are_sent_in_batches_after_one_look_at_the_models(serve: Serve) -> None:
    server = serve(ollama)
    embedder = Ollama("nomic-embed-text", base_url=server.url, batch_size=2)
    embedder.embed_passages(["one", "two", "three"])
    embedder.embed_query("four")
    assert server.asked == [
        ("/api/tags", None),
        ("/api/embed", {"model": "nomic-embed-text", "input": ["one", "two"], "truncate": False}),
        ("/api/embed", {"model": "nomic-embed-text", "input": ["three"], "truncate": False}),
        ("/api/embed", {"model": "nomic-embed-text", "input": ["four"], "truncate": False}),
    ]


def test_a_server_without_batches_is_asked_one_by_one_from_then_on(serve: Serve) -> None:
    server = serve(old_ollama)
    embedder = Ollama("nomic-embed-text", base_url=server.url)
    embedder.embed_passages(["one", "two"])
    embedder.embed_query("three")
    assert server.paths() == ["/api/tags", "/api/embed", *["/api/embeddings"] * 3]


def test_prefixes_and_dimensions_are_sent(serve: Serve) -> None:
    def short(path: str, question: Any) -> Reply:
        return Reply({"embeddings": [[1.0] * 8] * len(question["input"])}) if question else ollama(path, question)

    server = serve(short)
    embedder = Ollama("nomic-embed-text", base_url=server.url, query_prefix="q: ", passage_prefix="p: ", dimensions=8)
    embedder.embed_passages(["one"])
    embedder.embed_query("two")
    assert [(asked["input"], asked["dimensions"]) for _, asked in server.asked[1:]] == [
        (["p: one"], 8),
        (["q: two"], 8),
    ]


def test_the_name_changes_with_whatever_changes_the_stored_vectors() -> None:
    def name(**options: Any) -> str:
        return Ollama("m", **options).name

    assert (name(), Ollama("m:latest").name, name(query_prefix="q: ")) == ("ollama:m",) * 3
    assert (name(dimensions=256), name(max_tokens=1024)) == ("ollama:m+256d", "ollama:m+1024t")
    assert len({name(), name(passage_prefix="p: "), name(passage_prefix="x: ")}) == 3


def test_without_a_server_the_seeds_sentence_is_said_with_exit_code_3() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ModelServerUnavailable) as caught:
        Ollama("nomic-embed-text", base_url=f"http://127.0.0.1:{port}").embed_query("x")
    assert caught.value.message == "Ollama is not running. Start it with 'ollama serve' or install from ollama.ai"
    assert caught.value.exit_code == 3


def test_without_the_model_the_seeds_sentence_is_said_with_exit_code_5(serve: Serve) -> None:
    with pytest.raises(ModelNotInstalled) as caught:
        Ollama("all-minilm", base_url=serve(ollama).url).embed_query("x")
    assert caught.value.message == "Model 'all-minilm' not found. Run 'ollama pull all-minilm' first"
    assert caught.value.exit_code == 5


@pytest.mark.parametrize("model", ["nomic-embed-text", "nomic-embed-text:latest", "all-minilm:l6-v2"])
def test_a_model_is_found_with_and_without_the_tag_latest(serve: Serve, model: str) -> None:
    assert Ollama(model, base_url=serve(ollama).url).dim == 64


def test_a_model_that_vanishes_in_between_is_named(serve: Serve) -> None:
    missing = Reply({"error": "model 'nomic-embed-text' not found"}, 404)
    with pytest.raises(ModelNotInstalled, match="Run 'ollama pull nomic-embed-text' first"):
        Ollama("nomic-embed-text", base_url=serve(answering(missing)).url).embed_query("x")


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply({"error": "out of memory \x1b[31m"}, 500), r"answered 500: out of memory \[31m$"),
        (Reply(b"<html>hello</html>"), "sent no JSON but '<html>hello</html>'"),
        (Reply(b"[" * 100_000), "sent no JSON"),
        (Reply({"embedding": [1.0]}), "sent an answer without 'embeddings'"),
        (Reply(["what"]), "sent an answer without 'embeddings'"),
        (Reply({"embeddings": [[1.0, 2.0]]}), r"an array of shape \(1, 2\) for 2 texts"),
        (Reply({"embeddings": [[1.0, 2.0], [1.0]]}), "something else than vectors of one length"),
        (Reply({"embeddings": ["a", "b"]}), "something else than vectors of one length"),
        (Reply({"embeddings": [[], []]}), "without a direction"),
        (Reply({"embeddings": [[0.0, 0.0], [1.0, 0.0]]}), "without a direction"),
        (Reply(b'{"embeddings": [[NaN, 1.0], [1.0, 0.0]]}'), "without a direction"),
        (Reply(b'{"embed', headers={"Content-Length": "500"}), "hung up before it had answered"),
        (
            Reply(status=302, headers={"Location": "http://elsewhere.example/"}),
            "answered 302: http://elsewhere.example/",
        ),
        (Reply(b" " * 3_000_000), "more than 1,000,000 bytes"),
        (Reply({"embeddings": []}, drip=0.02), "did not answer within 0.2 s"),
    ],
)
def test_a_server_that_misbehaves_is_told_on_with_exit_code_3(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, reply: Reply, message: str
) -> None:
    monkeypatch.setattr(servers, "MOST_BYTES", 1_000_000)
    server = serve(answering(reply))
    timeout = 0.2 if reply.drip else 10.0
    with pytest.raises(ModelServerUnavailable, match=message) as caught:
        Ollama("nomic-embed-text", base_url=server.url, timeout=timeout).embed_passages(["one", "two"])
    assert (caught.value.exit_code, caught.value.http_status) == (3, 503)
    assert server.url in caught.value.message
    assert caught.value.hint


def test_a_server_that_says_nothing_is_given_up_after_the_timeout(serve: Serve) -> None:
    def silent(path: str, question: Any) -> Reply:
        time.sleep(30)
        return ollama(path, question)

    start = time.monotonic()
    with pytest.raises(ModelServerUnavailable, match=r"did not answer within 0\.1 s") as caught:
        Ollama("nomic-embed-text", base_url=serve(silent).url, timeout=0.1).embed_query("x")
    assert time.monotonic() - start < 15
    assert "models.timeout" in caught.value.hint


@pytest.mark.parametrize("fault", [Reply(resets=True), Reply({"error": "busy"}, 503)])
def test_a_busy_server_is_asked_up_to_three_times(serve: Serve, fault: Reply) -> None:
    faults = [fault] * 2

    def busy_at_first(path: str, question: Any) -> Reply:
        return faults.pop() if path == "/api/embed" and faults else ollama(path, question)

    server = serve(busy_at_first)
    Ollama("nomic-embed-text", base_url=server.url).embed_query("x")
    assert server.paths() == ["/api/tags", *["/api/embed"] * 3]

    server = serve(answering(fault))
    with pytest.raises(ModelServerUnavailable):
        Ollama("nomic-embed-text", base_url=server.url).embed_query("x")
    assert server.paths().count("/api/embed") == 3


def test_a_text_that_the_server_finds_too_long_is_halved_until_it_fits(serve: Serve) -> None:
    def narrow(path: str, question: Any) -> Reply:
        if path == "/api/embed" and max(map(len, question["input"])) > 300:
            return Reply({"error": "the input length exceeds the context length"}, 400)
        return ollama(path, question)

    embedder = Ollama("nomic-embed-text", base_url=serve(narrow).url)
    text = "alpha " * 100 + "omega " * 100
    row, short = embedder.embed_passages([text, "omega"])
    assert row @ short > 0.5
    assert np.abs(embedder.embed_query(text) - row).max() < 1e-5


def test_a_server_that_finds_everything_too_long_is_not_asked_for_ever(serve: Serve) -> None:
    reply = Reply({"error": "input is too long"}, 400)
    with pytest.raises(ModelServerUnavailable, match="too long"):
        Ollama("nomic-embed-text", base_url=serve(answering(reply)).url).embed_query("some words")


def test_the_dimension_is_remembered_for_when_the_server_is_down(serve: Serve, tmp_path: Path) -> None:
    assert Ollama("nomic-embed-text", base_url=serve(ollama).url, cache=tmp_path).dim == 64
    assert Ollama("nomic-embed-text", base_url="http://127.0.0.1:1", cache=tmp_path).dim == 64


def test_a_slip_of_the_server_is_told_but_not_remembered(serve: Serve, tmp_path: Path) -> None:
    def slipping(path: str, question: Any) -> Reply:
        if isinstance(question, dict) and question.get("input") == ["slip"]:
            return Reply({"embeddings": [[1.0, 2.0]]})
        return ollama(path, question)

    embedder = Ollama("nomic-embed-text", base_url=serve(slipping).url, cache=tmp_path)
    embedder.embed_query("x")
    with pytest.raises(DimensionMismatchError, match="2 dimensions where 64 were expected"):
        embedder.embed_query("slip")
    assert Ollama("nomic-embed-text", base_url="http://127.0.0.1:1", cache=tmp_path).dim == 64


def test_a_model_that_changed_its_dimension_is_told_and_remembered_anew(serve: Serve, tmp_path: Path) -> None:
    Ollama("nomic-embed-text", base_url=serve(ollama).url, cache=tmp_path).embed_query("x")
    other = serve(answering(Reply({"embeddings": [[1.0, 0.0]]})))
    with pytest.raises(DimensionMismatchError, match="gave a vector of 2 dimensions where 64 were expected"):
        Ollama("nomic-embed-text", base_url=other.url, cache=tmp_path).embed_query("x")
    assert Ollama("nomic-embed-text", base_url=other.url, cache=tmp_path).dim == 2


def test_tokens_are_estimated_by_script() -> None:
    assert Ollama("m").count_tokens(["", "four", "fifteen letters", "漢字", "漢字漢字漢字", "word 漢字"]) == [
        0,
        1,
        4,
        2,
        4,
        3,
    ]


def test_windows_cover_the_text_within_the_limit_and_overlap() -> None:
    text = "".join(chr(0x4E00 + place) if place % 3 else "x" for place in range(5000))
    windows = text_windows(text, 512)
    assert all(Ollama("m").count_tokens([window])[0] <= 513 for window in windows)
    assert (windows[0][0], windows[-1][-1]) == (text[0], text[-1])
    assert all(text.find(after) < text.find(before) + len(before) for before, after in pairwise(windows))
    assert text_windows("short", 512) == ["short"]


def test_a_library_is_built_and_searched_with_it_and_opened_without(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    (tmp_path / "note.md").write_text("# Aspirin\n\nAspirin lowers the incidence of colorectal cancer.\n")
    chosen = {"embedder": "ollama:nomic-embed-text", "models.base_url": serve(ollama).url}
    with Library.init(tmp_path, overrides=chosen) as library:
        library.add(tmp_path / "note.md")
        assert library.search("aspirin cancer", mode="vector").passages[0].chunk.paper_id == "note"
    down = chosen | {"models.base_url": "http://127.0.0.1:1"}
    with Library.open(tmp_path, overrides=down) as library:
        assert [row.reference.id for row in library.list()] == ["note"]
        assert library.search("aspirin").passages[0].chunk.paper_id == "note"
        with pytest.raises(CarrelError, match="Ollama is not running"):
            library.search("aspirin", mode="vector")
