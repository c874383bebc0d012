"""Questions over HTTP: the library's own answers, under the names that the API has for things."""

from __future__ import annotations

import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from carrel import Library
from carrel.catalogs.conversations import Turn
from carrel.errors import StoreUnavailable
from carrel.http import app
from carrel.http.service import Service
from carrel.http.sessions import Sessions
from carrel.types import Candidate, Event
from carrel.types.service import IN_THE_LOG, Scope
from tests.http.asking import QUESTION, TRUE, Halting, ask
from tests.http.conftest import Serve
from tests.http.serving import Running, running, wait_until
from tests.saved_answers import GRANITE, opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """For questions that change nothing."""
    with opened(tmp_path_factory.mktemp("lib"), **{"answer.threshold": 0.0}) as library, running(library) as started:
        yield started


def test_an_answer_is_the_librarys_own(server: Running) -> None:
    expected = server.service.library.ask(QUESTION)
    told = ask(server.url).json()
    assert told["answer"] == expected.answer
    assert [(one["text"], one["citations"]) for one in told["statements"]] == [
        (one.text, list(one.citations)) for one in expected.statements
    ]
    assert [(one["id"], one["quote"], one["start"], one["end"], one["score"]) for one in told["citations"]] == [
        (one.id, one.quote, one.start, one.end, one.score) for one in expected.citations
    ]
    assert told["confidence"] == expected.confidence == told["metadata"]["confidence"]
    assert told["metadata"]["strategy"] == expected.strategy
    assert told["metadata"]["citationCount"] == len(expected.citations)
    assert told["metadata"]["vectorResultCount"] == 3
    assert told["metadata"]["totalTokens"] == expected.context_tokens > 0


def test_a_citation_has_our_names_and_the_seeds(server: Running) -> None:
    first = ask(server.url).json()["citations"][0]
    assert first["quote"] == GRANITE[first["start"] : first["end"]]
    assert (
        (first["chunkId"], first["documentTitle"])
        == (first["address"], first["title"])
        == (
            "granite/abstract",
            "On granite",
        )
    )
    assert first["documentUrl"] == first["url"] == "https://doi.org/10.1000/xyz"
    assert (first["snippet"], first["relevanceScore"]) == (first["quote"], first["score"])


def test_a_paper_that_is_nowhere_in_the_web_is_told_of_by_this_server(tmp_path: Path, served: Serve) -> None:
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        record = '{"id": "a/b c", "title": "T", "abstract": "Chalk is soft and white, and made of tiny shells."}\n'
        library.layout.refs.write_text(record)
        library.build_index()
        (citation,) = ask(served(library), "How soft is chalk?").json()["citations"]
        assert (citation["url"], citation["documentUrl"]) == (None, "/api/papers/a%2Fb%20c")


def test_what_the_library_cannot_answer_is_no_error(tmp_path: Path, served: Serve) -> None:
    with opened(tmp_path) as library:
        told = ask(served(library), "Which cathode keeps its capacity?").json()
    assert (told["hasInsufficientEvidence"], told["confidence"], told["citations"]) == (True, "insufficient", [])
    assert told["nearMisses"][0]["text"]


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"query": ""}, "Query cannot be empty"),
        ({"query": " \t\n\u2003"}, "Query cannot be empty"),
        ({"query": "\x00\x1f"}, "Query cannot be empty"),
        ({"query": "x" * 2001}, "Query exceeds maximum length"),
        ({"query": "x", "topK": 0}, "topK must be between 1 and 20"),
        ({"query": "x", "topK": 21}, "topK must be between 1 and 20"),
    ],
)
def test_what_cannot_be_asked_is_answered_in_the_seeds_words(
    server: Running, wishes: dict[str, Any], message: str
) -> None:
    field = "topK" if "topK" in wishes else "query"
    expected = {"error": "VALIDATION_ERROR", "message": message, "details": [{"field": field, "message": message}]}
    for path in ("/api/query", "/api/query/stream"):
        refused = httpx2.post(server.url + path, json=wishes)
        assert (refused.status_code, refused.json()) == (400, expected)
    got = httpx2.get(f"{server.url}/api/query/stream", params=wishes)
    assert (got.status_code, got.json()) == (400, expected)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "body: Field required"),
        (b"{", "JSON"),
        (b"[]", "body"),
        (b'{"query": "\xff"}', "parsing the body"),
        (b'{"query": "\\ud800"}', "halves of characters"),
        (b'{"query": 3}', "query: Input should be a valid string"),
        (b'{"query": "x", "sessionId": "mine"}', "sessionId: Input should be a valid UUID"),
        (b'{"query": "x", "topK": 1e400}', "topK"),
        (b'{"query": "x", "includeGraph": "perhaps"}', "includeGraph"),
        (b'{"query": "x", "colour": 1}', "colour: Extra inputs are not permitted"),
        (b'{"query": ' + b"[" * 100_000 + b"}", ""),
    ],
)
def test_a_body_that_makes_no_sense_is_the_clients_fault(server: Running, body: bytes, said: str) -> None:
    refused = httpx2.post(f"{server.url}/api/query", content=body, headers={"content-type": "application/json"})
    assert (refused.status_code, refused.json()["error"]) == (400, "VALIDATION_ERROR")
    assert said in refused.json()["message"]


