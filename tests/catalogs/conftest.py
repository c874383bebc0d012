from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from carrel.catalogs import Catalog
from carrel.catalogs.postgresql import PostgresqlCatalog
from carrel.catalogs.sqlite import SqliteCatalog
from carrel.testing import MemoryCatalog
from tests import servers

_QUERIES = """
    SELECT id, query_hash, query_text, strategy_used, vector_hits, citation_count
    FROM {schema}rag_queries JOIN {schema}retrieval_metrics ON query_id = id ORDER BY timestamp"""


@dataclass(frozen=True)
class Kind:
    """A catalog, opened as often as a test wants, and what lies in it when one looks without Carrel."""

    name: str
    path: Path
    address: str = ""
    namespace: str = "carrel_catalog_test"

    def open(self) -> Catalog:
        if self.name == "memory":
            return MemoryCatalog()
        if self.name == "sqlite":
            return SqliteCatalog(self.path)
        argument = self.address.removeprefix("postgresql:")
        return PostgresqlCatalog(argument, namespace=self.namespace, password=servers.PASSWORD)

    def another(self, name: str) -> Kind:
        return replace(self, path=self.path.with_name(f"{name}.db"), namespace=f"carrel_catalog_{name}")

    def queries(self, catalog: Catalog) -> list[tuple[Any, ...]]:
        """Of each: id, hash, text, strategy, vector hits, citations."""
        if isinstance(catalog, MemoryCatalog):
            kept = [(one, one.query) for one in catalog.analytics.queries]
            return [
                (q.id, one.hash, one.text, q.strategy, q.hits.get("vector"), q.metrics.get("citation_count"))
                for one, q in kept
            ]
        return self.look(_QUERIES.format(schema="" if self.name == "sqlite" else f"{self.namespace}."))

    def look(self, sql: str) -> list[tuple[Any, ...]]:
        if self.name == "sqlite":
            with closing(sqlite3.connect(self.path)) as connection:
                return connection.execute(sql).fetchall()
        with psycopg.connect(self.address, password=servers.PASSWORD) as connected:
            return connected.execute(sql.encode()).fetchall()

    def forget(self) -> None:
        if self.name == "postgresql":
            with psycopg.connect(self.address, password=servers.PASSWORD, autocommit=True) as connected:
                connected.execute("SET client_min_messages = warning")
                connected.execute(f"DROP SCHEMA IF EXISTS {self.namespace} CASCADE".encode())


@pytest.fixture(scope="session")
def _opened() -> Iterator[dict[str, Catalog]]:
    """Catalogs on servers, opened once: making their tables takes longer than most tests."""
    catalogs: dict[str, Catalog] = {}
    yield catalogs
    for catalog in catalogs.values():
        catalog.close()


@pytest.fixture(params=["sqlite", "memory", "postgresql"])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    address = ""
    if request.param == "postgresql":
        address = request.getfixturevalue("postgresql_server").address
    return Kind(request.param, tmp_path / "carrel.db", address)


@pytest.fixture
def catalog(kind: Kind, _opened: dict[str, Catalog]) -> Iterator[Catalog]:
    if kind.name != "postgresql":
        with closing(kind.open()) as catalog:
            yield catalog
        return
    if kind.name not in _opened:
        kind.forget()
        _opened[kind.name] = kind.open()
    empty(_opened[kind.name])
    yield _opened[kind.name]


def empty(catalog: Catalog) -> None:
    assert isinstance(catalog, PostgresqlCatalog)
    tables = "papers, locations, turns, analytics_sessions, rag_queries, documents, workers, tokens, meta"
    with catalog.database.writing() as session:
        session.write(f"TRUNCATE {tables} CASCADE", [()])
