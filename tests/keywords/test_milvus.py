"""What is particular to words on a Milvus server. The small one stands for those from 2.5 on."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from carrel import registry
from carrel.databases.milvus import MilvusServer
from carrel.errors import StoreUnavailable
from carrel.keywords import KeywordIndex
from carrel.keywords.milvus import MilvusKeywords
from carrel.keywords.tantivy import TantivyKeywords
from carrel.types import EVERYTHING, Filter
from carrel.vectors.milvus import MilvusVectors
from tests import servers
from tests.builders import make_chunk
from tests.milvus_places import connected, place

WORDS = (
    "dense sparse retrieval of passages neural networks for ranking graph attention memory long short term lstm "
    "transformer language models evaluation benchmark learning rate optimisation gradient descent sampling"
).split()
AUTHORS = ("Ada Lovelace", "José García", "王小明")


def opened(address: str, name: str) -> MilvusKeywords:
    return MilvusKeywords("milvus", address.removeprefix("milvus:"), namespace=name)


@pytest.fixture(scope="module")
def address(milvus_lite_server: servers.Server) -> str:
    return milvus_lite_server.address


@pytest.fixture
def name(address: str) -> Iterator[str]:
    with place(address) as made:
        yield made


@pytest.fixture
def index(address: str, name: str) -> MilvusKeywords:
    return opened(address, name)


@pytest.fixture(scope="module")
def both(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[KeywordIndex, KeywordIndex]]:
    """The same eighty chunks in an index on the server and in the embedded one."""
    chance = random.Random(3)  # noqa: S311
    chunks = [
        make_chunk(
            f"paper{number % 20}",
            number,
            text=" ".join(chance.choices(WORDS, k=12)),
            authors=(chance.choice(AUTHORS),),
            year=2000 + number % 10,
        )
        for number in range(80)
    ]
    with place(address) as name:
        served, embedded = opened(address, name), TantivyKeywords(tmp_path_factory.mktemp("tantivy"))
        for index in (served, embedded):
            index.put(chunks)
        yield served, embedded


PHRASES = some.lists(some.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


@settings(max_examples=30)
@given(
    text=some.lists(some.sampled_from([*WORDS, "lovelace", "garcia", "小明"]), max_size=4).map(" ".join),
    phrases=some.lists(PHRASES, max_size=1),
    also=some.lists(some.tuples(PHRASES, PHRASES), max_size=2),
    where=some.sampled_from([EVERYTHING, Filter(year_min=2005), Filter(paper_ids=frozenset({"paper3", "paper4"}))]),
)
def test_it_finds_what_the_embedded_index_finds(
    both: tuple[KeywordIndex, KeywordIndex], text: str, phrases: list[str], also: list[tuple[str, str]], where: Filter
) -> None:
    served, embedded = (
        {hit.address for hit in index.search(text, limit=100, where=where, phrases=phrases, also=also)}
        for index in both
    )
    assert served == embedded
    counts = [index.matches(text, where=where, phrases=phrases) for index in both]
    assert counts[0] == counts[1]


def test_the_best_are_the_same_as_those_of_the_embedded_index(both: tuple[KeywordIndex, KeywordIndex]) -> None:
    for text in ("neural ranking", "graph attention lovelace", "long short term memory", "gradient"):
        served, embedded = ([hit.address for hit in index.search(text, limit=10, where=EVERYTHING)] for index in both)
        assert len(set(served) & set(embedded)) >= 7, text


@pytest.mark.parametrize("word", ["retreival", "atention", "gradeint", "optimistaion", "lovelase", "transfomers"])
def test_a_word_that_is_spelled_nearly_so_is_found_where_the_embedded_index_finds_it(
    both: tuple[KeywordIndex, KeywordIndex], word: str
) -> None:
    served, embedded = (set(index.near(word, distance=1, beside="", limit=100)) for index in both)
    assert served == embedded != set()


def test_both_stores_may_be_at_one_address(address: str, name: str) -> None:
    where = f"{address}/{name}"
    words = registry.make("keywords", where, namespace="unused", password="")
    vectors = registry.make("vectors", where, model="m", dim=2, namespace="unused", password="")
    assert isinstance(words, MilvusKeywords)
    assert isinstance(vectors, MilvusVectors)
    words.put([make_chunk("a"), make_chunk("b")])
    assert (words.count(), vectors.count()) == (2, 0)
    assert registry.find("keywords", "milvus+s") is MilvusKeywords


def test_a_chunk_with_more_words_than_the_server_takes_is_found_by_all_of_them(index: MilvusKeywords) -> None:
    text = " ".join(["first", *(f"word{number % 5000}" for number in range(12_000)), "last"])
    index.put([make_chunk("long", text=text), make_chunk("short", text="nothing")])
    for word in ("first", "word4999", "last"):
        assert [hit.address for hit in index.search(word, limit=5, where=EVERYTHING)] == ["long/ch1/s1/p1"]


def test_a_word_that_no_chunk_has_any_more_finds_none(index: MilvusKeywords) -> None:
    index.put([make_chunk("a", text="retrieval"), make_chunk("b", text="something")])
    assert index.near("retreival", distance=1, beside="", limit=5) == ["a/ch1/s1/p1"]
    index.delete(["a"])
    assert index.near("retreival", distance=1, beside="", limit=5) == []


def test_a_venue_is_found_by_any_part_of_it(index: MilvusKeywords) -> None:
    venues = ("Proc. 100% [x]_y", "Proc. 100 x y", "Nature\nMethods")
    index.put([make_chunk(f"p{number}", text="words", venue=venue) for number, venue in enumerate(venues)])
    for part, expected in (("100% [X]_", ["p0"]), ("proc", ["p0", "p1"]), ("e\nm", ["p2"]), ("\\", [])):
        where = Filter(venue=part)
        found = [hit.address for hit in index.search("words", limit=5, where=where)]
        assert found == [f"{paper}/ch1/s1/p1" for paper in expected]
        assert index.matches("words", where=where) == len(expected)


def test_clearing_leaves_one_collection_of_each_kind(address: str, name: str, index: MilvusKeywords) -> None:
    index.put([make_chunk("a")])
    index.clear()
    index.clear()
    client = connected(address)
    found = sorted(one for one in client.list_collections() if one.startswith(name))
    assert found == [f"{name}_words_spelling_v3", f"{name}_words_v3"]
    client.close()


def test_words_of_another_version_are_not_read_but_can_be_cleared(
    address: str, name: str, index: MilvusKeywords
) -> None:
    index.put([make_chunk("a")])
    with closing(connected(address)) as client:
        client.alter_collection_properties(f"{name}_words_v1", {"carrel.words": "0"})
    with pytest.raises(StoreUnavailable, match="is of another version") as caught:
        index.count()
    assert "index build --force" in caught.value.hint
    index.clear()
    assert index.count() == 0
    index.put([make_chunk("b")])
    assert index.addresses() == {"b/ch1/s1/p1"}


def test_words_are_learnt_again_once_another_process_has_cleared_them(address: str, name: str) -> None:
    index, other = opened(address, name), opened(address, name)
    for _ in range(2):
        index.put([make_chunk("a", text="retrieval")])
        assert index.near("retreival", distance=1, beside="", limit=5) == ["a/ch1/s1/p1"]
        other.clear()


def test_spellings_that_were_kept_before_they_said_what_they_are_are_kept_on(address: str, name: str) -> None:
    index = opened(address, name)
    index.put([make_chunk("a", text="retrieval")])
    with closing(connected(address)) as client:
        client.drop_collection_properties(f"{name}_words_spelling_v1", ["carrel.spelling"])
        held = client.describe_collection(f"{name}_words_spelling_v1")["properties"]
        assert "carrel.spelling" not in held
    assert opened(address, name).near("retreival", distance=1, beside="", limit=5) == ["a/ch1/s1/p1"]


def test_a_phrase_is_found_in_chunks_that_rank_behind_all_that_the_server_gives(
    index: MilvusKeywords, monkeypatch: pytest.MonkeyPatch
) -> None:
    nearer = [make_chunk(f"p{number}", text="search neural") for number in range(40)]
    behind = [make_chunk(f"q{number}", text=f"neural search {'of passages ' * 30}") for number in range(3)]
    index.put([*nearer, *behind])
    # It filters as the large ones do, of which only so much can be asked.
    monkeypatch.setattr(MilvusServer, "is_lite", False)
    monkeypatch.setattr("carrel.keywords.milvus.MOST", 20)
    found = index.search("", limit=5, where=EVERYTHING, phrases=["neural search"])
    assert sorted(hit.address for hit in found) == [f"q{number}/ch1/s1/p1" for number in range(3)]
    assert all(hit.score > 0 for hit in found)
    assert len(index.search("neural", limit=30, where=EVERYTHING)) == 30


def test_a_server_that_is_not_there_is_said_with_its_address_and_what_else_there_is() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        where = f"milvus://127.0.0.1:{taken.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match=where) as caught:
            opened(where, "carrel_x").search("anything", limit=1, where=EVERYTHING)
    assert time.monotonic() - began < 10
    assert "set keywords = 'tantivy'" in caught.value.hint


def test_a_server_that_is_lost_while_it_is_asked_is_said_each_time() -> None:
    try:
        starting = servers.milvus_lite()
        server = starting.__enter__()
    except servers.CannotStart as reason:
        pytest.skip(str(reason))
    try:
        index = opened(server.address, "carrel_x")
        index.put([make_chunk("a", text="retrieval")])
        server.process.kill()
        server.process.wait()
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                index.search("retrieval", limit=1, where=EVERYTHING)
    finally:
        starting.__exit__(None, None, None)
