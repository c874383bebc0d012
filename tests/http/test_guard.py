"""Who is let in and who is not, asked of the guard itself."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from carrel.errors import InvalidInput
from carrel.http import create, scopes
from carrel.http.guard import Guard, check_bind
from carrel.types.service import Scope
from tests.http.door import HOME, Doors, bearer


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:8080", "127.3.2.1", "localhost."]
)
def test_on_this_machine_no_token_is_needed(door: Doors, host: str) -> None:
    answer = door().ask(headers={"host": host})
    assert (answer.status, answer.body) == (200, b"local")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.1.7", "8.8.8.8", "", "2130706433",
        "127.0.0.1@evil.example", "[::ffff:8.8.8.8]", "localhost:8080:8080", "localhost:x", "localhost, evil.example",
    ],
)  # fmt: skip
def test_under_a_foreign_name_nobody_gets_in(door: Doors, host: str) -> None:
    made = door()
    answer = made.ask(headers={"host": host})
    assert (answer.status, answer.error, made.inside.callers) == (403, "FORBIDDEN", [])


def test_two_names_at_once_are_none(door: Doors) -> None:
    made = door()
    assert made.ask(all_headers=[("host", "localhost"), ("host", "localhost")]).status == 403
    assert made.ask(all_headers=[]).status == 403


def test_names_that_the_user_has_added_are_taken_but_need_a_token(door: Doors) -> None:
    made = door(allowed_hosts="papers.lab.example, other.example")
    assert made.ask(headers={"host": "papers.lab.example"}).status == 401
    _, secret = made.library.create_token("lab", Scope.READ)
    answer = made.ask(headers={"host": "papers.lab.example:443", **bearer(secret)})
    assert (answer.status, answer.body) == (200, b"lab")


def test_what_a_proxy_passes_on_is_not_of_this_machine(door: Doors) -> None:
    made = door()
    for name in ("x-forwarded-for", "forwarded", "x-real-ip", "via", "x-forwarded-host"):
        assert made.ask(headers={name: "127.0.0.1"}).status == 401
    assert made.inside.callers == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "papers.lab.example", ""])  # noqa: S104
def test_nobody_listens_beyond_this_machine_without_a_token(door: Doors, host: str) -> None:
    library = door().library
    with pytest.raises(InvalidInput, match="without a token") as caught:
        check_bind(library, host)
    assert "carrel token create" in caught.value.hint
    library.create_token("lab", Scope.READ)
    check_bind(library, host)
    library.revoke_token("lab")
    with pytest.raises(InvalidInput):
        check_bind(library, host)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.1.2.3", "LOCALHOST"])
def test_this_machine_alone_is_listened_at_without_one(door: Doors, host: str) -> None:
    check_bind(door().library, host)


def test_beyond_this_machine_everybody_needs_a_token_this_machine_included(door: Doors) -> None:
    made = door()
    made.guard = Guard(made.inside, made.library, host="0.0.0.0")  # noqa: S104
    _, secret = made.library.create_token("lab", Scope.READ)
    for host in ("localhost", "192.168.1.7:8080", "[fe80::1]"):
        assert made.ask(headers={"host": host}).status == 401
        assert made.ask(headers={"host": host, **bearer(secret)}).status == 200
    assert made.ask(headers={"host": "evil.example", **bearer(secret)}).status == 403


def test_a_missing_token_and_a_wrong_one_are_told_how_to_come_back(door: Doors) -> None:
    made = door(require_token=True)
    for headers in ({}, bearer(""), bearer("carrel_x"), {"authorization": "Basic bG9jYWw6"}, {"x-api-key": "carrel_x"}):
        answer = made.ask(headers=headers)
        assert (answer.status, answer.error, answer.headers["www-authenticate"]) == (401, "UNAUTHORIZED", "Bearer")
    assert made.inside.callers == []


def test_a_token_counts_only_in_its_header(door: Doors) -> None:
    made = door(require_token=True)
    _, secret = made.library.create_token("lab", Scope.ADMIN)
    for headers in ({"cookie": f"token={secret}"}, {"x-api-key": secret}, {"authorization": secret}):
        assert made.ask(headers=headers).status == 401
    twice = [("host", "localhost"), ("authorization", f"Bearer {secret}"), ("authorization", f"Bearer {secret}")]
    assert made.ask(all_headers=twice).status == 401
    assert made.ask(headers=bearer(secret)).status == 200


def test_any_key_will_do_where_none_is_needed_but_an_old_one_of_ours_is_told(door: Doors) -> None:
    made = door()
    assert made.ask(headers=bearer("sk-anything")).body == b"local"
    _, secret = made.library.create_token("lab", Scope.READ)
    assert made.ask(headers=bearer(secret)).body == b"lab"
    made.library.revoke_token("lab")
    assert made.ask(headers=bearer(secret)).status == 401


@pytest.mark.parametrize(
    ("method", "path", "least"),
    [
        ("GET", "/api/health/live", None),
        ("GET", "/api/search", Scope.READ),
        ("GET", "/api/papers/10.1000/x", Scope.READ),
        ("POST", "/api/query/stream", Scope.READ),
        ("POST", "/v1/chat/completions", Scope.READ),
        ("POST", "/mcp", Scope.READ),
        ("POST", "/api/ingest", Scope.WRITE),
        ("DELETE", "/api/ingest/7f1b5d0e-9a4c-4f0f-8f5e-3d0c6a4b2e11", Scope.WRITE),
        ("DELETE", "/api/papers/10.1000/x", Scope.WRITE),
        ("GET", "/api/stats", Scope.ADMIN),
        ("PUT", "/api/search", Scope.ADMIN),
        ("GET", "/api/settings", Scope.ADMIN),
        ("GET", "/api/search/../stats", Scope.ADMIN),
        ("GET", "//api/search", Scope.ADMIN),
        ("get", "/api/search", Scope.ADMIN),
        ("GET", "/API/search", Scope.ADMIN),
        ("GET", "/api/search\n", Scope.ADMIN),
    ],
)
def test_every_request_needs_its_scope_and_what_is_not_listed_needs_most(
    door: Doors, method: str, path: str, least: Scope | None
) -> None:
    assert scopes.needed(method, path) == least
    made = door(require_token=True)
    assert made.ask(path, method).status == (200 if least is None else 401)
    for scope in Scope:
        _, secret = made.library.create_token(scope.value, scope)
        answer = made.ask(path, method, headers=bearer(secret))
        assert answer.status == (200 if least is None or scope.includes(least) else 403)


def test_every_route_is_in_the_table(door: Doors) -> None:
    """What is not needs the scope `admin`: safe, but nobody's intention."""
    listed = {
        (method.upper(), re.sub(r"{[^}]+}", "x", path))
        for path, methods in create(door().library).openapi()["paths"].items()
        for method in methods
    }
    assert len(listed) > 25
    assert {pair for pair in listed if scopes.needed(*pair) == Scope.ADMIN} == {("GET", "/api/stats")}


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://127.0.0.1:9999",
        "http://localhost",
        "file://",
        "http://127.0.0.1:8080@evil",
    ],
)
def test_pages_of_others_may_not_ask(door: Doors, origin: str) -> None:
    made = door()
    assert made.ask("/api/query", "POST", headers={"origin": origin}).status == 403
    assert made.ask(all_headers=[*HOME.items(), ("origin", "http://127.0.0.1:8080"), ("origin", origin)]).status == 403
    assert made.inside.callers == []


