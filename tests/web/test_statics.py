"""The files of the page over the wire: small, named by what is in them, and nothing beside them."""

from __future__ import annotations

import gzip
import hashlib
import socket
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.web.modules import WEB

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
SCRIPT = "/static/js/main.js"
SHELL = ("/", "/ask", "/ask?q=x", "/search", "/library", "/paper/a/b", "/proof/a/ch1/s1/p1", "/graph", "/health")
ELSEWHERE = (
    "/static/../pyproject.toml",
    "/static/..%2f..%2fserver.py",
    "/static/%2e%2e/%2e%2e/app.py",
    "/static//etc/passwd",
    "/static/js/../../statics.py",
    "/static/..\\..\\app.py",
    "/static/js/main.js%00.css",
    "/static/js/",
    "/static/js",
    "/static/js/Main.js",
    "/static/vendor/SHA256SUMS",
    "/static/file:///etc/passwd",
    "/static/js/main.js/",
    "/static/" + "a/" * 500,
)


def get(url: str, path: str, **headers: str) -> httpx2.Response:
    return httpx2.get(url + path, headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize("path", SHELL)
def test_every_view_is_the_same_shell_under_a_policy_that_lets_nothing_else_in(url: str, path: str) -> None:
    answer = get(url, path)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.content == (WEB / "index.html").read_bytes()


@pytest.mark.parametrize("path", sorted(path for path in WEB.rglob("*.*") if path.name != "SHA256SUMS"), ids=str)
def test_every_file_comes_whole_and_says_what_it_is(url: str, path: object) -> None:
    name = str(path).removeprefix(f"{WEB}/")
    answer = get(url, f"/static/{name}")
    assert answer.status_code == 200
    assert answer.content == (WEB / name).read_bytes()
    kinds = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "woff2": "font/woff2"}
    expected = kinds.get(name.rpartition(".")[2])
    assert expected is None or answer.headers["content-type"].partition(";")[0] == expected


@pytest.mark.parametrize(
    ("accepted", "is_packed"),
    [
        ("gzip", True),
        ("GZIP", True),
        ("br;q=1.0, gzip;q=0.8", True),
        ("deflate, gzip;q=1", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("identity", False),
        ("xgzip", False),
        ("", False),
    ],
)
def test_it_is_packed_for_whom_can_unpack_it(url: str, accepted: str, is_packed: bool) -> None:
    with httpx2.stream("GET", url + SCRIPT, headers={"Accept-Encoding": accepted}) as answer:
        sent = b"".join(answer.iter_raw())
    assert (answer.headers.get("content-encoding") == "gzip") is is_packed
    assert answer.headers["vary"] == "Accept-Encoding"
    assert (gzip.decompress(sent) if is_packed else sent) == (WEB / "js/main.js").read_bytes()


def test_who_has_it_already_is_told_so(url: str) -> None:
    etag = get(url, SCRIPT).headers["etag"]
    for known in (etag, f'"other", {etag}'):
        again = get(url, SCRIPT, If_None_Match=known)
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    assert get(url, SCRIPT, If_None_Match='W/"other"').status_code == 200
    assert get(url, "/", If_None_Match=get(url, "/").headers["etag"]).headers["content-security-policy"] == POLICY


def test_a_head_tells_the_same_and_brings_nothing(url: str) -> None:
    for path in ("/", SCRIPT, "/favicon.ico"):
        head, whole = httpx2.head(url + path), get(url, path)
        assert (head.status_code, head.content) == (200, b"")
        assert {name: head.headers[name] for name in ("etag", "content-type", "content-length")} == {
            name: whole.headers[name] for name in ("etag", "content-type", "content-length")
        }


@pytest.mark.parametrize("path", ELSEWHERE)
def test_nothing_but_the_page_is_there(url: str, path: str) -> None:
    status, body = asked(url, path)
    assert status in {400, 404}
    assert b"root:" not in body
    assert b"import " not in body


def asked(url: str, path: str) -> tuple[int, bytes]:
    """As it is written: a client would tidy the path up before sending it."""
    with socket.create_connection(("127.0.0.1", urlsplit(url).port or 80), timeout=5) as connection:
        head = f"GET {path} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode())
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    return int(received.split()[1]), received.partition(b"\r\n\r\n")[2]


def test_what_others_made_is_what_they_published_and_comes_with_their_licence() -> None:
    listed = [line.split(maxsplit=2) for line in (WEB / "vendor/SHA256SUMS").read_text().splitlines()]
    assert {name: hashlib.sha256((WEB / name).read_bytes()).hexdigest() for _, name, _ in listed} == {
        name: digest for digest, name, _ in listed
    }
    theirs = {str(path.relative_to(WEB)) for folder in ("vendor", "fonts") for path in (WEB / folder).iterdir()}
    assert theirs - {"vendor/SHA256SUMS"} == {name for _, name, _ in listed}
    for licence, product in (("vendor/preact", "MIT"), ("vendor/htm", "Apache"), ("fonts/inter", "OFL")):
        assert product in (WEB / f"{licence}.LICENSE").read_text(encoding="utf-8")
