"""From passages to what may be quoted of them: their best sentences, and as much around those as there is room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from carrel import sentences
from carrel.types import Excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.embedders import Embedder
    from carrel.types import Passage, Span

_SHORTEST_SENTENCE = 30
_PASSAGE_WEIGHT = 0.25
"""How much a sentence's passage counts beside the sentence itself: little, as both were measured by the same model."""


def select(question: str, passages: Sequence[Passage], embedder: Embedder) -> tuple[Excerpt, ...]:
    """The passages as excerpts, numbered as they are ranked, each sentence scored by what it says of the question."""
    found = [
        (number, span)
        for number, passage in enumerate(passages, start=1)
        for span in sentences.prose(passage.chunk.text)
        if span.end - span.start >= _SHORTEST_SENTENCE
    ]
    texts = [passages[number - 1].chunk.text[span.start : span.end] for number, span in found]
    nearness = embedder.embed_passages(texts) @ embedder.embed_query(question) if texts else np.zeros(0)
    scored: dict[int, list[tuple[Span, float]]] = {}
    for (number, span), near in zip(found, nearness, strict=True):
        probability = passages[number - 1].probability or 0.0
        scored.setdefault(number, []).append((span, float(near) * probability**_PASSAGE_WEIGHT))
    return tuple(
        Excerpt(number, passage.chunk.title, passage.chunk.text, tuple(scored.get(number, ())))
        for number, passage in enumerate(passages, start=1)
    )


def pack(excerpts: Sequence[Excerpt], *, tokens: int) -> tuple[Excerpt, ...]:
    """What of the excerpts a generator has room for, the best sentences first, each with what it needs around it.

    Numbers stay; an excerpt that nothing is offered of is left out.
    """
    del tokens
    return tuple(excerpts)
