"""What the log says when a search by meaning finds nothing."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel import Library, telemetry
from carrel.search.diagnosing import explain_nothing
from carrel.testing import HashedWords
from carrel.types import Filter

NOWHERE = Filter(year_min=3000)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    abstract = "Shortest paths in weighted graphs are found by relaxing edges in order of their distance."
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": "a", "title": "Graphs", "authors": [], "abstract": abstract}))
    made = Library.init(tmp_path / "library", embedder=HashedWords())
    made.add(tmp_path / "in.jsonl")
    return made


@pytest.fixture(autouse=True)
def _quiet_afterwards() -> Iterator[None]:
    yield
    telemetry.configure("off")


def logged(library: Library, level: str, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    telemetry.configure(level)
    vector = library.embedder.embed_query("paths")
    assert library.stores.vectors.search(vector, limit=7, where=NOWHERE) == []
    explain_nothing(vector, library.stores.vectors, limit=7, where=NOWHERE, total=lambda: 3)
    entries = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    return [(entry["level"], entry["event"]) for entry in entries]


def test_at_debug_level_all_that_may_be_the_reason_is_said(
    library: Library, capsys: pytest.CaptureFixture[str]
) -> None:
    said = logged(library, "debug", capsys)
    assert said[:4] == [
        ("info", "Vector search returned 0 results"),
        ("debug", "Query embedding dimensions: 64"),
        ("debug", "Total documents in the library: 3"),
        ("debug", "Documents with embeddings: 1"),
    ]
    assert ("debug", "Top-K parameter: 7") in said
    assert any(event.startswith("Filter: ") and "year_min=3000" in event for _, event in said)
    sample = next(event for _, event in said if event.startswith("Sample similarity scores: "))
    score = json.loads(sample.removeprefix("Sample similarity scores: "))
    assert len(score) == 1
    assert 0 < score[0] < 1
    assert said[-1] == ("warning", "Vector search returned 0 results despite embeddings")


def test_at_info_level_only_that_it_happened(library: Library, capsys: pytest.CaptureFixture[str]) -> None:
    assert logged(library, "info", capsys) == [
        ("info", "Vector search returned 0 results"),
        ("warning", "Vector search returned 0 results despite embeddings"),
    ]


def test_an_empty_index_gives_no_warning_and_no_sample(library: Library, capsys: pytest.CaptureFixture[str]) -> None:
    library.remove("a")
    said = logged(library, "debug", capsys)
    assert ("debug", "Sample similarity scores: None returned") in said
    assert ("debug", "Documents with embeddings: 0") in said
    assert not any(level == "warning" for level, _ in said)


def test_nothing_is_looked_up_for_a_log_that_nobody_reads(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    telemetry.configure("off")
    logging.getLogger("carrel").setLevel(logging.ERROR)
    vectors = library.stores.vectors
    monkeypatch.setattr(vectors, "search", lambda *_, **__: pytest.fail("searched again"))
    explain_nothing(library.embedder.embed_query("paths"), vectors, limit=1, where=NOWHERE)
