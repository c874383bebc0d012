"""Documents for the library: handed over, followed, called off and taken out again."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any, TypeVar
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from carrel.errors import (
    DocumentExists,
    DocumentNotFound,
    InvalidInput,
    InvalidJobId,
    InvalidSource,
    JobNotFound,
    QueueFull,
    Unavailable,
    UnsupportedFormat,
)
from carrel.http.declaring import CHANGING, errors
from carrel.http.passages import YesNo
from carrel.http.service import Serving
from carrel.http.shapes import Shape, Wish
from carrel.jobs import Said, Ticket
from carrel.types.service import DocumentStatus, Job, JobStatus, Submission

router = APIRouter(tags=["ingestion"])

_Shape = TypeVar("_Shape", bound=Shape)
_FIELD = 65_536
"""Bytes that a field of a form has at most, the file aside."""
_JOB = "0b6f1c1e-9d0a-4a67-8a52-6a1f0f0b3c11"
_DOCUMENT = "7d9f6a52-4c0e-4a53-9d8e-2f6d4c1b7a90"


class Described(Wish):
    """What a sender may say of a document."""

    title: str = Field(default="", max_length=255, description="Goes before the title that the document gives itself.")
    format: str = Field(
        default="",
        pattern=r"^(markdown|pdf|text|xml|marker)?$",
        description="`markdown`, `pdf`, `text`, `xml` (JATS or TEI) or `marker`; without it, what the name says.",
        examples=["pdf"],
    )
    metadata: dict[str, Any] = Field(
        default={}, description="`tags`, a list of words, become the paper's; `author` where the document names none."
    )
    force: YesNo = Field(default=False, description="Take it in again although it is known.")

    def said(self) -> Said:
        return Said(self.title, self.format, self.metadata, self.force)


class Submitting(Described):
    document_url: str = Field(
        min_length=1,
        max_length=4096,
        description="A path from the library's folder on, or in one of `jobs.roots`; an address if `jobs.allow_urls`.",
        examples=["papers/stone2020.pdf"],
    )


class Accepted(Shape):
    job_id: str = Field(examples=[_JOB])
    document_id: str = Field(examples=[_DOCUMENT])
    status: JobStatus = Field(examples=["queued"])
    estimated_chunks: int | None = Field(default=None, description="Where the size tells.", examples=[12])

    @classmethod
    def of(cls, ticket: Ticket) -> Accepted:
        job = ticket.job
        return cls(
            job_id=job.id,
            document_id=job.document_id,
            status=job.status,
            estimated_chunks=ticket.estimated_chunks,
        )


class Progress(Shape):
    """How far a job is."""

    job_id: str = Field(examples=[_JOB])
    document_id: str = Field(examples=[_DOCUMENT])
    status: JobStatus
    current_step: str | None = Field(default=None, examples=["embed"])
    progress: int = Field(ge=0, le=100, description="Of a hundred.", examples=[60])
    total_chunks: int | None = None
    processed_chunks: int
    error_message: str | None = Field(default=None, description="Why it failed.")
    attempts: int = Field(description="How often it was begun; what was interrupted is begun again.")
    created_at: str
    started_at: str | None = None
    completed_at: str | None = None

    @classmethod
    def of(cls, job: Job) -> Progress:
        values = {name: value for name, value in asdict(job).items() if name in cls.model_fields and value != ""}
        return cls.model_validate({**values, "job_id": job.id})


class Document(Shape):
    """A document that was submitted."""

    document_id: str = Field(examples=[_DOCUMENT])
    document_url: str = Field(description="What it was named by; `upload:SHA256/NAME` for one that was sent.")
    title: str
    author: str
    format: str | None = None
    status: DocumentStatus
    error_message: str | None = None
    paper_id: str | None = Field(default=None, description="The paper that it became.")
    chunk_count: int
    file_size: int
    metadata: dict[str, Any]
    created_at: str
    updated_at: str
    ingested_at: str | None = None
    job: Progress | None = Field(default=None, description="The latest.")

    @classmethod
    def of(cls, document: Submission, job: Job | None) -> Document:
        values = {name: value for name, value in asdict(document).items() if name in cls.model_fields}
        said = {name: value for name, value in values.items() if value != "" or name in {"title", "author"}}
        named = {"document_id": document.id, "document_url": document.url}
        return cls.model_validate({**said, **named, "job": Progress.of(job) if job else None})


class Documents(Shape):
    documents: list[Document]
    next_cursor: str | None = Field(default=None, description="Gets the next page; without one, this is the last.")


class Deleted(Shape):
    success: bool = True
    document_id: str = Field(examples=[_DOCUMENT])


class Listing(Wish):
    status: list[DocumentStatus] = Field(default=[], description="Only documents in any of these states.")
    limit: int = Field(default=50, ge=1, le=200)
    cursor: str = Field(default="", max_length=64, description="`nextCursor` of the page before.")


JobId = Annotated[str, Path(description="The `jobId` of a submission.", examples=[_JOB])]
DocumentId = Annotated[str, Path(description="The `documentId` of a submission.", examples=[_DOCUMENT])]
_FORM = {
    "type": "object",
    "required": ["file"],
    "additionalProperties": False,
    "properties": {
        "file": {"type": "string", "format": "binary"},
        "title": {"type": "string", "maxLength": 255},
        "format": {"type": "string", "enum": ["markdown", "pdf", "text", "xml", "marker"]},
        "metadata": {"type": "string", "description": "A JSON object."},
        "force": {"type": "string", "enum": ["true", "false"]},
    },
}
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": Submitting.model_json_schema()},
            "multipart/form-data": {"schema": _FORM},
        },
    }
}


@router.post(
    "/api/ingest",
    status_code=202,
    summary="Submit a document: a file of the form, a path or an address",
    responses=errors(InvalidSource, UnsupportedFormat, DocumentExists, QueueFull, Unavailable, *CHANGING),
    response_model_exclude_none=True,
    openapi_extra=_BODY,
)
async def submit(request: Request, service: Serving) -> Accepted:
    """It is registered at once and taken in later; its job tells how far it is."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        async with request.form(max_files=1, max_fields=8, max_part_size=_FIELD) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise InvalidInput("the form has no file", hint="Send it as the field 'file'.")
            described = _described({name: value for name, value in form.items() if name != "file"})
            name, sent_as = file.filename or "document", (file.content_type or "").partition(";")[0].strip().lower()
            ticket = await run_in_threadpool(service.ingestion.upload, name, file.file, sent_as, described.said())
    else:
        wanted = _valid(Submitting, await request.body())
        ticket = await run_in_threadpool(service.ingestion.submit, wanted.document_url, wanted.said())
    return Accepted.of(ticket)


