"""A few hundred requests that mean no good, each with the class of incident that it stands for.

Numbers are those of the table of incidents in the notes on the field: each was an advisory against somebody.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.http.raw import posted, request

REBINDING = "1: DNS rebinding (CVE-2025-66416, CVE-2025-66414, CVE-2024-28224)"
EXPOSED = "2: a server without a lock (175,108 exposed hosts; CVE-2026-7482)"
FORGED = "3: forged and default tokens (CVE-2026-39413, GHSA-f4vv-55c2-5789)"
DERIVED = "4: tokens that can be derived (CVE-2025-69286)"
BYPASS = "5: ways round the lock, and other people's things (CVE-2026-45339, CVE-2026-32717, CVE-2026-45349)"
INJECTION = "6: injection into the stores (GHSA-25qj-68xc-22r7, CVE-2026-32247, CVE-2025-56406)"
SCRIPTS = "7: scripts and events in texts (GHSA-xpjq-3w4w-w5wr)"
REQUEST_FORGERY = "10: requests on the attacker's behalf (GHSA-vv3m-f8x4-7377, CVE-2026-5530, CVE-2026-44284)"
TRAVERSAL = "13: paths that lead elsewhere (GHSA-8rgj-chc2-6chv, CVE-2026-33497, CVE-2026-34070)"
EXHAUSTION = "15: small requests, large work (GHSA-32jh-39m7-8x84, GHSA-26pm-px5v-8c4w, GHSA-r8jh-295g-vv42)"
CONTROL = "16: control characters and nesting (GHSA-c922-pw4m-4wcv)"
LEAKS = "20: errors that tell, logs that lie (GHSA-964x-f4fr-585m, GHSA-3wg5-5w54-3rfm)"
SETTINGS = "21: settings by way of the API (CVE-2024-3104)"
PROTOCOL = "5: what a proxy reads otherwise (request smuggling)"

QUESTION = {"query": "How hard is granite?"}
CHAT = {"model": "carrel", "messages": [{"role": "user", "content": "How hard is granite?"}]}
TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
AGENT = {"Accept": "application/json, text/event-stream"}


@dataclass(frozen=True)
class Hostile:
    incident: str
    name: str
    raw: bytes
    statuses: frozenset[int]
    """Answers that mean that it did not succeed."""

    def __str__(self) -> str:
        return f"{self.incident.partition(':')[0]} {self.name}"


def surfaces(headers: dict[str, str] | None = None) -> Iterator[tuple[str, bytes]]:
    """Every way in, asked as it should be."""
    for path in ("/api/search?query=granite", "/api/papers", "/api/stats", "/api/health", "/metrics", "/openapi.json"):
        yield path, request("GET", path, headers)
    yield "/api/query", posted("/api/query", QUESTION, headers)
    yield "/api/query/stream", posted("/api/query/stream", QUESTION, headers)
    yield "/api/ingest", posted("/api/ingest", {"documentUrl": "notes.md"}, headers)
    yield "/v1/chat/completions", posted("/v1/chat/completions", CHAT, headers)
    yield "/mcp", posted("/mcp", TOOLS, {**AGENT, **(headers or {})})
    yield "DELETE", request("DELETE", "/api/papers/granite", headers)


def foreign() -> Iterator[Hostile]:
    """To a server of this machine alone, from a page elsewhere."""
    refused = frozenset({403})
    for surface, raw in surfaces():
        renamed = raw.replace(b"Host: 127.0.0.1", b"Host: evil.example")
        yield Hostile(REBINDING, f"foreign host at {surface}", renamed, refused)
    for surface, raw in surfaces({"Origin": "https://evil.example"}):
        yield Hostile(REBINDING, f"foreign origin at {surface}", raw, refused)
    for host in (
        "127.0.0.1.nip.example",
        "localhost.evil.example",
        "evil.example:80",
        "0x7f.0.0.1",
        "[::ffff:1.2.3.4]",
        "10.0.0.1",
    ):
        yield Hostile(REBINDING, f"host {host}", request("GET", "/api/papers", host=host), refused)
    for origin in (
        "null",
        "http://127.0.0.1:1",
        "http://localhost.evil.example",
        "file://",
        "http://127.0.0.1.evil.example",
    ):
        raw = posted("/api/query", QUESTION, {"Origin": origin})
        yield Hostile(REBINDING, f"origin {origin}", raw, refused)
    for target in ("/api/query/stream?query=granite", "/api/search?query=granite"):
        embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
        yield Hostile(REBINDING, f"embedded {target}", request("GET", target, embedded), refused)
    simple = {"Origin": "https://evil.example", "Content-Type": "text/plain"}
    body = json.dumps({"documentUrl": "notes.md"}).encode()
    yield Hostile(REBINDING, "a form without preflight", request("POST", "/api/ingest", simple, body), refused)
    before = {"Origin": "https://evil.example", "Access-Control-Request-Method": "DELETE"}
    yield Hostile(REBINDING, "a preflight", request("OPTIONS", "/api/papers/granite", before), refused)


JWT_NONE = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiJhZG1pbiIsInJvbGUiOiJhZG1pbiJ9."
JWT_SECRET = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhZG1pbiJ9.5mhBHqs5_DTLdINd9p5m7ZJ6XD0Xc55kIaCRY5r6HRA"  # noqa: S105


DERIVATIONS = ("id", "name", "digest", "cut", "longer", "in capitals", "bare")
"""Of a token: what is not it."""


def locked() -> Iterator[Hostile]:
    """To a server that asks for tokens. `@read@`, `@write@` and `@revoked@` stand for some, `@read cut@` for none."""
    for surface, raw in surfaces():
        yield Hostile(EXPOSED, f"no token at {surface}", raw, _UNKNOWN)
    for guess in _GUESSES:
        yield Hostile(FORGED, f"guess {guess[:20]}", _asked(f"Bearer {guess}"), _UNKNOWN)
    for way in DERIVATIONS:
        yield Hostile(DERIVED, f"the token's {way}", _asked(f"Bearer @read {way}@"), _UNKNOWN)
    yield from _beside_the_lock()
    yield from _beyond_the_scope()


_UNKNOWN, _REFUSED = frozenset({401}), frozenset({403})
_GUESSES = (
    JWT_NONE, JWT_SECRET, "admin", "guest", "null", "undefined", "carrel", "secret", "your-api-key", "sk-1234",
)  # fmt: skip


def _beside_the_lock() -> Iterator[Hostile]:
    yield Hostile(BYPASS, "a revoked token", _asked("Bearer @revoked@"), _UNKNOWN)
    for scheme in ("Basic", "Token", "Digest", ""):
        yield Hostile(BYPASS, f"scheme {scheme or 'none'}", _asked(f"{scheme} @read@".strip()), _UNKNOWN)
    yield Hostile(BYPASS, "two tokens in one header", _asked("Bearer @read@, Bearer @read@"), _UNKNOWN)
    for name in ("X-Api-Key", "Api-Key", "X-Auth-Token", "Cookie", "X-Authorization", "Proxy-Authorization"):
        yield Hostile(BYPASS, f"by {name}", request("GET", "/api/papers", {name: "@read@"}), _UNKNOWN)
    for name in ("token", "access_token", "api_key", "key", "authorization"):
        yield Hostile(BYPASS, f"by ?{name}=", request("GET", f"/api/papers?{name}=@read@"), _UNKNOWN)
    for name in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "X-Forwarded-Host", "X-Client-IP", "True-Client-IP"):
        raw = request("GET", "/api/papers", {name: "for=127.0.0.1" if name == "Forwarded" else "127.0.0.1"})
        yield Hostile(BYPASS, f"{name}: 127.0.0.1", raw, _UNKNOWN)
    for name in ("X-Original-URL", "X-Rewrite-URL", "X-HTTP-Method-Override", "X-Carrel-Caller"):
        yield Hostile(BYPASS, name, request("GET", "/api/papers", {name: "/api/health/live"}), _UNKNOWN)
    for target in _disguised():
        yield Hostile(BYPASS, f"disguised as {target}", request("GET", target), frozenset({400, 401}))


def _beyond_the_scope() -> Iterator[Hostile]:
    mine = {"Authorization": "Bearer @read@"}
    for surface, raw in surfaces(mine):
        if surface in {"/api/ingest", "/api/stats", "DELETE"}:
            yield Hostile(BYPASS, f"{surface} with the scope read", raw, _REFUSED)
    job = "/api/ingest/7f1b5d0e-9a4c-4f0f-8f5e-3d0c6a4b2e11"
    for method, target in (
        ("DELETE", job),
        ("POST", f"{job}/cancel"),
        ("GET", f"{job}/status"),
        ("GET", "/api/ingest"),
    ):
        yield Hostile(BYPASS, f"{method} {target} with the scope read", request(method, target, mine), _REFUSED)
    writing = {"Authorization": "Bearer @write@"}
    yield Hostile(BYPASS, "statistics with the scope write", request("GET", "/api/stats", writing), _REFUSED)
    overridden = {**mine, "X-HTTP-Method-Override": "DELETE", "Content-Length": "0"}
    yield Hostile(BYPASS, "a method in a header", request("POST", "/api/papers/granite", overridden), _REFUSED)


def _disguised() -> Iterator[str]:
    """Paths that something in between might take for one that needs no token."""
    yield from ("//api/papers", "/api//papers", "/api/papers/", "/API/papers", "/api/./papers", "/./api/papers")
    yield from ("/api/health/live/../../papers", "/api/health/live/%2e%2e/%2e%2e/papers", "/api/health/live;/papers")
    yield from ("/api/health/live%00/papers", "/api/health/live%0a", "/api/health/live/", "/api/health/liveness")
    yield from ("/api/papers%2f", "/api/papers%00", "/api%2fpapers", "http://127.0.0.1/api/papers", "/%61pi/papers")


def _asked(authorization: str) -> bytes:
    return request("GET", "/api/papers", {"Authorization": authorization})


PAYLOADS = {
    "quotes": "'; DROP TABLE papers; --",
    "cypher": "`}) DETACH DELETE n //",
    "union": "' UNION ALL TABLE tokens --",
    "dollars": "$$ LANGUAGE plpgsql $$",
    "braces": "{{7*7}}${7*7}<%= 7*7 %>",
    "wildcards": "%_*?[]",
    "lucene": '"unclosed AND (OR NOT title:* ~ ^ \\',
    "command": "$(touch carrel-was-here); `id`",
    "pickle": "cos\nsystem\n(S'id'\ntR.",
}
SCRIPT = "<script>alert(1)</script><iframe srcdoc='<svg onload=alert(1)>'>"


def unlocked() -> Iterator[Hostile]:
    """To a server of this machine alone, by a program that may ask anything."""
    harmless = frozenset({200, 400, 404})
    for name, text in PAYLOADS.items():
        quoted = quote(text, safe="")
        for target in (
            f"/api/search?query={quoted}",
            f"/api/papers/{quoted}",
            f"/api/concepts?query={quoted}",
            f"/api/graph?concept={quoted}",
        ):
            yield Hostile(INJECTION, f"{name} in {target.partition('=')[0][:24]}", request("GET", target), harmless)
        yield Hostile(INJECTION, f"{name} asked", posted("/api/query", {"query": text}), harmless)
        yield Hostile(
            INJECTION, f"{name} as a cursor", request("GET", f"/api/search?query=a&cursor={quoted}"), frozenset({400})
        )
    yield Hostile(
        INJECTION, "a filter by SQL", posted("/api/query", {**QUESTION, "topicFilter": "' OR 1=1 --"}), harmless
    )
    yield Hostile(SCRIPTS, "a script as a path", request("GET", f"/{quote(SCRIPT, safe='')}"), frozenset({404}))
    yield Hostile(SCRIPTS, "a script asked", posted("/api/query", {"query": SCRIPT}), harmless)
    yield Hostile(SCRIPTS, "a script as a field", posted("/api/query", {**QUESTION, SCRIPT: 1}), frozenset({400}))
    yield from _malformed()
    yield from _smuggled()
    for method, target in (
        ("POST", "/api/settings"),
        ("PUT", "/api/config"),
        ("PATCH", "/api/settings/generator"),
        ("POST", "/api/system/update-env"),
        ("GET", "/.env"),
        ("GET", "/config.toml"),
        ("GET", "/.carrel/carrel.db"),
        ("GET", "/api/debug"),
        ("GET", "/docs"),
        ("TRACE", "/api/papers"),
        ("CONNECT", "evil.example:443"),
    ):
        yield Hostile(
            SETTINGS,
            f"{method} {target}",
            request(method, target, body=b"{}" if method[0] == "P" else None),
            frozenset({400, 403, 404, 405}),
        )


def _malformed() -> Iterator[Hostile]:
    wrong = frozenset({400})
    form = {"Content-Type": "application/json"}
    bodies: dict[str, bytes] = {
        "bad UTF-8": b'{"query": "\xff\xfe"}',
        "overlong UTF-8": b'{"query": "\xc0\xaf"}',
        "half a surrogate": b'{"query": "\\ud800"}',
        "a zero": b'{"query": "a\\u0000b", "topicFilter": "\\u0000"}',
        "no JSON": b"{query: 1}",
        "nothing": b"",
        "null": b"null",
        "a list": b"[]",
        "NaN": b'{"query": "a", "topK": NaN}',
        "infinity": b'{"query": "a", "topK": 1e999}',
        "a number of 5000 digits": b'{"query": "a", "topK": ' + b"9" * 5000 + b"}",
        "too many passages": b'{"query": "a", "topK": 21}',
        "no passages": b'{"query": "a", "topK": 0}',
        "an empty question": b'{"query": "   "}',
        "a question of control characters": b'{"query": "\\u0001\\u0002\\u001b\\u009b"}',
        "a long question": b'{"query": "' + b"a" * 2001 + b'"}',
        "a list as question": b'{"query": ["a"]}',
        "an object as question": b'{"query": {"$ne": null}}',
        "a session that is none": b'{"query": "a", "sessionId": "../../etc/passwd"}',
        "nesting": b'{"query": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        "two bodies": b'{"query": "a"}{"query": "b"}',
        "XML": b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>',
    }
    for name, body in bodies.items():
        incident = LEAKS if name in {"no JSON", "nothing", "null", "a list", "XML"} else CONTROL
        yield Hostile(incident, f"{name} at /api/query", request("POST", "/api/query", form, body), wrong)
    for name in ("bad UTF-8", "nesting", "null", "a list"):
        raw = request("POST", "/v1/chat/completions", form, bodies[name])
        yield Hostile(CONTROL, f"{name} at /v1/chat/completions", raw, wrong)
        yield Hostile(CONTROL, f"{name} at /mcp", request("POST", "/mcp", {**form, **AGENT}, bodies[name]), wrong)
    half = json.dumps(CHAT).replace("granite", "\\ud800").encode()
    yield Hostile(CONTROL, "half a surrogate at /v1", request("POST", "/v1/chat/completions", form, half), wrong)
    half = json.dumps({**TOOLS, "method": "\ud800"}).encode()
    yield Hostile(CONTROL, "half a surrogate at /mcp", request("POST", "/mcp", {**form, **AGENT}, half), wrong)
    feedback: dict[str, Any] = {"queryId": "0" * 32, "rating": 3}
    changes: dict[str, dict[str, Any]] = {
        "rating 6": {"rating": 6},
        "rating true": {"rating": True},
        "rating 1e400": {"rating": "1e400"},
        "a path as query": {"queryId": "../../x"},
        "a long comment": {"comment": "a" * 2001},
        "half a surrogate": {"comment": "\ud800"},
        "another's query": {},
    }
    for name, changed in changes.items():
        raw = posted("/api/feedback", {**feedback, **changed})
        yield Hostile(BYPASS, f"feedback with {name}", raw, frozenset({404} if not changed else {400}))
    gzipped = {**form, "Content-Encoding": "gzip"}
    yield Hostile(
        EXHAUSTION, "a bomb that says it is gzip", request("POST", "/api/query", gzipped, b"\x1f\x8b" * 1000), wrong
    )
    yield Hostile(EXHAUSTION, "a page of a billion", request("GET", f"/api/papers?limit={10**9}"), wrong)
    yield Hostile(EXHAUSTION, "a year of 30 digits", request("GET", f"/api/search?query=a&yearMin={'9' * 30}"), wrong)
    yield Hostile(
        EXHAUSTION,
        "a hundred fields",
        request("GET", "/api/search?query=" + "+".join(["year:2000"] * 150)),
        frozenset({200, 400}),
    )
    yield Hostile(
        EXHAUSTION,
        "a regular expression's worst",
        request("GET", "/api/search?query=" + "a%3F" * 300 + "a" * 300),
        frozenset({200, 400}),
    )
    yield Hostile(
        EXHAUSTION, "a long address", request("GET", "/api/search?query=" + "a" * 300_000), frozenset({0, 400})
    )
    yield Hostile(
        EXHAUSTION, "a long header", request("GET", "/api/papers", {"X-Long": "a" * 300_000}), frozenset({0, 400})
    )
    many = {f"X-{number}": "a" * 20 for number in range(20_000)}
    yield Hostile(EXHAUSTION, "many headers", request("GET", "/api/papers", many), frozenset({0, 400}))
    yield Hostile(
        LEAKS, "a line end in an address", request("GET", "/api/papers/a%0d%0aSet-Cookie:%20a=b"), frozenset({404})
    )
    yield Hostile(LEAKS, "a line end in a cursor", request("GET", "/api/papers?cursor=a%0d%0aX:%20y"), wrong)
    yield Hostile(LEAKS, "bad UTF-8 in an address", request("GET", "/api/papers/%ff%fe"), frozenset({400, 404}))
    yield Hostile(LEAKS, "a zero in an address", request("GET", "/api/papers/a%00b"), frozenset({400, 404}))


def _smuggled() -> Iterator[Hostile]:
    """Requests that two servers would cut apart in two ways."""
    wrong = frozenset({0, 400})
    head = b"POST /api/query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    hidden = b"DELETE /api/papers/granite HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    raws = {
        "two lengths": head + b"Content-Length: 4\r\nContent-Length: 40\r\n\r\n{}  " + hidden,
        "a negative length": head + b"Content-Length: -1\r\n\r\n{}",
        "a length in words": head + b"Content-Length: four\r\n\r\n{}  ",
        "an odd coding": head + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden,
        "two codings": head + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + hidden,
        "a folded header": head + b"X-Folded: a\r\n b\r\nContent-Length: 0\r\nHost: evil.example\r\n\r\n",
        "a blank before the colon": head + b"Content-Length : 4\r\n\r\n{}  ",
        "a bare line feed": b"GET /api/papers HTTP/1.1\nHost: 127.0.0.1\nX: a\rHost: evil.example\n\n",
        "a zero in a header": head + b"X-Zero: a\x00b\r\nContent-Length: 0\r\n\r\n",
        "no host": b"GET /api/papers HTTP/1.1\r\nConnection: close\r\n\r\n",
        "two hosts": b"GET /api/papers HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
        "another protocol": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64,
        "no protocol": b"GET /api/papers\r\n\r\n",
        "a line end in the request": b"GET /api/papers\r\nX: HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "a chunk of another size": head
        + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n",
    }
    for name, raw in raws.items():
        yield Hostile(PROTOCOL, name, raw, wrong)
    both = (
        head
        + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
        + hidden
    )
    yield Hostile(PROTOCOL, "a length and chunks", both, wrong)
