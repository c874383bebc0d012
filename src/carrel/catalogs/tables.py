"""The catalog's tables, each behind those that it refers to: what identifies a row, and what else it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.catalogs import sql_papers as papers
from carrel.catalogs.sql_analytics import MEASURED, QUERY
from carrel.catalogs.sql_submissions import DOCUMENT, JOB

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "meta": ("key", "value"),
    "papers": papers.PAPER,
    "texts": papers.TEXT,
    "chunks": papers.CHUNK,
    "exhibits": papers.EXHIBIT,
    "citations": papers.CITATION,
    "embedding_metadata": ("paper_id", "model_name", "indexed_at", "abstract_hash"),
    "locations": ("path", "folder", "tags", "attached"),
    "known_files": ("path", "location", "digest", "mark", "paper_id"),
    "known_entries": ("path", "digest", "paper_id", "record"),
    "turns": ("session", "number", "question", "asked", "answer", "asked_at"),
    "analytics_sessions": ("id", "started_at", "ended_at", "user_hash"),
    "rag_queries": QUERY,
    "retrieval_metrics": MEASURED,
    "feedback_events": ("id", "query_id", "rating", "comment", "created_at"),
    "documents": DOCUMENT,
    "ingestion_jobs": JOB,
    "workers": ("name", "seen_at"),
    "tokens": ("id", "name", "scope", "digest", "created_at", "expires_at", "last_used_at", "revoked_at"),
}
_KEYS = {"texts": 2, "citations": 3, "known_entries": 2, "turns": 2}


def key(table: str) -> tuple[str, ...]:
    """The columns that identify a row: the first one, or more."""
    return COLUMNS[table][: _KEYS.get(table, 1)]
