"""How the words of an index are spelled. Milvus knows no fuzzy terms, but it finds what is near.

Each word of the index stands in a collection of its own, as the counts of its pairs of letters. What is spelled like a
word has most of its pairs; of those found, the letters are compared. Words are never forgotten: one that no chunk has
any more finds none.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np
from pymilvus import CollectionSchema, DataType, FieldSchema
from pymilvus.milvus_client import IndexParams

from carrel.databases.milvus_rows import Rows
from carrel.databases.milvus_versions import Columns, Versions
from carrel.keywords import analysis
from carrel.keywords.milvus_asking import MARK
from carrel.words import edits

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from carrel.databases.milvus import MilvusServer
    from carrel.databases.milvus_versions import Version
    from carrel.types import Vector

_DIM = 128
_SHORTEST, _LONGEST = 4, 60
"""Letters of the words that are learnt."""
_CANDIDATES = 200
_IN_A_REQUEST = 5000
_REMEMBERED = 500_000
_FACTS = {"spelling": "1"}
"""Those that were made before this was said of them say when they were written."""
_SCHEMA = CollectionSchema(
    [
        FieldSchema("word", DataType.VARCHAR, max_length=4 * _LONGEST, is_primary=True),
        FieldSchema("pairs", DataType.FLOAT_VECTOR, dim=_DIM),
    ]
)


class Spelling:
    def __init__(self, server: MilvusServer, name: str) -> None:
        self._versions = Versions(server, name, _columns, marks=[*_FACTS, "written"])
        self._rows = Rows(self._versions, self._versions.current)
        self._known: tuple[str, frozenset[str]] = ("", frozenset())
        """The collection, and words that are in it: another process may have put an empty one in its place."""

    def learn(self, words: Collection[str]) -> None:
        fitting = frozenset(word for word in words if _SHORTEST <= len(word) <= _LONGEST)
        self._rows.insisting(lambda: self._learn(fitting))

    def like(self, word: str, distance: int) -> list[str]:
        """The words of the index that this one may be meant for, as they stand there."""
        found = analysis.beginnings(word)
        if found is None or len(found[0]) > _LONGEST:
            return []
        whole, stems = found
        asked = [*stems, f"{MARK}{whole}"]
        return self._rows.reading(lambda version: sorted(self._like(version, asked, distance)), [])

    def clear(self) -> None:
        if self._versions.current():
            self._versions.turn_to(self._versions.another(_FACTS))
            self._versions.sweep()

    def _learn(self, words: frozenset[str]) -> None:
        version = self._versions.first(_FACTS)
        name, known = self._known
        if name != version.name or len(known) > _REMEMBERED:
            known = frozenset()
        new = sorted(words - known)
        for first in range(0, len(new), _IN_A_REQUEST):
            rows = [{"word": word, "pairs": _pairs(word)} for word in new[first : first + _IN_A_REQUEST]]
            self._rows.server.call("upsert", version.name, rows)
        if new:
            self._versions.touch(version)
        self._known = (version.name, known | words)

    def _like(self, version: Version, asked: list[str], distance: int) -> set[str]:
        options = {"anns_field": "pairs", "output_fields": ["word"], "search_params": {"params": {"ef": _CANDIDATES}}}
        found = self._rows.search(version, [_pairs(word) for word in asked], "", _CANDIDATES, **options)
        pairs = ((word, str(one.row["word"])) for word, like in zip(asked, found, strict=True) for one in like)
        return {other for word, other in pairs if edits(word, other, most=distance) <= distance}


def _columns(_: Mapping[str, str]) -> Columns:
    indexes = IndexParams()
    indexes.add_index("pairs", index_type="HNSW", metric_type="COSINE", params={"M": 16, "efConstruction": 200})
    return Columns(_SCHEMA, indexes)


def _pairs(word: str) -> Vector:
    """How often it has each pair of letters, its ends included; many pairs share a place."""
    counts = np.zeros(_DIM, dtype=np.float32)
    for one, other in zip(f"^{word}", f"{word}$", strict=True):
        counts[zlib.crc32(f"{one}{other}".encode()) % _DIM] += 1
    return counts