def test_its_own_pages_may_and_so_may_programs(door: Doors) -> None:
    made = door()
    assert made.ask(headers={"origin": "http://127.0.0.1:8080"}).status == 200
    assert made.ask(headers={"host": "localhost", "origin": "http://localhost:80"}).status == 200
    assert made.ask(headers={"sec-fetch-site": "same-origin"}).status == 200
    assert made.ask().status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_foreign_page_embeds_is_refused_and_links_are_not(door: Doors, site: str) -> None:
    made = door()
    embedded = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    visited = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert made.ask("/api/query/stream", headers=embedded).status == 403
    assert made.ask("/api/tags", headers=visited).status == 200
    assert made.ask("/api/ingest", "POST", headers=visited).status == 403


def test_a_trusted_page_may_ask_and_read(door: Doors) -> None:
    made = door(allowed_origins="https://notes.example, http://localhost:3000/")
    asked = {"origin": "https://notes.example", "access-control-request-method": "POST"}
    before = made.ask("/api/query", "OPTIONS", headers=asked)
    assert (before.status, before.headers["access-control-allow-origin"]) == (204, "https://notes.example")
    assert "authorization" in before.headers["access-control-allow-headers"]
    after = made.ask(headers={"origin": "http://localhost:3000"})
    assert (after.status, after.headers["access-control-allow-origin"]) == (200, "http://localhost:3000")
    assert after.headers["vary"] == "Origin"
    assert made.ask("/api/query", "OPTIONS", headers={**asked, "origin": "https://evil.example"}).status == 403
    assert made.ask(headers={"origin": "https://notes.example.evil"}).status == 403


def test_no_page_is_told_that_it_may_unless_the_user_says_so(door: Doors) -> None:
    answer = door().ask(headers={"origin": "http://127.0.0.1:8080"})
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_every_answer_tells_browsers_to_run_nothing_of_it(door: Doors) -> None:
    made = door()
    for answer in (made.ask(), made.ask(headers={"host": "evil.example"})):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"


def test_changes_and_refusals_are_audited_and_questions_are_not(door: Doors) -> None:
    made = door(require_token=True)
    _, secret = made.library.create_token("lab", Scope.WRITE)
    made.ask("/api/papers/a\x1b\x85b", "DELETE", headers=bearer(secret), client="192.0.2.7")
    made.ask("/api/search", headers=bearer(secret))
    made.ask("/api/query", "POST", headers=bearer(secret))
    made.ask("/api/stats", headers=bearer(secret))
    made.ask("/api/ingest", "POST", headers=bearer("carrel_wrong"))
    _, done, scope, token = [json.loads(line) for line in made.library.layout.audit.read_bytes().splitlines()]
    assert (done["action"], done["caller"], done["client"]) == ("DELETE", "lab", "192.0.2.7")
    assert (done["path"], done["status"]) == ("/api/papers/a\x1b\x85b", 200)
    assert (scope["action"], scope["reason"], scope["path"], scope["status"]) == (
        "refused",
        "FORBIDDEN",
        "/api/stats",
        403,
    )
    assert (token["reason"], token["status"]) == ("UNAUTHORIZED", 401)
    assert secret not in made.library.layout.audit.read_text()


def test_other_protocols_are_closed(door: Doors) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    made = door()
    asyncio.run(Guard(made.inside, made.library)({"type": "websocket", "path": "/", "headers": []}, receive, send))
    assert (sent, made.inside.callers) == ([{"type": "websocket.close", "code": 1008}], [])
