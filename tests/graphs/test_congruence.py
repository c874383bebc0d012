"""The same library on every store: the same concepts, relations, places and citations."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import carrel
from carrel.concepts import Rules, contribution
from carrel.graphs import CURATED, GraphStore
from carrel.library import Library
from carrel.search.concepts import Concepts
from carrel.testing import HashedWords, MemoryGraph
from carrel.types import EVERYTHING, Concept, Contribution, Filter, Mention, Predicate, Role, Triple, Work
from tests.builders import make_chunk
from tests.graphs.conftest import make
from tests.graphs.stores import KEPT

PAPERS = 200
WORDS = "segment tree graph kernel vector sparse dense random walk neural network index search flow cut".split()
WHERE = Filter(year_min=2005, venue="nature", tags=frozenset({"read", "to read"}))


def _names(chance: random.Random) -> list[str]:
    """Of which the first are the most used, and some are another's acronym."""
    return [" ".join(chance.sample(WORDS, chance.choice((1, 2, 2, 3)))) for _ in range(150)]


def _acronym(name: str) -> str:
    return "".join(word[0] for word in name.split()).upper()


def _paper(number: int, names: list[str], chance: random.Random) -> Contribution:
    paper = f"paper{number:03d}"
    facts: dict[str, Any] = {"year": 2000 + number % 20, "venue": chance.choice(("Nature", "Science"))}
    chunks = tuple(
        make_chunk(paper, place, **facts, tags=chance.choice(((), ("read",), ("to read", "x"))))
        for place in range(1, 6)
    )
    used = [chance.choice(names[: chance.choice((5, 20, 150))]) for _ in range(12)]
    mentions = [
        Mention(
            chance.choice((name, name.title(), _acronym(name))),
            chance.choice(chunks).address,
            chance.randint(1, 5),
            round(chance.random(), 3),
            chance.choice(list(Role)),
        )
        for name in used
    ]
    triples = [
        Triple(
            chance.choice(used),
            chance.choice(list(Predicate)),
            chance.choice(used),
            round(chance.uniform(0.5, 1), 2),
            chance.choice(chunks).address,
            f"Sentence {index} of {paper}.",
            index,
            index + 20,
        )
        for index in range(5)
    ]
    concepts = [
        Concept(name, (_acronym(name),) if chance.random() < 0.3 else (), f"{name} is defined by {paper}.")
        for name in used[:6]
    ]
    cites = [Work(f"10.1/{chance.randrange(PAPERS)}", f"title {chance.randrange(PAPERS)}") for _ in range(3)]
    cites += [Work("", f"title {chance.randrange(PAPERS)}") for _ in range(2)]
    work = Work(f"10.1/{number}" if number % 3 else "", f"title {number}")
    return Contribution(paper, chunks, tuple(concepts), tuple(mentions), tuple(triples), work, tuple(cites))


@cache
def library() -> tuple[Contribution, ...]:
    chance = random.Random(11)  # noqa: S311
    names = _names(chance)
    curated = Contribution(
        CURATED,
        concepts=(Concept("Segment Tree", ("ST", names[3]), "Mine."), Concept(names[0].upper())),
        mentions=(Mention("Segment Tree", "paper001/ch1/s1/p1", 1, 1.0, Role.DISCUSSES),),
        triples=(Triple("Segment Tree", Predicate.PREREQUISITE, names[5], 1.0, "", "I say so."),),
    )
    return (*(_paper(number, names, chance) for number in range(PAPERS)), curated)


def everything(graph: GraphStore) -> dict[str, Any]:
    rows = graph.find("", limit=10_000)
    keys = [row.key for row in rows]
    chance = random.Random(5)  # noqa: S311
    some = chance.sample(keys, 30)
    misspelt = [f"{key[:3]}{key[4:]}" for key in some]
    return {
        "rows": rows,
        "papers": graph.papers(),
        "size": graph.size(),
        "resolved": graph.resolve([*map(str.upper, keys), *map(_acronym, keys)]),
        "found": [graph.find(word, limit=7) for word in (*WORDS, "st", "tree g")],
        "near": [graph.near(name, edits=2, limit=5) for name in misspelt],
        "relations": graph.relations(keys),
        "some relations": graph.relations(some[:5], predicates=[Predicate.USES, Predicate.PART_OF]),
        "triples": graph.triples(some),
        "spots": graph.spots(keys, limit=4, where=WHERE),
        "spots of papers": graph.spots(some, limit=9, where=Filter(paper_ids=frozenset({"paper003", "paper007"}))),
        "spoken": graph.spoken([f"paper{number:03d}/ch1/s1/p1" for number in range(0, PAPERS, 3)]),
        "citations": graph.citations(),
        "citations of some": graph.citations(["paper003", "paper010"]),
        "ranked": [Concepts(graph).hits(" and ".join(pair), 50, EVERYTHING) for pair in pairwise(some)],
        "ranked, of some": Concepts(graph, hops=1).hits(" ".join(some[:4]), 50, WHERE),
    }


