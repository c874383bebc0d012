"""All 72 ways to put a library's stores together, over one real collection: each finds what the embedded one finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import pytest

from carrel import Library, registry
from carrel.errors import InvalidInput
from carrel.identifiers import paper_of
from carrel.types import EVERYTHING, Hit, Mode, SearchResult
from tests import servers
from tests.congruence import shelf, side_by_side
from tests.congruence.side_by_side import CHOICES, LIMIT, TOLD, Asked, Choice, Places, Said

SCORE = 1e-5
WORDS = 1.5e-4
"""BM25 has four digits, of which the last may be rounded the other way; so has what is fused of it."""
OF_TEN = 8
"""That two searches have in common at least where one goes by Milvus' BM25."""
NEARLY = 0.9
"""Over many claims: Milvus weighs words by figures of its own, and comes to about 0.94 on these."""


@dataclass(frozen=True)
class Filled:
    """All stores of one library, and what the embedded ones say."""

    folder: Path
    places: Places
    embedded: Said
    sizes: tuple[object, ...]

    def opened(self, choice: Choice) -> Library:
        return Library.open(self.folder, overrides={**TOLD, **self.places.settings(choice)})


@pytest.fixture(scope="module")
def filled(
    tmp_path_factory: pytest.TempPathFactory,
    postgresql_server: servers.Server,
    milvus_server: servers.Server,
    milvus_lite_server: servers.Server,
    bolt_server: servers.Server,
) -> Iterator[Filled]:
    """Taken in once, and moved into every other store."""
    found = postgresql_server, milvus_server, milvus_lite_server, bolt_server
    places, folder = Places(*(one.address for one in found)), tmp_path_factory.mktemp("every") / "library"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry.BUILT_IN["embedders"], side_by_side.EMBEDDER, "tests.congruence.shelf:embedder")
        shelf.made(folder, {}, shelf.MANY).close()
        side_by_side.fill(folder, places)
        with Library.open(folder, overrides=TOLD) as library:
            yield Filled(folder, places, all_said(library), sizes(library))


def all_said(library: Library) -> Said:
    return side_by_side.said(library, side_by_side.questions(), side_by_side.filters())


def some_said(library: Library, turn: int) -> Said:
    """Milvus Lite takes about a second to understand a claim, and is asked one thing at a time."""
    asked = side_by_side.one_of_each(turn)
    return side_by_side.said(library, asked, [asked[0].where], threads=1)


def sizes(library: Library) -> tuple[object, ...]:
    stores = library.stores
    return stores.vectors.addresses(), stores.keywords.addresses(), stores.graph.size(), stores.catalog.addresses()


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_every_combination_finds_what_the_embedded_library_finds(filled: Filled, choice: Choice) -> None:
    with filled.opened(choice) as library:
        assert sizes(library) == filled.sizes
        said = all_said(library) if choice.is_exact else some_said(library, CHOICES.index(choice))
    no_leaks(said)
    for asked, result in said.found.items():
        agrees(asked, result, filled.embedded.found[asked], is_exact=choice.is_exact)
    for where, hits in said.near.items():
        same_hits(hits, filled.embedded.near[where], SCORE)
    for where, hits in said.worded.items():
        if choice.is_exact:
            same_hits(hits, filled.embedded.worded[where], WORDS)
        assert {hit.address for hit in hits} == {hit.address for hit in filled.embedded.worded[where]}


def agrees(asked: Asked, result: SearchResult, usual: SearchResult, *, is_exact: bool) -> None:
    assert (result.degraded, result.strategy, result.matched) == ((), usual.strategy, usual.matched), asked
    assert (result.concepts, result.understood) == (usual.concepts, usual.understood), asked
    if is_exact or asked.mode in (Mode.VECTOR, Mode.GRAPH):
        assert addresses(result) == addresses(usual), asked
        same_scores(result, usual, asked)
    else:
        common = {*addresses(result)} & {*addresses(usual)}
        assert len(common) >= OF_TEN / LIMIT * len(usual.passages), asked
        assert len(result.passages) == len(usual.passages), asked


def no_leaks(said: Said) -> None:
    """As the references have it: no store and no catalog is asked."""
    found = [(asked.where, address) for asked, result in said.found.items() for address in addresses(result)]
    found += [(where, hit.address) for hits in (said.near, said.worded) for where in hits for hit in hits[where]]
    papers = {one.id: one for one in shelf.papers()}
    assert [pair for pair in found if not side_by_side.allows(pair[0], papers[paper_of(pair[1])])] == []


def same_hits(hits: Sequence[Hit], usual: Sequence[Hit], near: float) -> None:
    assert [hit.address for hit in hits] == [hit.address for hit in usual]
    assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in usual], abs=near)


def addresses(result: SearchResult) -> list[str]:
    return [one.chunk.address for one in result.passages]


def same_scores(result: SearchResult, usual: SearchResult, asked: Asked) -> None:
    """Each passage's own, that of fusion, and what every arm said."""
    for one, other in zip(result.passages, usual.passages, strict=True):
        assert one.score == pytest.approx(other.score, abs=SCORE), asked
        assert one.fused.score == pytest.approx(other.fused.score, abs=WORDS), asked
        assert one.fused.arms.keys() == other.fused.arms.keys(), asked
        for arm, said in one.fused.arms.items():
            near = WORDS if arm == "keyword" else SCORE
            assert said.score == pytest.approx(other.fused.arms[arm].score, abs=near), (arm, asked)


def test_there_is_something_to_find_and_something_to_leave_out(filled: Filled) -> None:
    """Else all could agree on nothing."""
    found = filled.embedded.found
    for mode in Mode:
        assert sum(bool(result.passages) for asked, result in found.items() if asked.mode == mode) >= 3, mode
    for where in side_by_side.filters():
        allowed = sum(side_by_side.allows(where, paper) for paper in shelf.papers())
        assert LIMIT < allowed < shelf.MANY or where == EVERYTHING, where
        assert len({paper_of(hit.address) for hit in filled.embedded.near[where]}) == allowed
        assert filled.embedded.worded[where]


def test_milvus_finds_by_words_nearly_what_tantivy_finds(filled: Filled) -> None:
    with (
        filled.opened(Choice("flat", "milvus", "sqlite", "sqlite")) as served,
        filled.opened(side_by_side.EMBEDDED) as embedded,
    ):
        shares = [shared(served, embedded, claim) for claim in shelf.answered(shelf.MANY)]
    assert mean(shares) >= NEARLY, shares


def shared(some: Library, other: Library, claim: str) -> float:
    one, another = (
        {hit.address for hit in library.stores.keywords.search(claim, limit=LIMIT, where=EVERYTHING)}
        for library in (some, other)
    )
    return len(one & another) / max(len(one), len(another))


@pytest.mark.parametrize(("seam", "kind"), [("vectors", "pgvector"), ("keywords", "postgresql")])
def test_what_lives_beside_a_catalog_on_postgresql_is_refused_beside_one_of_files(
    filled: Filled, seam: str, kind: str
) -> None:
    """In the combinations with a catalog of files it is given its own address instead."""
    with (
        Library.open(filled.folder, overrides={**TOLD, seam: kind}) as library,
        pytest.raises(InvalidInput, match=f"the {seam} cannot be kept beside a catalog that is not on PostgreSQL"),
    ):
        library.search("mortality")
