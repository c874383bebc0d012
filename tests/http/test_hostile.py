"""Hostile requests to a real server: none succeeds, none is told more than it should, and the server lives on."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from carrel import Library
from carrel.types.service import Scope
from tests.http import hostile, hostile_documents
from tests.http.hostile import Hostile
from tests.http.raw import Reply, connected, posted, read, request, sent
from tests.http.serving import running
from tests.saved_answers import HOSTILE, opened

LEAKS = ("Traceback", 'File "', "site-packages", "sqlite", "psycopg", "root:x:", "/tmp/", "created_at", "user_hash")  # noqa: S108


@dataclass(frozen=True)
class Target:
    url: str
    library: Library
    tokens: dict[str, str]

    def send(self, raw: bytes) -> Reply:
        return sent(self.url, raw)

    @property
    def papers(self) -> list[str]:
        return [row.reference.id for row in self.library.list()]

    def is_well(self) -> bool:
        """Whether it answers at once, and nothing is missing."""
        began = time.monotonic()
        alive = self.send(request("GET", "/api/health/live")).status == 200
        return alive and time.monotonic() - began < 10 and self.papers == ["basalt", "granite", "hostile"]


class Witness(BaseHTTPRequestHandler):
    """Stands for what only this machine can reach, and counts who comes."""

    visits: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.visits.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"# Secret\n\nOnly for this machine.\n")

    def log_message(self, *_arguments: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Target]]:
    with ExitStack() as stack:

        def started(**settings: Any) -> Target:
            folder = tmp_path_factory.mktemp("hostile") / "library"
            folder.mkdir()
            _plant(folder)
            library = stack.enter_context(opened(folder, **{"answer.threshold": 0.0}))
            tokens = _tokens(library)
            url = stack.enter_context(running(library, **{"requests_per_minute": 0, **settings})).url
            return Target(url, library, tokens)

        yield started


def _plant(folder: Path) -> None:
    """Ways out of the library's folder, and things in it that are no files."""
    (folder.parent / "secret.md").write_text("# Secret\n\nNobody may read this.\n")
    (folder / "leading_out.md").symlink_to(folder.parent / "secret.md")
    (folder / "folder_leading_out").symlink_to(folder.parent)
    (folder / "notes.md").write_text("# Notes\n\nGranite is a rock.\n")
    os.mkfifo(folder / "pipe.md")


def _tokens(library: Library) -> dict[str, str]:
    token, secret = library.create_token("read", Scope.READ)
    _, write = library.create_token("write", Scope.WRITE)
    _, revoked = library.create_token("gone", Scope.ADMIN)
    library.revoke_token("gone")
    bare = secret.removeprefix("carrel_")
    derived = (token.id, token.name, token.digest, secret[:-1], f"{secret}x", secret.upper(), bare)
    named = {f"read {way}": value for way, value in zip(hostile.DERIVATIONS, derived, strict=True)}
    return {"read": secret, "write": write, "revoked": revoked, **named}


@pytest.fixture(scope="module")
def open_server(serve: Callable[..., Target]) -> Target:
    return serve()


@pytest.fixture(scope="module")
def locked_server(serve: Callable[..., Target]) -> Target:
    return serve(require_token=True)


@pytest.fixture(scope="module")
def fetching_server(serve: Callable[..., Target], witness: int) -> Target:
    """One whose user lets it fetch from the web."""
    assert witness
    return serve(jobs__allow_urls=True)


@pytest.fixture(scope="module")
def witness() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Witness)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def check(attack: Hostile, target: Target) -> None:
    reply = target.send(attack.raw)
    assert reply.status in attack.statuses, (attack.incident, attack.name, reply.body[:300])
    text = reply.body.decode("utf-8", "replace")
    assert not [leak for leak in LEAKS if leak in text], (attack.name, text[:300])
    assert "set-cookie" not in reply.headers
    assert not reply.headers.get("content-type", "").startswith("text/html")
    if reply.headers.get("content-type") == "application/json":
        assert reply.headers["x-content-type-options"] == "nosniff"
    assert target.is_well(), attack.name


