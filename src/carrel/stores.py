"""The stores of one library, together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.catalogs import Catalog
    from carrel.concepts import Extractor
    from carrel.embedders import Embedder
    from carrel.embedders.cache import EmbeddingCache
    from carrel.graphs import GraphStore
    from carrel.keywords import KeywordIndex
    from carrel.pictures import Pictures
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
