"""Documents from the web (FIELD 5.2, 10: requests forged by the server, trickles, redirects, wrapped addresses)."""

from __future__ import annotations

import gzip
import io
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from carrel import Library
from carrel.errors import CarrelError, InvalidSource, TooLarge, Unavailable, UnsupportedFormat
from carrel.jobs import Ingestion, Said
from carrel.jobs.addresses import Policy, is_public
from carrel.jobs.course import Course
from carrel.jobs.fetching import Fetched, Fetcher
from carrel.testing import HashedWords
from carrel.types.service import JobStatus
from tests.jobs.documents import GRANITE, Inline, finished, taken_in

PRIVATE = (
    "127.0.0.1", "127.8.9.1", "0.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "100.127.255.254", "192.0.0.8", "198.18.0.1", "192.88.99.1", "203.0.113.9", "224.0.0.1", "240.0.0.1",
    "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1", "ff02::1",
    "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1",
    "2002:7f00:1::", "2002:808:808::1", "2001:0:53aa:64c::1", "2001:db8::1", "not-an-address",
)  # fmt: skip
PUBLIC = ("8.8.8.8", "93.184.215.14", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e")


@pytest.mark.parametrize("address", PRIVATE)
def test_no_address_of_this_machine_or_network_is_public_however_it_is_wrapped(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_open_internet_are(address: str) -> None:
    assert is_public(address)


@given(some.integers(0, 2**32 - 1))
def test_a_wrapped_address_is_never_public(number: int) -> None:
    high, low = number >> 16, number & 0xFFFF
    for form in (f"::ffff:{high:x}:{low:x}", f"64:ff9b::{high:x}:{low:x}", f"2002:{high:x}:{low:x}::1"):
        assert not is_public(form)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/x.pdf",
        "http://localhost/x.pdf",
        "http://2130706433/x.pdf",
        "http://0x7f.1/x.pdf",
        "http://0177.0.0.1/x.pdf",
        "http://127.1/x.pdf",
        "http://[::1]/x.pdf",
        "http://[::ffff:127.0.0.1]/x.pdf",
        "http://[64:ff9b::7f00:1]/x.pdf",
        "http://169.254.169.254/latest/meta-data",
        "http://0/x.pdf",
        "http://127.0.0.1:22/",
        "https://8.8.8.8:8443/",
        "http://8.8.8.8:6379/",
        "http://user:pass@8.8.8.8/x.pdf",
        "http://8.8.8.8@127.0.0.1/x.pdf",
        "http://@8.8.8.8/",
        "file:///etc/passwd",
        "ftp://8.8.8.8/x.pdf",
        "gopher://8.8.8.8/x",
        "http:///x.pdf",
        "http://8.8.8.8/a b",
        "http://8.8.8.8/a\r\nHost: evil",
        "http://8.8.8.8\t/",
        "http://[::1",
        "http://8.8.8.8:99999/",
        f"http://8.8.8.8/{'x' * 3000}",
        "http://" + "a" * 300 + ".example/",
    ],
)
def test_an_address_that_may_not_be_asked_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(InvalidSource):
        Policy().target(url)