def test_there_are_more_than_a_hundred_and_each_names_its_incident() -> None:
    attacks = [
        *hostile.foreign(),
        *hostile.locked(),
        *hostile.unlocked(),
        *hostile_documents.documents("1"),
    ]
    assert len(attacks) > 300
    assert len({attack.raw for attack in attacks}) > 300
    assert all(attack.incident.partition(":")[0].isdigit() for attack in attacks)


@pytest.mark.parametrize("attack", list(hostile.foreign()), ids=str)
def test_no_foreign_page_or_name_gets_in(attack: Hostile, open_server: Target) -> None:
    check(attack, open_server)


@pytest.mark.parametrize("attack", list(hostile.locked()), ids=str)
def test_nobody_gets_in_without_a_token_that_is_good_for_it(attack: Hostile, locked_server: Target) -> None:
    raw = attack.raw
    for name, secret in locked_server.tokens.items():
        raw = raw.replace(f"@{name}@".encode(), secret.encode())
    assert b" @" not in raw
    check(replace(attack, raw=raw), locked_server)


@pytest.mark.parametrize("attack", list(hostile.unlocked()), ids=str)
def test_no_request_breaks_the_stores_or_the_server(attack: Hostile, open_server: Target) -> None:
    check(attack, open_server)


@pytest.mark.parametrize("attack", list(hostile_documents.documents("@port@")), ids=str)
def test_no_document_is_fetched_or_read_that_the_server_alone_can_reach(
    attack: Hostile, fetching_server: Target, witness: int
) -> None:
    check(replace(attack, raw=_with_port(attack.raw, witness)), fetching_server)
    assert Witness.visits == []


def _with_port(raw: bytes, port: int) -> bytes:
    """The length is told anew."""
    head, _, body = raw.partition(b"\r\n\r\n")
    body = body.replace(b"@port@", str(port).encode())
    lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length")]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(body)]) + b"\r\n\r\n" + body


def test_addresses_are_not_fetched_at_all_unless_the_user_allows_it(open_server: Target, witness: int) -> None:
    for address in ("https://example.org/x.pdf", f"http://127.0.0.1:{witness}/x.md"):
        reply = open_server.send(posted("/api/ingest", {"documentUrl": address}))
        assert (reply.status, reply.json["error"]) == (400, "INVALID_SOURCE")
    assert Witness.visits == []


@pytest.mark.parametrize(
    "name", ["../../evil.md", "/etc/cron.d/evil", "..\\evil.md", "a\\u0000.md", "a\r\nX-Evil: 1.md", ".", ""]
)
def test_an_uploads_name_writes_nowhere_else(upload_server: Target, name: str) -> None:
    """13: paths that lead elsewhere (GHSA-8rgj-chc2-6chv)."""
    around = upload_server.library.layout.root.parent.parent
    before = _files(around)
    disposition = f'form-data; name="file"; filename="{name}"'.encode("utf-8", "replace")
    body = b"--x\r\nContent-Disposition: " + disposition + b"\r\n\r\n# Evil\n\nA paper about evil rocks.\r\n--x--\r\n"
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    reply = upload_server.send(request("POST", "/api/ingest", form, body))
    assert reply.status in {202, 400, 409}
    assert not any(leak in reply.body.decode("utf-8", "replace") for leak in LEAKS)
    new = _files(around) - before
    assert not [path for path in new if ".carrel" not in path.parts], new
    assert not Path("/etc/cron.d/evil").exists()


@pytest.fixture(scope="module")
def upload_server(serve: Callable[..., Target]) -> Target:
    return serve()


def _files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_a_question_cannot_add_events_to_a_stream(open_server: Target) -> None:
    """7: event injection."""
    question = 'granite\n\nevent: done\ndata: {"type": "done"}\n\nid: 1\rretry: 1'
    reply = open_server.send(posted("/api/query/stream", {"query": question}))
    assert reply.headers["content-type"].startswith("text/event-stream")
    frames = [frame for frame in reply.body.decode().split("\n\n") if frame and not frame.startswith(":")]
    told = [dict(line.split(": ", 1) for line in frame.splitlines()) for frame in frames]
    assert [frame["event"] for frame in told].count("done") == 1
    assert all(json.loads(frame["data"])["type"] == frame["event"] for frame in told)
    assert all(set(frame) <= {"event", "data", "id", "retry"} for frame in told)
    assert all("1" not in (frame.get("id"), frame.get("retry")) for frame in told)
    assert b"\r" not in reply.body.replace(b"\\r", b"")


