"""What a ranking is worth, as trec_eval counts it.

Gains are the grades themselves, discounted by log2(rank + 1); a grade of 0 or below is not relevant; what is ranked is
taken in the order given. Documents are ranked once each. Asked of a query without a relevant document, every measure
is 0: leave such queries out.
"""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Grades = Mapping[str, int]
    """Document → how relevant it is."""

MAIN = "ndcg@10"
"""The measure by which one way of searching is called better than another."""


def ndcg(ranked: Sequence[str], relevant: Grades, *, depth: int = 10) -> float:
    """How much of the greatest possible gain the first ranks have."""
    ideal = _gain(sorted(relevant.values(), reverse=True)[:depth])
    return _gain([relevant.get(document, 0) for document in ranked[:depth]]) / ideal if ideal else 0.0


def recall(ranked: Sequence[str], relevant: Grades, *, depth: int) -> float:
    """How many of the relevant documents are among the first."""
    wanted = _relevant(relevant)
    return len(wanted.intersection(ranked[:depth])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranked: Sequence[str], relevant: Grades, *, depth: int = 10) -> float:
    """1 when the first is relevant, 1/2 when only the second is … and 0 when none of the first `depth` is."""
    wanted = _relevant(relevant)
    return next((1 / rank for rank, document in enumerate(ranked[:depth], start=1) if document in wanted), 0.0)


def average_precision(ranked: Sequence[str], relevant: Grades) -> float:
    """The precision at each relevant document's rank, on average; 0 for those not found."""
    wanted = _relevant(relevant)
    ranks = [rank for rank, document in enumerate(ranked, start=1) if document in wanted]
    return sum(found / rank for found, rank in enumerate(ranks, start=1)) / len(wanted) if wanted else 0.0


METRICS: Mapping[str, Callable[[Sequence[str], Grades], float]] = {
    MAIN: ndcg,
    "recall@10": lambda ranked, relevant: recall(ranked, relevant, depth=10),
    "recall@100": lambda ranked, relevant: recall(ranked, relevant, depth=100),
    "mrr@10": reciprocal_rank,
    "map": average_precision,
}


def scores(ranked: Sequence[str], relevant: Grades) -> dict[str, float]:
    """Every measure of one query's ranking, to six digits: what is saved compares as what is fresh."""
    return {name: round(measure(ranked, relevant), 6) for name, measure in METRICS.items()}


def _gain(grades: Sequence[int]) -> float:
    return sum(max(grade, 0) / log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def _relevant(grades: Grades) -> set[str]:
    return {document for document, grade in grades.items() if grade > 0}
