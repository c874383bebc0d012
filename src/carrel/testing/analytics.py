"""What was asked, in a list."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from carrel.catalogs.times import earlier, now
from carrel.types.service import Feedback, Share, Statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from carrel.catalogs import QueryRecord

_LATEST = 20


@dataclass(frozen=True, slots=True)
class KeptQuery:
    """A query as the catalog remembers it; its text only when that was asked for."""

    query: QueryRecord
    """Without its text and who asked."""
    hash: str
    text: str | None
    time: str = ""


class MemoryAnalytics:
    def __init__(self) -> None:
        self.queries: list[KeptQuery] = []
        self.ended: dict[str, str] = {}
        """When each session ended."""
        self._feedback: dict[str, Feedback] = {}
        self._salt = secrets.token_hex(16)

    def record(self, query: QueryRecord, *, keep_text: bool) -> None:
        digest = hashlib.sha256(f"{self._salt}{query.text}".encode("utf-8", "replace")).hexdigest()
        told = replace(query, text="", user="")
        self.queries.append(KeptQuery(told, digest, query.text if keep_text else None, now()))
        self.ended.pop(query.session_id, None)

    def end_session(self, session_id: str) -> None:
        if any(one.query.session_id == session_id for one in self.queries):
            self.ended[session_id] = now()

    def has_query(self, query_id: str) -> bool:
        return any(one.query.id == query_id for one in self.queries)

    def rate(self, feedback: Feedback) -> bool:
        if feedback.query_id in self._feedback or not self.has_query(feedback.query_id):
            return False
        self._feedback[feedback.query_id] = replace(feedback, created_at=now())
        return True

    def feedback(self, query_id: str) -> Feedback | None:
        return self._feedback.get(query_id)

    def statistics(self, days: int = 0) -> Statistics:
        since = earlier(now(), days=days) if days else ""
        kept = [one for one in self.queries if one.time >= since]
        queries = [one.query for one in kept]
        ratings = [self._feedback[one.id].rating for one in queries if one.id in self._feedback]
        asked = dict.fromkeys(one.text for one in reversed(kept) if one.query.is_unanswered and one.text is not None)
        return Statistics(
            days=days,
            queries=len(queries),
            answers=sum(one.confidence != "" for one in queries),
            unanswered=sum(one.is_unanswered for one in queries),
            sessions=len({one.session_id for one in queries} - {""}),
            by_day=tuple(sorted(_shares(one.time[:10] for one in kept), key=lambda share: share.name)),
            strategies=_shares(one.strategy for one in queries),
            confidence=_shares(one.confidence for one in queries if one.confidence),
            degraded=sum(bool(one.degraded) for one in queries),
            latency=_latency(queries),
            ratings=tuple(sorted(_shares(map(str, ratings)), key=lambda share: share.name)),
            mean_rating=sum(ratings) / len(ratings) if ratings else None,
            unanswered_questions=tuple(asked)[:_LATEST],
        )

    def forget(self, days: int) -> int:
        since, before = earlier(now(), days=days), len(self.queries)
        self.queries = [one for one in self.queries if one.time >= since]
        left = {one.query.id for one in self.queries}
        self._feedback = {query_id: said for query_id, said in self._feedback.items() if query_id in left}
        return before - len(self.queries)


def _shares(names: Iterable[str]) -> tuple[Share, ...]:
    counted = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    return tuple(Share(name, count) for name, count in counted)


def _latency(queries: Sequence[QueryRecord]) -> dict[str, dict[str, float]]:
    spent: dict[str, list[float]] = {}
    for query in queries:
        for stage, milliseconds in {**query.timings, "total": query.execution_time_ms}.items():
            spent.setdefault(stage, []).append(milliseconds)
    return {stage: _percentiles(sorted(values)) for stage, values in spent.items()}


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    return {f"p{percent}": values[-(-percent * len(values) // 100) - 1] for percent in (50, 95, 99)}
