"""What can be set of the server and of ingestion in the background."""

from __future__ import annotations

from pydantic import Field

from carrel.settings.base import Section


class Serve(Section):
    host: str = Field(
        default="127.0.0.1",
        description="Address that `carrel serve` listens at; any but this machine's own needs tokens. "
        "Only from your own config or `CARREL_SERVE__HOST`.",
    )
    port: int = Field(default=8080, ge=0, le=65_535, description="Port that it listens at; 0 for a free one.")
    require_token: bool = Field(
        default=False, description="Ask for a token also of those on this machine; elsewhere it always is."
    )
    allowed_hosts: str = Field(
        default="",
        description="Further names, separated by commas, that requests may address the server by; only from your own "
        "config or `CARREL_SERVE__ALLOWED_HOSTS`.",
    )
    allowed_origins: str = Field(
        default="",
        description="Web pages' origins, separated by commas, that may ask the server; only from your own config or "
        "`CARREL_SERVE__ALLOWED_ORIGINS`.",
    )
    concurrent_queries: int = Field(default=10, ge=1, le=1000, description="Questions that are answered at one time.")
    queued_queries: int = Field(default=30, ge=0, le=100_000, description="Questions that may wait for their turn.")
    queue_seconds: float = Field(default=60.0, gt=0, description="Seconds that a question waits for its turn.")
    query_seconds: float = Field(default=120.0, gt=0, description="Seconds that a question may take, waiting included.")
    heartbeat_seconds: float = Field(
        default=15.0, gt=0, le=300, description="Seconds of silence after which a stream says that it still lives."
    )
    requests_per_minute: int = Field(
        default=1200, ge=0, description="Requests that one client may make in a minute; 0 for any number."
    )
    body_kilobytes: int = Field(
        default=1024, ge=1, le=1_048_576, description="Size of a request's body, uploads aside, in kB."
    )
    upload_megabytes: int = Field(default=100, ge=1, le=10_240, description="Size of an uploaded file, in MB.")
    body_seconds: float = Field(default=30.0, gt=0, description="Seconds that a client may take to send a request.")
    shutdown_seconds: float = Field(
        default=30.0, ge=0, description="Seconds that answers may still take when the server is to stop."
    )


class Jobs(Section):
    """Ingestion in the background."""

    concurrent: int = Field(default=2, ge=0, le=64, description="Documents that one process takes in at a time.")
    queued: int = Field(default=1000, ge=1, le=1_000_000, description="Documents that may wait to be taken in.")
    attempts: int = Field(
        default=3, ge=1, le=100, description="How often a document is tried before it is set aside as failed."
    )
    step_seconds: float = Field(
        default=300.0,
        gt=0,
        description="Seconds that taking in waits while others write, and for a server that is away or busy.",
    )
    roots: str = Field(
        default="",
        description="Folders, separated as in PATH, below which the server may be told to read files, beside the "
        "library's own; only from your own config or `CARREL_JOBS__ROOTS`.",
    )
    allow_urls: bool = Field(
        default=False,
        description="Whether the server may be told to fetch documents from the web; only from your own config or "
        "`CARREL_JOBS__ALLOW_URLS`.",
    )
    url_megabytes: int = Field(default=50, ge=1, le=1024, description="Size of a fetched document, in MB.")
    url_seconds: float = Field(default=60.0, gt=0, le=3600, description="Seconds that fetching one may take.")


class Mcp(Section):
    """What agents get."""

    result_tokens: int = Field(
        default=6000,
        ge=1000,
        le=100_000,
        description="Length that a tool's result for an agent has at most, in tokens; a cursor leads to the rest.",
    )
    allow_add: bool = Field(
        default=False,
        description="Whether agents may take documents in; only from your own config or `CARREL_MCP__ALLOW_ADD`.",
    )
