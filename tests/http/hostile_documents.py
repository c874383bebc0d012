"""Documents that a server is asked to take in by somebody who cannot reach them."""

from __future__ import annotations

from collections.abc import Iterator

from tests.http import hostile
from tests.http.hostile import Hostile
from tests.http.raw import posted, request

ADDRESSES = (
    "http://127.0.0.1:{port}/x.md", "http://localhost:{port}/x.md", "http://[::1]:{port}/x.md", "http://127.1:{port}/x.md",
    "http://2130706433:{port}/x.md", "http://0x7f000001:{port}/x.md", "http://0177.0.0.1:{port}/x.md",
    "http://[::ffff:127.0.0.1]:{port}/x.md", "http://[64:ff9b::7f00:1]:{port}/x.md", "http://[2002:7f00:1::]:{port}/x.md",
    "http://0.0.0.0:{port}/x.md", "http://user:pass@127.0.0.1:{port}/x.md", "http://127.0.0.1:{port}\\@example.org/x.md",
    "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/x.md", "http://100.64.0.1/x.md", "http://192.168.0.1/x.md",
    "http://[fd00::1]/x.md", "http://[fe80::1%25eth0]/x.md", "ftp://127.0.0.1:{port}/x.md", "gopher://127.0.0.1:{port}/_x",
    "file:///etc/passwd", "data:text/plain,hello", "http:///x.md", "http://", "//127.0.0.1:{port}/x.md",
    "HTTP://LOCALHOST:{port}/x.md", "http://127.0.0.1:{port}/x.md#@example.org", "jar:http://127.0.0.1!/x", "dict://127.0.0.1:{port}/",
)  # fmt: skip
PATHS = (
    "/etc/passwd", "../../../../etc/passwd", "..\\..\\windows\\win.ini", "C:\\windows\\win.ini",
    "\\\\server\\share\\x.md", "%2e%2e/%2e%2e/etc/passwd", "....//....//etc/passwd", "notes.md\u0000.pdf",
    "/proc/self/environ", "/dev/zero",
    "/dev/stdin",
    "~/.ssh/id_rsa", "~root/.bashrc", "leading_out.md", "folder_leading_out/secret.md", "pipe.md", ".carrel/carrel.db",
    ".carrel/config.toml", "notes.md/../../secret.md", "", " ", "a" * 5000, "upload:0000/x.md", ".",
)  # fmt: skip


def documents(port: str) -> Iterator[Hostile]:
    """Documents that the server is to fetch or read for somebody who cannot; `port` is where a witness listens."""
    refused = frozenset({400, 404})
    for address in ADDRESSES:
        url = address.format(port=port)
        # A host that does not exist is told as such.
        yield Hostile(hostile.REQUEST_FORGERY, url[:40], posted("/api/ingest", {"documentUrl": url}), refused | {503})
    for path in PATHS:
        yield Hostile(hostile.TRAVERSAL, f"path {path[:30]!r}", posted("/api/ingest", {"documentUrl": path}), refused)
    for target in (
        "/api/text/../../etc/passwd",
        "/api/text/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/api/chunks/..%2f..%2fx",
        "/api/figures/..%2f..%2f..%2fetc%2fpasswd/image",
        "/api/papers/..%2f.carrel%2fconfig.toml",
    ):
        yield Hostile(hostile.TRAVERSAL, target[:40], request("GET", target), refused)