def test_the_answer_comes_from_where_it_may(server: Running) -> None:
    url = server.url
    assert {one["paperId"] for one in ask(url, paper=["hostile"]).json()["citations"]} == {"hostile"}
    assert ask(url, topicFilter="cookery").json()["citations"] == []
    assert ask(url, yearMax=1999).json()["citations"] == []
    unknown = ask(url, paper=["nobody"])
    assert (unknown.status_code, unknown.json()["error"]) == (404, "PAPER_NOT_FOUND")


def test_every_response_has_an_id_by_which_the_log_knows_it(server: Running) -> None:
    url = server.url
    own = httpx2.get(f"{url}/api/query/status", headers={"X-Request-ID": "mine-1"})
    assert own.headers["x-request-id"] == "mine-1"
    assert float(own.headers["x-response-time"].removesuffix("ms")) >= 0
    for forged in ("a b", "x" * 65, "<script>", ""):
        given = httpx2.get(f"{url}/nothing", headers={"X-Request-ID": forged}).headers["x-request-id"]
        assert str(uuid.UUID(given)) == given


def test_what_nobody_foresaw_is_told_by_its_id_alone(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_given: object, **_wishes: object) -> list[Event]:
        raise ZeroDivisionError("secret of /home/me")

    monkeypatch.setattr(server.service.library, "stream", broken)
    for path in ("/api/query", "/api/query/stream"):
        failed = httpx2.post(server.url + path, json={"query": "x"}, headers={"X-Request-ID": "r1"})
        assert (failed.status_code, failed.json()) == (
            500,
            {"error": "INTERNAL_ERROR", "message": "something went wrong; the log has it under r1"},
        )
        assert failed.headers["x-request-id"] == "r1"


def test_of_what_fails_inside_others_than_the_user_hear_only_its_kind(
    library: Library, served: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object, **_wishes: object) -> list[Event]:
        raise StoreUnavailable("cannot use catalog '/home/me/carrel.db'", hint="Look at /home/me.")

    monkeypatch.setattr(library, "stream", broken)
    _, secret = library.create_token("ada", Scope.READ)
    url = served(library)
    mine = ask(url).json()
    assert (mine["error"], mine["message"]) == ("STORE_UNAVAILABLE", "cannot use catalog '/home/me/carrel.db'")
    key = {"Authorization": f"Bearer {secret}", "X-Request-ID": "r1"}
    for path in ("/api/query", "/api/query/stream", "/v1/chat/completions"):
        body = (
            {"query": "x"} if "query" in path else {"model": "carrel", "messages": [{"role": "user", "content": "x"}]}
        )
        theirs = httpx2.post(url + path, json=body, headers=key)
        assert (theirs.status_code, "/home/me" in theirs.text) == (503, False)
        assert "A store failed" in theirs.text
        assert "the log has it under r1" in theirs.text


def test_a_follow_up_is_made_whole_from_its_own_session_only(server: Running) -> None:
    url, mine, other = server.url, str(uuid.uuid4()), str(uuid.uuid4())
    assert ask(url, "How hard is granite?", sessionId=mine).status_code == 200
    assert "granite" in ask(url, "Why is it so?", sessionId=mine).json()["asked"]
    assert ask(url, "Why is it so?", sessionId=other).json()["asked"] == "Why is it so?"
    assert ask(url, "Why is it so?").json()["asked"] == "Why is it so?"


def test_no_word_of_a_session_is_written_down(library: Library, served: Serve) -> None:
    ask(served(library), "How hard is granite, Melusine?", sessionId=str(uuid.uuid4()))
    library.close()
    written = b"".join(path.read_bytes() for path in library.layout.root.rglob("*") if path.is_file())
    assert b"Ada" in written
    assert b"Melusine" not in written


def turn(number: int) -> Turn:
    return Turn(f"q{number}", f"q{number}", "a")


def test_sessions_are_few_short_and_soon_forgotten() -> None:
    held = Sessions(most=2)
    for number in range(30):
        held.add("me", "one", turn(number))
    assert [one.question for one in held.turns("me", "one")] == [f"q{number}" for number in range(10, 30)]
    assert held.turns("you", "one") == ()
    held.add("me", "two", turn(1))
    held.add("me", "one", turn(2))
    held.add("me", "three", turn(3))
    assert (len(held), held.turns("me", "two")) == (2, ())
    held._seconds = 0.0
    assert (len(held), held.turns("me", "one")) == (0, ())