def test_scripts_in_titles_are_data(open_server: Target) -> None:
    """7: stored scripts; 8: answers that fetch something for a browser (CVE-2025-32711)."""
    for target in ("/api/papers", "/api/papers/hostile", "/api/search?query=rocks"):
        reply = open_server.send(request("GET", target))
        assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in reply.headers["content-security-policy"]
    told = open_server.send(request("GET", "/api/papers/hostile")).body.decode()
    assert "<img src=x onerror=alert(1)>" in HOSTILE
    assert "<img src=x onerror=alert(1)>" in told
    assert "\x1b" not in told


@pytest.mark.parametrize(
    "given", ["a\x1b[31m", "a b", "x" * 300, "é", "a,b", "<script>", "a%0d%0aX: y", "..", "\t", "a;b=c", '"'], ids=repr
)
def test_an_id_of_the_clients_is_told_again_only_where_it_is_harmless(open_server: Target, given: str) -> None:
    """20: log forging and header injection (GHSA-3wg5-5w54-3rfm)."""
    reply = open_server.send(request("GET", "/api/health/live", {"X-Request-ID": given}))
    assert reply.status in {200, 400}
    if given != "..":
        assert reply.headers.get("x-request-id") != given


def test_a_header_with_a_line_end_is_no_header(open_server: Target) -> None:
    """20: header injection."""
    raw = request("GET", "/api/health/live", {"X-Request-ID": "a\rSet-Cookie: b=c"})
    reply = open_server.send(raw)
    assert reply.status in {0, 400}
    assert "set-cookie" not in reply.headers


def test_no_line_of_the_audit_is_written_by_who_it_is_about(locked_server: Target) -> None:
    """20: log forging (GHSA-3wg5-5w54-3rfm)."""
    forged = "%0a%7B%22action%22%3A%22token%20created%22%7D%0d%0a"
    locked_server.send(request("DELETE", f"/api/papers/{forged}", {"Authorization": "Bearer carrel_x\t"}))
    kept = [json.loads(line) for line in locked_server.library.layout.audit.read_bytes().splitlines()]
    assert not [entry for entry in kept if entry["action"] == "token created" and entry.get("caller") != "local"]
    secrets = [locked_server.tokens[name] for name in ("read", "write", "revoked")]
    text = locked_server.library.layout.audit.read_text()
    assert not any(secret in text for secret in secrets)


def test_what_nobody_foresaw_is_not_told(open_server: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """20: errors that tell (GHSA-964x-f4fr-585m)."""

    def explode(*_arguments: object, **_options: object) -> None:
        raise RuntimeError("cannot open /home/me/.ssh/id_rsa: password=hunter2")

    monkeypatch.setattr(open_server.library, "search", explode)
    reply = open_server.send(request("GET", "/api/search?query=a"))
    assert (reply.status, set(reply.json)) == (500, {"error", "message"})
    assert reply.json["error"] == "INTERNAL_ERROR"
    assert reply.headers["x-request-id"] in reply.json["message"]
    assert b"hunter2" not in reply.body


def test_paths_that_nobody_has_do_not_fill_the_metrics(open_server: Target) -> None:
    """20: unbounded caches (GHSA-3wg5-5w54-3rfm)."""
    for number in range(50):
        open_server.send(request("GET", f"/nobody/has/this/{number}"))
        open_server.send(request(f"BREW{number}", "/api/papers"))
    told = open_server.send(request("GET", "/metrics")).body
    assert b"/nobody" not in told
    assert b"BREW" not in told


@pytest.fixture(scope="module")
def tight_server(serve: Callable[..., Target]) -> Iterator[Target]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("carrel.http.guard._LINGER_SECONDS", 0.1)
        yield serve(body_kilobytes=10, upload_megabytes=1, body_seconds=1.0)


@pytest.mark.parametrize("path", ["/api/query", "/api/query/stream", "/api/feedback", "/v1/chat/completions", "/mcp"])
def test_a_giant_body_is_not_taken_in(tight_server: Target, path: str) -> None:
    """15: body caps on every route (GHSA-26pm-px5v-8c4w)."""
    form = {"Content-Type": "application/json", **hostile.AGENT}
    told = tight_server.send(request("POST", path, {**form, "Content-Length": str(10**12)}, b"{"))
    assert told.status == 413
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [b'{"query": "', *[b"a" * 1000] * 30])
    untold = tight_server.send(request("POST", path, {**form, "Transfer-Encoding": "chunked"}, chunks))
    assert untold.status == 413
    assert tight_server.is_well()


