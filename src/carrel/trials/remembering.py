"""Parts that are asked each thing once, however many ways of searching want to know it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Sequence

    from carrel.catalogs import Catalog, PaperRow
    from carrel.embedders import Embedder
    from carrel.keywords import KeywordIndex
    from carrel.stores import Stores
    from carrel.types import Chunk, Hit, Matrix, Vector
    from carrel.vectors import VectorStore


class Remembering:
    """Another embedder, whose vectors of queries are kept."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[str, Vector] = {}

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dim(self) -> int:
        return self._embedder.dim

    @property
    def max_tokens(self) -> int:
        return self._embedder.max_tokens

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Vector:
        if text not in self._kept:
            self._kept[text] = self._embedder.embed_query(text)
        return self._kept[text]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.count_tokens(texts)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Whatever else an embedder offers beyond the seam."""
        return getattr(self._embedder, name)


class RememberingSearch:
    """Another store, whose hits are kept until they are to be forgotten."""

    def __init__(self, store: VectorStore | KeywordIndex) -> None:
        self._store: Any = store
        self._kept: dict[Hashable, Sequence[Hit]] = {}

    def search(self, *asked: object, **how: object) -> list[Hit]:
        key = (*map(_key, asked), *((name, _key(value)) for name, value in sorted(how.items())))
        if key not in self._kept:
            self._kept[key] = self._store.search(*asked, **how)
        return list(self._kept[key])

    def forget(self) -> None:
        self._kept.clear()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._store, name)


class RememberingCatalog:
    """Another catalog, which makes each chunk and each paper's record once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._chunks: dict[str, Chunk] = {}
        self._papers: dict[str, PaperRow] = {}

    def chunks(self, addresses: Sequence[str]) -> list[Chunk]:
        missing = [address for address in addresses if address not in self._chunks]
        self._chunks |= {chunk.address: chunk for chunk in self._catalog.chunks(missing)} if missing else {}
        return [self._chunks[address] for address in addresses if address in self._chunks]

    def papers(self, paper_ids: Collection[str] | None = None) -> list[PaperRow]:
        if paper_ids is None:
            return self._catalog.papers()
        missing = [paper_id for paper_id in paper_ids if paper_id not in self._papers]
        self._papers |= {row.reference.id: row for row in self._catalog.papers(missing)} if missing else {}
        return [self._papers[paper_id] for paper_id in sorted(paper_ids) if paper_id in self._papers]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._catalog, name)


def remembering(stores: Stores) -> Stores:
    """The same stores, for whoever writes to them before he searches and not after."""
    return replace(
        stores,
        catalog=cast("Catalog", RememberingCatalog(stores.catalog)),
        vectors=cast("VectorStore", RememberingSearch(stores.vectors)),
        keywords=cast("KeywordIndex", RememberingSearch(stores.keywords)),
    )


def forget(stores: Stores) -> None:
    """Between two queries: what was found for one is of no use for the next."""
    for store in (stores.vectors, stores.keywords):
        if isinstance(store, RememberingSearch):
            store.forget()


def _key(value: object) -> Hashable:
    if isinstance(value, np.ndarray):
        return value.tobytes()
    return tuple(value) if isinstance(value, list) else value
