"""`carrel token` and `carrel stats`."""

from __future__ import annotations

import re

import pytest

from tests.cli.conftest import Carrel


def test_a_token_is_printed_once_and_known_afterwards_by_its_name(library: Carrel) -> None:
    made = library("token", "create", "lab", "--scope", "write", "--days", "30")
    secret = made.out.strip()
    assert re.fullmatch(r"carrel_[A-Za-z0-9_-]{43}", secret)
    assert "not shown again" in made.err
    listed = library("token", "list", "--json")
    (token,) = listed.json["tokens"]
    assert (token["name"], token["scope"], token["revoked_at"]) == ("lab", "write", "")
    assert "digest" not in token
    assert secret not in listed.out
    assert "good until" in library("token", "list").out


def test_tokens_are_revoked_by_name_or_id(library: Carrel) -> None:
    made = library("token", "create", "lab", "--json").json
    assert (made["name"], made["scope"], made["token"][:7]) == ("lab", "read", "carrel_")
    assert library("token", "revoke", "lab").out == "Revoked 'lab'.\n"
    again = library("token", "create", "lab", "--json").json
    assert library("token", "revoke", again["id"], "--json").json == {
        "status": "revoked",
        "id": again["id"],
        "name": "lab",
    }
    assert library("token", "list").out.count("revoked") == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("create", "a b"), "cannot be a token's name"),
        (("create", "x", "--scope", "root"), "is not one of"),
        (("create", "x", "--days", "-1"), "-1 is not in the range"),
        (("revoke", "nobody"), "no token 'nobody' in use"),
    ],
)
def test_what_cannot_be_is_said_with_the_next_step(library: Carrel, arguments: tuple[str, ...], said: str) -> None:
    done = library("token", *arguments)
    assert (done.code, done.out) == (1, "")
    assert said in done.err


def test_a_second_token_of_a_name_is_refused(library: Carrel) -> None:
    library("token", "create", "lab")
    done = library("token", "create", "lab")
    assert (done.code, done.out) == (1, "")
    assert "there is a token 'lab' already" in done.err


def test_without_tokens_and_queries_there_is_a_word_instead(library: Carrel) -> None:
    assert "carrel token create" in library("token", "list").err
    assert "Nothing was asked yet" in library("stats").err
    assert library("stats", "--json").json["queries"] == 0


def test_the_statistics_tell_of_what_was_asked(library: Carrel) -> None:
    library("search", "dense retrieval")
    library("--set", "answer.threshold=1", "--set", "history.keep_text=true", "ask", "Who was first on the moon?")
    found = library("stats", "--json", "--days", "1").json
    assert (found["queries"], found["answers"], found["unanswered"], found["days"]) == (2, 1, 1, 1)
    assert found["unanswered_questions"] == ["Who was first on the moon?"]
    assert set(found["latency"]["total"]) == {"p50", "p95", "p99"}
    told = library("stats").out
    assert "2 in all, 1 of them for an answer" in told
    assert "1 of 1 (100.0 %)" in told
    assert "- Who was first on the moon?" in told
