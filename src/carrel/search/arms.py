"""The ways a question is looked up: by meaning, by words, by concepts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from carrel.errors import IndexNotFound
from carrel.search import diagnosing
from carrel.types import QUOTABLE, Filter

if TYPE_CHECKING:
    from collections.abc import Callable

    from carrel.keywords import KeywordIndex
    from carrel.search.concepts import Concepts
    from carrel.search.meaning import Meaning
    from carrel.types import Hit

    Arm: TypeAlias = Callable[[str, int, Filter], list[Hit]]
    """Query, limit, filter → hits, best first."""


def vector_arm(meaning: Meaning, total: Callable[[], int] | None = None) -> Arm:
    """`total` counts the chunks that there are, embedded or not."""

    def find(query: str, limit: int, where: Filter) -> list[Hit]:
        if not meaning.vectors.count():
            raise IndexNotFound("Semantic index not found. Run 'carrel index build' first")
        # A reader's note leads to papers by `semantic`, but proves nothing.
        quotable = where if where.kinds else replace(where, kinds=QUOTABLE)
        hits = meaning.search(query, limit=limit, where=quotable)
        if not hits:
            vector, vectors = meaning.of_question(query), meaning.vectors
            diagnosing.explain_nothing(vector, vectors, limit=limit, where=quotable, total=total)
        return hits

    return find


def keyword_arm(keywords: KeywordIndex) -> Arm:
    def find(query: str, limit: int, where: Filter) -> list[Hit]:
        if not keywords.count():
            raise IndexNotFound("Keyword index not found. Run 'carrel index build' first")
        return keywords.search(query, limit=limit, where=where)

    return find


def graph_arm(concepts: Concepts) -> Arm:
    return concepts.hits
