"""What a library keeps account of: queries as they really went, ratings, tokens."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from carrel import Library, asking, tokens
from carrel.errors import Exists, FeedbackExists, InvalidInput, ModelRefused, NotFound, QueryNotFound
from carrel.testing import HashedWords, Script
from carrel.types.service import Caller, Scope, Share
from tests.saved_answers import RECORDS, opened, put_records

QUESTION = "How hard is granite, and when does it melt?"
SESSION = "7f1b5d0e-9a4c-4f0f-8f5e-3d0c6a4b2e11"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with opened(tmp_path, **{"answer.threshold": 0.0}) as made:
        yield made


def rows(library: Library, sql: str) -> list[sqlite3.Row]:
    connection = sqlite3.connect(library.layout.database)
    connection.row_factory = sqlite3.Row
    with connection:
        return connection.execute(sql).fetchall()


def audited(library: Library) -> list[dict[str, Any]]:
    return [json.loads(line) for line in library.layout.audit.read_bytes().splitlines()]


def test_an_answer_is_recorded_with_what_really_happened(library: Library) -> None:
    answer = library.ask(QUESTION, session_id=SESSION, user="lab")
    (row,) = rows(library, "SELECT * FROM rag_queries JOIN retrieval_metrics ON query_id = rag_queries.id")
    assert (row["id"], row["session_id"], row["strategy_used"]) == (answer.query_id, SESSION, answer.strategy.value)
    assert (row["confidence"], bool(row["is_unanswered"])) == (answer.confidence.value, False)
    assert row["citation_count"] == len(answer.citations) > 0
    spent = answer.timings
    whole = spent["total"] + spent["evidence"] + spent["generation"]
    assert row["execution_time_ms"] == pytest.approx(whole, abs=0.01)
    assert row["first_token_ms"] == spent["first_token"]
    assert row["rerank_ms"] == spent["rerank"]
    assert row["query_text"] is None


def test_of_a_session_only_times_and_a_salted_hash_of_its_user_are_kept(library: Library) -> None:
    library.ask(QUESTION, session_id=SESSION, user="lab")
    library.ask("And basalt?", session_id=SESSION, user="lab")
    (session,) = rows(library, "SELECT * FROM analytics_sessions")
    assert session["id"] == SESSION
    assert re.fullmatch(r"[0-9a-f]{64}", session["user_hash"])
    assert session["user_hash"] != hashlib.sha256(b"lab").hexdigest()
    dumped = "\n".join(sqlite3.connect(library.layout.database).iterdump())
    assert QUESTION not in dumped
    assert "'lab'" not in dumped


def test_a_refusal_is_recorded_as_unanswered(tmp_path: Path) -> None:
    with opened(tmp_path, **{"answer.threshold": 1.0, "history.keep_text": True}) as library:
        assert library.ask(QUESTION).has_insufficient_evidence
        found = library.statistics()
    assert (found.answers, found.unanswered, found.unanswered_questions) == (1, 1, (QUESTION,))
    assert found.confidence == (Share("insufficient", 1),)


def test_parts_that_failed_are_recorded(tmp_path: Path) -> None:
    class Mute(Script):
        def stream(self, prompt: object) -> Iterator[str]:
            raise ModelRefused("no")

    options: dict[str, Any] = {"embedder": HashedWords(), "generator": Mute("x")}
    with Library.init(tmp_path, overrides={"answer.threshold": 0.0}, **options) as library:
        put_records(library, *RECORDS)
        library.ask(QUESTION)
        (row,) = rows(library, "SELECT degraded FROM rag_queries")
        assert json.loads(row["degraded"]) == ["generator"]
        assert library.statistics().degraded == 1


def test_searches_are_recorded_too_without_the_figures_of_answers(library: Library) -> None:
    result = library.search("granite", mode="keyword")
    (row,) = rows(library, "SELECT * FROM rag_queries JOIN retrieval_metrics ON query_id = rag_queries.id")
    assert (row["strategy_used"], row["confidence"], row["citation_count"]) == ("keyword_only", "", None)
    assert row["execution_time_ms"] == result.timings["total"]
    found = library.statistics()
    assert (found.queries, found.answers, found.strategies) == (1, 0, (Share("keyword_only", 1),))


def test_the_statistics_add_up(library: Library) -> None:
    answers = [library.ask(QUESTION, session_id=SESSION) for _ in range(3)]
    library.search("granite")
    library.rate(answers[0].query_id, 5)
    library.rate(answers[1].query_id, 2)
    found = library.statistics(days=7)
    assert (found.queries, found.answers, found.sessions) == (4, 3, 1)
    assert found.by_day == (Share(datetime.now(UTC).date().isoformat(), 4),)
    assert (found.ratings, found.mean_rating) == ((Share("2", 1), Share("5", 1)), 3.5)
    totals = sorted(row["execution_time_ms"] for row in rows(library, "SELECT execution_time_ms FROM rag_queries"))
    assert found.latency["total"] == {"p50": totals[1], "p95": totals[3], "p99": totals[3]}
    assert {"first_token", "generation", "vector", "keyword", "rerank"} <= set(found.latency)
    assert sum(share.count for share in found.confidence) == 3


def test_an_answer_is_rated_once(library: Library) -> None:
    answer = library.ask(QUESTION)
    given = library.rate(answer.query_id, 4, "Found it.\nThanks.")
    kept = library.feedback(answer.query_id)
    assert (kept.id, kept.rating, kept.comment) == (given.id, 4, "Found it.\nThanks.")
    assert datetime.fromisoformat(kept.created_at).tzinfo is not None
    with pytest.raises(FeedbackExists, match="rated already"):
        library.rate(answer.query_id, 1)
    assert library.feedback(answer.query_id).rating == 4


@pytest.mark.parametrize("rating", [0, 6, -1])
def test_ratings_go_from_one_to_five(library: Library, rating: int) -> None:
    with pytest.raises(InvalidInput, match=f"between 1 and 5, got {rating}"):
        library.rate(library.ask(QUESTION).query_id, rating)


def test_what_was_never_asked_cannot_be_rated(library: Library) -> None:
    with pytest.raises(QueryNotFound, match="'nothing' is not known"):
        library.rate("nothing", 3)
    with pytest.raises(QueryNotFound):
        library.feedback("nothing")
    with pytest.raises(NotFound, match="nobody has rated"):
        library.feedback(library.ask(QUESTION).query_id)


def test_long_comments_are_refused(library: Library) -> None:
    with pytest.raises(InvalidInput, match="at most 2000 characters, got 2001"):
        library.rate(library.ask(QUESTION).query_id, 3, "x" * 2001)


def test_old_queries_are_forgotten_with_what_hangs_on_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path, **{"history.retention_days": 30, "answer.threshold": 0.0}) as library:
        old, young = library.ask(QUESTION, session_id=SESSION), library.ask(QUESTION)
        library.rate(old.query_id, 5)
        long_ago = (datetime.now(UTC) - timedelta(days=31)).isoformat(timespec="milliseconds")
        with sqlite3.connect(library.layout.database) as connection:
            connection.execute("UPDATE rag_queries SET timestamp = ? WHERE id = ?", [long_ago, old.query_id])
        library.ask(QUESTION)
        assert library.stores.catalog.analytics.has_query(old.query_id), "not every query looks for old ones"
        monkeypatch.setattr(asking, "_HOUR", 0.0)
        library.ask(QUESTION)
        assert not library.stores.catalog.analytics.has_query(old.query_id)
        assert library.stores.catalog.analytics.has_query(young.query_id)
        assert rows(library, "SELECT * FROM feedback_events") == []


def test_without_a_retention_nothing_is_forgotten(library: Library) -> None:
    answer = library.ask(QUESTION)
    with sqlite3.connect(library.layout.database) as connection:
        connection.execute("UPDATE rag_queries SET timestamp = '1999-01-01T00:00:00.000+00:00'")
    assert library.forget_old() == 0
    assert library.statistics().queries == 1
    assert library.statistics(days=1).queries == 0
    assert library.stores.catalog.analytics.has_query(answer.query_id)


def test_a_token_is_known_by_its_digest_alone(library: Library) -> None:
    token, secret = library.create_token("lab", Scope.WRITE)
    assert re.fullmatch(r"carrel_[A-Za-z0-9_-]{43}", secret)
    assert token.digest == hashlib.sha256(secret.encode()).hexdigest()
    assert library.bearer(secret) == Caller("lab", Scope.WRITE)
    everything = b"".join(path.read_bytes() for path in library.layout.home.rglob("*") if path.is_file())
    assert secret.encode() not in everything
    assert secret.removeprefix("carrel_").encode() not in everything
    assert token.digest not in repr(token)


def test_no_two_tokens_share_anything(library: Library) -> None:
    secrets = {library.create_token(f"t{number}", Scope.READ)[1] for number in range(20)}
    assert len({secret[:12] for secret in secrets}) == 20


def test_nothing_but_the_whole_secret_lets_in(library: Library) -> None:
    token, secret = library.create_token("lab", Scope.READ)
    near = (secret[:-1], f"{secret} ", f"{secret}=", secret.upper(), secret.removeprefix("carrel_"), f"{secret}\x00")
    for wrong in ("", "carrel_", "\ud800", token.digest, token.id, token.name, *near):
        assert library.bearer(wrong) is None


def test_a_revoked_token_lets_nobody_in_and_frees_its_name(library: Library) -> None:
    _, secret = library.create_token("lab", Scope.READ)
    with pytest.raises(Exists, match="a token 'lab' already"):
        library.create_token("lab", Scope.ADMIN)
    assert library.revoke_token("lab").name == "lab"
    assert library.bearer(secret) is None
    with pytest.raises(NotFound, match="no token 'lab' in use"):
        library.revoke_token("lab")
    again, other = library.create_token("lab", Scope.READ)
    assert library.bearer(other) == Caller("lab", Scope.READ)
    assert library.revoke_token(again.id).name == "lab"
    assert [bool(token.revoked_at) for token in library.tokens()] == [True, True]


def test_a_token_ends_when_its_days_are_over(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    _, secret = library.create_token("lab", Scope.READ, days=7)
    assert library.bearer(secret) is not None
    later = SimpleNamespace(
        now=lambda zone: datetime.now(zone) + timedelta(days=8), fromisoformat=datetime.fromisoformat
    )
    monkeypatch.setattr(tokens, "datetime", later)
    assert library.bearer(secret) is None


def test_its_use_is_noted(library: Library) -> None:
    _, secret = library.create_token("lab", Scope.READ)
    assert library.tokens()[0].last_used_at == ""
    library.bearer(secret)
    assert library.tokens()[0].last_used_at != ""


@pytest.mark.parametrize("name", ["", "a b", "a\nb", "-a", "x" * 65, "ä", "local", "../x"])
def test_names_that_could_mislead_are_refused(library: Library, name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be a token's name"):
        library.create_token(name, Scope.READ)


@pytest.mark.parametrize("days", [-1, 36_501])
def test_a_token_is_good_for_a_time_that_can_be_told(library: Library, days: int) -> None:
    with pytest.raises(InvalidInput, match=f"got {days}"):
        library.create_token("lab", Scope.READ, days=days)


def test_making_and_revoking_tokens_is_audited_without_their_secrets(library: Library) -> None:
    _, secret = library.create_token("lab", Scope.ADMIN)
    library.revoke_token("lab")
    made, revoked = audited(library)
    assert (made["action"], made["token"], made["scope"]) == ("token created", "lab", "admin")
    assert (revoked["action"], revoked["token"]) == ("token revoked", "lab")
    assert secret not in library.layout.audit.read_text()
