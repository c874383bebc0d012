"""How a library is used, counted by its database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from carrel.catalogs.times import earlier
from carrel.types.service import Share, Statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from carrel.databases.sessions import Row, Session

TIMED: Mapping[str, str] = {
    "first_token": "first_token_ms",
    "search": "search_ms",
    "queue": "queue_ms",
    "understanding": "understanding_ms",
    "embedding": "embedding_ms",
    "vector": "vector_search_ms",
    "keyword": "keyword_search_ms",
    "graph": "graph_traversal_ms",
    "fusion": "fusion_ms",
    "feedback": "feedback_ms",
    "catalog": "catalog_ms",
    "rerank": "rerank_ms",
    "bridges": "bridges_ms",
    "arrange": "arrange_ms",
    "evidence": "evidence_ms",
    "generation": "generation_ms",
}
"""The stages of a query, and the columns of retrieval_metrics that tell how long each took."""
METRICS = (
    "vector_result_count", "vector_top_score", "vector_avg_score", "keyword_result_count", "graph_result_count",
    "graph_max_depth", "concepts_found", "overlap_count", "rrf_top_score", "rerank_top_score",
    "confidence_threshold_met", "final_context_tokens", "citation_count",
    *TIMED.values(),
)  # fmt: skip
"""The columns of retrieval_metrics that a query fills."""
_PERCENTS = (50, 95, 99)
_UNANSWERED = 20
_SINCE = "FROM rag_queries WHERE timestamp >= ?"
_COUNTS = f"""
    SELECT count(*), count(CASE WHEN confidence <> '' THEN 1 END), count(CASE WHEN is_unanswered <> 0 THEN 1 END),
        count(DISTINCT session_id), count(CASE WHEN degraded <> '[]' THEN 1 END) {_SINCE}"""
_BY_DAY = f"SELECT substr(timestamp, 1, 10) AS day, count(*) {_SINCE} GROUP BY 1 ORDER BY 1"
_STRATEGIES = f"SELECT strategy_used, count(*) {_SINCE} GROUP BY 1 ORDER BY 2 DESC, 1"
_CONFIDENCE = f"SELECT confidence, count(*) {_SINCE} AND confidence <> '' GROUP BY 1 ORDER BY 2 DESC, 1"
_RATINGS = """
    SELECT rating, count(*) FROM feedback_events JOIN rag_queries ON rag_queries.id = query_id
    WHERE timestamp >= ? GROUP BY 1 ORDER BY 1"""
_QUESTIONS = f"""
    SELECT query_text {_SINCE} AND is_unanswered <> 0 AND query_text IS NOT NULL
    GROUP BY 1 ORDER BY max(timestamp) DESC LIMIT {_UNANSWERED}"""
_MOST = 8_000_000
"""Values that are held in memory, of one stage or of several."""


def statistics(session: Session, days: int) -> Statistics:
    since = earlier(session.now(), days=days) if days else ""
    ((queries, answers, unanswered, sessions, degraded),) = session.rows(_COUNTS, [since])
    ratings = session.rows(_RATINGS, [since])
    given = sum(count for _, count in ratings)
    return Statistics(
        days=days,
        queries=queries,
        answers=answers,
        unanswered=unanswered,
        sessions=sessions,
        by_day=_shares(session, _BY_DAY, since),
        strategies=_shares(session, _STRATEGIES, since),
        confidence=_shares(session, _CONFIDENCE, since),
        degraded=degraded,
        latency=_latency(session, since),
        ratings=tuple(Share(str(rating), count) for rating, count in ratings),
        mean_rating=sum(rating * count for rating, count in ratings) / given if given else None,
        unanswered_questions=tuple(text for (text,) in session.rows(_QUESTIONS, [since])),
    )


def _shares(session: Session, sql: str, since: str) -> tuple[Share, ...]:
    return tuple(Share(name, count) for name, count in session.rows(sql, [since]))


def _latency(session: Session, since: str) -> dict[str, dict[str, float]]:
    whole = _measured(session, "rag_queries WHERE timestamp >= ?", {"total": "execution_time_ms"}, since)
    return whole | _measured(session, "retrieval_metrics WHERE created_at >= ?", TIMED, since)


def _measured(session: Session, table: str, columns: Mapping[str, str], since: str) -> dict[str, dict[str, float]]:
    counting = ", ".join(f"count({column})" for column in columns.values())
    (counted,) = session.rows(f"SELECT {counting} FROM {table}", [since])
    counts = {stage: count for stage, count in zip(columns, counted, strict=True) if count}
    found: dict[str, dict[str, float]] = {}
    for together in _grouped(counts):
        batches = session.stream(f"SELECT {', '.join(columns[stage] for stage in together)} FROM {table}", [since])
        values = _values(batches, [counts[stage] for stage in together])
        found |= {stage: _percentiles(some) for stage, some in zip(together, values, strict=True) if len(some)}
    return found


def _grouped(counts: Mapping[str, int]) -> Iterator[list[str]]:
    """The stages, as many at a time as may be held in memory."""
    together: list[str] = []
    for stage, count in counts.items():
        if together and sum(counts[one] for one in together) + count > _MOST:
            yield together
            together = []
        together.append(stage)
    if together:
        yield together


def _values(batches: Iterable[list[Row]], sizes: Sequence[int]) -> list[NDArray[np.float64]]:
    """What was measured in each column, without the gaps."""
    values, filled = [np.empty(size) for size in sizes], [0] * len(sizes)
    for rows in batches:
        for number, column in enumerate(np.array(rows, dtype=np.float64).T):
            some = column[~np.isnan(column)]
            values[number][filled[number] : filled[number] + len(some)] = some
            filled[number] += len(some)
    return [column[:count] for column, count in zip(values, filled, strict=True)]


def _percentiles(values: NDArray[np.float64]) -> dict[str, float]:
    """The least value that so large a share of all does not exceed."""
    values.sort()
    return {f"p{percent}": float(values[-(-percent * len(values) // 100) - 1]) for percent in _PERCENTS}
