"""Documents on their way in, in the catalog's database."""

from __future__ import annotations

import json
from dataclasses import astuple, fields, replace
from typing import TYPE_CHECKING, Any

from carrel.catalogs.times import earlier
from carrel.databases.sessions import marks
from carrel.types.service import DocumentStatus, Job, JobStatus, Submission

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from carrel.databases.sessions import Database, Row, Session

DOCUMENT = tuple(field.name for field in fields(Submission))
JOB = tuple(field.name for field in fields(Job))
_AT_WORK = "status IN ('queued', 'chunking', 'embedding', 'extracting')"
_GONE = "('failed', 'archived')"
_ANEW = ", ".join(f"{name} = excluded.{name}" for name in DOCUMENT if name not in {"id", "url"})
_SUBMIT = f"""
    INSERT INTO documents ({", ".join(DOCUMENT)}) VALUES ({marks(DOCUMENT)})
    ON CONFLICT (url) DO UPDATE SET {_ANEW}
    WHERE documents.status IN {_GONE}
        AND NOT EXISTS (SELECT 1 FROM ingestion_jobs WHERE document_id = documents.id AND {_AT_WORK})
    RETURNING id"""
_PUT_JOB = f"INSERT INTO ingestion_jobs ({', '.join(JOB)}) VALUES ({marks(JOB)})"
_CAN_RESUBMIT = f"""
    SELECT 1 FROM documents
    WHERE id = ? AND NOT EXISTS (SELECT 1 FROM ingestion_jobs WHERE document_id = documents.id AND {_AT_WORK})"""
_DOCUMENTS = f"SELECT {', '.join(DOCUMENT)} FROM documents"
_LATEST = "ORDER BY created_at DESC, id DESC"
_EARLIEST = "ORDER BY created_at, id"
_BY_HASH = f"{_DOCUMENTS} WHERE file_hash = ? AND file_hash <> '' AND status NOT IN {_GONE} {_LATEST}"
_BY_PAPER = f"{_DOCUMENTS} WHERE paper_id = ? AND paper_id <> '' {_LATEST}"
_AFTER = "(created_at, id) < (SELECT created_at, id FROM documents WHERE id = ?)"
_JOBS = f"SELECT {', '.join(JOB)} FROM ingestion_jobs"
_OVER = frozenset(status for status in JobStatus if status.is_over)
_BEGUN = frozenset(JobStatus) - _OVER - {JobStatus.QUEUED}
_ADVANCE = f"""
    UPDATE ingestion_jobs SET {{changed}}
        started_at = CASE WHEN started_at = '' THEN ? ELSE started_at END, completed_at = ?
    WHERE id = ? AND {_AT_WORK}"""
_FORSAKE = f"""
    UPDATE documents SET status = 'failed', error_message = ?, updated_at = ?
    WHERE status IN ('pending', 'processing')
        AND NOT EXISTS (SELECT 1 FROM ingestion_jobs WHERE document_id = documents.id AND {_AT_WORK})"""
_BEAT = "INSERT INTO workers (name, seen_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at"


