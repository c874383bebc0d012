"""The stores and the embedder that the settings name, as the settings want them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel import registry
from carrel.catalogs.sql import SqlCatalog
from carrel.locking import LibraryLock
from carrel.settings import catalog_server

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pydantic import SecretStr

    from carrel.catalogs import Catalog
    from carrel.databases.sessions import Database
    from carrel.embedders import Embedder
    from carrel.graphs import GraphStore
    from carrel.keywords import KeywordIndex
    from carrel.layout import Layout
    from carrel.settings import Settings
    from carrel.vectors import VectorStore

_BESIDE = frozenset({"pgvector", "postgresql"})
"""What lives in the catalog's own database."""


@dataclass(frozen=True)
class Assembling:
    """What is embedded lies in the library's cache; what is on a server has a name of this library's own there."""

    layout: Layout
    settings: Settings
    is_checked_in: Callable[[str], bool]
    """Whether the library's own config sets this; the user's passwords are not for a server that it names."""

    def catalog(self) -> Catalog:
        made: Catalog = registry.make(
            "catalogs",
            self.settings.catalog,
            path=self.layout.database,
            namespace=self._namespace(self.settings.catalog_namespace, "carrel_catalog"),
            password=self._password("catalog", self.settings.catalog_password),
        )
        return made

    def embedder(self) -> Embedder:
        models = self.settings.models
        made: Embedder = registry.make(
            "embedders",
            self.settings.embedder,
            threads=self.settings.threads or None,
            folder=self.layout.root.parent,
            cache=self.layout.cache / "models",
            confined=self.is_checked_in("embedder"),
            # The user's key goes to no server that only the library's config names.
            api_key="" if self.is_checked_in("models.base_url") else models.api_key.get_secret_value(),
            **models.model_dump(exclude={"api_key", "allow_remote"}, exclude_defaults=True),
        )
        return made

    def vectors(self, catalog: Catalog, *, model: str, dim: int) -> VectorStore:
        made: VectorStore = registry.make(
            "vectors",
            self.settings.vectors,
            directory=self._folder("vectors", "flat"),
            model=model,
            dim=dim,
            half=self.settings.vectors_half,
            namespace=self._namespace(self.settings.vectors_namespace, "carrel_vectors"),
            password=self._password("vectors", self.settings.vectors_password),
            database=_database(catalog),
        )
        return made

    def keywords(self, catalog: Catalog) -> KeywordIndex:
        made: KeywordIndex = registry.make(
            "keywords",
            self.settings.keywords,
            directory=self._folder("keywords", "tantivy"),
            namespace=self._namespace(self.settings.keywords_namespace, "carrel_keywords"),
            password=self._password("keywords", self.settings.keywords_password),
            database=_database(catalog),
        )
        return made

    def graph(self) -> GraphStore:
        made: GraphStore = registry.make(
            "graphs",
            self.settings.graph,
            path=self.layout.cache / "graph" / "graph.db",
            namespace=self._namespace(self.settings.graph_namespace, "carrel"),
            password=self._password("graph", self.settings.graph_password),
        )
        return made

    def lock(self) -> LibraryLock:
        """Who writes: told on one machine by a file, on several by the server that keeps the catalog."""
        address, chosen = catalog_server(self.settings.catalog), self.settings
        if not address:
            return LibraryLock(self.layout.lock)
        from carrel.databases.advisory import AdvisoryLocks

        namespace = self._namespace(chosen.catalog_namespace, "carrel_catalog")
        locks = AdvisoryLocks(address, namespace, self._password("catalog", chosen.catalog_password))
        are_served = all(map(_is_served, (chosen.vectors, chosen.keywords, chosen.graph)))
        return LibraryLock(self.layout.lock, locks, side_by_side=are_served)

    def _folder(self, seam: str, plain: str) -> Path:
        """Each kind has its own, so that a library can move from one to another and back."""
        kind = str(getattr(self.settings, seam)).partition(":")[0]
        return self.layout.cache / (seam if kind == plain else f"{seam}-{kind}")

    def _namespace(self, chosen: str, prefix: str) -> str:
        """The prefix keeps what a config names apart from what is not Carrel's."""
        return f"{prefix}_{chosen or self.layout.namespace}"

    def _password(self, setting: str, password: SecretStr) -> str:
        return "" if self.is_checked_in(setting) else password.get_secret_value()


def lives_beside_catalog(store: str) -> bool:
    """Whether it is where the catalog is, wherever that is."""
    return store in _BESIDE


def _is_served(store: str) -> bool:
    """Whether several can write to it: a store elsewhere, or beside the catalog. One of files has one writer."""
    return "://" in store or lives_beside_catalog(store)


def _database(catalog: Catalog) -> Database | None:
    """The catalog's own, for stores that live beside it."""
    return catalog.database if isinstance(catalog, SqlCatalog) else None