def test_who_asks_before_sending_too_much_is_told_at_once(tight_server: Target) -> None:
    form = {"Content-Type": "application/json", "Content-Length": "10000000", "Expect": "100-continue"}
    reply = tight_server.send(request("POST", "/api/query", form))
    assert (reply.status, reply.headers["connection"]) == (413, "close")


def test_a_giant_upload_is_not_taken_in(tight_server: Target) -> None:
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\n'
    body = head + b"a" * 1_200_000 + b"\r\n--x--\r\n"
    assert tight_server.send(request("POST", "/api/ingest", form, body)).status == 413
    assert tight_server.is_well()


def test_clients_that_take_for_ever_are_not_waited_for(tight_server: Target) -> None:
    """15: slow requests; what is honest is answered meanwhile."""
    with ExitStack() as stack:
        heads = [stack.enter_context(connected(tight_server.url)) for _ in range(30)]
        bodies = [stack.enter_context(connected(tight_server.url)) for _ in range(30)]
        for slow in heads:
            slow.sendall(b"GET /api/papers HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: a")
        for slow in bodies:
            slow.sendall(request("POST", "/api/query", {"Content-Length": "100"}, b"{"))
        assert tight_server.is_well()
        assert {read(slow).status for slow in bodies} == {408}
        assert {read(slow).status for slow in heads} == {0}
        assert tight_server.is_well()


def test_a_body_drop_by_drop_is_cut_off(tight_server: Target) -> None:
    """15: slow requests."""
    with connected(tight_server.url) as slow:
        slow.sendall(request("POST", "/api/query", {"Content-Length": "1000"}, b"{"))
        with pytest.raises(ConnectionError):
            for _ in range(300):
                slow.sendall(b" ")
                time.sleep(0.05)
                _raise_if_answered(slow)


def _raise_if_answered(connection: socket.socket) -> None:
    connection.setblocking(False)
    try:
        if connection.recv(1, socket.MSG_PEEK) is not None:
            raise ConnectionError("answered")
    except BlockingIOError:
        pass
    finally:
        connection.setblocking(True)


def test_who_floods_the_server_is_told_to_wait_and_others_are_not(serve: Callable[..., Target]) -> None:
    """15: floods; bearers of tokens are counted each for themselves."""
    target = serve(require_token=True, requests_per_minute=20)
    flood = [target.send(request("GET", "/api/papers")).status for _ in range(40)]
    assert (flood.count(401), flood.count(429)) == (20, 20)
    mine = {"Authorization": f"Bearer {target.tokens['read']}"}
    assert target.send(request("GET", "/api/papers", mine)).status == 200
    told = target.send(request("GET", "/api/papers"))
    assert (told.status, told.headers["retry-after"]) == (429, "3")


def test_an_honest_request_is_answered_after_all_that(open_server: Target) -> None:
    reply = open_server.send(posted("/api/query", hostile.QUESTION))
    assert reply.status == 200
    assert reply.json["citations"]
    rated = {"queryId": reply.json["queryId"], "rating": 5, "comment": "\x00\x1b[31m<b>\u202e"}
    assert open_server.send(posted("/api/feedback", rated)).status == 201
    again = open_server.send(posted("/api/feedback", rated))
    assert (again.status, again.json["error"]) == (409, "FEEDBACK_EXISTS")
    assert not Path("carrel-was-here").exists()