def test_the_status_counts_how_questions_end(library: Library, served: Serve) -> None:
    url = served(library)
    ask(url)
    ask(url, paper=["nobody"])
    told = httpx2.get(f"{url}/api/query/status").json()
    assert told["capacity"] == {"concurrent": 10, "active": 0, "mostQueued": 30, "queued": 0, "isAccepting": True}
    assert (told["metrics"]["answered"], told["metrics"]["failed"], told["metrics"]["left"]) == (1, 1, 0)
    assert told["metrics"]["meanLatencyMs"] > 0
    assert (told["health"]["isOpen"], told["health"]["isStopping"]) == (True, False)


def test_a_rating_finds_the_answer_it_is_for(server: Running) -> None:
    url = server.url
    rated = {"queryId": ask(url).json()["queryId"], "rating": 5}
    assert httpx2.post(f"{url}/api/feedback", json=rated).status_code == 201


def test_a_question_has_so_much_time_waiting_included(tmp_path: Path) -> None:
    generator = Halting(TRUE)
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        library.generator = generator
        with running(library, query_seconds=1.5) as server:
            began = time.monotonic()
            late = ask(server.url)
            assert (late.status_code, late.json()["error"]) == (504, "QUERY_TIMEOUT")
            assert time.monotonic() - began < 20
            assert generator.closed.is_set()
            assert server.service.gate.active == 0
            assert server.service.tally.timed_out == 1


def test_who_does_not_wait_for_the_whole_answer_stops_the_work(tmp_path: Path) -> None:
    generator = Halting(TRUE)
    with opened(tmp_path, **{"answer.threshold": 0.0}) as library:
        library.generator = generator
        with running(library) as server:
            with pytest.raises(httpx2.ReadTimeout):
                httpx2.post(f"{server.url}/api/query", json={"query": QUESTION}, timeout=2.0)
            assert generator.closed.wait(30)
            wait_until(lambda: server.service.gate.active == 0)
            assert (generator.asked, server.service.tally.left) == (1, 1)


def test_the_server_lives_while_its_library_is_being_opened(library: Library, served: Serve) -> None:
    opening: Callable[..., Any] = library.semantic

    may_open = threading.Event()

    def slowly(*given: Any, **wishes: Any) -> Any:
        assert may_open.wait(60)
        return opening(*given, **wishes)

    library.semantic = slowly  # type: ignore[method-assign]
    url = served(library)
    assert httpx2.get(f"{url}/api/health/live").status_code == 200
    assert httpx2.get(f"{url}/api/query/status").json()["health"]["isOpen"] is False
    may_open.set()
    assert ask(url).status_code == 200
    assert httpx2.get(f"{url}/api/query/status").json()["health"]["isOpen"] is True


class Stumbling:
    """A reranker that says too much of why it fails."""

    name = "stumbling"
    costly = False

    def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        raise StoreUnavailable("cannot reach the reranker at 'http://inner.example:9000'")


def test_only_the_user_hears_why_a_part_failed(library: Library, served: Serve) -> None:
    library.reranker = Stumbling()
    (told,) = ask(served(library)).json()["metadata"]["degraded"]
    assert told == {"arm": "rerank", "reason": "cannot reach the reranker at 'http://inner.example:9000'"}
    _, secret = library.create_token("guest", Scope.READ)
    url, headers = served(library, require_token=True), {"authorization": f"Bearer {secret}"}
    for path in ("/api/search", "/api/query/stream"):
        answer = httpx2.get(f"{url}{path}", params={"query": QUESTION}, headers=headers, timeout=30).text
        assert IN_THE_LOG in answer
        assert "inner.example" not in answer


def test_a_server_that_nobody_asks_forgets_what_is_old_too(
    library: Library, served: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = library.ask(QUESTION).query_id
    long_ago = (datetime.now(UTC) - timedelta(days=31)).isoformat(timespec="milliseconds")
    with sqlite3.connect(library.layout.database) as connection:
        connection.execute("UPDATE rag_queries SET timestamp = ?", [long_ago])
    monkeypatch.setattr(app, "FORGETTING", 0.05)
    served(library, history__retention_days=30)
    wait_until(lambda: not library.stores.catalog.analytics.has_query(query))


def test_what_waits_for_the_library_to_be_open_is_called_once(library: Library) -> None:
    service, called = Service.of(library), list[bool]()
    service.when_open = lambda: called.append(service.is_open)
    service.open()
    service.open()
    assert called == [True]
