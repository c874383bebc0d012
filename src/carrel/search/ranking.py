"""From the arms' rankings to one: fusion, the chunks themselves, reranking."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from carrel import fusion
from carrel.errors import CarrelError
from carrel.telemetry import log
from carrel.types import Candidate, Degradation, Passage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.rerankers import Reranker
    from carrel.settings import Search as Options
    from carrel.types import Chunk, Fused, Hit


def fuse(rankings: Mapping[str, Sequence[Hit]], options: Options) -> list[Fused]:
    weights = {name: getattr(options, f"weight_{name}") for name in rankings}
    if options.fusion == "min_max":
        return fusion.min_max(rankings, weights=weights)
    return fusion.reciprocal_rank(rankings, weights=weights, k=options.rrf_k)


def candidates(fused: Sequence[Fused], chunks: Sequence[Chunk]) -> list[Candidate]:
    found = {chunk.address: chunk for chunk in chunks}
    if len(found) < len(fused):
        missing = [one.address for one in fused if one.address not in found]
        log("search", logging.WARNING, "an index names chunks the catalog does not have", addresses=missing[:10])
    return [Candidate(found[one.address], one) for one in fused if one.address in found]


def rerank(
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
