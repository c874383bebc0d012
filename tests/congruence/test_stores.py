"""One library on every combination of stores: what the embedded one finds, each of them finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean

import pytest

from carrel import Library
from carrel.types import EVERYTHING, QUOTABLE, Chunk, Filter, Hit, Mode, Strategy
from tests.congruence import combinations, shelf
from tests.congruence.combinations import Combination

SCORE = 1e-5
LIMIT = 10


@dataclass(frozen=True)
class Pair:
    name: str
    embedded: Library
    """The same papers in a library of files."""
    library: Library

    @cached_property
    def both(self) -> tuple[Library, Library]:
        return self.embedded, self.library

    @property
    def has_own(self) -> set[str]:
        """Which stores are not those of the embedded library."""
        chosen, usual = self.library.settings, self.embedded.settings
        names = ("vectors", "keywords", "graph")
        return {name for name in names if getattr(chosen, name) != getattr(usual, name)}


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Combination], Library]]:
    """What a combination is compared with, made once."""
    made: dict[tuple[bool, int], Library] = {}

    def library(one: Combination) -> Library:
        has_graph = "concepts.extractor" not in one.beside
        if (has_graph, one.papers) not in made:
            settings = {} if has_graph else combinations.WITHOUT_GRAPH
            folder = tmp_path_factory.mktemp("embedded") / "library"
            made[has_graph, one.papers] = shelf.made(folder, settings, one.papers)
        return made[has_graph, one.papers]

    yield library
    for one in made.values():
        one.close()


@pytest.fixture(scope="module", params=combinations.ALL)
def pair(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    embedded: Callable[[Combination], Library],
) -> Iterator[Pair]:
    combination = combinations.ALL[request.param]
    settings = combination.chosen(request.getfixturevalue, re.sub(r"\W+", "_", request.param))
    like, folder = embedded(combination), tmp_path_factory.mktemp("served") / "library"
    with shelf.made(folder, settings, combination.papers, like=like) as library:
        yield Pair(request.param, like, library)


def by_meaning(library: Library, query: str, where: Filter = EVERYTHING, limit: int = LIMIT) -> list[Hit]:
    stores = library.stores
    return stores.vectors.search(stores.embedder.embed_query(query), limit=limit, where=where)


def by_words(library: Library, query: str, where: Filter = EVERYTHING, limit: int = LIMIT) -> list[Hit]:
    return library.stores.keywords.search(query, limit=limit, where=where)


def addresses(hits: Sequence[Hit]) -> list[str]:
    return [hit.address for hit in hits]


def shared(some: Sequence[str], others: Sequence[str]) -> float:
    return len({*some} & {*others}) / max(len(some), len(others), 1)


def test_the_stores_hold_the_same_and_agree(pair: Pair) -> None:
    usual, served = (library.stores for library in pair.both)
    assert served.vectors.addresses() == usual.vectors.addresses() == served.catalog.addresses()
    assert served.vectors.count() == usual.vectors.count() >= len(pair.embedded.list())
    assert served.keywords.addresses() == usual.keywords.addresses()
    assert served.keywords.count() == usual.keywords.count()
    assert served.graph.size() == usual.graph.size()
    assert pair.library.verify().problems == ()


def test_the_same_passages_are_nearest_in_meaning(pair: Pair) -> None:
    for query in shelf.queries():
        usual, served = (by_meaning(library, query) for library in pair.both)
        assert addresses(served) == addresses(usual), query
        assert [hit.score for hit in served] == pytest.approx([hit.score for hit in usual], abs=SCORE)


def test_the_same_passages_have_the_words(pair: Pair) -> None:
    """All that have one; which are the best of them is a matter of how each index weighs words."""
    everything, agreement = 10 * shelf.PAPERS, []
    for query in shelf.queries():
        usual, served = (by_words(library, query, limit=everything) for library in pair.both)
        assert {*addresses(served)} == {*addresses(usual)}, query
        words = [library.stores.keywords.matches(query, where=EVERYTHING) for library in pair.both]
        assert words == [len(usual), len(usual)]
        agreement.append(shared(addresses(usual)[:LIMIT], addresses(served)[:LIMIT]))
    assert mean(agreement) >= (0.95 if "keywords" in pair.has_own else 1.0), mean(agreement)


def test_the_same_passages_are_found_by_concepts(pair: Pair) -> None:
    if not pair.library.stores.extractor:
        assert pair.library.stores.graph.papers() == set()
        return
    found, titles = 0, [row.reference.title for row in pair.embedded.list()[:LIMIT]]
    for query in titles:
        usual, served = (library.search(query, mode=Mode.GRAPH, limit=LIMIT) for library in pair.both)
        assert served.concepts == usual.concepts
        assert [(one.chunk.address, one.path) for one in served.passages] == [
            (one.chunk.address, one.path) for one in usual.passages
        ]
        found += bool(usual.passages)
    assert found > len(titles) / 2


def test_the_same_passages_come_first_where_every_arm_has_a_say(pair: Pair) -> None:
    agreement = []
    for query in shelf.queries():
        usual, served = (library.search(query, limit=LIMIT) for library in pair.both)
        assert (served.degraded, served.strategy) == ((), Strategy.HYBRID)
        first, second = ([one.chunk.address for one in result.passages] for result in (usual, served))
        agreement.append(shared(first, second))
        if "keywords" not in pair.has_own:
            assert second == first, query
    assert mean(agreement) >= 0.95, mean(agreement)


def test_no_filter_lets_anything_else_through(pair: Pair) -> None:
    texts = {chunk.address: chunk for chunk in _chunks(pair.library)}
    for number, where in enumerate(shelf.filters()):
        query = shelf.queries()[number % len(shelf.queries())]
        usual, served = (by_meaning(library, query, where) for library in pair.both)
        words, ours = (by_words(library, query, where, limit=shelf.PAPERS) for library in pair.both)
        found = pair.library.search(query, where=where, limit=LIMIT).passages
        assert all(where.matches(texts[hit.address]) for hit in (*served, *ours)), where
        assert all(where.matches(one.chunk) for one in found), where
        assert addresses(served) == addresses(usual), where
        assert {*addresses(ours)} == {*addresses(words)}, where


def test_what_is_removed_is_in_no_store_and_back_when_it_is_added_again(pair: Pair) -> None:
    stores, gone = pair.library.stores, [one.reference.id for one in pair.library.list()[::5]]
    before = {address: stores.vectors.get(address) for address in (f"{gone[0]}/abstract", f"{gone[-1]}/abstract")}
    pair.library.remove(*gone)
    left = {chunk.address for chunk in _chunks(pair.library)}
    assert stores.vectors.addresses() == left
    assert stores.keywords.addresses() <= left
    assert stores.graph.papers().isdisjoint(gone)
    assert stores.vectors.count() == len(left)
    for paper_id in gone:
        where = Filter(paper_ids=frozenset({paper_id}), kinds=QUOTABLE)
        title = next(one.title for one in shelf.papers() if one.id == paper_id)
        assert by_meaning(pair.library, title, where) == []
        assert by_words(pair.library, title, where) == []
        assert all(hit.address.partition("/")[0] != paper_id for hit in by_meaning(pair.library, title))
    assert pair.library.verify().problems == ()
    pair.library.add(pair.library.layout.root.parent / shelf.FILE)
    assert pair.library.verify().problems == ()
    assert stores.vectors.addresses() == pair.embedded.stores.vectors.addresses()
    for address, vector in before.items():
        assert stores.vectors.get(address) == pytest.approx(vector, abs=SCORE)


def _chunks(library: Library) -> list[Chunk]:
    return library.stores.catalog.chunks_of([row.reference.id for row in library.list()])
