"""The ways of searching that are measured beside each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from carrel import settings
from carrel.evaluate.reports import HYBRID
from carrel.types import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_BARE: Mapping[str, Any] = {
    "reranker": "none",
    "search.feedback": 0,
    "search.spelling": False,
    "search.acronyms": False,
    "search.collapse": False,
    "search.diversity": 0.0,
}
"""What the arms find of a query as it stands, and nothing made of it."""
_EQUAL: Mapping[str, Any] = {
    **_BARE,
    "search.fusion": "rrf",
    "search.rrf_k": 60,
    "search.weight_vector": 1.0,
    "search.weight_keyword": 1.0,
    "search.weight_graph": 0.0,
}
_RANKING = (
    "embedder", "models.query_prefix", "models.passage_prefix", "models.dimensions", "models.max_tokens",
    "reranker", "rerank.overfetch", "rerank.model", "vectors", "keywords", "graph", "search.", "chunking.",
)  # fmt: skip
"""Settings that a ranking depends on, or how they begin."""


@dataclass(frozen=True)
class Way:
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What is set otherwise than by the user."""
    mode: Mode = Mode.HYBRID
    is_arm: bool = False


def ways(*, beside: Sequence[str] = ()) -> Iterator[Way]:
    """What a user gets, what it is made of, and what other embedders would find; the first is the user's."""
    yield Way(HYBRID)
    yield Way("hybrid, not reranked", {"reranker": "none"})
    yield Way("equal-weight RRF", _EQUAL)
    for mode in (Mode.VECTOR, Mode.KEYWORD):
        yield Way(f"{mode.value} alone", _BARE, mode, is_arm=True)
    for name in beside:
        yield Way(f"vector alone, {name}", {**_BARE, "embedder": name}, Mode.VECTOR)


def told(chosen: settings.Settings) -> dict[str, Any]:
    """Those settings that a ranking depends on, by key."""
    return {one.key: one.value for one in settings.listing(chosen, {}) if one.key.startswith(_RANKING)}
