"""The stores of one library, together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.errors import CarrelError, IndexNotFound, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from carrel.catalogs import Catalog
    from carrel.concepts import Extractor
    from carrel.embedders import Embedder
    from carrel.embedders.cache import EmbeddingCache
    from carrel.graphs import GraphStore
    from carrel.keywords import KeywordIndex
    from carrel.pictures import Pictures
    from carrel.types import Hit
    from carrel.vectors import VectorStore


@dataclass(frozen=True)
class Stores:
    """Everything a paper has to reach."""

    catalog: Catalog
    vectors: VectorStore
    keywords: KeywordIndex
    graph: GraphStore
    embedder: Embedder
    cache: EmbeddingCache
    pictures: Pictures
    extractor: Extractor | None = None
    """None where no graph is wanted."""


def fits(stores: Stores) -> bool:
    """Whether the vectors that are stored are of the embedder's kind."""
    return (stores.vectors.model, stores.vectors.dim) == (stores.embedder.name, stores.embedder.dim)


def found_in(index: VectorStore | KeywordIndex, name: str, ask: Callable[[], list[Hit]]) -> list[Hit]:
    """What asking an index finds; that there is none is told before whatever else is wrong."""
    try:
        hits = ask()
    except StoreUnavailable:
        raise
    except CarrelError:
        check_filled(index, name)
        raise
    if not hits:
        check_filled(index, name)
    return hits


def check_filled(index: VectorStore | KeywordIndex, name: str) -> None:
    """Whether there is anything to be found, for one who found nothing: to count, a server may look at every row."""
    if not index.count():
        raise IndexNotFound(f"{name} index not found. Run 'carrel index build' first")
