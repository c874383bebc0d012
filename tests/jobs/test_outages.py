"""Stores that are away in the middle of a job: it waits, and goes on where it was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from carrel import Library
from carrel.databases.milvus import Gone, Late, NotLoaded
from carrel.errors import LibraryBusy, LibraryTooNew, ReadOnlyLibrary, StorageFull, StoreUnavailable
from carrel.jobs import Ingestion, course
from carrel.jobs.addresses import Policy
from carrel.jobs.course import Course
from carrel.jobs.fetching import Fetcher
from carrel.servers import Refused
from carrel.testing import HashedWords
from carrel.types import Matrix
from carrel.types.service import DocumentStatus, JobStatus
from tests.jobs.documents import Inline, finished, is_sound, taken_in, upload

pytestmark = pytest.mark.usefixtures("reading_here")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "_PAUSE", 0.01)


class Away:
    """Has a store's method fail for so many calls, from the first on that it is told to."""

    def __init__(self, real: Callable[..., Any], failure: Exception, calls: int) -> None:
        self._real = real
        self._failure = failure
        self.left = calls
        self.begins: Callable[..., bool] = lambda *_values, **_named: True
        self._has_begun = False

    def __call__(self, *values: Any, **named: Any) -> Any:
        self._has_begun = self._has_begun or self.begins(*values, **named)
        if self._has_begun and self.left:
            self.left -= 1
            raise self._failure
        return self._real(*values, **named)


@pytest.mark.parametrize("step", ["fetch", "read", "embed", "index"])
def test_a_catalog_that_is_away_in_any_step_fails_no_document(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Nothing is tried again here but by waiting; that it waits cannot be written down, either."""
    ticket, submissions = upload(inline), library.stores.catalog.submissions
    away = Away(submissions.advance, StoreUnavailable("the catalog is away"), 6)
    away.begins = lambda *_, **values: values.get("current_step") == step
    monkeypatch.setattr(submissions, "advance", away)
    assert taken_in(inline, ticket).attempts == 1
    assert (away.left, inline.document(ticket.document.id).status) == (0, DocumentStatus.ACTIVE)
    assert is_sound(library)


@pytest.mark.parametrize("kind", [Late, NotLoaded, Gone])
def test_vectors_that_are_slow_or_being_loaded_are_waited_for(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch, kind: type[StoreUnavailable]
) -> None:
    ticket, vectors = upload(inline), library.stores.vectors
    away = Away(vectors.put, kind("not now"), 2)
    monkeypatch.setattr(vectors, "put", away)
    assert taken_in(inline, ticket).attempts == 1
    assert away.left == 0
    assert is_sound(library)


@pytest.mark.parametrize("kind", [LibraryBusy, LibraryTooNew, ReadOnlyLibrary, StorageFull])
def test_what_a_store_that_is_there_says_is_not_waited_out(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch, kind: type[StoreUnavailable]
) -> None:
    ticket, vectors = upload(inline), library.stores.vectors
    away = Away(vectors.put, kind("no"), 1)
    monkeypatch.setattr(vectors, "put", away)
    assert (finished(inline, ticket).status, away.left) == (JobStatus.FAILED, 0)


class Reserved(HashedWords):
    """Wants to be left alone for a day, at first."""

    has_refused = False

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if not self.has_refused:
            self.has_refused = True
            raise Refused("http://models", 429, "tomorrow", "", 86_400.0)
        return super().embed_passages(texts)


class Hurried(threading.Event):
    """Does not wait, but knows how long it should have."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout or 0.0)
        return self.is_set()


def test_a_server_that_wants_to_be_left_alone_for_too_long_is_asked_once_more_before_the_time_is_up(
    tmp_path: Path,
) -> None:
    with Library.init(tmp_path, embedder=Reserved()) as library:
        idle, stopping = Ingestion(library), Hurried()
        ticket = upload(idle)
        Course(library, lambda _name, work: work(), stopping, Fetcher(1, 1.0, Policy())).run(ticket.job.id)
        assert idle.job(ticket.job.id).status == JobStatus.COMPLETE
        (waited,) = stopping.waited
        most = library.settings.jobs.step_seconds
        assert most / 2 < waited <= most < 86_400
