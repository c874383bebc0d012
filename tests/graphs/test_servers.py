"""Graphs on servers: what goes wrong with these, and what others find there."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import neo4j
import pytest

from carrel.errors import LibraryTooNew, StoreUnavailable, password_hint
from carrel.graphs import GraphStore
from carrel.graphs.neo4j import Neo4jGraph
from carrel.graphs.postgresql import PostgresqlGraph
from carrel.types import Concept, Contribution, GraphSize, Mention, Predicate, Role, Triple, Work
from tests import servers
from tests.builders import make_chunk
from tests.graphs.stores import SERVED, BoltGraph, postgresql

CHUNKS = tuple(make_chunk("p", number, text=f"Chunk {number} speaks of trees.") for number in (1, 2, 3))
PAPER = Contribution(
    "p",
    CHUNKS,
    (Concept("Segment tree", ("interval tree",), "Answers range queries.", "data structure"),),
    (
        Mention("segment tree", CHUNKS[0].address, 2, 0.5),
        Mention("segment tree", CHUNKS[1].address, 1, 1.0, Role.CODE_EXAMPLE_FOR),
    ),
    (Triple("segment tree", Predicate.USES, "array", 0.75, CHUNKS[0].address, "It uses an array.", 3, 20),),
    Work("10.1/p", "trees"),
    (Work("10.1/q"),),
)
OTHER = Contribution("q", work=Work("10.1/q", "other"))


def served(kind: str, server: servers.Server, namespace: str, password: str = servers.PASSWORD) -> GraphStore:
    if kind == "neo4j":
        return BoltGraph(server, namespace=namespace, password=password)
    return postgresql(server, namespace=namespace, password=password)


@pytest.fixture(params=SERVED)
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def server(kind: str, request: pytest.FixtureRequest) -> servers.Server:
    found: servers.Server = request.getfixturevalue("bolt_server" if kind == "neo4j" else "postgresql_server")
    return found


def test_two_libraries_on_one_server_know_nothing_of_each_other(kind: str, server: servers.Server) -> None:
    one, other = served(kind, server, "carrel_one"), served(kind, server, "carrel_other")
    one.put([PAPER])
    other.put([OTHER])
    assert (one.papers(), other.papers(), other.find("", limit=9)) == ({"p"}, {"q"}, [])
    assert one.citations() == other.citations() == set()
    other.clear()
    assert one.size() == GraphSize(concepts=2, mentions=2, triples=1, chunks=3, papers=1)
    one.clear()
    one.close()
    other.close()


def test_a_wrong_password_is_said_in_one_sentence_with_the_setting_to_correct(
    kind: str, server: servers.Server
) -> None:
    graph = served(kind, server, "carrel_test", "wrong")
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="cannot use the graph on") as caught:
            graph.size()
    assert "wrong" not in str(caught.value)
    assert "\n" not in caught.value.message
    assert caught.value.hint == password_hint("graph")
    graph.close()


@pytest.mark.parametrize("address", ["postgresql://carrel@127.0.0.1:9/db", "bolt://root@127.0.0.1:9"])
def test_a_server_that_is_not_there_is_reported_and_never_an_empty_list(address: str) -> None:
    scheme, _, argument = address.partition(":")
    graph: GraphStore = (
        Neo4jGraph(scheme, argument, namespace="carrel_test")
        if scheme == "bolt"
        else PostgresqlGraph(argument, namespace="carrel_test")
    )
    for read in (graph.size, graph.papers, lambda: graph.find("a", limit=1), lambda: graph.put([PAPER])):
        with pytest.raises(StoreUnavailable, match="cannot use the graph on") as caught:
            read()
        assert not caught.value.message.endswith(":")
    assert caught.value.hint.startswith("See that the server runs")
    graph.close()


def started(kind: str) -> Iterator[servers.Server]:
    try:
        with servers.bolt() if kind == "neo4j" else servers.postgresql() as server:
            yield server
    except servers.CannotStart as reason:
        pytest.skip(str(reason))


def test_a_server_that_dies_is_reported(kind: str) -> None:
    for server in started(kind):
        graph = served(kind, server, "carrel_test")
        graph.put([PAPER])
        # PostgreSQL's other processes outlive a killed first one for a moment, and answer: by this signal all end.
        server.process.send_signal(signal.SIGQUIT if kind == "postgresql" else signal.SIGKILL)
        server.process.wait()
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="cannot use the graph on"):
                graph.spoken([CHUNKS[0].address])
        with pytest.raises(StoreUnavailable):
            graph.put([OTHER])
        graph.close()


def test_a_lost_connection_to_postgresql_is_made_anew(postgresql_server: servers.Server) -> None:
    graph, other = (postgresql(postgresql_server, namespace=f"carrel_lost{number}") for number in (1, 2))
    graph.put([PAPER])
    with other._database.reading() as session:
        session.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    assert graph.papers() == {"p"}
    graph.close()
    other.close()


def test_a_schema_of_a_newer_carrel_is_refused(postgresql_server: servers.Server) -> None:
    graph = postgresql(postgresql_server, namespace="carrel_newer")
    graph.put([PAPER])
    with graph._database.writing() as session:
        session.write("INSERT INTO graph_version VALUES (?)", [(99,)])
    graph.close()
    with pytest.raises(LibraryTooNew, match="written by a newer Carrel"):
        graph.size()
    graph.close()


@pytest.fixture
def driver(bolt_server: servers.Server) -> Iterator[neo4j.Driver]:
    """For someone who looks around in the graph without Carrel."""
    graph = BoltGraph(bolt_server, namespace="carrel_seen")
    graph.put([PAPER, OTHER])
    address = bolt_server.address.replace("root@", "")
    with neo4j.GraphDatabase.driver(address, auth=("root", servers.PASSWORD)) as opened:
        yield opened
    graph.clear()
    graph.close()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "MATCH (a:Chunk {library: $l})-[:NEXT_CHUNK]->(b:Chunk) RETURN a.chunk_id, b.chunk_id ORDER BY a.chunk_id",
            [(CHUNKS[0].address, CHUNKS[1].address), (CHUNKS[1].address, CHUNKS[2].address)],
        ),
        ("MATCH (c:Chunk {library: $l})-[:FROM_DOCUMENT]->(d:Document) RETURN d.paper_id, count(*)", [("p", 3)]),
        (
            "MATCH (:Chunk {library: $l})-[r:MENTIONS]->(c:Concept) RETURN c.name, r.frequency, r.relevance",
            [("Segment tree", 2, 0.5)],
        ),
        (
            "MATCH (n:Chunk {library: $l})-[:CODE_EXAMPLE_FOR]->(:Concept) RETURN n.chunk_id, n.preview",
            [(CHUNKS[1].address, "Chunk 2 speaks of trees.")],
        ),
        (
            "MATCH (a:Concept {library: $l})-[r:USES]->(b:Concept) RETURN a.name, b.name, r.confidence, r.evidence",
            [("Segment tree", "array", 0.75, "It uses an array.")],
        ),
        ("MATCH (a:Document {library: $l})-[:CITES]->(b:Document) RETURN a.paper_id, b.paper_id", [("p", "q")]),
        (
            "MATCH (c:Concept {library: $l, name: 'Segment tree'}) RETURN c.aliases, c.description, c.category",
            [(["interval tree"], "Answers range queries.", "data structure")],
        ),
        (
            "CALL db.index.fulltext.queryNodes('conceptNameIndex', 'range') YIELD node "
            "WITH node WHERE node.library = $l RETURN node.name",
            [("Segment tree",)],
        ),
    ],
)
def test_the_edges_of_the_graph_are_there_for_others_too(
    driver: neo4j.Driver, query: str, expected: list[tuple[object, ...]]
) -> None:
    found = driver.execute_query(query, l="carrel_seen", database_="neo4j").records
    assert [tuple(record.values()) for record in found] == expected


def test_a_deleted_paper_leaves_no_node(bolt_server: servers.Server, driver: neo4j.Driver) -> None:
    graph = BoltGraph(bolt_server, namespace="carrel_seen")
    graph.delete(["p", "q"])
    labels = "MATCH (n {library: 'carrel_seen'}) RETURN DISTINCT labels(n)"
    assert [record.values()[0] for record in driver.execute_query(labels, database_="neo4j").records] == [["Library"]]
    graph.close()
