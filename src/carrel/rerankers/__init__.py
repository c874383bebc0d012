"""How likely a candidate is to be what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Candidate


@runtime_checkable
class Reranker(Protocol):
    """Scores candidates; never orders, drops or invents them.

    A score is a probability: of the candidates scored 0.7, about seven in ten should be relevant. `fused` is fitted to
    that; what a cross-encoder says is as good as its training, and docs/rerankers.md says so. A reranker that cannot
    score raises; it does not guess.

    One that runs a model for every candidate has `costly = True`: it is given only the first candidates, and limited
    time (settings `rerank`).
    """

    @property
    def name(self) -> str: ...

    def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        """One probability in [0, 1] for each candidate, in their order."""
        ...


@runtime_checkable
class Explaining(Protocol):
    """A reranker that can tell what it goes by."""

    def explained(self, query: str, candidates: Sequence[Candidate]) -> list[tuple[float, dict[str, float]]]:
        """What `score` gives and, by name, what it is made of."""
        ...


def is_costly(reranker: Reranker) -> bool:
    return bool(getattr(reranker, "costly", False))
