"""The audit: what was written stays written, and no value can write another line."""

from __future__ import annotations

import json
import multiprocessing
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from carrel import layout
from carrel.audit import Audit


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def note_many(path: Path, largest: int, caller: str) -> None:
    audit = Audit(path, largest=largest)
    for number in range(50):
        audit.note("DELETE", caller=caller, number=number)


def test_what_was_done_is_added_line_by_line(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "audit.jsonl")
    audit.note("token created", caller="local", name="lab", scope="read")
    audit.refuse("UNAUTHORIZED", client="192.0.2.1", path="/api/query", status=401)
    first, second = lines(tmp_path / "audit.jsonl")
    assert {**first, "time": ""} == {
        "time": "",
        "action": "token created",
        "caller": "local",
        "name": "lab",
        "scope": "read",
    }
    assert (second["action"], second["reason"], second["client"]) == ("refused", "UNAUTHORIZED", "192.0.2.1")
    assert first["time"] <= second["time"]


def test_only_its_owner_reads_it(tmp_path: Path) -> None:
    Audit(tmp_path / "audit.jsonl").note("POST", path="/api/ingest")
    assert (tmp_path / "audit.jsonl").stat().st_mode & 0o777 == 0o600


@given(text=some.text(max_size=400))
def test_no_value_begins_a_line_of_its_own(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("audit") / "audit.jsonl"
    Audit(path).note("POST", path=text)
    raw = path.read_bytes()
    assert raw.count(b"\n") == 1
    assert raw.isascii()
    assert b"\r" not in raw
    assert b"\x1b" not in raw
    (kept,) = lines(path)
    assert kept["path"] == (text if len(text) <= 300 else f"{text[:300]}…")


def test_full_files_are_kept_four_deep_and_the_rest_goes(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "audit.jsonl", largest=300)
    for number in range(60):
        audit.note("POST", number=number)
    files = sorted(path.name for path in tmp_path.glob("*.jsonl"))
    assert files == ["audit.1.jsonl", "audit.2.jsonl", "audit.3.jsonl", "audit.4.jsonl", "audit.jsonl"]
    newest_first = ["audit.jsonl", *files[:-1]]
    numbers = [entry["number"] for name in reversed(newest_first) for entry in lines(tmp_path / name)]
    assert numbers == list(range(numbers[0], 60))


def test_processes_that_write_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=note_many, args=[path, 4000, f"w{number}"]) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    kept = [entry for name in tmp_path.glob("*.jsonl") for entry in lines(name)]
    assert sorted((entry["caller"], entry["number"]) for entry in kept) == sorted(
        (f"w{worker}", number) for worker in range(3) for number in range(50)
    )


def test_a_flood_of_refusals_does_not_wash_away_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [600.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    audit = Audit(tmp_path / "audit.jsonl")
    for _ in range(500):
        audit.refuse("FORBIDDEN", client="192.0.2.1")
    audit.note("DELETE", path="/api/papers/a")
    clock[0] += 60
    audit.refuse("FORBIDDEN", client="192.0.2.1")
    kept = lines(tmp_path / "audit.jsonl")
    assert [entry["action"] for entry in kept] == ["refused"] * 120 + ["DELETE", "refused"]
    assert kept[-1]["unwritten_before"] == 380


def test_a_link_planted_in_its_place_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "audit.jsonl").symlink_to(tmp_path / "precious")
    Audit(tmp_path / "audit.jsonl").note("POST")
    assert (tmp_path / "precious").read_text() == "mine"


def test_an_audit_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    Audit(tmp_path / "file" / "audit.jsonl").note("POST")
    assert (tmp_path / "file").read_text() == "no folder"


def test_git_does_not_keep_it(tmp_path: Path) -> None:
    made = layout.create(tmp_path)
    assert "audit.*" in (made.home / ".gitignore").read_text().splitlines()
    assert made.audit == made.home / "audit.jsonl"
