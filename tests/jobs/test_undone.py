"""Documents that are deleted or cancelled, or whose job is gone, at whatever moment: nothing of them stays."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from carrel import Library
from carrel.errors import StoreUnavailable
from carrel.jobs import Said, Ticket, course, faults
from carrel.jobs.course import Lost
from carrel.jobs.fetching import Fetcher
from carrel.jobs.runner import Runner
from carrel.types.service import DocumentStatus, JobStatus, Submission
from tests.jobs.documents import GRANITE, Inline, finished, is_sound, taken_in, upload

pytestmark = pytest.mark.usefixtures("reading_here")


@pytest.fixture
def listed(library: Library) -> None:
    record = {"id": "granite2020", "title": "On granite", "abstract": "Granite is a hard rock, and much is said of it."}
    library.layout.refs.write_text(json.dumps(record) + "\n")
    library.build_index()


def addresses(library: Library) -> set[str]:
    """All that the vectors, the words and the catalog know."""
    stores = library.stores
    return {*stores.vectors.addresses(), *stores.keywords.addresses(), *stores.catalog.addresses()}


def is_finished(library: Library) -> bool:
    left = library.stores.catalog.unfinished()
    return (left.pending, left.retired) == ({}, ())


def before(monkeypatch: pytest.MonkeyPatch, thing: object, verb: str, happens: Callable[[], object]) -> None:
    """Has something happen once, just before a method does what it does."""
    real, waiting = getattr(thing, verb), [happens]

    def told(*values: Any, **named: Any) -> Any:
        if waiting:
            waiting.pop()()
        return real(*values, **named)

    monkeypatch.setattr(thing, verb, told)


def deleting(library: Library, ticket: Ticket) -> Callable[[], None]:
    """What a deletion does that found nothing of the text yet."""
    submissions = library.stores.catalog.submissions

    def delete() -> None:
        submissions.advance(ticket.job.id, status=JobStatus.CANCELLED)
        submissions.change(ticket.document.id, status=DocumentStatus.ARCHIVED)

    return delete


def interrupted(inline: Inline, monkeypatch: pytest.MonkeyPatch, point: str) -> None:
    """Leave a job as one whose worker died at a point."""

    def reached(there: str) -> None:
        if there == point:
            raise Lost

    with monkeypatch.context() as patch, pytest.raises(Lost):
        patch.setattr(faults, "reached", reached)
        inline.work()


def half_deleted(library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch) -> Submission:
    """A document whose vectors could not be reached when it was deleted."""
    ticket = upload(inline)
    taken_in(inline, ticket)

    def away() -> None:
        raise StoreUnavailable("the vectors are away")

    before(monkeypatch, library.stores.vectors, "delete", away)
    with pytest.raises(StoreUnavailable):
        inline.delete(ticket.document.id)
    document = inline.document(ticket.document.id)
    assert document.status == DocumentStatus.ACTIVE
    return document


def test_deleting_again_finishes_what_was_interrupted(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = half_deleted(library, inline, monkeypatch)
    assert inline.delete(document.id).status == DocumentStatus.ARCHIVED
    assert (addresses(library), is_finished(library), is_sound(library)) == (set(), True, True)


@pytest.mark.usefixtures("listed")
def test_deleting_the_text_of_a_listed_paper_again_finishes_what_was_interrupted(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = half_deleted(library, inline, monkeypatch)
    assert inline.delete(document.id).status == DocumentStatus.ARCHIVED
    assert (addresses(library), is_finished(library)) == ({"granite2020/abstract"}, True)
    assert is_sound(library)


def test_a_worker_that_starts_finishes_a_deletion_that_was_interrupted(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = half_deleted(library, inline, monkeypatch)
    Runner(library, Fetcher(1, 1.0, inline._policy))._reconcile()
    assert inline.document(document.id).status == DocumentStatus.ARCHIVED
    assert (addresses(library), is_finished(library), is_sound(library)) == (set(), True, True)


def test_a_worker_that_starts_takes_no_document_for_lost_that_is_finished_meanwhile(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket, submissions = upload(inline), library.stores.catalog.submissions
    documents = submissions.documents

    def meanwhile(**asked: Any) -> list[Submission]:
        found = documents(**asked)
        inline.work()
        return found

    monkeypatch.setattr(submissions, "documents", meanwhile)
    Runner(library, Fetcher(1, 1.0, inline._policy))._reconcile()
    document = inline.document(ticket.document.id)
    assert (document.status, document.error_message) == (DocumentStatus.ACTIVE, "")


def test_a_document_deleted_just_before_its_text_is_kept_does_not_come_back(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = upload(inline)
    before(monkeypatch, library.stores.catalog, "put", deleting(library, ticket))
    assert finished(inline, ticket).status == JobStatus.CANCELLED
    assert inline.document(ticket.document.id).status == DocumentStatus.ARCHIVED
    assert (addresses(library), is_finished(library)) == (set(), True)


@pytest.mark.parametrize(("store", "verb"), [("catalog", "put"), ("vectors", "put"), ("catalog", "activate")])
def test_a_document_deleted_while_another_text_of_it_is_put_does_not_come_back(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch, store: str, verb: str
) -> None:
    path = library.layout.root.parent / "paper.md"
    path.write_text(GRANITE)
    taken_in(inline, inline.submit("paper.md", Said()))
    path.write_text(GRANITE.replace("hard", "very hard indeed"))
    again = inline.submit("paper.md", Said(force=True))
    before(monkeypatch, getattr(library.stores, store), verb, deleting(library, again))
    assert finished(inline, again).status == JobStatus.CANCELLED
    assert inline.document(again.document.id).status == DocumentStatus.ARCHIVED
    assert (addresses(library), is_finished(library)) == (set(), True)


def test_a_job_cancelled_while_the_stores_are_written_leaves_nothing(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = upload(inline)
    before(monkeypatch, library.stores.vectors, "put", lambda: inline.cancel(ticket.job.id))
    assert finished(inline, ticket).status == JobStatus.CANCELLED
    document = inline.document(ticket.document.id)
    assert (document.status, document.error_message) == (DocumentStatus.FAILED, "cancelled")
    assert (addresses(library), is_finished(library), is_sound(library)) == (set(), True, True)


def test_a_store_that_is_away_is_waited_for_also_to_take_a_text_back(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(course, "_PAUSE", 0.01)

    def away() -> None:
        raise StoreUnavailable("the vectors are away")

    ticket = upload(inline)
    before(monkeypatch, library.stores.vectors, "put", lambda: inline.cancel(ticket.job.id))
    for _ in range(3):
        before(monkeypatch, library.stores.graph, "delete", away)
    assert finished(inline, ticket).status == JobStatus.CANCELLED
    assert (addresses(library), is_finished(library), is_sound(library)) == (set(), True, True)


@pytest.mark.parametrize("point", ["kept", "embedded", "indexes written", "indexed"])
def test_a_job_cancelled_after_its_worker_died_leaves_nothing(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    ticket = upload(inline)
    interrupted(inline, monkeypatch, point)
    inline.cancel(ticket.job.id)
    inline.again(ticket)
    assert inline.document(ticket.document.id).status == DocumentStatus.FAILED
    assert (addresses(library), is_finished(library), is_sound(library)) == (set(), True, True)


@pytest.mark.parametrize("point", ["kept", "indexes written"])
def test_a_worker_that_starts_undoes_what_a_cancelled_job_left_that_nobody_goes_on_with(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    ticket = upload(inline)
    interrupted(inline, monkeypatch, point)
    inline.cancel(ticket.job.id)
    Runner(library, Fetcher(1, 1.0, inline._policy))._reconcile()
    assert inline.document(ticket.document.id).status == DocumentStatus.FAILED
    assert (addresses(library), is_finished(library), is_sound(library)) == (set(), True, True)


def test_a_worker_that_starts_undoes_nothing_of_a_document_that_is_finished_meanwhile(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its paper is named already when the worker reads what is on its way in."""
    ticket, submissions = upload(inline), library.stores.catalog.submissions
    interrupted(inline, monkeypatch, "kept")
    before(monkeypatch, submissions, "jobs", lambda: inline.again(ticket))
    Runner(library, Fetcher(1, 1.0, inline._policy))._reconcile()
    assert inline.document(ticket.document.id).status == DocumentStatus.ACTIVE
    assert (addresses(library) != set(), is_finished(library), is_sound(library)) == (True, True, True)


