"""What is embedded is kept, also of work that ends early."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from carrel.embedders.cache import EmbeddingCache
from carrel.errors import ModelServerUnavailable
from carrel.ingest import indexing
from carrel.testing import HashedWords
from carrel.types import Matrix
from tests.builders import make_chunk

# The shorter are embedded first: all of the one, and half of the other.
CHUNKS = [
    *(make_chunk("short", number, f"granite {number}") for number in (1, 2)),
    *(make_chunk("long", number, f"granite {number} " * number) for number in (3, 4)),
]


class Tiring(HashedWords):
    """A server that has had enough after so many texts."""

    def __init__(self, most: float) -> None:
        super().__init__()
        self._left = most
        self.embedded = 0

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if self._left < len(texts):
            raise ModelServerUnavailable("the server has had enough")
        self._left -= len(texts)
        self.embedded += len(texts)
        return super().embed_passages(texts)


@pytest.fixture
def cache(tmp_path: Path) -> EmbeddingCache:
    return EmbeddingCache(tmp_path, model=HashedWords().name, dim=HashedWords().dim)


@pytest.fixture(autouse=True)
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "_AT_ONCE", 1)


def kept(cache: EmbeddingCache) -> dict[str, int]:
    return {paper_id: len(cache.load(paper_id)) for paper_id in ("short", "long")}


def test_what_a_server_did_before_it_failed_is_not_asked_of_it_again(cache: EmbeddingCache) -> None:
    with pytest.raises(ModelServerUnavailable):
        indexing.embed(CHUNKS, Tiring(3), cache)
    assert kept(cache) == {"short": 2, "long": 1}
    again = Tiring(1)
    vectors, embedded, refused = indexing.embed(CHUNKS, again, cache)
    assert (embedded, again.embedded, refused, kept(cache)) == (1, 1, {}, {"short": 2, "long": 2})
    assert np.array_equal(vectors, HashedWords().embed_passages([chunk.embedded_text for chunk in CHUNKS]))


def test_a_server_that_does_nothing_leaves_the_cache_as_it_was(cache: EmbeddingCache, tmp_path: Path) -> None:
    with pytest.raises(ModelServerUnavailable):
        indexing.embed(CHUNKS, Tiring(0), cache)
    assert list(tmp_path.rglob("*")) == []


def test_what_is_embedded_afresh_replaces_what_was_kept_paper_by_paper(cache: EmbeddingCache) -> None:
    for paper_id in ("short", "long"):
        ours = [chunk for chunk in CHUNKS if chunk.paper_id == paper_id]
        cache.save(paper_id, ours, np.eye(len(ours), HashedWords().dim, dtype=np.float32))
    with pytest.raises(ModelServerUnavailable):
        indexing.embed(CHUNKS, Tiring(3), cache, fresh=True)
    assert kept(cache) == {"short": 2, "long": 2}
    stale = {paper_id: [bool(row[0] == 1) for row in cache.load(paper_id).values()] for paper_id in kept(cache)}
    assert stale == {"short": [False, False], "long": [True, False]}
