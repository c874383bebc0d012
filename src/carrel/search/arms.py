"""The ways a question is looked up: by meaning, by words, by concepts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from carrel.search import diagnosing
from carrel.stores import found_in
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
        # A reader's note leads to papers by `semantic`, but proves nothing.
        quotable = where if where.kinds else replace(where, kinds=QUOTABLE)
        hits = found_in(meaning.vectors, "Semantic", lambda: meaning.search(query, limit=limit, where=quotable))
        if not hits:
            vector, vectors = meaning.of_question(query), meaning.vectors
            diagnosing.explain_nothing(vector, vectors, limit=limit, where=quotable, total=total)
        return hits

    return find


def keyword_arm(keywords: KeywordIndex) -> Arm:
    def find(query: str, limit: int, where: Filter) -> list[Hit]:
        return found_in(keywords, "Keyword", lambda: keywords.search(query, limit=limit, where=where))

    return find


def graph_arm(concepts: Concepts) -> Arm:
    return concepts.hits
