"""What lies around a concept, and the map of a whole library."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from carrel.atlas import concept_named, require_concepts, summary
from carrel.atlas.statements import Edge, Where, both_ways, edges, readings, strength
from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from carrel.catalogs import Catalog
    from carrel.graphs import GraphStore
    from carrel.types import ConceptRow, Relation

MOST_HOPS = 3
_DECAY = 0.5
"""What a concept one step further is worth; below 1, so that the way to each concept that is kept is kept, too."""
_SENTENCES = 2
_PAPERS = 3
_CANDIDATES = 5
"""How many times the limit are looked at for a map, of which concepts without a relation are left out."""


@dataclass(frozen=True, slots=True)
class Node:
    row: ConceptRow
    hops: int
    """How many steps it is away; 0 for all on the map of a whole library."""
    score: float
    """How near it is: the product of what the steps to it are worth."""
    via: str = ""
    """The key of the concept by which it was reached."""
    read: tuple[Where, ...] = ()
    """Where the papers say most of it, one place of each."""

    def as_dict(self) -> dict[str, Any]:
        facts = {"hops": self.hops, "score": round(self.score, 4), "via": self.via or None}
        return {**summary(self.row), **facts, "read": [one.as_dict() for one in self.read]}


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    centre: ConceptRow | None
    """None for the map of a whole library."""
    hops: int
    nodes: tuple[Node, ...]
    """With the centre, the nearest first."""
    edges: tuple[Edge, ...]
    """All relations among the nodes."""
    total: int
    """How many concepts were reached, of which the nodes are the nearest."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "centre": self.centre.concept.name if self.centre else None,
            "hops": self.hops,
            "nodes": [node.as_dict() for node in self.nodes],
            "edges": [edge.as_dict() for edge in self.edges],
            "total": self.total,
        }


def around(name: str, graph: GraphStore, catalog: Catalog, *, hops: int, limit: int) -> Neighbourhood:
    """The concepts that are nearest to one, at most so many, over up to so many relations."""
    if not 1 <= hops <= MOST_HOPS:
        raise InvalidInput(f"hops must be 1 to {MOST_HOPS}, got {hops}", hint="Two are what a search follows.")
    _check(limit)
    centre = concept_named(name, graph)
    nodes = [Node(centre, 0, 1.0)]
    for hop in range(1, hops + 1):
        nodes += _next(nodes, hop, graph, limit)
    nearest = sorted(nodes, key=_nearness)[: limit + 1]
    return _mapped(Neighbourhood(centre, hops, tuple(nearest), (), len(nodes) - 1), graph, catalog)


def overview(graph: GraphStore, catalog: Catalog, *, limit: int) -> Neighbourhood:
    """The concepts of which the papers make most: those that stand in a relation, if any do."""
    _check(limit)
    require_concepts(graph)
    rows = {row.key: row for row in graph.find("", limit=limit * _CANDIDATES)}
    joined = _joined(rows, graph)
    if joined:
        chosen = [key for key in rows if key in joined][:limit]
        joined = _joined(chosen, graph)
        chosen = [key for key in chosen if key in joined]
    else:
        chosen = list(rows)[:limit]
    nodes = tuple(Node(rows[key], 0, 1.0) for key in chosen)
    return _mapped(Neighbourhood(None, 0, nodes, (), graph.size().concepts), graph, catalog)


def _next(nodes: list[Node], hop: int, graph: GraphStore, limit: int) -> list[Node]:
    """What is one step from the nodes that are so far away. Beyond the limit of these none can lead to a nearer one."""
    edge = {node.row.key: node for node in sorted(nodes, key=_nearness)[: limit + 1] if node.hops == hop - 1}
    known = {node.row.key for node in nodes}
    best: dict[str, tuple[float, str]] = {}
    for relation in graph.relations(edge) if edge else ():
        for near, far in ((relation.subject, relation.object), (relation.object, relation.subject)):
            if near in edge and far not in known:
                best[far] = max(best.get(far, (0.0, "")), (_worth(edge[near], relation), near))
    rows = graph.concepts(best)
    return [Node(row, hop, *best[key]) for key, row in rows.items()]


def _worth(node: Node, relation: Relation) -> float:
    return node.score * _DECAY * strength(relation)


def _nearness(node: Node) -> tuple[float, float, str]:
    # Rounded, so that the chance of a sum's last digit orders nothing.
    return -round(node.score, 4), -round(node.row.weight, 4), node.row.key


def _mapped(bare: Neighbourhood, graph: GraphStore, catalog: Catalog) -> Neighbourhood:
    """With the relations among its nodes, and where to read of each."""
    rows = {node.row.key: node.row for node in bare.nodes}
    relations = [one for one in graph.relations(rows) if one.subject in rows and one.object in rows]
    read = readings(rows, graph, catalog, most=_PAPERS)
    nodes = tuple(replace(node, read=read[node.row.key]) for node in bare.nodes)
    joining = edges(both_ways(relations), rows, graph, catalog, most=_SENTENCES)
    return replace(bare, nodes=nodes, edges=tuple(joining))


def _joined(keys: Collection[str] | Mapping[str, ConceptRow], graph: GraphStore) -> set[str]:
    """Those of these concepts that stand in a relation with another of them."""
    found: set[str] = set()
    for one in graph.relations(keys):
        if one.subject in keys and one.object in keys and one.subject != one.object:
            found |= {one.subject, one.object}
    return found


def _check(limit: int) -> None:
    if limit < 1:
        raise InvalidInput(f"limit must be at least 1, got {limit}", hint="As in --limit 60.")
