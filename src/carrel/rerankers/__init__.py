"""How likely a candidate is to be what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Candidate


@runtime_checkable
class Reranker(Protocol):
    """Scores candidates; never orders, drops or invents them.

    A score is a calibrated probability: of the candidates scored 0.7, about seven in ten are relevant. A reranker that
    cannot score raises; it does not guess.
    """

    name: str

    def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        """One probability in [0, 1] for each candidate, in their order."""
        ...
