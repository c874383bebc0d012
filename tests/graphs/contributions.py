"""Random contributions that quarrel over names, and all that a graph can be asked, as one value."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hypothesis import strategies
from hypothesis.strategies import SearchStrategy

from carrel.graphs import CURATED, GraphStore
from carrel.types import EVERYTHING, Concept, Contribution, Mention, Predicate, Role, Triple, Work
from tests.builders import make_chunk

PAPERS = ("a", "b", "c", "2020.x", CURATED)
NAMES = ("SVM", "svms", "Support Vector Machine", "state vector", "Kernel", "kernels", "kernel trick", "o'neil", "")
DOIS = ("", "10.1/a", "10.1/b")
TITLES = ("", "on graphs", "on trees")
CHUNKS = 3

_names = strategies.sampled_from(NAMES)
_works = strategies.builds(Work, strategies.sampled_from(DOIS), strategies.sampled_from(TITLES))
_shares = strategies.sampled_from((0.1, 0.25, 0.5, 1 / 3, 1.0))


def addresses(paper_id: str) -> list[str]:
    return [make_chunk(paper_id, number).address for number in range(1, CHUNKS + 1)]


def _concepts(paper_id: str) -> SearchStrategy[Concept]:
    return strategies.builds(
        Concept,
        name=_names,
        aliases=strategies.lists(_names, max_size=2).map(tuple),
        definition=strategies.sampled_from(("", f"Said by {paper_id}.")),
        category=strategies.sampled_from(("", f"category of {paper_id}")),
        defined_at=strategies.sampled_from(("", f"{paper_id}/abstract")),
    )


def _contribution(paper_id: str) -> SearchStrategy[Contribution]:
    # What is curated is said of others' chunks.
    places = addresses("a" if paper_id == CURATED else paper_id)
    mentions = strategies.builds(
        Mention,
        concept=_names,
        address=strategies.sampled_from(places),
        count=strategies.integers(1, 3),
        relevance=_shares,
        role=strategies.sampled_from(Role),
    )
    triples = strategies.builds(
        Triple,
        subject=_names,
        predicate=strategies.sampled_from((Predicate.USES, Predicate.PART_OF)),
        object=_names,
        confidence=_shares,
        address=strategies.sampled_from(places),
        evidence=strategies.sampled_from(("It uses it.", "Uses.")),
        start=strategies.integers(0, 2),
    )
    chunks = () if paper_id == CURATED else tuple(make_chunk(paper_id, n, year=2000 + n) for n in range(1, CHUNKS + 1))
    return strategies.builds(
        Contribution,
        paper_id=strategies.just(paper_id),
        chunks=strategies.just(chunks),
        concepts=strategies.lists(_concepts(paper_id), max_size=3).map(tuple),
        mentions=strategies.lists(mentions, max_size=4).map(tuple),
        triples=strategies.lists(triples, max_size=3).map(tuple),
        work=_works,
        cites=strategies.lists(_works, max_size=2).map(tuple),
    )


CONTRIBUTIONS = strategies.sampled_from(PAPERS).flatmap(_contribution)
CHANGES = strategies.lists(
    strategies.one_of(
        strategies.lists(CONTRIBUTIONS, min_size=1, max_size=3), strategies.sets(strategies.sampled_from(PAPERS))
    ),
    max_size=5,
)
"""What is put, or which papers are deleted, one after the other."""


def told(graph: GraphStore, names: Collection[str] = NAMES, papers: Collection[str] = PAPERS) -> dict[str, Any]:
    """Everything that a graph says."""
    rows = graph.find("", limit=10**6)
    keys = [row.key for row in rows]
    return {
        "papers": graph.papers(),
        "contributed": graph.contributed([*papers, "nobody"]),
        "rows": rows,
        "concepts": graph.concepts([*keys, "nobody"]),
        "resolved": graph.resolve([*names, "nobody"]),
        "found": {name: graph.find(name, limit=3) for name in names},
        "near": {name: graph.near(name, edits=2, limit=9) for name in names},
        "relations": graph.relations(keys),
        "some relations": graph.relations(keys[:2], predicates=[Predicate.USES]),
        "triples": graph.triples(keys),
        "some triples": graph.triples(keys[:3], predicates=[Predicate.PART_OF]),
        "spots": graph.spots(keys, limit=99, where=EVERYTHING),
        "some spots": graph.spots(keys, limit=2, where=EVERYTHING),
        "spoken": graph.spoken([address for paper in papers for address in addresses(paper)]),
        "citations": graph.citations(),
        "some citations": graph.citations([*papers][:1]),
        "size": graph.size(),
    }