def papers() -> list[Contribution]:
    """What the papers that Carrel ships contribute, by its own extraction."""
    place = Path(carrel.__file__).parent / "demo" / "papers"
    with tempfile.TemporaryDirectory() as folder, Library.init(folder, embedder=HashedWords()) as library:
        library.add(place)
        rows, catalog = library.list(), library.stores.catalog
        return [
            contribution(row.reference, catalog.chunks_of([row.reference.id]), work=Work(), cites=(), extractor=Rules())
            for row in rows
        ]


def read(graph: GraphStore) -> dict[str, Any]:
    rows = graph.find("", limit=10_000)
    names = [row.concept.name for row in rows[:12]]
    asked = ("citation recommendation with SPECTER", "knowledge graph of Semantic Scholar", "digital libraries")
    return {
        "rows": rows,
        "triples": graph.triples([row.key for row in rows]),
        "ranked": [Concepts(graph).hits(question, 20, EVERYTHING) for question in asked],
        "paths": [Concepts(graph).told(question) for question in asked],
        "spoken": graph.spoken([spot.address for spot in graph.spots([rows[0].key], limit=9, where=EVERYTHING)]),
        "near": [graph.near(name[1:], edits=2, limit=3) for name in names],
    }


def built(graph: GraphStore) -> GraphStore:
    """In batches, with some papers changed and some removed on the way."""
    papers = library()
    for start in range(0, len(papers), 50):
        graph.put(papers[start : start + 50])
    graph.put([Contribution("paper005"), Contribution("passing", concepts=papers[9].concepts)])
    graph.delete(["passing", *(f"paper{number:03d}" for number in range(0, 40, 4))])
    graph.put(papers[:12:2])
    return graph


@cache
def shipped() -> tuple[Contribution, ...]:
    return tuple(papers())


@cache
def expected() -> dict[str, Any]:
    graph = MemoryGraph()
    gone = {f"paper{number:03d}" for number in range(0, 40, 4)} - {paper.paper_id for paper in library()[:12:2]}
    graph.put([paper for paper in library() if paper.paper_id not in {*gone, "paper005"}])
    graph.put([Contribution("paper005")])
    return everything(graph)


@pytest.fixture(scope="module", params=KEPT)
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    graph = make(request.param, request, tmp_path_factory, namespace="carrel_congruence").open()
    graph.clear()
    yield everything(built(graph))
    graph.clear()
    graph.close()


def test_every_store_gives_the_same_answers(told: dict[str, Any]) -> None:
    assert told.keys() == expected().keys()
    for question, answer in expected().items():
        assert told[question] == answer, question


@pytest.mark.parametrize("kind", KEPT)
def test_real_papers_have_the_same_graph_on_every_store(
    kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    memory, graph = MemoryGraph(), make(kind, request, tmp_path_factory, namespace="carrel_real").open()
    graph.clear()
    memory.put(shipped())
    graph.put(shipped())
    expected = read(memory)
    assert all(expected["ranked"])
    assert expected["triples"]
    for question, answer in read(graph).items():
        assert answer == expected[question], question
    graph.clear()
    graph.close()


def test_there_is_enough_to_disagree_about() -> None:
    answers = expected()
    assert all(answers["ranked"])
    assert len(answers["rows"]) > 100
    assert len(answers["relations"]) > 300
    assert len(answers["citations"]) > 100
    assert len(answers["spots"]) > 100
    assert sum(key != name.casefold() for name, key in answers["resolved"].items()) > 20
    assert any(found for found in answers["near"])
