"""From a question to passages: arms in parallel, fusion, reranking."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.errors import InvalidInput
from carrel.search import ranking
from carrel.search.asking import ask
from carrel.telemetry import log, timed
from carrel.types import Mode, SearchResult, Strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from carrel.catalogs import Catalog
    from carrel.rerankers import Reranker
    from carrel.search.arms import Arm
    from carrel.settings import Search as Options
    from carrel.types import Degradation, Filter

LONGEST_QUERY = 2000
_EVERY = 2**31
"""More chunks than any library has."""
_STRATEGIES = {
    frozenset({"vector"}): Strategy.VECTOR_ONLY,
    frozenset({"keyword"}): Strategy.KEYWORD_ONLY,
    frozenset({"graph"}): Strategy.GRAPH_ONLY,
}


@dataclass(frozen=True)
class Pipeline:
    """What a search is made of."""

    arms: Mapping[str, Arm]
    catalog: Catalog
    reranker: Reranker | None
    options: Options
    matches: Callable[[str, Filter], int] | None = None
    """How many chunks have any word of a query."""


def search(query: str, *, mode: Mode, limit: int, where: Filter, pipeline: Pipeline) -> SearchResult:
    """The passages that best fit a question, with every arm's word on each; all that match when the limit is 0."""
    check_query(query)
    if limit < 0:
        raise InvalidInput(f"limit must not be negative, got {limit}", hint="0 means all.")
    timings: dict[str, float] = {}
    with timed(timings, "total"):
        arms = {name: arm for name, arm in pipeline.arms.items() if mode in (Mode.HYBRID, name)}
        wanted = max(pipeline.options.candidates, 10 * limit)
        asked = {name: _EVERY if limit == 0 and name in ("keyword", mode) else wanted for name in arms}
        rankings, degraded = ask(arms, query, asked, where, pipeline.options.arm_timeout, timings)
        with timed(timings, "fusion"):
            fused = ranking.fuse(rankings, pipeline.options)[: wanted if limit else None]
        with timed(timings, "catalog"):
            candidates = ranking.candidates(fused, pipeline.catalog.chunks([one.address for one in fused]))
        with timed(timings, "rerank"):
            passages = ranking.rerank(query, candidates, pipeline.reranker, degraded)
    strategy = _strategy(frozenset(rankings), degraded)
    counts = {name: len(hits) for name, hits in rankings.items()}
    matched = pipeline.matches(query, where) if pipeline.matches and "keyword" in rankings else None
    log("search", logging.INFO, "searched", strategy=strategy.value, hits=counts, milliseconds=timings)
    return SearchResult(
        query=query,
        mode=mode,
        strategy=strategy,
        passages=tuple(passages[: limit or None]),
        matched=matched,
        degraded=tuple(degraded),
        timings=timings,
        counts=counts,
    )


def strategy_of(mode: Mode) -> Strategy:
    """What a search of this mode does when nothing fails."""
    return _STRATEGIES.get(frozenset({mode.value}), Strategy.HYBRID)


def check_query(query: str) -> None:
    if not query.strip():
        raise InvalidInput("Search query cannot be empty", hint="Give a few words or a question.")
    if len(query) > LONGEST_QUERY:
        raise InvalidInput(
            f"Query exceeds maximum length: {len(query)} > {LONGEST_QUERY} characters", hint="Shorten the query."
        )


def _strategy(used: frozenset[str], degraded: Sequence[Degradation]) -> Strategy:
    if any(part.arm != "rerank" for part in degraded):
        return Strategy.DEGRADED
    return _STRATEGIES.get(used, Strategy.HYBRID)
