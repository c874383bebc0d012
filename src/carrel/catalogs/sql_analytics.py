"""What was asked and how it went, in the catalog's database."""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import TYPE_CHECKING, Any

from carrel.catalogs.sql_statistics import METRICS, TIMED, statistics
from carrel.catalogs.times import earlier
from carrel.databases.sessions import marks
from carrel.types.service import Feedback

if TYPE_CHECKING:
    from carrel.catalogs import QueryRecord
    from carrel.databases.sessions import Database, Session
    from carrel.types.service import Statistics

QUERY = (
    "id", "session_id", "timestamp", "query_hash", "query_text", "execution_time_ms", "vector_hits", "keyword_hits",
    "graph_hits", "strategy_used", "confidence", "is_unanswered", "degraded",
)  # fmt: skip
_PUT_QUERY = f"INSERT INTO rag_queries ({', '.join(QUERY)}) VALUES ({marks(QUERY)})"
MEASURED = ("query_id", "created_at", *METRICS, "other_ms")
_PUT_METRICS = f"INSERT INTO retrieval_metrics ({', '.join(MEASURED)}) VALUES ({marks(MEASURED)})"
# The update holds the session fast until its query is in.
_BEGIN_SESSION = """
    INSERT INTO analytics_sessions (id, started_at, user_hash) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET ended_at = NULL"""
_END_SESSION = "UPDATE analytics_sessions SET ended_at = ? WHERE id = ?"
_RATE = """
    INSERT INTO feedback_events (id, query_id, rating, comment, created_at)
    SELECT ?, id, ?, ?, ? FROM rag_queries WHERE id = ? ON CONFLICT DO NOTHING"""
_FEEDBACK = "SELECT id, query_id, rating, comment, created_at FROM feedback_events WHERE query_id = ?"
_FORGET_SESSIONS = """
    DELETE FROM analytics_sessions WHERE started_at < ?
        AND NOT EXISTS (SELECT 1 FROM rag_queries WHERE session_id = analytics_sessions.id)"""


class SqlAnalytics:
    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, query: QueryRecord, *, keep_text: bool) -> None:
        with self._database.writing(hurried=True) as session:
            now, salt = session.now(), _salt(session)
            if query.session_id:
                session.write(_BEGIN_SESSION, [[query.session_id, now, _hashed(salt, query.user)]])
            session.write(_PUT_QUERY, [_query_values(query, now, salt, keep_text=keep_text)])
            session.write(_PUT_METRICS, [_metric_values(query, now)])

    def end_session(self, session_id: str) -> None:
        with self._database.writing() as session:
            session.write(_END_SESSION, [[session.now(), session_id]])

    def has_query(self, query_id: str) -> bool:
        return bool(self._database.rows("SELECT 1 FROM rag_queries WHERE id = ?", [query_id]))

    def rate(self, feedback: Feedback) -> bool:
        with self._database.writing() as session:
            said = [feedback.id, feedback.rating, feedback.comment, session.now(), feedback.query_id]
            return session.write(_RATE, [said]) > 0

    def feedback(self, query_id: str) -> Feedback | None:
        return next((Feedback(*row) for row in self._database.rows(_FEEDBACK, [query_id])), None)

    def statistics(self, days: int = 0) -> Statistics:
        with self._database.reading() as session:
            return statistics(session, days)

    def forget(self, days: int) -> int:
        with self._database.writing() as session:
            since = earlier(session.now(), days=days)
            forgotten = session.write("DELETE FROM rag_queries WHERE timestamp < ?", [[since]])
            session.write(_FORGET_SESSIONS, [[since]])
        return forgotten


def _salt(session: Session) -> str:
    """Random, and this library's own, so that hashes of equal queries do not match across libraries."""
    kept = session.rows("SELECT value FROM meta WHERE key = 'salt'")
    if not kept:
        made = secrets.token_hex(16)
        session.write("INSERT INTO meta (key, value) VALUES ('salt', ?) ON CONFLICT DO NOTHING", [[made]])
        kept = session.rows("SELECT value FROM meta WHERE key = 'salt'")
    return str(kept[0][0])


def _hashed(salt: str, text: str) -> str:
    return hashlib.sha256(f"{salt}{text}".encode("utf-8", "replace")).hexdigest()


def _query_values(query: QueryRecord, now: str, salt: str, *, keep_text: bool) -> list[Any]:
    return [
        query.id,
        query.session_id or None,
        now,
        _hashed(salt, query.text),
        query.text if keep_text else None,
        query.execution_time_ms,
        *(query.hits.get(arm) for arm in ("vector", "keyword", "graph")),
        query.strategy,
        query.confidence,
        query.is_unanswered,
        json.dumps(query.degraded),
    ]


def _metric_values(query: QueryRecord, now: str) -> list[Any]:
    timed = {TIMED[stage]: spent for stage, spent in query.timings.items() if stage in TIMED}
    others = {stage: spent for stage, spent in query.timings.items() if stage not in {*TIMED, "total"}}
    measured = {**timed, **query.metrics}
    return [query.id, now, *(measured.get(name) for name in METRICS), json.dumps(others)]