@pytest.mark.parametrize("point", ["kept", "indexes written"])
def test_a_paper_that_was_there_before_outlives_a_cancelled_document(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    path = library.layout.root.parent / "rock.md"
    path.write_text(GRANITE)
    library.add(path)
    path.write_text(GRANITE.replace("hard", "very hard indeed"))
    ticket = inline.submit("rock.md", Said())
    interrupted(inline, monkeypatch, point)
    inline.cancel(ticket.job.id)
    inline.again(ticket)
    assert [row.reference.id for row in library.list()] == ["rock"]


def test_a_document_deleted_while_it_is_tidied_up_after_stays_deleted(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = inline.upload("broken.pdf", io.BytesIO(b"%PDF-1.7 and no more"), "application/pdf", Said())
    before(monkeypatch, library, "take_back_document", deleting(library, ticket))
    finished(inline, ticket)
    assert inline.document(ticket.document.id).status == DocumentStatus.ARCHIVED


def test_a_paper_that_was_only_about_to_be_made_takes_no_name_from_another(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its worker dies between writing down what it makes and making it, and another has the name by then."""
    first = upload(inline, name="paper.md")

    def dies() -> None:
        raise Lost

    with monkeypatch.context() as patch, pytest.raises(Lost):
        before(patch, library.stores.catalog, "put", dies)
        inline.work()
    second = upload(inline, GRANITE.replace("granite", "gabbro"), "paper.md")
    taken_in(inline, second)
    inline.again(first)
    papers = {inline.document(one.document.id).paper_id: one for one in (first, second)}
    assert papers == {"paper-2": first, "paper": second}
    assert is_sound(library)