def test_one_forbidden_address_among_several_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_arguments, **_options: found)
    with pytest.raises(InvalidSource, match="not on the open internet"):
        Policy().target("http://example.org/")


Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """A server on this machine, and the paths it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            try:
                answer(self)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sending(content: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content_Length": str(len(content)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def anywhere(url: str) -> Policy:
    """What only tests may: this machine, at that port."""
    return Policy(allows=lambda address: address == "127.0.0.1", ports=frozenset({int(url.rpartition(":")[2])}))


def fetched(url: str, base: str, *, most: int = 1000, seconds: float = 5.0) -> tuple[Fetched, bytes]:
    into = io.BytesIO()
    got = Fetcher(most, seconds, anywhere(base)).fetch(url, into, lambda _: None)
    return got, into.getvalue()


def test_a_document_comes_whole_with_its_name_and_type() -> None:
    with serving(sending(b"hello", Content_Type="text/markdown; charset=utf-8")) as (base, asked):
        assert fetched(f"{base}/a%20b.md?x=1", base) == (Fetched("a b.md", "text/markdown", 5), b"hello")
        assert asked == ["/a%20b.md?x=1"]


def test_the_address_that_was_checked_is_the_one_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    real, lookups = socket.getaddrinfo, list[str]()

    def once(host: str, *arguments: Any, **options: Any) -> Any:
        lookups.append(host)
        # Whoever looks twice is led elsewhere.
        return real("127.0.0.1" if len(lookups) == 1 else "127.0.0.99", *arguments, **options)

    with serving(sending(b"hello")) as (base, _):
        monkeypatch.setattr(socket, "getaddrinfo", once)
        url = base.replace("127.0.0.1", "rebinding.example")
        assert fetched(f"{url}/x", base)[1] == b"hello"
        assert lookups == ["rebinding.example"]


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/",
        "http://localhost:22/",
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "//10.0.0.1/x",
        "http://a:b@127.0.0.1/",
    ],
)
def test_where_an_answer_leads_is_checked_again(location: str) -> None:
    with serving(sending(b"", 302, Location=location)) as (base, asked):
        with pytest.raises(InvalidSource):
            fetched(f"{base}/x", base)
        assert asked == ["/x"]


def test_redirects_are_followed_but_not_for_ever() -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/there":
            sending(b"hello")(handler)
        else:
            sending(b"x" * 10_000, 302, Location="/there" if handler.path == "/x" else f"{handler.path}o")(handler)

    with serving(answer) as (base, asked):
        assert fetched(f"{base}/x", base)[1] == b"hello"
        asked.clear()
        with pytest.raises(InvalidSource, match="more than 5 times"):
            fetched(f"{base}/lo", base)
        assert len(asked) == 6


def test_more_bytes_than_allowed_are_not_taken_whatever_their_length_is_said_to_be() -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b"x" * 10_000)

    for answer in (sending(b"x" * 1001), endless):
        with serving(answer) as (base, _), pytest.raises(TooLarge, match="1,000 bytes"):
            fetched(f"{base}/x", base)


def _drop_by_drop(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(1000):
        handler.wfile.write(b"x")
        time.sleep(0.05)


def _head_drop_by_drop(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(1000):
        handler.wfile.write(f"X-{number}: y\r\n".encode())
        time.sleep(0.05)


def _silent(_handler: BaseHTTPRequestHandler) -> None:
    time.sleep(50)


@pytest.mark.parametrize("answer", [_drop_by_drop, _head_drop_by_drop, _silent])
def test_a_trickle_is_cut_off_in_time(answer: Answer) -> None:
    with serving(answer) as (base, _):
        start = time.monotonic()
        with pytest.raises(Unavailable, match="took too long"):
            fetched(f"{base}/x", base, seconds=0.5)
        assert time.monotonic() - start < 20


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (sending(gzip.compress(b"x" * 10_000_000), Content_Encoding="gzip"), InvalidSource),
        (sending(b"no", 404), InvalidSource),
        (sending(b"later", 503), Unavailable),
        (sending(b"short", Content_Length="50"), Unavailable),
        (lambda handler: handler.wfile.write(b"what is this"), Unavailable),
    ],
)
def test_what_is_no_document_is_an_error(answer: Answer, kind: type[CarrelError]) -> None:
    with serving(answer) as (base, _), pytest.raises(kind):
        fetched(f"{base}/x", base, most=100_000)


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with serving(sending(b"hello")) as (base, _):
        assert fetched(f"{base}/x", base)[1] == b"hello"


@pytest.fixture
def open_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    monkeypatch.setenv("CARREL_INGEST__ISOLATE", "false")
    monkeypatch.setenv("CARREL_JOBS__ALLOW_URLS", "true")
    with Library.init(tmp_path, embedder=HashedWords()) as made:
        yield made


def test_a_document_of_the_web_is_fetched_and_taken_in(open_library: Library) -> None:
    with serving(sending(GRANITE.encode(), Content_Type="text/markdown")) as (base, asked):
        inline = Inline(open_library, anywhere(base))
        ticket = inline.submit(f"{base}/papers/granite#page=2", Said())
        assert asked == [], "it is not asked for before its turn comes"
        taken_in(inline, ticket)
        document = inline.document(ticket.document.id)
        assert (document.url, document.paper_id, document.file_size) == (
            f"{base}/papers/granite",
            "granite",
            len(GRANITE.encode()),
        )
        inline.delete(document.id)
        assert list(open_library.layout.uploads.iterdir()) == []


def test_a_document_that_another_machine_fetched_is_fetched_again_where_it_is_read(open_library: Library) -> None:
    with serving(sending(GRANITE.encode(), Content_Type="text/markdown")) as (base, asked):
        inline = Inline(open_library, anywhere(base))
        ticket = inline.submit(f"{base}/papers/granite", Said())

        def step(name: str, work: Callable[[], Any]) -> Any:
            if name == "read":
                shutil.rmtree(open_library.layout.uploads)
            return work()

        fetcher = Fetcher(1_000_000, 5.0, anywhere(base))
        assert Course(open_library, step, threading.Event(), fetcher).run(ticket.job.id) == JobStatus.COMPLETE
        assert len(asked) == 2
        assert inline.document(ticket.document.id).paper_id == "granite"


def test_a_page_that_is_no_document_fails_with_the_reason(open_library: Library) -> None:
    with serving(sending(b"<html>", Content_Type="text/html")) as (base, _):
        inline = Inline(open_library, anywhere(base))
        job = finished(inline, inline.submit(f"{base}/papers/", Said()))
        assert job.status == JobStatus.FAILED
        assert job.error_message.startswith("nothing reads 'text/html' documents")


def test_an_address_is_checked_when_it_is_submitted_and_when_its_turn_comes(open_library: Library) -> None:
    with pytest.raises(InvalidSource, match="open internet"):
        Ingestion(open_library).submit("http://127.0.0.1/x.pdf", Said())
    with serving(sending(b"hello")) as (base, asked):
        ticket = Inline(open_library, anywhere(base)).submit(f"{base}/x.txt", Said())
        job = finished(Inline(open_library), ticket)
        assert (job.status, asked) == (JobStatus.FAILED, [])


def test_a_document_that_is_sent_under_no_known_name_is_told_by_how_it_begins(open_library: Library) -> None:
    with pytest.raises(UnsupportedFormat):
        Ingestion(open_library).upload("noname", io.BytesIO(b"\x00\x01"), "application/octet-stream", Said())
    ticket = Ingestion(open_library).upload("noname", io.BytesIO(b"%PDF-1.4"), "application/octet-stream", Said())
    assert ticket.document.path.endswith("/noname.pdf")
