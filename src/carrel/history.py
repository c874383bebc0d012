"""What is remembered of a query: how long it took and what each stage found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carrel.catalogs import QueryRecord

if TYPE_CHECKING:
    from carrel.types import Answer, SearchResult

_TOP = 10


def record(query_id: str, result: SearchResult, *, answer: Answer | None, threshold: float) -> QueryRecord:
    timings = answer.timings if answer else result.timings
    return QueryRecord(
        id=query_id,
        text=result.query,
        strategy=result.strategy.value,
        execution_time_ms=timings.get("total", 0.0) + timings.get("generation", 0.0),
        hits=result.counts,
        metrics=_metrics(result, answer, threshold),
    )


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
        "fusion_ms": timings.get("fusion"),
        "overlap_count": sum(len(passage.fused.arms) > 1 for passage in passages),
        "rrf_top_score": max((passage.fused.score for passage in passages), default=None),
        "rerank_ms": timings.get("rerank"),
        "rerank_top_score": best,
        "confidence_threshold_met": None if best is None else best >= threshold,
        "final_context_tokens": sum(p.chunk.token_count for p in passages) if answer else None,
        "citation_count": len(answer.citations) if answer else None,
    }
