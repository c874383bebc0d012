"""Answers that are kept, checked and gone on with, from the shell."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from carrel.cli import run
from carrel.library import Library
from tests.cli.conftest import Carrel

SURE = ("--set", "answer.threshold=0")
QUESTION = "How does dense passage retrieval compare with BM25 on open-domain question answering?"


def test_an_answer_is_saved_in_every_way_and_verified(library: Carrel, tmp_path: Path) -> None:
    done = library(*SURE, "ask", QUESTION, "--save", "a.json", "--save", "a.md", "--save", "a.html")
    assert done.code == 0
    assert done.err.splitlines()[-3:] == ["Saved a.json", "Saved a.md", "Saved a.html"]
    assert json.loads((tmp_path / "a.json").read_text())["made"]["settings"] == {
        "embedder": "hashed-words",
        "answer.threshold": 0.0,
    }
    checked = library("verify", "a.json", "a.md", "a.html", "--json")
    assert (checked.code, checked.json["status"], checked.json["problems"]) == (0, "ok", [])
    assert [one["file"] for one in checked.json["answers"]] == ["a.json", "a.md", "a.html"]
    assert {quote["status"] for one in checked.json["answers"] for quote in one["citations"]} == {"unchanged"}


def test_a_file_that_is_there_is_refused_before_anything_is_asked(library: Carrel, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("mine")
    done = library("ask", QUESTION, "--save", "a.json")
    assert (done.code, done.out, done.err) == (
        1,
        "",
        "error: 'a.json' is there already\n\nName another file, or replace it with --force.\n",
    )
    assert library(*SURE, "ask", QUESTION, "--save", "a.json", "--force").code == 0
    assert (tmp_path / "a.json").read_text() != "mine"
    assert library("ask", QUESTION, "--save", "a.pdf").code == 1


def test_a_damaged_answer_leaves_with_7_and_says_what_is_wrong(library: Carrel, tmp_path: Path) -> None:
    library(*SURE, "ask", QUESTION, "--save", "a.json")
    record = json.loads((tmp_path / "a.json").read_text())
    paper_id = record["citations"][0]["paper_id"]
    assert library("remove", paper_id).code == 0
    done = library("verify", "a.json")
    assert done.code == 7
    assert f"✗ [1] {paper_id}/abstract: paper gone" in done.out
    assert "the paper's text is no longer in the library" in done.out
    assert "Ask the question again" in done.err


def test_a_file_of_somebody_else_is_one_sentence_and_1(library: Carrel, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"\\u001b[31m": 1}')
    done = library("verify", "other.json")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: 'other.json' is no answer that can be checked: its format is not")
    assert library("verify", "nowhere.json").code == 1


def test_without_a_file_the_stores_are_verified(library: Carrel, tmp_path: Path) -> None:
    done = library("verify")
    assert (done.code, done.out) == (
        0,
        "All is well: 60 papers, 60 texts, 120 chunks, 120 vectors, 60 keywords, 779 concepts checked.\n",
    )
    with Library.open(tmp_path) as opened:
        opened.stores.keywords.delete([row.reference.id for row in opened.list()])
    damaged = library("verify")
    assert damaged.code == 7
    assert "it is not, or not wholly, in an index" in damaged.out
    assert "… and 40 more; --json names all." in damaged.out
    assert "carrel index build" in damaged.err
    assert len(library("verify", "--json").json["problems"]) == 60
    assert library("index", "build").code == 0
    assert library("verify").code == 0


def test_a_session_is_gone_on_with_listed_shown_and_forgotten(library: Carrel) -> None:
    assert library("ask", "--session", "thesis", QUESTION).code == 0
    followed = library("ask", "--session", "thesis", "Why?")
    assert followed.out.startswith("Asked as: Why? (dense passage retrieval")
    whole = library("ask", "--session", "thesis", "And its accuracy?", "--json").json
    assert whole["question"] == "And its accuracy?"
    assert whole["asked"].startswith("And its accuracy? (dense passage retrieval")
    listed = library("sessions", "--json").json
    assert [(one["name"], one["turns"]) for one in listed["sessions"]] == [("thesis", 3)]
    assert library("sessions").out.startswith("thesis  3 questions")
    assert QUESTION in library("sessions", "show", "thesis").out
    assert len(library("sessions", "show", "thesis", "--json").json["turns"]) == 3
    assert library("sessions", "remove", "thesis").out == "Forgot 'thesis', 3 questions.\n"
    assert library("sessions", "remove", "thesis").code == library("sessions", "show", "thesis").code == 1
    assert library("sessions", "--json").json == {"sessions": [], "total": 0}


def chat(monkeypatch: pytest.MonkeyPatch, *lines: str, session: str = "") -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return run([*SURE, "chat", *(["--session", session] if session else [])])


def test_a_chat_answers_line_by_line_and_keeps_nothing(
    library: Carrel, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert chat(monkeypatch, QUESTION, "", "Why?", "/save a.json", "/new", "Why?", "/quit", "never asked") == 0
    shown = capfd.readouterr()
    assert shown.out.count("Asked as: Why? (dense passage retrieval") == 1
    assert shown.out.count("Confidence: ") + shown.out.count("Insufficient evidence") == 3
    assert "Saved a.json" in shown.err
    assert json.loads((tmp_path / "a.json").read_text())["question"] == "Why?"
    assert library("sessions", "--json").json["total"] == 0


def test_a_chat_for_programs_is_a_line_of_json_for_each_answer(
    library: Carrel, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{QUESTION}\nWhy?\n/nonsense\n"))
    assert run([*SURE, "chat", "--json"]) == 1
    shown = capfd.readouterr()
    assert [json.loads(line)["question"] for line in shown.out.splitlines()] == [QUESTION, "Why?"]
    assert json.loads(shown.err)["error"] == "/nonsense is no command"


def test_a_chat_goes_on_after_an_error_and_says_so_at_the_end(
    library: Carrel, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert chat(monkeypatch, "/sources", "/save x.json", "/nonsense", QUESTION, "/sources") == 1
    shown = capfd.readouterr()
    assert shown.err.count("error: ") == 3
    assert shown.out.count("\nSources\n") == 2


def test_ctrl_c_stops_an_answer_and_not_the_chat(
    library: Carrel, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []
    stream = Library.stream

    def interrupted(self: Library, question: str, **options: object) -> object:
        asked.append(question)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return stream(self, question, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Library, "stream", interrupted)
    assert chat(monkeypatch, "first", QUESTION, session="kept") == 0
    assert asked == ["first", QUESTION]
    assert "Stopped." in capfd.readouterr().err
    assert library("sessions", "--json").json["sessions"][0]["turns"] == 1


def test_a_chats_session_must_have_a_name_that_can_be_one(library: Carrel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert chat(monkeypatch, QUESTION, session="a\nb") == 1
