"""What a library that is served keeps account of: documents on their way in, questions asked, who may ask."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class DocumentStatus(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    ACTIVE = "active"
    FAILED = "failed"
    ARCHIVED = "archived"


class JobStatus(StrEnum):
    QUEUED = "queued"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    EXTRACTING = "extracting"
    COMPLETE = "complete"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        return self in {JobStatus.COMPLETE, JobStatus.FAILED, JobStatus.CANCELLED}


@dataclass(frozen=True, slots=True)
class Submission:
    """A document that the service was given to take in."""

    id: str
    """A UUID."""
    url: str
    """What it was named by: a path as it is remembered, an address, or `upload:SHA256/NAME`. No two share one."""
    title: str = ""
    format: str = ""
    """`markdown`, `pdf`, `text` …: how it is to be read; empty for what its name says."""
    author: str = ""
    file_hash: str = ""
    """SHA-256 of its bytes; empty until they are here."""
    file_size: int = 0
    chunk_count: int = 0
    status: DocumentStatus = DocumentStatus.PENDING
    error_message: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What its sender says of it; `tags` become tags of the paper."""
    path: str = ""
    """Where its bytes lie, as paths are remembered; empty until they are here."""
    paper_id: str = ""
    """The paper that it became; empty until it was read."""
    created_at: str = ""
    """UTC, as ISO 8601 has it, like all times here; the catalog's to say."""
    updated_at: str = ""
    ingested_at: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """The taking in of a document."""

    id: str
    """A UUID."""
    document_id: str
    status: JobStatus = JobStatus.QUEUED
    current_step: str = ""
    progress: int = 0
    """Of a hundred."""
    total_chunks: int | None = None
    processed_chunks: int = 0
    error_message: str = ""
    attempts: int = 0
    """How often it was begun."""
    force: bool = False
    """Whether the document is read again although the library has it."""
    created_at: str = ""
    started_at: str = ""
    completed_at: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a reader thought of an answer."""

    id: str
    query_id: str
    rating: int
    """From 1 to 5."""
    comment: str = ""
    created_at: str = ""


class Scope(StrEnum):
    """What a token is good for; each includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def includes(self, other: Scope) -> bool:
        order = list(Scope)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request."""

    name: str
    """The token's; `local` where none is asked for."""
    scope: Scope


LOCAL = Caller("local", Scope.ADMIN)
IN_THE_LOG = "it failed; the server's log says why"
"""All that others than the user hear of what failed inside: messages name files, servers, and what these said."""


@dataclass(frozen=True, slots=True)
class Token:
    """A key to the service, without what it says: that is known to its bearer alone."""

    id: str
    name: str
    scope: Scope
    digest: str = field(repr=False)
    """SHA-256 of the secret."""
    created_at: str = ""
    expires_at: str = ""
    """Empty: never."""
    last_used_at: str = ""
    revoked_at: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """How often something was the case."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """How a library is used, over a stretch of time."""

    days: int
    """Counted back from now; 0 for all that is kept."""
    queries: int
    answers: int
    """Queries that asked for an answer rather than for passages."""
    unanswered: int
    """Of the answers: those that said that the evidence does not suffice."""
    sessions: int
    by_day: tuple[Share, ...]
    """Queries; days as YYYY-MM-DD, in order."""
    strategies: tuple[Share, ...]
    confidence: tuple[Share, ...]
    degraded: int
    """Queries of which some part failed."""
    latency: Mapping[str, Mapping[str, float]]
    """By stage, `total` and `first_token` among them: `p50`, `p95`, `p99`, in milliseconds."""
    ratings: tuple[Share, ...]
    """From `1` to `5`, those that were given."""
    mean_rating: float | None
    unanswered_questions: tuple[str, ...]
    """The latest, where the user keeps the words of queries."""
