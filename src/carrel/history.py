"""What is remembered of a query: how long it took, what each stage found, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carrel.catalogs import QueryRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.types import Answer, Passage, SearchResult

_TOP = 10
_OF_AN_ANSWER = ("total", "evidence", "generation")
"""Stages that follow each other: the search, whose whole is `total`, and what is made of it."""


def record(
    query_id: str,
    result: SearchResult,
    *,
    answer: Answer | None,
    threshold: float,
    session_id: str = "",
    user: str = "",
) -> QueryRecord:
    timings = _timings(answer.timings) if answer else dict(result.timings)
    return QueryRecord(
        id=query_id,
        text=result.query,
        strategy=result.strategy.value,
        execution_time_ms=timings.get("total", 0.0),
        hits=result.counts,
        metrics=_metrics(result, answer, threshold),
        session_id=session_id,
        user=user,
        confidence=answer.confidence.value if answer else "",
        is_unanswered=answer.has_insufficient_evidence if answer else False,
        degraded=tuple(dict.fromkeys(part.arm for part in (answer or result).degraded)),
        timings=timings,
    )


def _timings(told: Mapping[str, float]) -> dict[str, float]:
    """By stage, with `total` for the whole answer and `search` for what that word means to a search."""
    whole = sum(told.get(stage, 0.0) for stage in _OF_AN_ANSWER)
    return {**told, "search": told.get("total", 0.0), "total": round(whole, 3)}


def _metrics(result: SearchResult, answer: Answer | None, threshold: float) -> dict[str, Any]:
    timings, counts, passages = result.timings, result.counts, result.passages
    similar = sorted((p.fused.arms["vector"].score for p in passages if "vector" in p.fused.arms), reverse=True)[:_TOP]
    best = passages[0].probability if passages else None
    return {
        "vector_search_ms": timings.get("vector"),
        "vector_result_count": counts.get("vector"),
        "vector_top_score": similar[0] if similar else None,
        "vector_avg_score": sum(similar) / len(similar) if similar else None,
        "keyword_search_ms": timings.get("keyword"),
        "keyword_result_count": counts.get("keyword"),
        "graph_traversal_ms": timings.get("graph"),
        "graph_result_count": counts.get("graph"),
        "graph_max_depth": max((len(one.path.links) for one in passages if one.path), default=None),
        "concepts_found": _concepts_found(result),
        "fusion_ms": timings.get("fusion"),
        "overlap_count": sum(len(passage.fused.arms) > 1 for passage in passages),
        "rrf_top_score": max((passage.fused.score for passage in passages), default=None),
        "rerank_ms": timings.get("rerank"),
        "rerank_top_score": best,
        "confidence_threshold_met": None if best is None else best >= threshold,
        "final_context_tokens": sum(p.chunk.token_count for p in passages) if answer else None,
        "citation_count": len(answer.citations) if answer else None,
    }


def _concepts_found(result: SearchResult) -> int | None:
    """Those that the query names, or that lead to its passages; None where the graph had no part in it."""
    found = {named.concept for named in result.concepts} | set(_starts(result.passages))
    return len(found) if found or "graph" in result.counts else None


def _starts(passages: tuple[Passage, ...]) -> list[str]:
    return [passage.path.start for passage in passages if passage.path]
