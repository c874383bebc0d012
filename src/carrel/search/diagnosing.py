"""What to look at when a search by meaning finds nothing although there is something to find."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from carrel.telemetry import log
from carrel.types import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Callable

    from carrel.types import Filter, Vector
    from carrel.vectors import VectorStore

_SAMPLE = 5


def explain_nothing(
    vector: Vector, vectors: VectorStore, *, limit: int, where: Filter, total: Callable[[], int] | None = None
) -> None:
    """Log that a vector found nothing; at debug level also all that may be the reason.

    `total` counts the chunks that there are, embedded or not.
    """
    held = vectors.count()
    log("search", logging.INFO, "Vector search returned 0 results")
    if logging.getLogger("carrel.search").isEnabledFor(logging.DEBUG):
        nearest = vectors.search(vector, limit=_SAMPLE, where=EVERYTHING) if held else []
        sample = [round(hit.score, 3) for hit in nearest]
        for line in (
            f"Query embedding dimensions: {len(vector)}",
            f"Total documents in the library: {total() if total else held}",
            f"Documents with embeddings: {held}",
            f"Top-K parameter: {limit}",
            f"Filter: {where}",
            f"Sample similarity scores: {sample or 'None returned'}",
        ):
            log("search", logging.DEBUG, line)
    if held:
        log("search", logging.WARNING, "Vector search returned 0 results despite embeddings", embeddings=held)
