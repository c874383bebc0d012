"""The graphs that keep one contract, opened as often as a test wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import neo4j

from carrel.graphs import GraphStore
from carrel.graphs.neo4j import Neo4jGraph
from carrel.graphs.postgresql import PostgresqlGraph
from carrel.graphs.sqlite import SqliteGraph
from carrel.testing import MemoryGraph
from tests import servers

KINDS = ("memory", "sqlite", "postgresql", "neo4j")
KEPT = KINDS[1:]
"""Those that the next one who opens them finds as they were left."""
SERVED = KINDS[2:]


@dataclass(frozen=True)
class Maker:
    kind: str
    open: Callable[[], GraphStore]


class BoltGraph(Neo4jGraph):
    """Full-text indexes are the one thing that this server has other words for."""

    def __init__(self, server: servers.Server, *, namespace: str, password: str = servers.PASSWORD) -> None:
        kind, _, argument = server.address.partition(":")
        super().__init__(kind, argument, namespace=namespace, password=password)
        self._server = server

    def index_texts(self, driver: neo4j.Driver, database: str | None) -> None:
        self._server.full_text()


def postgresql(server: servers.Server, *, namespace: str, password: str = servers.PASSWORD) -> PostgresqlGraph:
    return PostgresqlGraph(server.address.partition(":")[2], namespace=namespace, password=password)


def maker(kind: str, path: Path, server: Callable[[], servers.Server], namespace: str = "carrel_test") -> Maker:
    makers: dict[str, Callable[[], GraphStore]] = {
        "memory": MemoryGraph,
        "sqlite": lambda: SqliteGraph(path),
        "postgresql": lambda: postgresql(server(), namespace=namespace),
        "neo4j": lambda: BoltGraph(server(), namespace=namespace),
    }
    return Maker(kind, makers[kind])
