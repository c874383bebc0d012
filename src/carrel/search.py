"""From a question to passages: arms in parallel, fusion, reranking."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from carrel import fusion
from carrel.errors import CarrelError, IndexNotFound, InvalidInput, StoreUnavailable
from carrel.telemetry import log, timed
from carrel.types import QUOTABLE, Candidate, Degradation, Filter, Fused, Mode, Passage, SearchResult, Strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from carrel.catalogs import Catalog
    from carrel.embedders import Embedder
    from carrel.graphs import GraphStore
    from carrel.keywords import KeywordIndex
    from carrel.rerankers import Reranker
    from carrel.settings import Search as Options
    from carrel.types import Chunk, Hit
    from carrel.vectors import VectorStore

    Arm: TypeAlias = Callable[[str, int, Filter], list[Hit]]
    """Query, limit, filter → hits, best first."""

LONGEST_QUERY = 2000
_EVERY = 2**31
"""More chunks than any library has."""
_GRAPH_SEEDS = 5
_GRAPH_HOPS = 2
_STRATEGIES = {
    frozenset({"vector"}): Strategy.VECTOR_ONLY,
    frozenset({"keyword"}): Strategy.KEYWORD_ONLY,
    frozenset({"graph"}): Strategy.GRAPH_ONLY,
}


def vector_arm(embedder: Embedder, vectors: VectorStore) -> Arm:
    def find(query: str, limit: int, where: Filter) -> list[Hit]:
        if vectors.model != embedder.name:
            raise InvalidInput(
                f"the index holds vectors of {vectors.model!r}, but queries are embedded by {embedder.name!r}",
                hint=f"Set embedder back, or run 'carrel index build --force' to re-index with {embedder.name!r}.",
            )
        if not vectors.count():
            raise IndexNotFound("Semantic index not found. Run 'carrel index build' first")
        # A reader's note leads to papers by `semantic`, but proves nothing.
        quotable = where if where.kinds else replace(where, kinds=QUOTABLE)
        return vectors.search(embedder.embed_query(query), limit=limit, where=quotable)

    return find


def keyword_arm(keywords: KeywordIndex) -> Arm:
    def find(query: str, limit: int, where: Filter) -> list[Hit]:
        if not keywords.count():
            raise IndexNotFound("Keyword index not found. Run 'carrel index build' first")
        return keywords.search(query, limit=limit, where=where)

    return find


def graph_arm(graph: GraphStore) -> Arm:
    def find(query: str, limit: int, where: Filter) -> list[Hit]:
        named = [concept.name for concept in graph.find(query, limit=_GRAPH_SEEDS)]
        return graph.chunks(named, hops=_GRAPH_HOPS, limit=limit, where=where) if named else []

    return find


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
        rankings, degraded = _ask_arms(arms, query, asked, where, pipeline.options.arm_timeout, timings)
        with timed(timings, "fusion"):
            fused = _fuse(rankings, pipeline.options)[: wanted if limit else None]
        with timed(timings, "catalog"):
            candidates = _candidates(fused, pipeline.catalog.chunks([one.address for one in fused]))
        with timed(timings, "rerank"):
            passages = _rerank(query, candidates, pipeline.reranker, degraded)
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


def _ask_arms(
    arms: Mapping[str, Arm],
    query: str,
    limits: Mapping[str, int],
    where: Filter,
    timeout: float,
    timings: dict[str, float],
) -> tuple[dict[str, list[Hit]], list[Degradation]]:
    """Every arm at once; one that fails or is late is reported, and none is waited for longer than the deadline."""
    outcomes: dict[str, list[Hit] | BaseException] = {}

    def run(name: str, arm: Arm) -> None:
        with timed(timings, name):
            try:
                outcomes[name] = arm(query, limits[name], where)
            except BaseException as error:
                outcomes[name] = error

    threads = {name: threading.Thread(target=run, args=(name, arm), daemon=True) for name, arm in arms.items()}
    for thread in threads.values():
        thread.start()
    for thread in threads.values():
        thread.join(timeout)
    late = StoreUnavailable(f"no answer within {timeout:g} s")
    return _sort_out({name: outcomes.get(name, late) for name in arms})


def _sort_out(
    outcomes: Mapping[str, list[Hit] | BaseException],
) -> tuple[dict[str, list[Hit]], list[Degradation]]:
    """Rankings and degradations; what no other arm can make up for is raised."""
    rankings = {name: hits for name, hits in outcomes.items() if isinstance(hits, list)}
    errors = {name: error for name, error in outcomes.items() if isinstance(error, BaseException)}
    for error in errors.values():
        ours = isinstance(error, CarrelError) and not isinstance(error, InvalidInput)
        if not ours or not rankings:
            raise error
    for name, error in errors.items():
        log("search", logging.WARNING, "arm failed", arm=name, reason=str(error))
    return rankings, [Degradation(name, str(error)) for name, error in errors.items()]


def _fuse(rankings: Mapping[str, Sequence[Hit]], options: Options) -> list[Fused]:
    weights = {name: getattr(options, f"weight_{name}") for name in rankings}
    if options.fusion == "min_max":
        return fusion.min_max(rankings, weights=weights)
    return fusion.reciprocal_rank(rankings, weights=weights, k=options.rrf_k)


def _candidates(fused: Sequence[Fused], chunks: Sequence[Chunk]) -> list[Candidate]:
    found = {chunk.address: chunk for chunk in chunks}
    if len(found) < len(fused):
        missing = [one.address for one in fused if one.address not in found]
        log("search", logging.WARNING, "an index names chunks the catalog does not have", addresses=missing[:10])
    return [Candidate(found[one.address], one) for one in fused if one.address in found]


def _rerank(
    query: str, candidates: Sequence[Candidate], reranker: Reranker | None, degraded: list[Degradation]
) -> list[Passage]:
    """By probability, or in the order of fusion and without probabilities when nobody can tell them."""
    probabilities: Sequence[float | None] = [None] * len(candidates)
    if reranker and candidates:
        try:
            probabilities = reranker.score(query, candidates)
        except CarrelError as error:
            log("search", logging.WARNING, "reranker failed", reason=error.message)
            degraded.append(Degradation("rerank", error.message))
    paired = sorted(zip(candidates, probabilities, strict=True), key=lambda pair: -(pair[1] or 0.0))
    return [
        Passage(rank, c.chunk, c.fused.score if p is None else p, c.fused, p) for rank, (c, p) in enumerate(paired, 1)
    ]


def _strategy(used: frozenset[str], degraded: Sequence[Degradation]) -> Strategy:
    if any(part.arm != "rerank" for part in degraded):
        return Strategy.DEGRADED
    return _STRATEGIES.get(used, Strategy.HYBRID)
