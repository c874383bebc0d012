"""Stand-ins that keep the same contracts as Carrel's own parts, in memory and at once.

HashedWords      an embedder: words hashed into 64 places
MemoryVectors    a vector store: every vector compared
MemoryKeywords   a keyword index: BM25 over dictionaries
MemoryGraph      a graph: what each paper contributes, put together when asked
MemoryCatalog    a catalog: dictionaries, and the queries it was told of
SharedWords      a reranker: the share of the query's words that a candidate has
Script           a generator: says what it is told to, lies and half sentences included

Use them to test a part of your own against all the others, without a model and without a disk.
"""

from __future__ import annotations

from carrel.testing.analytics import KeptQuery
from carrel.testing.catalog import MemoryCatalog
from carrel.testing.embedder import HashedWords
from carrel.testing.generator import Script
from carrel.testing.graph import MemoryGraph
from carrel.testing.keywords import MemoryKeywords
from carrel.testing.reranker import SharedWords
from carrel.testing.vectors import MemoryVectors

__all__ = [
    "HashedWords",
    "KeptQuery",
    "MemoryCatalog",
    "MemoryGraph",
    "MemoryKeywords",
    "MemoryVectors",
    "Script",
    "SharedWords",
]
