"""From the arms' rankings to one: fusion, the chunks themselves, reranking."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from carrel import fusion
from carrel.errors import CarrelError
from carrel.fusion import Usual
from carrel.rerankers import Explaining
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


def fuse(rankings: Mapping[str, Sequence[Hit]], options: Options) -> list[Fused]:
    weights = {arm: _weight(arm, rankings, options) for arm in rankings}
    if options.fusion == "min_max":
        return fusion.min_max(rankings, weights=weights)
    if options.fusion == "rrf":
        return fusion.reciprocal_rank(rankings, weights=weights, k=options.rrf_k)
    return fusion.z_score(rankings, weights=weights, usual=_usual(rankings, options))


def _weight(arm: str, rankings: Mapping[str, Sequence[Hit]], options: Options) -> float:
    if arm == "vector" and FEEDBACK in rankings:
        return 0.0
    weight: float = getattr(options, "weight_vector" if arm == FEEDBACK else f"weight_{arm}")
    return weight


def _usual(rankings: Mapping[str, Sequence[Hit]], options: Options) -> dict[str, Usual]:
    """What is usual in each ranking, of its first hits: asking an arm for more changes nothing."""
    depth = options.candidates
    return {arm: Usual.of(hits[:depth], padded=depth if arm in _SILENT else 0) for arm, hits in rankings.items()}


def signals(
    rankings: Mapping[str, Sequence[Hit]], similarities: Mapping[str, float], options: Options
) -> Callable[[str], dict[str, float]]:
    """What the arms say of a passage, in numbers that mean the same for every question."""
    usual = _usual(rankings, options)
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
    fused: Sequence[Fused], chunks: Sequence[Chunk], known: Callable[[str], Mapping[str, float]]
) -> list[Candidate]:
    found = {chunk.address: chunk for chunk in chunks}
    if len(found) < len(fused):
        missing = [one.address for one in fused if one.address not in found]
        log("search", logging.WARNING, "an index names chunks the catalog does not have", addresses=missing[:10])
    return [Candidate(found[one.address], one, known(one.address)) for one in fused if one.address in found]


def explained(query: str, candidates: Sequence[Candidate], reranker: Reranker | None) -> list[Candidate]:
    """With all that the reranker goes by, where it can tell."""
    if not isinstance(reranker, Explaining):
        return list(candidates)
    try:
        reasons = reranker.reasons(query, candidates)
        return [replace(one, signals={**one.signals, **why}) for one, why in zip(candidates, reasons, strict=True)]
    except Exception as error:  # As with its scores, the search does not fall with it.
        log("search", logging.WARNING, "reranker gives no reasons", reason=f"{type(error).__name__}: {error}")
        return list(candidates)


def rerank(
    query: str, candidates: Sequence[Candidate], reranker: Reranker | None, bounds: Bounds, degraded: list[Degradation]
) -> list[Passage]:
    """By probability; behind that, in the order of fusion and without one, those of which nobody can tell it."""
    scores: list[float] = []
    if reranker and candidates:
        try:
            scores = reranking.score(query, candidates, reranker, bounds)
        except CarrelError as error:
            log("search", logging.WARNING, "reranker failed", reason=error.message)
            degraded.append(Degradation("rerank", error.message))
    probabilities = [*scores, *[None] * (len(candidates) - len(scores))]
    paired = sorted(
        zip(candidates, probabilities, strict=True), key=lambda pair: math.inf if pair[1] is None else -pair[1]
    )
    return [
        Passage(rank, c.chunk, c.fused.score if p is None else p, c.fused, p, c.signals)
        for rank, (c, p) in enumerate(paired, 1)
    ]
