"""From the arms' rankings to one: fusion, the chunks themselves, reranking."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from carrel import fusion
from carrel.errors import CarrelError
from carrel.fusion import Usual
from carrel.search import reranking
from carrel.telemetry import log
from carrel.types import Candidate, Degradation, Passage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from carrel.rerankers import Reranker
    from carrel.search.reranking import Bounds
    from carrel.settings import Search as Options
    from carrel.types import Chunk, Fused, Hit


FEEDBACK = "feedback"
"""The second round's ranking, which takes the place of the vector arm's."""
_SILENT = frozenset({"keyword", "graph"})
"""Arms for which a passage that they do not name has a score of 0."""
_SIGNALS = {"vector": "similarity_z", "keyword": "words_z", "graph": "graph_z", FEEDBACK: "feedback_z"}


def fuse(
    rankings: Mapping[str, Sequence[Hit]], options: Options, usual: Mapping[str, Usual] | None = None
) -> list[Fused]:
    """`usual` spares finding out again what is usual in each ranking."""
    weights = {arm: _weight(arm, rankings, options) for arm in rankings}
    if options.fusion == "min_max":
        return fusion.min_max(rankings, weights=weights)
    if options.fusion == "rrf":
        return fusion.reciprocal_rank(rankings, weights=weights, k=options.rrf_k)
    return fusion.z_score(rankings, weights=weights, usual=usual or usual_in(rankings, options))


def _weight(arm: str, rankings: Mapping[str, Sequence[Hit]], options: Options) -> float:
    if arm == "vector" and FEEDBACK in rankings:
        return 0.0
    weight: float = getattr(options, "weight_vector" if arm == FEEDBACK else f"weight_{arm}")
    # An arm without weight beside the others still has an order of its own when it is asked alone.
    return weight if weight or len(rankings) > 1 else 1.0


def usual_in(rankings: Mapping[str, Sequence[Hit]], options: Options) -> dict[str, Usual]:
    """What is usual in each ranking, of its first hits: asking an arm for more changes nothing."""
    depth = options.candidates
    return {arm: Usual.of(hits[:depth], padded=depth if arm in _SILENT else 0) for arm, hits in rankings.items()}


def signals(
    rankings: Mapping[str, Sequence[Hit]], similarities: Mapping[str, float], usual: Mapping[str, Usual]
) -> Callable[[str], dict[str, float]]:
    """What the arms say of a passage, in numbers that mean the same for every question."""
    scores: dict[str, Mapping[str, float]] = {
        arm: {hit.address: hit.score for hit in hits} for arm, hits in rankings.items()
    }
    if "vector" in scores:
        scores["vector"] = {**similarities, **scores["vector"]}

    def known(address: str) -> dict[str, float]:
        told = {_SIGNALS[arm]: usual[arm].standard(found.get(address)) for arm, found in scores.items()}
        nearness = scores.get("vector", {}).get(address)
        return told if nearness is None else {**told, "similarity": nearness}

    return known


def candidates(
    fused: Sequence[Fused], found: Mapping[str, Chunk], known: Callable[[str], Mapping[str, float]]
) -> list[Candidate]:
    """Those that the catalog has, too."""
    if missing := [one.address for one in fused if one.address not in found]:
        log("search", logging.WARNING, "an index is not what the catalog says", addresses=missing[:10])
    return [Candidate(found[one.address], one, known(one.address)) for one in fused if one.address in found]


def rerank(
    query: str, candidates: Sequence[Candidate], reranker: Reranker | None, bounds: Bounds, degraded: list[Degradation]
) -> list[Passage]:
    """By probability; behind that, in the order of fusion and without one, those of which nobody can tell it."""
    scores: list[reranking.Scored] = []
    if reranker and candidates:
        try:
            scores = reranking.score(query, candidates, reranker, bounds)
        except CarrelError as error:
            log("search", logging.WARNING, "reranker failed", reason=error.message)
            degraded.append(Degradation("rerank", error.message))
    # Stable, so that equals keep the order of fusion.
    scored = sorted(zip(candidates, scores, strict=False), key=lambda pair: -pair[1].probability)
    told = [
        Passage(rank, c.chunk, s.probability, c.fused, s.probability, {**c.signals, **s.reasons})
        for rank, (c, s) in enumerate(scored, start=1)
    ]
    rest = enumerate(candidates[len(scores) :], start=len(scores) + 1)
    return [*told, *(Passage(rank, c.chunk, c.fused.score, c.fused, signals=c.signals) for rank, c in rest)]
