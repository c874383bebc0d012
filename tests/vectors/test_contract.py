"""What every vector store promises."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given

from carrel.errors import DimensionMismatchError, InvalidInput
from carrel.testing import MemoryVectors
from carrel.types import EVERYTHING, Filter, Hit
from carrel.vectors import VectorStore
from carrel.vectors.flat import FlatVectors
from carrel.vectors.lance import LanceVectors
from carrel.vectors.milvus import MilvusVectors
from carrel.vectors.pgvector import PgVectors
from tests import servers
from tests.builders import FILTERS, SINGLE_FILTERS, make_chunk, varied_chunks
from tests.milvus_places import place
from tests.vectors import iris_double

if TYPE_CHECKING:
    from pathlib import Path

    from carrel.types import Chunk, Matrix

DIM = 8
VARIED = varied_chunks(60)


def unit_rows(count: int, *, seed: int = 1, dim: int = DIM) -> Matrix:
    rows = np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


ROWS = unit_rows(60)


@dataclass(frozen=True)
class Maker:
    """Opens stores of one kind; what one opening wrote the next one finds, where the kind has a disk."""

    kind: str
    directory: Path
    address: str = ""
    namespace: str = field(default_factory=lambda: f"carrel_vectors_{uuid.uuid4().hex}")
    opened: list[VectorStore] = field(default_factory=list)

    def open(self, model: str = "model-a", dim: int = DIM) -> VectorStore:
        self.opened.append(self._opened(model, dim))
        return self.opened[-1]

    def _opened(self, model: str, dim: int) -> VectorStore:
        if self.kind == "memory":
            return MemoryVectors(model=model, dim=dim)
        if self.kind == "lance":
            return LanceVectors(self.directory, model=model, dim=dim)
        if self.kind == "pgvector":
            argument = self.address.removeprefix("postgresql:")
            place: dict[str, Any] = {"kind": "postgresql", "argument": argument, "namespace": self.namespace}
            return PgVectors(model=model, dim=dim, password=servers.PASSWORD, **place)
        if self.kind.startswith("milvus"):
            argument = self.address.removeprefix("milvus:")
            return MilvusVectors("milvus", argument, model=model, dim=dim, namespace=self.namespace)
        if self.kind == "iris":
            return iris_double.make(self.directory.with_suffix(".iris"), model=model, dim=dim, namespace=self.namespace)
        return FlatVectors(self.directory, model=model, dim=dim)


SERVERS = {"pgvector": "postgresql_server", "milvus": "milvus_server"}
"""By the kind of store, the fixture of its server."""


def made(request: pytest.FixtureRequest, directory: Path) -> Iterator[Maker]:
    server = SERVERS.get(request.param)
    maker = Maker(request.param, directory, request.getfixturevalue(server).address if server else "")
    with ExitStack() as places:
        if request.param.startswith("milvus"):
            maker = replace(maker, namespace=places.enter_context(place(maker.address, model="model-a")))
        yield maker
        for store in maker.opened:
            store.close()


@pytest.fixture(params=["flat", "memory", "lance", "pgvector", "milvus", "iris"])
def maker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Maker]:
    yield from made(request, tmp_path / "vectors")


@pytest.fixture(params=["flat", "lance", "pgvector", "milvus", "iris"])
def on_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Maker]:
    yield from made(request, tmp_path / "vectors")


@pytest.fixture
def store(maker: Maker) -> VectorStore:
    return maker.open()


@pytest.fixture(scope="module", params=["flat", "memory", "lance", "pgvector", "milvus", "iris"])
def filled_by(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maker]:
    yield from made(request, tmp_path_factory.mktemp("filled"))


@pytest.fixture(scope="module")
def filled(filled_by: Maker) -> VectorStore:
    """Sixty varied chunks, put in four steps with a deletion between, so that nothing lies in one piece."""
    store = filled_by.open()
    extra = [make_chunk("extra", number) for number in range(1, 60)]
    store.put(extra, unit_rows(59, seed=2))
    for paper_id in sorted({chunk.paper_id for chunk in VARIED}):
        at = [position for position, chunk in enumerate(VARIED) if chunk.paper_id == paper_id]
        store.put([VARIED[position] for position in at], ROWS[at])
    store.delete(["extra"])
    return store


def test_a_store_beside_is_searched_once_it_is_adopted(maker: Maker) -> None:
    store = maker.open()
    old = put_one(store, "old")
    other = store.beside(model="model-b", dim=4)
    new, gone = make_chunk("new"), make_chunk("gone")
    other.put([new, gone], unit_rows(2, dim=4))
    other.delete(["gone"])
    assert (store.model, store.dim, store.addresses()) == ("model-a", DIM, {old.address})
    assert [hit.address for hit in store.search(ROWS[0], limit=5, where=EVERYTHING)] == [old.address]
    store.adopt(other)
    assert (store.model, store.dim, store.addresses(), store.count()) == ("model-b", 4, {new.address}, 1)
    query = unit_rows(2, dim=4)[0]
    assert store.search(query, limit=5, where=EVERYTHING) == [Hit(new.address, 1.0)]
    with pytest.raises(DimensionMismatchError):
        store.search(ROWS[0], limit=5, where=EVERYTHING)
    store.put([make_chunk("more")], unit_rows(1, dim=4))
    assert store.count() == 2


def test_what_was_begun_beside_is_taken_up_if_it_is_of_that_model(maker: Maker) -> None:
    store = maker.open()
    put_one(store.beside(model="model-b", dim=DIM), "begun")
    assert store.beside(model="model-b", dim=DIM).count() == 1
    assert store.beside(model="model-c", dim=DIM).count() == 0
    other = store.beside(model="model-b", dim=DIM)
    assert other.count() == 0
    put_one(other, "again")
    store.adopt(other)
    assert store.beside(model="model-b", dim=DIM).count() == 0


def test_only_what_was_made_beside_a_store_is_adopted(maker: Maker) -> None:
    store = maker.open()
    with pytest.raises(ValueError, match="made beside this store"):
        store.adopt(MemoryVectors(model="model-b", dim=DIM))


def test_another_reader_has_what_was_adopted(on_disk: Maker) -> None:
    store, reader = on_disk.open(), on_disk.open()
    put_one(store, "old")
    assert reader.count() == 1
    other = on_disk.open().beside(model="model-b", dim=DIM)
    put_one(other, "new")
    put_one(other, "newer", row=1)
    store.adopt(other)
    assert (reader.count(), reader.model) == (2, "model-b")
    assert (on_disk.open(model="model-b").count(), on_disk.open(model="model-b").model) == (2, "model-b")


@pytest.mark.parametrize("dim", [DIM, 4])
def test_a_reader_that_searches_knows_afterwards_whose_vectors_it_searched(on_disk: Maker, dim: int) -> None:
    store, reader = on_disk.open(), on_disk.open()
    put_one(store, "old")
    assert [hit.address for hit in reader.search(ROWS[0], limit=5, where=EVERYTHING)] == ["old/ch1/s1/p1"]
    other = store.beside(model="model-b", dim=dim)
    other.put([make_chunk("new")], unit_rows(1, dim=dim))
    store.adopt(other)
    if dim == DIM:
        assert [hit.address for hit in reader.search(ROWS[0], limit=5, where=EVERYTHING)] == ["new/ch1/s1/p1"]
    else:
        with pytest.raises(DimensionMismatchError, match=r"8 != 4.*'model-b'"):
            reader.search(ROWS[0], limit=5, where=EVERYTHING)
    assert (reader.model, reader.dim) == ("model-b", dim)
    assert reader.many(["new/ch1/s1/p1"]).keys() == {"new/ch1/s1/p1"}


def put_one(store: VectorStore, paper_id: str, row: int = 0) -> Chunk:
    chunk = make_chunk(paper_id)
    store.put([chunk], ROWS[row : row + 1])
    return chunk


def everything_like(store: VectorStore, row: int, where: Filter = EVERYTHING) -> list[Hit]:
    return store.search(ROWS[row], limit=1000, where=where)


def test_it_is_a_vector_store_of_the_model_it_was_made_for(store: VectorStore) -> None:
    assert isinstance(store, VectorStore)
    assert (store.model, store.dim, store.count(), store.addresses()) == ("model-a", DIM, 0, set())


def test_what_is_put_while_it_is_filled_is_found_at_once_and_afterwards(store: VectorStore) -> None:
    with store.filling():
        store.put(VARIED, ROWS)
        during = store.search(ROWS[0], limit=1, where=EVERYTHING)
    assert during == store.search(ROWS[0], limit=1, where=EVERYTHING)
    assert [hit.address for hit in during] == [VARIED[0].address]


def test_nothing_of_a_small_store_waits_for_an_index(filled: VectorStore) -> None:
    assert filled.unindexed() == 0


def test_an_empty_store_finds_nothing(store: VectorStore) -> None:
    assert everything_like(store, 0) == []


def test_a_vector_finds_itself_first_with_similarity_one(filled: VectorStore) -> None:
    for row, chunk in enumerate(VARIED):
        first, second = filled.search(ROWS[row], limit=2, where=EVERYTHING)
        assert first.address == chunk.address
        assert first.score == pytest.approx(1.0, abs=1e-5)
        assert second.score < first.score


def test_hits_are_the_cosines_in_falling_order(filled: VectorStore) -> None:
    hits = everything_like(filled, 3)
    expected = {chunk.address: float(ROWS[row] @ ROWS[3]) for row, chunk in enumerate(VARIED)}
    assert {hit.address: hit.score for hit in hits} == pytest.approx(expected, abs=1e-5)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("limit", [1, 2, 7, 59, 60, 61])
def test_a_limit_cuts_the_same_list(filled: VectorStore, limit: int) -> None:
    assert filled.search(ROWS[5], limit=limit, where=EVERYTHING) == everything_like(filled, 5)[:limit]


@pytest.mark.parametrize("limit", [1, 3, 5, 100])
def test_equal_scores_are_ordered_by_address_and_the_first_of_them_kept(store: VectorStore, limit: int) -> None:
    for number in (9, 2, 7):
        put_one(store, f"paper{number}")
    store.put([make_chunk("many", number) for number in (8, 3, 5)], ROWS[[0, 0, 0]])
    expected = sorted([*(f"many/ch1/s1/p{n}" for n in (3, 5, 8)), *(f"paper{n}/ch1/s1/p1" for n in (2, 7, 9))])
    hits = store.search(ROWS[0], limit=limit, where=EVERYTHING)
    assert [hit.address for hit in hits] == expected[:limit]
    assert {hit.score for hit in hits} == {1.0}


def test_scores_never_leave_minus_one_to_one(store: VectorStore) -> None:
    slightly_long = ROWS[:1] * np.float32(1.0009)
    store.put([make_chunk("long", 1), make_chunk("long", 2)], np.concatenate([slightly_long, -slightly_long]))
    assert [hit.score for hit in store.search(slightly_long[0], limit=2, where=EVERYTHING)] == [1.0, -1.0]


@pytest.mark.parametrize("where", SINGLE_FILTERS)
def test_each_filter_means_what_filter_matches_says(filled: VectorStore, where: Filter) -> None:
    assert {hit.address for hit in everything_like(filled, 0, where)} == {c.address for c in VARIED if where.matches(c)}


@given(where=FILTERS)
def test_filters_together_mean_what_filter_matches_says(filled: VectorStore, where: Filter) -> None:
    allowed = {chunk.address for chunk in VARIED if where.matches(chunk)}
    assert everything_like(filled, 0, where) == [hit for hit in everything_like(filled, 0) if hit.address in allowed]


def test_the_limit_counts_what_the_filter_lets_through(filled: VectorStore) -> None:
    where = Filter(year_min=2020)
    assert filled.search(ROWS[0], limit=3, where=where) == everything_like(filled, 0, where)[:3]


def test_a_vector_is_got_by_its_address(filled: VectorStore) -> None:
    for chunk, row in zip(VARIED, ROWS, strict=True):
        found = filled.get(chunk.address)
        if chunk.address in filled.addresses():
            assert found is not None
            assert np.array_equal(found, row)


def test_an_address_that_is_not_held_has_no_vector(store: VectorStore) -> None:
    chunks = [make_chunk("ab", 0), make_chunk("b", 0), make_chunk("gone", 0)]
    store.put(chunks, unit_rows(3))
    store.delete({"gone"})
    for address in ("", "b", chunks[1].address[:-1], f"{chunks[1].address}x", chunks[2].address, "\ud800"):
        assert store.get(address) is None
    found = store.get(chunks[1].address)
    assert found is not None
    assert np.array_equal(found, unit_rows(3)[1])


def test_many_vectors_are_got_by_their_addresses_and_what_is_not_held_is_left_out(filled: VectorStore) -> None:
    wanted = [*(chunk.address for chunk in VARIED), "extra/ch1/s1/p1", "nobody/abstract", "", "/", "\ud800/note"]
    found = filled.many([*wanted, wanted[0]])
    assert sorted(found) == sorted(chunk.address for chunk in VARIED)
    assert all(np.array_equal(found[chunk.address], row) for chunk, row in zip(VARIED, ROWS, strict=True))
    assert filled.many([]) == {}


def test_addresses_are_told_apart_whatever_their_papers_are_called(store: VectorStore) -> None:
    papers = ("", "a", "a/b", "a/ch1", "a/ch1/s1", "ä", "x" * 1000, "a\n", "b")
    chunks = [make_chunk(paper_id, number) for paper_id in papers for number in (1, 11)]
    rows = unit_rows(len(chunks))
    for first in range(0, len(chunks), 2):
        store.put(chunks[first : first + 2], rows[first : first + 2])
    store.delete(["b"])
    found = store.many({chunk.address for chunk in chunks})
    assert sorted(found) == sorted(chunk.address for chunk in chunks if chunk.paper_id != "b")
    assert all(np.array_equal(found[one.address], row) for one, row in zip(chunks[:-2], rows, strict=False))


def test_what_is_got_may_be_changed_without_harm(store: VectorStore) -> None:
    chunk = put_one(store, "a")
    store.many([chunk.address])[chunk.address][:] = 0.0
    assert everything_like(store, 0) == [Hit(chunk.address, 1.0)]


def test_a_put_replaces_all_that_its_papers_had(store: VectorStore) -> None:
    store.put([make_chunk("a", number) for number in (1, 2, 3)], ROWS[:3])
    other = put_one(store, "b", row=3)
    store.put([make_chunk("a", 2, year=1999), make_chunk("a", 9)], ROWS[4:6])
    assert store.addresses() == {"a/ch1/s1/p2", "a/ch1/s1/p9", other.address}
    assert store.count() == 3
    assert everything_like(store, 4, Filter(year_max=2000)) == [Hit("a/ch1/s1/p2", 1.0)]


def test_one_put_may_hold_several_papers(store: VectorStore) -> None:
    store.put([make_chunk("a", 1), make_chunk("b", 1), make_chunk("a", 2)], ROWS[:3])
    store.put([make_chunk("b", 7), make_chunk("c", 1)], ROWS[3:5])
    assert store.addresses() == {"a/ch1/s1/p1", "a/ch1/s1/p2", "b/ch1/s1/p7", "c/ch1/s1/p1"}


def test_a_put_of_nothing_changes_nothing(store: VectorStore) -> None:
    chunk = put_one(store, "a")
    store.put([], ROWS[:0])
    assert store.addresses() == {chunk.address}


def test_the_callers_matrix_may_change_after_a_put(store: VectorStore) -> None:
    rows = ROWS[:1].copy()
    store.put([make_chunk("a")], rows)
    rows[:] = 0.0
    assert everything_like(store, 0) == [Hit("a/ch1/s1/p1", 1.0)]


def test_deleting_forgets_exactly_those_papers(store: VectorStore) -> None:
    for row, paper_id in enumerate(("a", "aa", "b", "a/b")):
        put_one(store, paper_id, row)
    store.delete(["a", "b"])
    assert store.addresses() == {"aa/ch1/s1/p1", "a/b/ch1/s1/p1"}
    assert {hit.address for hit in everything_like(store, 0)} == store.addresses()


def test_deleting_what_is_not_there_is_no_error(store: VectorStore) -> None:
    store.delete(["nobody"])
    chunk = put_one(store, "a")
    store.delete({"nobody", ""})
    store.delete([])
    assert store.addresses() == {chunk.address}


def test_a_deleted_paper_can_come_back(store: VectorStore) -> None:
    put_one(store, "a")
    store.delete(["a"])
    assert (store.count(), everything_like(store, 0)) == (0, [])
    put_one(store, "a", row=1)
    assert everything_like(store, 1) == [Hit("a/ch1/s1/p1", 1.0)]


def test_hostile_ids_come_back_as_they_went_in(store: VectorStore) -> None:
    papers = ("", "../..", 'a"b', "naïve 漢字 🙂", "x" * 10_000, "line\nline", "null")
    for paper_id in papers:
        put_one(store, paper_id)
    assert store.addresses() == {f"{paper_id}/ch1/s1/p1" for paper_id in papers}
    store.delete(papers[:4])
    assert store.addresses() == {f"{paper_id}/ch1/s1/p1" for paper_id in papers[4:]}


def test_any_year_is_held(store: VectorStore) -> None:
    store.put([make_chunk("a", 1, year=10**11), make_chunk("a", 2, year=2020)], ROWS[:2])
    assert everything_like(store, 0, Filter(year_min=10**10)) == [Hit("a/ch1/s1/p1", 1.0)]


def test_clearing_makes_room_for_another_model(store: VectorStore) -> None:
    put_one(store, "a")
    store.clear(model="model-b", dim=4)
    assert (store.model, store.dim, store.count()) == ("model-b", 4, 0)
    row = unit_rows(1, dim=4)
    store.put([make_chunk("a")], row)
    assert store.search(row[0], limit=1, where=EVERYTHING) == [Hit("a/ch1/s1/p1", 1.0)]


@pytest.mark.parametrize("rows", [0, 1])
def test_a_query_of_another_dimension_is_refused_with_both_dimensions_and_the_model(
    store: VectorStore, rows: int
) -> None:
    store.put([make_chunk()][:rows], ROWS[:rows])
    with pytest.raises(DimensionMismatchError, match=r"5 != 8.*'model-a'") as caught:
        store.search(unit_rows(1, dim=5)[0], limit=1, where=EVERYTHING)
    assert "model-a" in caught.value.hint


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(store: VectorStore, limit: int) -> None:
    with pytest.raises(InvalidInput, match=str(limit)):
        store.search(ROWS[0], limit=limit, where=EVERYTHING)


def test_a_query_that_is_not_finite_is_refused(store: VectorStore) -> None:
    with pytest.raises(InvalidInput, match="finite"):
        store.search(np.full(DIM, np.nan, dtype=np.float32), limit=1, where=EVERYTHING)


@pytest.mark.parametrize(
    ("numbers", "rows", "reason"),
    [
        ((1, 1), ROWS[:2], "same address twice"),
        ((1, 2), ROWS[:1], r"\(2, 8\) matrix, got \(1, 8\)"),
        ((1,), unit_rows(1, dim=5), r"\(1, 8\) matrix, got \(1, 5\)"),
        ((1,), ROWS[:1] * 2, "unit length"),
        ((1,), ROWS[:1] * np.nan, "finite"),
    ],
)
def test_a_put_that_is_refused_leaves_the_old_state(
    store: VectorStore, numbers: tuple[int, ...], rows: Matrix, reason: str
) -> None:
    put_one(store, "a", row=7)
    with pytest.raises(InvalidInput, match=reason):
        store.put([make_chunk("a", number) for number in numbers], rows)
    assert everything_like(store, 7) == [Hit("a/ch1/s1/p1", 1.0)]


def test_a_closed_store_can_be_opened_again_and_says_the_same(on_disk: Maker) -> None:
    before = on_disk.open()
    before.put(VARIED, ROWS)
    before.delete(["o'neil/2021"])
    where = Filter(venue="nature", year_min=2019)
    expected = (before.addresses(), everything_like(before, 0), everything_like(before, 0, where))
    before.close()
    after = on_disk.open()
    assert (after.addresses(), everything_like(after, 0), everything_like(after, 0, where)) == expected


def test_a_store_opened_for_another_model_keeps_its_own_and_takes_no_vectors_of_the_other(on_disk: Maker) -> None:
    put_one(on_disk.open(), "a")
    other = on_disk.open(model="model-b", dim=4)
    assert (other.model, other.dim, other.count()) == ("model-a", DIM, 1)
    with pytest.raises(InvalidInput, match=r"'model-a' \(8D\), not of 'model-b'"):
        other.put([make_chunk("b")], unit_rows(1, dim=4))
