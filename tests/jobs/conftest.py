"""Libraries that take in documents, and documents to take in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel import Library
from carrel.jobs import Ingestion, engine
from carrel.testing import HashedWords
from tests.jobs.documents import Inline


@pytest.fixture
def reading_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading in a process apart takes a second for each document, and is tested where it belongs."""
    monkeypatch.setenv("CARREL_INGEST__ISOLATE", "false")
    monkeypatch.setattr(engine, "_POLL", 0.1)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    folder = tmp_path / "library"
    folder.mkdir()
    with Library.init(folder, embedder=HashedWords()) as made:
        yield made


@pytest.fixture
def inline(library: Library) -> Inline:
    """What is submitted to it is taken in when it is waited for."""
    return Inline(library)


@pytest.fixture
def ingestion(library: Library) -> Iterator[Ingestion]:
    """One that is at work."""
    made = Ingestion(library)
    made.start()
    yield made
    made.stop()