class SqlSubmissions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def submit(self, submission: Submission, job: Job) -> bool:
        with self._database.writing("documents") as session:
            now = session.now()
            registered = replace(submission, created_at=now, updated_at=now, ingested_at="")
            found = session.rows(_SUBMIT, _document_values(registered))
            for (document_id,) in found:
                _put_job(session, replace(job, document_id=document_id))
        return bool(found)

    def resubmit(self, job: Job) -> bool:
        with self._database.writing("documents") as session:
            free = bool(session.rows(_CAN_RESUBMIT, [job.document_id]))
            if free:
                _put_job(session, job)
        return free

    def change(self, document_id: str, *, among: Collection[DocumentStatus] | None = None, **values: Any) -> bool:  # noqa: ANN401
        wanted = list(DocumentStatus if among is None else among)
        if "metadata" in values:
            values["metadata"] = json.dumps(dict(values["metadata"]))
        with self._database.writing() as session:
            now = session.now()
            active = {"ingested_at": now} if values.get("status") == DocumentStatus.ACTIVE else {}
            changed = {**_known(values, DOCUMENT), **active, "updated_at": now}
            setting = ", ".join(f"{name} = ?" for name in changed)
            sql = f"UPDATE documents SET {setting} WHERE id = ? AND status IN ({marks(wanted)})"
            return session.write(sql, [[*changed.values(), document_id, *wanted]]) > 0

    def forsake(self, reason: str) -> int:
        with self._database.writing("documents") as session:
            return session.write(_FORSAKE, [[reason, session.now()]])

    def advance(self, job_id: str, **values: Any) -> bool:  # noqa: ANN401
        status = values.get("status", JobStatus.QUEUED)
        with self._database.writing() as session:
            now = session.now()
            times = [now if status in _BEGUN else "", now if status in _OVER else "", job_id]
            sql = _ADVANCE.format(changed="".join(f"{name} = ?, " for name in _known(values, JOB)))
            return session.write(sql, [[*values.values(), *times]]) > 0

    def document(self, document_id: str) -> Submission | None:
        return next(iter(self._documents("WHERE id = ?", document_id)), None)

    def by_url(self, url: str) -> Submission | None:
        return next(iter(self._documents("WHERE url = ?", url)), None)

    def by_paper(self, paper_id: str) -> list[Submission]:
        return [_document(row) for row in self._database.rows(_BY_PAPER, [paper_id])]

    def by_hash(self, file_hash: str) -> list[Submission]:
        return [_document(row) for row in self._database.rows(_BY_HASH, [file_hash])]

    def documents(
        self, *, statuses: Collection[DocumentStatus] | None = None, limit: int = 100, after: str = ""
    ) -> list[Submission]:
        wanted = list(DocumentStatus if statuses is None else statuses)
        if not wanted:
            return []
        asked = [f"status IN ({marks(wanted)})", *([_AFTER] if after else [])]
        values = [*wanted, *([after] if after else []), limit]
        return self._documents(f"WHERE {' AND '.join(asked)} {_LATEST} LIMIT ?", *values)

    def job(self, job_id: str) -> Job | None:
        return next(map(_job, self._database.rows(f"{_JOBS} WHERE id = ?", [job_id])), None)

    def jobs(
        self,
        *,
        document_id: str = "",
        statuses: Collection[JobStatus] | None = None,
        limit: int = 100,
        oldest_first: bool = False,
    ) -> list[Job]:
        wanted = list(JobStatus if statuses is None else statuses)
        if not wanted:
            return []
        asked = [f"status IN ({marks(wanted)})", *(["document_id = ?"] if document_id else [])]
        values = [*wanted, *([document_id] if document_id else []), limit]
        order = _EARLIEST if oldest_first else _LATEST
        rows = self._database.rows(f"{_JOBS} WHERE {' AND '.join(asked)} {order} LIMIT ?", values)
        return [_job(row) for row in rows]

    def waiting(self) -> int:
        return int(self._database.rows(f"SELECT count(*) FROM ingestion_jobs WHERE {_AT_WORK}")[0][0])

    def beat(self, worker: str) -> None:
        with self._database.writing() as session:
            session.write(_BEAT, [[worker, session.now()]])

    def silent(self, seconds: float) -> list[str]:
        with self._database.writing() as session:
            since = earlier(session.now(), seconds=seconds)
            # Who is told is forgotten, so that of several that ask at once only one is told.
            rows = session.rows("DELETE FROM workers WHERE seen_at <= ? RETURNING name", [since])
        return sorted(name for (name,) in rows)

    def leave(self, worker: str) -> None:
        with self._database.writing() as session:
            session.write("DELETE FROM workers WHERE name = ?", [[worker]])

    def _documents(self, where: str, *values: object) -> list[Submission]:
        return [_document(row) for row in self._database.rows(f"{_DOCUMENTS} {where}", values)]


def _put_job(session: Session, job: Job) -> None:
    queued = replace(job, created_at=session.now(), started_at="", completed_at="")
    session.write(_PUT_JOB, [astuple(queued)])


def _known(values: Mapping[str, Any], columns: Collection[str]) -> Mapping[str, Any]:
    if wrong := values.keys() - set(columns):
        raise TypeError(f"no such field: {', '.join(sorted(wrong))}")
    return values


def _document_values(submission: Submission) -> list[Any]:
    values = {name: getattr(submission, name) for name in DOCUMENT}
    return [*{**values, "metadata": json.dumps(dict(submission.metadata))}.values()]


def _document(row: Row) -> Submission:
    values = dict(zip(DOCUMENT, row, strict=True))
    values["metadata"] = json.loads(values["metadata"])
    return Submission(**{**values, "status": DocumentStatus(values["status"])})


def _job(row: Row) -> Job:
    values = dict(zip(JOB, row, strict=True))
    return Job(**{**values, "status": JobStatus(values["status"]), "force": bool(values["force"])})
