"""A reranker at work: on no more than it can take, in no more than its time, and believed only if it makes sense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from carrel.errors import CarrelError
from carrel.rerankers import Explaining, is_costly
from carrel.rerankers.models import too_slow
from carrel.search.begun import within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.rerankers import Reranker
    from carrel.types import Candidate


@dataclass(frozen=True)
class Bounds:
    """What is asked of a costly reranker; others score every candidate and are waited for."""

    candidates: int
    seconds: float


class Scored(NamedTuple):
    probability: float
    reasons: Mapping[str, float]
    """What it is made of, where the reranker can tell."""


def score(query: str, candidates: Sequence[Candidate], reranker: Reranker, bounds: Bounds) -> list[Scored]:
    """A probability for each of the first candidates. Whatever keeps a reranker from giving them is a CarrelError."""
    first = candidates[: bounds.candidates] if is_costly(reranker) else candidates
    try:
        given = [Scored(float(one), why) for one, why in _answer(query, first, reranker, bounds.seconds)]
    except CarrelError:
        raise
    except Exception as error:  # A reranker may be anybody's; the search does not fall with it.
        raise CarrelError(f"the reranker {reranker.name!r} failed: {type(error).__name__}: {error}") from error
    if len(given) != len(first):
        raise CarrelError(f"the reranker {reranker.name!r} gave {len(given)} scores for {len(first)} candidates")
    if wrong := [one.probability for one in given if not 0 <= one.probability <= 1]:
        raise CarrelError(f"the reranker {reranker.name!r} gave {wrong[0]!r}, which is no probability")
    return given


def _answer(
    query: str, candidates: Sequence[Candidate], reranker: Reranker, seconds: float
) -> Sequence[tuple[float, Mapping[str, float]]]:
    if not is_costly(reranker):
        return _told(query, candidates, reranker)
    return within(seconds, lambda: _told(query, candidates, reranker), too_slow(reranker.name, seconds))


def _told(
    query: str, candidates: Sequence[Candidate], reranker: Reranker
) -> Sequence[tuple[float, Mapping[str, float]]]:
    if isinstance(reranker, Explaining):
        return reranker.explained(query, candidates)
    return [(probability, {}) for probability in reranker.score(query, candidates)]