@router.get(
    "/api/ingest",
    summary="The documents that were submitted, the latest first",
    responses=errors(),
    response_model_exclude_none=True,
)
def listed(asked: Annotated[Listing, Query()], service: Serving) -> Documents:
    ingestion = service.ingestion
    found = ingestion.documents(statuses=asked.status or None, limit=asked.limit, after=asked.cursor)
    shown = [Document.of(one, ingestion.latest_job(one.id)) for one in found]
    return Documents(documents=shown, next_cursor=found[-1].id if len(found) == asked.limit else None)


@router.get(
    "/api/ingest/{job_id}/status",
    summary="How far a job is",
    responses=errors(InvalidJobId, JobNotFound),
    response_model_exclude_none=True,
)
def status(job_id: JobId, service: Serving) -> Progress:
    return Progress.of(service.ingestion.job(_job_id(job_id)))


@router.post(
    "/api/ingest/{job_id}/cancel",
    summary="Call a job off",
    responses=errors(InvalidJobId, JobNotFound, *CHANGING),
    response_model_exclude_none=True,
)
def cancel(job_id: JobId, service: Serving) -> Progress:
    """It stops at the next place where it can, and nothing of the document stays. A job that is over stays as it is."""
    return Progress.of(service.ingestion.cancel(_job_id(job_id)))


@router.delete(
    "/api/ingest/{document_id}",
    summary="Take a document out of the library",
    responses=errors(DocumentNotFound, *CHANGING),
)
def delete(document_id: DocumentId, service: Serving) -> Deleted:
    """Out of the vectors, the words, the graph; then it is archived. A copy that was sent is deleted."""
    found = _uuid(document_id)
    if found is None:
        raise InvalidInput(f"{document_id[:80]!r} is not the id of a document", hint="It is a UUID.")
    return Deleted(document_id=service.ingestion.delete(found).id)


def _described(form: dict[str, Any]) -> Described:
    """Of the fields of a form, which are all texts."""
    if "metadata" in form:
        form["metadata"] = _json(form["metadata"])
    return _valid(Described, json.dumps(form).encode())


def _json(text: object) -> object:
    try:
        return json.loads(str(text))
    except ValueError as error:
        raise InvalidInput("metadata is not JSON", hint='As in {"tags": ["rocks"]}.') from error


def _valid(shape: type[_Shape], body: bytes) -> _Shape:
    try:
        return shape.model_validate_json(body)
    except ValidationError as error:
        faults = [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors(include_context=False)]
        raise RequestValidationError(faults) from error


def _job_id(text: str) -> str:
    found = _uuid(text)
    if found is None:
        raise InvalidJobId(
            f"{text[:80]!r} is not the id of a job", hint="It is a UUID, as POST /api/ingest answers it."
        )
    return found


def _uuid(text: str) -> str | None:
    try:
        return str(UUID(text))
    except ValueError:
        return None
