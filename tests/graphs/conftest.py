from __future__ import annotations

from collections.abc import Iterator

import pytest

from carrel.graphs import GraphStore
from tests import servers
from tests.graphs.stores import SERVED, Maker, maker

_SERVERS = {"postgresql": "postgresql_server", "neo4j": "bolt_server"}


def make(
    kind: str,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    namespace: str = "carrel_test",
) -> Maker:
    path = tmp_path_factory.mktemp("graph") / "graph.db"

    def server() -> servers.Server:
        found: servers.Server = request.getfixturevalue(_SERVERS[kind])
        return found

    if kind in SERVED:
        server()
    return maker(kind, path, server, namespace)


@pytest.fixture(scope="session")
def opened() -> Iterator[dict[str, GraphStore]]:
    """Graphs on servers, opened once: making their tables takes longer than most tests."""
    graphs: dict[str, GraphStore] = {}
    yield graphs
    for graph in graphs.values():
        graph.close()


def empty(made: Maker, opened: dict[str, GraphStore]) -> Iterator[GraphStore]:
    if made.kind not in SERVED:
        graph = made.open()
        yield graph
        graph.close()
        return
    if made.kind not in opened:
        opened[made.kind] = made.open()
    graph = opened[made.kind]
    graph.clear()
    yield graph
