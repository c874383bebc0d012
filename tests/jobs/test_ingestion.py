"""What becomes of a document that is handed to the service."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import pytest

from carrel import Library
from carrel.catalogs import PaperRow
from carrel.errors import (
    DocumentExists,
    DocumentNotFound,
    InvalidInput,
    InvalidSource,
    JobNotFound,
    ModelServerUnavailable,
    QueueFull,
    TooLarge,
    UnsupportedFormat,
)
from carrel.jobs import Ingestion, Said, runner
from carrel.jobs.course import Course, Lost
from carrel.testing import HashedWords
from carrel.types import Matrix
from carrel.types.service import DocumentStatus, Job, JobStatus
from tests.jobs.documents import BASALT, GRANITE, Inline, finished, is_sound, long_text, taken_in, until, upload

pytestmark = pytest.mark.usefixtures("reading_here")


class Gated(HashedWords):
    """An embedder that waits to be let through, once it has said that it is there."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.open = threading.Event(), threading.Event()

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.reached.set()
        assert self.open.wait(30)
        return super().embed_passages(texts)


class Flaky(HashedWords):
    """An embedder that is away for so many calls."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures = failures

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if self.failures:
            self.failures -= 1
            raise ModelServerUnavailable("the model is away", hint="Start it.")
        return super().embed_passages(texts)


def test_an_upload_becomes_a_paper_that_every_search_finds(library: Library, ingestion: Ingestion) -> None:
    ticket = upload(ingestion, name="../../On rocks.md", metadata={"tags": ["rocks"], "author": "Stone, Ada"})
    assert (ticket.job.status, ticket.document.status) == (JobStatus.QUEUED, DocumentStatus.PENDING)
    job = taken_in(ingestion, ticket)
    document = ingestion.document(ticket.document.id)
    (paper,) = library.list()
    assert (job.progress, job.total_chunks, job.processed_chunks, job.attempts) == (100, 1, 1, 1)
    assert (document.status, document.paper_id, document.title, document.chunk_count) == (
        DocumentStatus.ACTIVE,
        paper.reference.id,
        "On granite",
        1,
    )
    assert document.ingested_at >= document.created_at
    assert (paper.reference.id, paper.reference.tags, str(paper.reference.authors[0])) == (
        "On-rocks",
        ("rocks",),
        "Ada Stone",
    )
    assert library.search("at what degrees does granite melt").passages[0].chunk.paper_id == "On-rocks"
    assert is_sound(library)


def test_what_the_sender_says_goes_before_what_the_document_says(library: Library, inline: Inline) -> None:
    taken_in(inline, upload(inline, title="  A better   title ", name="notes", format="markdown"))
    assert [row.reference.title for row in library.list()] == ["A better title"]


def test_a_document_that_is_read_again_gets_the_title_that_it_has_now(library: Library, inline: Inline) -> None:
    path = library.layout.root.parent / "paper.md"
    path.write_text(GRANITE)
    taken_in(inline, inline.submit("paper.md", Said()))
    path.write_text(GRANITE.replace("On granite", "On other stones"))
    ticket = inline.submit("paper.md", Said(force=True))
    taken_in(inline, ticket)
    assert [row.reference.title for row in library.list()] == ["On other stones"]
    assert inline.document(ticket.document.id).title == "On other stones"


def test_the_same_document_is_refused_unless_it_is_forced(library: Library, inline: Inline) -> None:
    first = upload(inline)
    with pytest.raises(DocumentExists, match="is known as"):
        upload(inline, name="another-name.md")
    taken_in(inline, first)
    with pytest.raises(DocumentExists):
        upload(inline)
    again = upload(inline, name="another-name.md", force=True)
    assert again.document.id == first.document.id
    assert again.job.id != first.job.id
    taken_in(inline, again)
    assert len(library.list()) == 1
    assert is_sound(library)


def test_a_document_that_is_being_taken_in_is_not_begun_twice(tmp_path: Path) -> None:
    embedder = Gated()
    with Library.init(tmp_path, embedder=embedder) as library:
        ingestion = Inline(library)
        ticket = upload(ingestion)
        ingestion.start()
        assert embedder.reached.wait(30)
        with pytest.raises(DocumentExists, match="is being taken in"):
            upload(ingestion, force=True)
        embedder.open.set()
        taken_in(ingestion, ticket)
        ingestion.stop()


def test_a_file_that_cannot_be_read_fails_with_the_reason_and_leaves_nothing(library: Library, inline: Inline) -> None:
    ticket = inline.upload("broken.pdf", io.BytesIO(b"%PDF-1.7 and no more"), "application/pdf", Said())
    job = finished(inline, ticket)
    document = inline.document(ticket.document.id)
    assert (job.status, document.status) == (JobStatus.FAILED, DocumentStatus.FAILED)
    assert "broken.pdf' is damaged" in job.error_message
    assert document.error_message == job.error_message
    assert library.list() == []
    retry = upload(inline, GRANITE, "broken.md")
    taken_in(inline, retry)
    assert is_sound(library)


def test_one_that_failed_can_be_submitted_again_and_keeps_its_id(library: Library, inline: Inline) -> None:
    path = library.layout.root.parent / "paper.md"
    path.write_text("")
    first = inline.submit("paper.md", Said())
    assert finished(inline, first).status == JobStatus.FAILED
    path.write_text(GRANITE)
    second = inline.submit("paper.md", Said())
    assert second.document.id == first.document.id
    taken_in(inline, second)


def test_a_step_is_tried_again_while_a_model_is_away(tmp_path: Path) -> None:
    with Library.init(tmp_path, embedder=Flaky(1)) as library:
        ingestion = Ingestion(library)
        ingestion.start()
        job = taken_in(ingestion, upload(ingestion))
        ingestion.stop()
        assert job.attempts == 1
        assert is_sound(library)


def test_a_model_that_stays_away_fails_the_document_and_leaves_nothing(tmp_path: Path) -> None:
    overrides = {"jobs.attempts": 2, "jobs.step_seconds": 1}
    with Library.init(tmp_path, embedder=Flaky(1000), overrides=overrides) as library:
        ingestion = Ingestion(library)
        ingestion.start()
        job = finished(ingestion, upload(ingestion))
        ingestion.stop()
        assert (job.status, job.error_message) == (JobStatus.FAILED, "the model is away. Start it.")
        assert library.list() == []
        assert is_sound(library)


def test_why_a_step_failed_is_still_known_when_a_worker_dies_of_telling_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_CARE", 0.2)
    fail, deaths = Course._fail, [Lost()]

    def dying(course: Course, job: Job, reason: str) -> str:
        if deaths:
            raise deaths.pop()
        return fail(course, job, reason)

    monkeypatch.setattr(Course, "_fail", dying)
    overrides = {"jobs.attempts": 2, "jobs.step_seconds": 1}
    with Library.init(tmp_path, embedder=Flaky(1000), overrides=overrides) as library:
        ingestion = Ingestion(library)
        ingestion.start()
        job = finished(ingestion, upload(ingestion))
        ingestion.stop()
        assert (job.status, job.attempts, job.error_message) == (JobStatus.FAILED, 2, "the model is away. Start it.")


def test_a_cancelled_job_leaves_nothing(tmp_path: Path) -> None:
    embedder = Gated()
    with Library.init(tmp_path, embedder=embedder) as library:
        ingestion = Inline(library)
        ticket = upload(ingestion)
        ingestion.start()
        assert embedder.reached.wait(30)
        assert ingestion.cancel(ticket.job.id).status == JobStatus.CANCELLED
        embedder.open.set()
        until(lambda: ingestion.document(ticket.document.id).status == DocumentStatus.FAILED)
        until(lambda: not ingestion.running)
        assert ingestion.document(ticket.document.id).error_message == "cancelled"
        assert library.list() == []
        assert ingestion.cancel(ticket.job.id).status == JobStatus.CANCELLED
        ingestion.stop()
        assert is_sound(library)


def test_a_job_that_nobody_has_begun_is_cancelled_at_once(library: Library) -> None:
    idle = Ingestion(library)
    ticket = upload(idle)
    assert idle.cancel(ticket.job.id).status == JobStatus.CANCELLED
    assert idle.document(ticket.document.id).status == DocumentStatus.FAILED
    again = upload(idle)
    assert again.document.id == ticket.document.id


def test_a_text_that_replaces_another_is_not_left_half_replaced(tmp_path: Path) -> None:
    embedder = Gated()
    embedder.open.set()
    with Library.init(tmp_path, embedder=embedder) as library:
        ingestion = Inline(library)
        path = tmp_path / "paper.md"
        path.write_text(GRANITE)
        taken_in(ingestion, ingestion.submit("paper.md", Said()))
        embedder.open.clear()
        embedder.reached.clear()
        path.write_text(GRANITE.replace("hard", "very hard indeed"))
        again = ingestion.submit("paper.md", Said(force=True))
        ingestion.start()
        assert embedder.reached.wait(30)
        ingestion.cancel(again.job.id)
        embedder.open.set()
        until(lambda: not ingestion.running)
        document = ingestion.document(again.document.id)
        assert document.status == DocumentStatus.ACTIVE
        assert "very hard indeed" in library.text(document.paper_id)
        ingestion.stop()
        assert is_sound(library)


def test_a_deleted_document_is_in_no_store_and_its_copy_is_gone(library: Library, inline: Inline) -> None:
    ticket, other = upload(inline), upload(inline, BASALT, "basalt.md")
    taken_in(inline, ticket)
    taken_in(inline, other)
    copy = library.layout.root.parent / inline.document(ticket.document.id).path
    assert copy.is_file()
    assert inline.delete(ticket.document.id).status == DocumentStatus.ARCHIVED
    assert inline.delete(ticket.document.id).status == DocumentStatus.ARCHIVED
    assert not copy.parent.exists()
    assert [row.reference.id for row in library.list()] == ["basalt"]
    assert all(address.startswith("basalt/") for address in library.stores.vectors.addresses())
    assert all(address.startswith("basalt/") for address in library.stores.keywords.addresses())
    assert is_sound(library)
    assert upload(inline).document.id == ticket.document.id


def test_deleting_goes_through_the_stores_in_order(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = upload(inline)
    taken_in(inline, ticket)
    told: list[str] = []
    stores = library.stores

    def telling(name: str, real: Callable[..., None]) -> Callable[..., None]:
        def tell(*ids: object, **values: object) -> None:
            told.append(str(values.get("status", name)))
            real(*ids, **values)

        return tell

    for name, store, verb in (
        ("vectors", stores.vectors, "delete"),
        ("keywords", stores.keywords, "delete"),
        ("graph", stores.graph, "delete"),
        ("catalog", stores.catalog, "remove"),
        ("document", stores.catalog.submissions, "change"),
    ):
        monkeypatch.setattr(store, verb, telling(name, getattr(store, verb)))
    inline.delete(ticket.document.id)
    assert told == ["vectors", "keywords", "graph", "catalog", "archived"]


def test_deleting_the_text_of_a_listed_paper_leaves_its_record(library: Library, inline: Inline) -> None:
    record = {
        "id": "granite2020",
        "title": "On the hardness of granite",
        "abstract": "Granite is a hard rock, and much is said of it.",
    }
    library.layout.refs.write_text(json.dumps(record) + "\n")
    library.build_index()
    ticket = upload(inline, GRANITE.replace("On granite", "On the hardness of granite"))
    taken_in(inline, ticket)
    assert inline.document(ticket.document.id).paper_id == "granite2020"
    inline.delete(ticket.document.id)
    assert [row.reference.id for row in library.list()] == ["granite2020"]
    assert [chunk.address for chunk in library.stores.catalog.chunks_of(["granite2020"])] == ["granite2020/abstract"]
    assert is_sound(library)


def test_a_document_deleted_while_it_is_taken_in_stays_deleted(tmp_path: Path) -> None:
    embedder = Gated()
    with Library.init(tmp_path, embedder=embedder) as library:
        ingestion = Inline(library)
        ticket = upload(ingestion)
        ingestion.start()
        assert embedder.reached.wait(30)
        ingestion.delete(ticket.document.id)
        embedder.open.set()
        until(lambda: not ingestion.running)
        assert ingestion.document(ticket.document.id).status == DocumentStatus.ARCHIVED
        assert library.list() == []
        ingestion.stop()
        assert is_sound(library)


def test_removing_a_paper_archives_its_document(library: Library, inline: Inline) -> None:
    ticket = upload(inline)
    taken_in(inline, ticket)
    library.remove("granite")
    assert inline.document(ticket.document.id).status == DocumentStatus.ARCHIVED
    assert list(library.layout.uploads.iterdir()) == []


def test_sync_leaves_uploads_alone(library: Library, inline: Inline) -> None:
    folder = library.layout.root.parent
    (folder / "basalt.md").write_text(BASALT)
    library.add(folder)
    taken_in(inline, upload(inline))
    report = library.sync()
    assert (report.retired, sorted(row.reference.id for row in library.list())) == ((), ["basalt", "granite"])


def test_uploads_that_several_machines_share_are_remembered_as_each_finds_them(
    library: Library, inline: Inline, tmp_path: Path
) -> None:
    """A link leads to them, that differs from machine to machine."""
    (tmp_path / "shared").mkdir()
    library.layout.uploads.symlink_to(tmp_path / "shared")
    ticket = upload(inline)
    assert ticket.document.path.startswith(".carrel/uploads/")
    taken_in(inline, ticket)
    assert library.sync().retired == ()
    (row,) = library.list()
    assert row.sources == (ticket.document.path,)
    inline.delete(ticket.document.id)
    assert (library.list(), list((tmp_path / "shared").iterdir())) == ([], [])


def test_what_the_library_has_already_is_not_read_again(library: Library, inline: Inline) -> None:
    path = library.layout.root.parent / "rock.md"
    path.write_text(GRANITE)
    library.add(path)
    ticket = upload(inline)
    taken_in(inline, ticket)
    assert inline.document(ticket.document.id).paper_id == "rock"
    assert len(library.list()) == 1
    inline.delete(ticket.document.id)
    assert len(library.list()) == 1, "its text came from elsewhere"


def test_no_more_of_the_library_is_read_than_what_a_document_may_be(
    library: Library, inline: Inline, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = library.stores.catalog
    papers, sources = catalog.papers, catalog.sources

    def some_papers(paper_ids: Collection[str] | None = None) -> list[PaperRow]:
        assert paper_ids is not None, "every paper was read"
        return papers(paper_ids)

    def some_sources(among: Collection[str] | None = None) -> dict[str, str]:
        assert among is not None, "every file was read"
        return sources(among)

    monkeypatch.setattr(catalog, "papers", some_papers)
    monkeypatch.setattr(catalog, "sources", some_sources)
    monkeypatch.setattr(catalog, "digests", lambda: pytest.fail("every digest was read"))
    tickets = [upload(inline), upload(inline, BASALT)]
    for ticket in tickets:
        taken_in(inline, ticket)
    monkeypatch.undo()
    told = [(row.reference.id, row.reference.title) for row in library.list()]
    assert told == [("granite", "On granite"), ("granite-2", "On basalt")]
    assert is_sound(library)


def test_the_queue_has_an_end(tmp_path: Path) -> None:
    with Library.init(tmp_path, embedder=HashedWords(), overrides={"jobs.queued": 1}) as library:
        idle = Ingestion(library)
        upload(idle)
        with pytest.raises(QueueFull, match="1 documents are waiting"):
            upload(idle, BASALT, "basalt.md")


def test_an_upload_that_is_too_large_leaves_nothing_behind(tmp_path: Path) -> None:
    with Library.init(tmp_path, embedder=HashedWords(), overrides={"serve.upload_megabytes": 1}) as library:
        with pytest.raises(TooLarge, match="1,000,000 bytes"):
            upload(Ingestion(library), "x" * 1_000_001)
        assert list(library.layout.uploads.iterdir()) == []


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (Said(title="x" * 256), "at most 255"),
        (Said(title="a\x00b"), "printable"),
        (Said(title="a\nb"), "printable"),
        (Said(format="docx"), "unknown format"),
        (Said(metadata={"tags": "rocks"}), "list"),
        (Said(metadata={"tags": [1]}), "list"),
        (Said(metadata={"tags": ["\x00"]}), "list"),
        (Said(metadata={"author": 3}), "author"),
        (Said(metadata={"title": ["x"]}), "title"),
        (Said(metadata={"x": "y" * 20_000}), "16,384"),
    ],
)
def test_what_a_sender_says_is_checked(library: Library, said: Said, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Ingestion(library).upload("x.md", io.BytesIO(b"x"), "text/markdown", said)


def test_unknown_formats_addresses_and_ids_are_named(library: Library) -> None:
    idle = Ingestion(library)
    with pytest.raises(UnsupportedFormat, match=r"'\.exe'"):
        idle.upload("virus.exe", io.BytesIO(b"MZ"), "application/octet-stream", Said())
    with pytest.raises(InvalidSource, match="not fetched from the web here"):
        idle.submit("https://example.org/x.pdf", Said())
    with pytest.raises(InvalidSource, match="not fetched"):
        idle.submit("file:///etc/passwd", Said())
    with pytest.raises(JobNotFound):
        idle.job("nobody")
    with pytest.raises(DocumentNotFound):
        idle.delete("nobody")


def test_many_documents_are_taken_in_at_once_and_the_stores_agree(library: Library, ingestion: Ingestion) -> None:
    tickets = [upload(ingestion, long_text(3, f"rock {number}"), f"rock{number}.md") for number in range(12)]
    for ticket in tickets:
        taken_in(ingestion, ticket)
    assert len(library.list()) == 12
    assert is_sound(library)


def test_nothing_is_taken_in_while_somebody_else_writes_and_reading_goes_on_meanwhile(
    library: Library, ingestion: Ingestion
) -> None:
    with library._writing():
        ticket = upload(ingestion)
        until(lambda: ingestion.job(ticket.job.id).current_step == "wait")
        assert library.list() == []
    taken_in(ingestion, ticket)


def test_a_stopped_process_leaves_its_job_for_the_next_without_counting_it(tmp_path: Path) -> None:
    embedder = Gated()
    with Library.init(tmp_path, embedder=embedder) as library:
        first = Ingestion(library)
        first.start()
        ticket = upload(first, long_text(100))
        assert embedder.reached.wait(30)
        threading.Timer(0.3, embedder.open.set).start()
        first.stop(20)
        job = first.job(ticket.job.id)
        assert (job.status, job.attempts) == (JobStatus.EMBEDDING, 0)
        second = Ingestion(library)
        second.start()
        assert taken_in(second, ticket).attempts == 1
        second.stop()
        assert is_sound(library)
        assert list(library.layout.workers.iterdir()) == []


def test_a_lost_or_broken_database_of_jobs_is_made_anew_from_the_catalog(library: Library) -> None:
    idle = Ingestion(library)
    ticket = upload(idle)
    library.layout.jobs.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    working = Ingestion(library)
    working.start()
    taken_in(working, ticket)
    working.stop()


def test_one_process_serves_one_library_and_the_other_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_AGAIN", 0.2)
    with (
        Library.init(_made(tmp_path / "one"), embedder=HashedWords()) as one,
        Library.init(_made(tmp_path / "two"), embedder=HashedWords()) as two,
    ):
        first, second = Ingestion(one), Ingestion(two)
        first.start()
        taken_in(first, upload(first))
        second.start()
        ticket = upload(second)
        until(lambda: "another library" in second.complaint)
        first.stop()
        taken_in(second, ticket)
        second.stop()
        assert second.complaint == ""


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
