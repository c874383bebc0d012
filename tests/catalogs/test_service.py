"""What every catalog promises of documents on their way in, of what was asked, and of who may ask."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carrel.catalogs import Catalog, QueryRecord, sql_statistics
from carrel.catalogs.analytics import Analytics
from carrel.catalogs.credentials import Credentials
from carrel.catalogs.submissions import Submissions
from carrel.types.service import DocumentStatus, Feedback, Job, JobStatus, Scope, Share, Submission, Token


def submission(url: str, **values: object) -> Submission:
    return Submission(id=str(uuid.uuid4()), url=url, **values)  # type: ignore[arg-type]


def job_for(document: Submission, **values: object) -> Job:
    return Job(id=str(uuid.uuid4()), document_id=document.id, **values)  # type: ignore[arg-type]


def submitted(catalog: Catalog, url: str, **values: object) -> tuple[Submission, Job]:
    document = submission(url, **values)
    job = job_for(document)
    assert catalog.submissions.submit(document, job)
    return document, job


def test_a_document_and_its_job_come_back_as_they_went_in_with_their_times(catalog: Catalog) -> None:
    submissions = catalog.submissions
    assert isinstance(submissions, Submissions)
    document = submission(
        "upload:abc/naïve 漢字.pdf",
        title="T",
        format="pdf",
        author="A, B",
        file_hash="h" * 64,
        file_size=2**40,
        metadata={"tags": ["a", "ü"], "deep": {"n": 1.5, "none": None}, "nul": "\0"},
        path="uploads/x.pdf",
    )
    job = job_for(document, force=True)
    assert submissions.submit(document, job)
    kept = submissions.document(document.id)
    assert kept is not None
    assert replace(kept, created_at="", updated_at="") == document
    assert kept.created_at == kept.updated_at
    assert kept.created_at > "2025-01-01T00:00:00.000000+00:00"
    queued = submissions.job(job.id)
    assert queued is not None
    assert replace(queued, created_at="") == job
    assert queued.created_at >= kept.created_at
    assert submissions.by_url(document.url) == kept
    assert (submissions.document("unknown"), submissions.by_url(""), submissions.job("x\0")) == (None, None, None)


def test_an_address_is_registered_once_and_the_second_changes_nothing(catalog: Catalog) -> None:
    document, _ = submitted(catalog, "a.md", title="first")
    again = submission("a.md", title="second")
    assert not catalog.submissions.submit(again, job_for(again))
    assert catalog.submissions.document(again.id) is None
    assert [one.title for one in catalog.submissions.documents()] == ["first"]
    assert len(catalog.submissions.jobs()) == 1
    assert catalog.submissions.by_url("a.md") == catalog.submissions.document(document.id)


@pytest.mark.parametrize("status", [DocumentStatus.FAILED, DocumentStatus.ARCHIVED])
def test_what_failed_or_was_archived_is_registered_anew_under_its_old_id(
    catalog: Catalog, status: DocumentStatus
) -> None:
    submissions = catalog.submissions
    document, job = submitted(catalog, "a.md", title="first")
    submissions.change(document.id, status=status, error_message="broken", paper_id="p", chunk_count=7)
    again = submission("a.md", title="second")
    assert not submissions.submit(again, job_for(again)), "a job of it is not over"
    submissions.advance(job.id, status=JobStatus.FAILED)
    anew = job_for(again)
    assert submissions.submit(again, anew)
    kept = submissions.document(document.id)
    assert kept is not None
    assert (kept.title, kept.status, kept.error_message, kept.paper_id) == ("second", "pending", "", "")
    assert (submissions.document(again.id), kept.chunk_count) == (None, 0)
    assert [(one.id, one.document_id) for one in submissions.jobs(document_id=document.id)] == [
        (anew.id, document.id),
        (job.id, document.id),
    ]


def test_a_document_has_one_job_at_a_time(catalog: Catalog) -> None:
    submissions = catalog.submissions
    document, first = submitted(catalog, "a.md")
    second = job_for(document, force=True)
    assert not submissions.resubmit(second)
    assert submissions.advance(first.id, status=JobStatus.COMPLETE)
    assert submissions.resubmit(second)
    assert not submissions.resubmit(job_for(document))
    assert not submissions.resubmit(job_for(submission("unknown")))
    assert [one.id for one in submissions.jobs()] == [second.id, first.id]
    assert [one.id for one in submissions.jobs(statuses=[JobStatus.COMPLETE])] == [first.id]
    assert [one.id for one in submissions.jobs(limit=1)] == [second.id]
    assert [one.id for one in submissions.jobs(oldest_first=True)] == [first.id, second.id]
    assert [one.id for one in submissions.jobs(oldest_first=True, limit=1)] == [first.id]
    assert submissions.jobs(statuses=[]) == []
    assert submissions.waiting() == 1


def test_a_job_notes_when_it_began_and_when_it_was_over_and_then_stays(catalog: Catalog) -> None:
    submissions = catalog.submissions
    _, job = submitted(catalog, "a.md")
    assert submissions.advance(job.id, attempts=1)
    with pytest.raises(TypeError):
        submissions.advance(job.id, colour="red")
    queued = submissions.job(job.id)
    assert queued is not None
    assert (queued.attempts, queued.started_at, queued.completed_at) == (1, "", "")
    assert submissions.advance(job.id, status=JobStatus.CHUNKING, current_step="reading", progress=10)
    began = submissions.job(job.id)
    assert began is not None
    assert (began.status, began.current_step, began.progress, began.attempts) == ("chunking", "reading", 10, 1)
    assert began.started_at >= began.created_at
    assert submissions.advance(job.id, status=JobStatus.EMBEDDING, total_chunks=12, processed_chunks=3)
    assert submissions.advance(job.id, status=JobStatus.FAILED, error_message="no text")
    over = submissions.job(job.id)
    assert over is not None
    assert (over.started_at, over.total_chunks, over.error_message) == (began.started_at, 12, "no text")
    assert over.completed_at >= over.started_at
    assert not submissions.advance(job.id, status=JobStatus.COMPLETE)
    assert submissions.job(job.id) == over
    assert not submissions.advance("unknown", progress=1)


def test_one_that_is_cancelled_in_the_queue_never_began(catalog: Catalog) -> None:
    _, job = submitted(catalog, "a.md")
    assert catalog.submissions.advance(job.id, status=JobStatus.CANCELLED)
    over = catalog.submissions.job(job.id)
    assert over is not None
    assert (over.started_at, over.completed_at > over.created_at) == ("", True)


def test_a_document_notes_when_it_was_changed_and_taken_in(catalog: Catalog) -> None:
    submissions = catalog.submissions
    document, _ = submitted(catalog, "a.md")
    submissions.change(document.id, status=DocumentStatus.PROCESSING, file_hash="abc", metadata={"tags": ["x"]})
    processing = submissions.document(document.id)
    assert processing is not None
    assert (processing.status, processing.ingested_at, processing.metadata) == ("processing", "", {"tags": ["x"]})
    assert processing.updated_at > processing.created_at
    submissions.change(document.id, status=DocumentStatus.ACTIVE, paper_id="p1", chunk_count=3)
    active = submissions.document(document.id)
    assert active is not None
    assert (active.paper_id, active.chunk_count, active.file_hash) == ("p1", 3, "abc")
    assert active.ingested_at == active.updated_at > processing.updated_at
    assert not submissions.change("unknown", title="x")
    with pytest.raises(TypeError):
        submissions.change(document.id, colour="red")


def test_a_document_is_changed_only_while_it_is_what_it_is_taken_for(catalog: Catalog) -> None:
    submissions = catalog.submissions
    document, _ = submitted(catalog, "a.md")
    among = [DocumentStatus.PENDING, DocumentStatus.PROCESSING]
    assert submissions.change(document.id, among=among, status=DocumentStatus.ARCHIVED)
    assert not submissions.change(document.id, among=among, status=DocumentStatus.FAILED, title="x")
    kept = submissions.document(document.id)
    assert kept is not None
    assert (kept.status, kept.title) == (DocumentStatus.ARCHIVED, document.title)


def test_a_document_on_its_way_in_without_a_job_has_failed(catalog: Catalog) -> None:
    submissions = catalog.submissions
    jobs = {url: submitted(catalog, url)[1] for url in ("waiting", "lost", "begun", "done")}
    for url in ("lost", "begun", "done"):
        submissions.advance(jobs[url].id, status=JobStatus.CANCELLED)
    submissions.change(jobs["begun"].document_id, status=DocumentStatus.PROCESSING)
    submissions.change(jobs["done"].document_id, status=DocumentStatus.ACTIVE)
    assert (submissions.forsake("its job is gone"), submissions.forsake("again")) == (2, 0)
    assert {one.url: (one.status, one.error_message) for one in submissions.documents()} == {
        "waiting": (DocumentStatus.PENDING, ""),
        "lost": (DocumentStatus.FAILED, "its job is gone"),
        "begun": (DocumentStatus.FAILED, "its job is gone"),
        "done": (DocumentStatus.ACTIVE, ""),
    }


def test_documents_are_found_by_paper_and_by_their_bytes(catalog: Catalog) -> None:
    submissions = catalog.submissions
    documents = [submitted(catalog, f"{n}.md", file_hash="h")[0] for n in range(4)]
    submissions.change(documents[0].id, status=DocumentStatus.FAILED)
    submissions.change(documents[1].id, status=DocumentStatus.ARCHIVED)
    submissions.change(documents[2].id, paper_id="p")
    submissions.change(documents[3].id, paper_id="p")
    assert [one.url for one in submissions.by_hash("h")] == ["3.md", "2.md"]
    assert [one.url for one in submissions.by_paper("p")] == ["3.md", "2.md"]
    assert (submissions.by_hash(""), submissions.by_paper("")) == ([], [])


def test_documents_are_listed_page_by_page_the_latest_first(catalog: Catalog) -> None:
    submissions = catalog.submissions
    documents = [submitted(catalog, f"{n}.md")[0] for n in range(7)]
    submissions.change(documents[3].id, status=DocumentStatus.ACTIVE)
    seen: list[str] = []
    while page := submissions.documents(limit=3, after=documents[int(seen[-1][0])].id if seen else ""):
        seen += [one.url for one in page]
    assert seen == [f"{n}.md" for n in reversed(range(7))]
    assert [one.url for one in submissions.documents(statuses=[DocumentStatus.ACTIVE])] == ["3.md"]
    assert submissions.documents(statuses=[]) == []
    assert submissions.documents(after="unknown") == []


def test_a_worker_that_is_silent_is_told_once_until_it_beats_again(catalog: Catalog) -> None:
    submissions = catalog.submissions
    for name in ("a", "b", "left"):
        submissions.beat(name)
    submissions.leave("left")
    assert submissions.silent(60) == []
    time.sleep(2.0)
    submissions.beat("b")
    assert submissions.silent(1.8) == ["a"]
    assert submissions.silent(0.0) == ["b"]
    assert submissions.silent(0.0) == []
    submissions.beat("a")
    assert submissions.silent(0.0) == ["a"]


HOSTILE = ["\0", "\ud800", "a\0b\udfff", "'; DROP TABLE documents; --", "%s ? $1 {x}", "x" * 10_000, "\u202e漢🙂"]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_strings_are_only_strings(catalog: Catalog, text: str) -> None:
    document, job = submitted(catalog, f"u{text}", title=text, author=text, path=text, metadata={"tags": [text]})
    kept = catalog.submissions.document(document.id)
    assert kept is not None
    assert (len(kept.title), kept.metadata) == (len(text), {"tags": [text]})
    assert catalog.submissions.by_url(f"u{text}") == kept
    assert catalog.submissions.advance(job.id, error_message=text)
    assert not catalog.submissions.submit(*(again := submission(f"u{text}"), job_for(again)))
    catalog.analytics.record(asked("q", text=text, user=text, session_id=f"s{text}"), keep_text=True)
    assert catalog.analytics.rate(Feedback("f", "q", 3, text))
    said = catalog.analytics.feedback("q")
    assert said is not None
    assert len(said.comment) == len(text)
    assert catalog.credentials.put(Token("t", f"n{text}", Scope.READ, f"d{text}"))
    assert catalog.credentials.by_digest(f"d{text}") == catalog.credentials.all()[0]


def asked(query_id: str, total: float = 10.0, **values: object) -> QueryRecord:
    given = {"text": "what?", "strategy": "hybrid", **values}
    return QueryRecord(id=query_id, execution_time_ms=total, **given)  # type: ignore[arg-type]


def test_an_answer_is_rated_once_and_only_if_it_is_known(catalog: Catalog) -> None:
    analytics = catalog.analytics
    assert isinstance(analytics, Analytics)
    analytics.record(asked("q1"), keep_text=False)
    assert (analytics.has_query("q1"), analytics.has_query("q2")) == (True, False)
    assert analytics.rate(Feedback("f1", "q1", 4, "good"))
    assert not analytics.rate(Feedback("f2", "q1", 1, "bad"))
    assert not analytics.rate(Feedback("f3", "q2", 1))
    kept = analytics.feedback("q1")
    assert kept is not None
    assert (kept.id, kept.rating, kept.comment, kept.created_at > "2025") == ("f1", 4, "good", True)
    assert analytics.feedback("q2") is None


def test_statistics_count_what_happened(catalog: Catalog) -> None:
    analytics = catalog.analytics
    first = asked("1", confidence="high", session_id="s1", user="ann", strategy="vector_only")
    analytics.record(first, keep_text=True)
    analytics.record(asked("2", confidence="low", is_unanswered=True, text="why?", session_id="s1"), keep_text=True)
    analytics.record(asked("3", confidence="low", is_unanswered=True, text="where?", session_id="s2"), keep_text=True)
    analytics.record(asked("4", confidence="low", is_unanswered=True, text="why?"), keep_text=True)
    analytics.record(asked("5", confidence="low", is_unanswered=True, text="hidden"), keep_text=False)
    analytics.record(asked("6", degraded=("vector", "graph")), keep_text=False)
    analytics.rate(Feedback("f1", "1", 5))
    analytics.rate(Feedback("f2", "2", 2))
    analytics.rate(Feedback("f3", "3", 2))
    told = analytics.statistics()
    assert (told.days, told.queries, told.answers, told.unanswered, told.sessions, told.degraded) == (0, 6, 5, 4, 2, 1)
    assert sum(share.count for share in told.by_day) == 6
    assert all(len(share.name) == 10 for share in told.by_day)
    assert told.strategies == (Share("hybrid", 5), Share("vector_only", 1))
    assert told.confidence == (Share("low", 4), Share("high", 1))
    assert told.ratings == (Share("2", 2), Share("5", 1))
    assert told.mean_rating == pytest.approx(3.0)
    assert told.unanswered_questions == ("why?", "where?")
    assert replace(analytics.statistics(7), days=0) == told
    assert replace(analytics.statistics(10**9), days=0) == told


def test_statistics_of_nothing_are_noughts(catalog: Catalog) -> None:
    told = catalog.analytics.statistics(30)
    assert (told.days, told.queries, told.answers, told.mean_rating, told.latency) == (30, 0, 0, None, {})
    assert (told.by_day, told.ratings, told.unanswered_questions) == ((), (), ())


def nearest_rank(values: Sequence[float], percent: int) -> float:
    """By definition: the least value such that so many of all are not above it."""
    return next(one for one in sorted(values) if sum(v <= one for v in values) * 100 >= percent * len(values))


TIMES = st.lists(st.floats(0, 1e6, allow_nan=False).map(lambda value: round(value, 3)), min_size=1, max_size=40)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(times=TIMES)
def test_percentiles_are_values_that_were_measured(catalog: Catalog, times: list[float]) -> None:
    catalog.analytics.forget(-1)
    for number, spent in enumerate(times):
        known = {"first_token": spent / 2} if number % 2 else {}
        catalog.analytics.record(asked(str(number), total=spent, timings=known), keep_text=False)
    latency = catalog.analytics.statistics().latency
    assert latency["total"] == {f"p{percent}": nearest_rank(times, percent) for percent in (50, 95, 99)}
    halves = [spent / 2 for spent in times[1::2]]
    expected = {f"p{percent}": nearest_rank(halves, percent) for percent in (50, 95, 99)} if halves else None
    assert latency.get("first_token") == expected


def test_every_stage_that_was_timed_has_its_percentiles(catalog: Catalog) -> None:
    searching = ("understanding", "embedding", "vector", "keyword", "graph", "fusion", "feedback", "catalog", "rerank")
    stages = (*searching, "bridges", "arrange", "evidence", "generation", "first_token", "queue")
    timings = {stage: float(number) for number, stage in enumerate(stages)}
    catalog.analytics.record(asked("1", 99.0, timings={**timings, "total": 99.0}), keep_text=False)
    latency = catalog.analytics.statistics().latency
    assert {stage: found["p95"] for stage, found in latency.items()} == {**timings, "total": 99.0}


def test_percentiles_are_the_same_when_few_values_fit_into_memory(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(600):
        timings = {"vector": float(number), "fusion": 600.0 - number, **({"rerank": 1.0} if number < 3 else {})}
        catalog.analytics.record(asked(str(number), float(number), timings=timings), keep_text=False)
    whole = catalog.analytics.statistics().latency
    assert whole["vector"] == {"p50": 299.0, "p95": 569.0, "p99": 593.0}
    assert whole["fusion"] == {"p50": 300.0, "p95": 570.0, "p99": 594.0}
    monkeypatch.setattr(sql_statistics, "_MOST", 601)
    assert catalog.analytics.statistics().latency == whole


def test_what_is_older_than_wanted_is_forgotten_with_what_hangs_on_it(catalog: Catalog) -> None:
    analytics = catalog.analytics
    for number in range(3):
        analytics.record(asked(str(number), session_id="s"), keep_text=True)
    analytics.rate(Feedback("f", "1", 5))
    assert analytics.forget(1) == 0
    assert analytics.feedback("1") is not None
    analytics.end_session("s")
    analytics.end_session("unknown")
    assert analytics.forget(0) == 3
    assert (analytics.has_query("1"), analytics.feedback("1"), analytics.statistics().queries) == (False, None, 0)
    assert analytics.forget(0) == 0
    analytics.record(asked("1", session_id="s"), keep_text=True)
    assert analytics.statistics().sessions == 1


def test_tokens_are_known_by_their_digests(catalog: Catalog) -> None:
    credentials = catalog.credentials
    assert isinstance(credentials, Credentials)
    made = Token("t1", "laptop", Scope.WRITE, "d1", expires_at="2030-01-01T00:00:00+00:00")
    assert credentials.put(made)
    kept = credentials.by_digest("d1")
    assert kept is not None
    assert replace(kept, created_at="") == made
    assert credentials.by_digest("d2") is None
    assert not credentials.put(Token("t2", "laptop", Scope.READ, "d2"))
    assert not credentials.put(Token("t3", "phone", Scope.READ, "d1"))
    assert credentials.put(Token("t4", "phone", Scope.READ, "d4"))
    assert [one.id for one in credentials.all()] == ["t1", "t4"]


def test_a_revoked_token_stays_known_and_frees_its_name(catalog: Catalog) -> None:
    credentials = catalog.credentials
    credentials.put(Token("t1", "laptop", Scope.READ, "d1"))
    assert (credentials.revoke("t1"), credentials.revoke("t1"), credentials.revoke("x")) == (True, False, False)
    gone = credentials.by_digest("d1")
    assert gone is not None
    assert gone.revoked_at > gone.created_at
    assert credentials.put(Token("t2", "laptop", Scope.READ, "d2"))
    assert [(one.id, bool(one.revoked_at)) for one in credentials.all()] == [("t1", True), ("t2", False)]


def test_that_a_token_was_used_is_noted_once_a_minute(catalog: Catalog) -> None:
    credentials = catalog.credentials
    credentials.put(Token("t1", "laptop", Scope.READ, "d1"))
    credentials.used("t1")
    first = credentials.all()[0].last_used_at
    assert first > credentials.all()[0].created_at
    credentials.used("t1")
    credentials.used("unknown")
    assert credentials.all()[0].last_used_at == first
