"""What is PostgreSQL's own as a keyword index: tantivy's very scores, many that write, a server that is lost."""

from __future__ import annotations

import gzip
import json
import math
import random
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from carrel import words
from carrel.errors import StoreUnavailable
from carrel.keywords import spelling
from carrel.keywords.postgresql import PostgresqlKeywords, _Search
from carrel.keywords.postgresql_queries import asking
from carrel.keywords.postgresql_tables import rounded
from carrel.keywords.tantivy import TantivyKeywords
from carrel.types import EVERYTHING, Chunk, ChunkKind, Filter
from tests import servers
from tests.builders import make_chunk

COLLECTION = Path(__file__).parents[3] / "shared" / "data" / "retrieval" / "scifact"
NAMES = ("Ada Lovelace", "José García", "王小明", "A. Wellings")
WORDS = """the of and retrieval dense passage index vector zebra neural network translation machine attention
    language model learning deep graph tree memory short term long study result method
    data paper we 自然语言 naïve größere""".split()


def texts(count: int) -> list[Chunk]:
    """Of few words, some of them common and some rare, and of very different lengths."""
    chance = random.Random(3)  # noqa: S311
    return [
        make_chunk(
            f"p{number // 5}",
            number % 5 + 1,
            " ".join(chance.choices(WORDS, [1 / rank for rank in range(1, len(WORDS) + 1)], k=chance.randint(3, 90))),
            title=chance.choice(("", "Dense retrieval", "A study")),
            authors=tuple(chance.sample(NAMES, chance.randrange(3))),
            kind=chance.choice((ChunkKind.ABSTRACT, ChunkKind.PASSAGE)),
            note=chance.choice(("", "", "Ask Ada about the graph.")),
            tags=tuple(chance.sample(("graph", "to read"), chance.randrange(2))),
            year=2000 + number % 7,
        )
        for number in range(count)
    ]


def opened(address: str, name: str = "") -> PostgresqlKeywords:
    name = f"carrel_keywords_{name or uuid.uuid4().hex}"
    argument = address.removeprefix("postgresql:")
    return PostgresqlKeywords(argument=argument, namespace=name, password=servers.PASSWORD)


@pytest.fixture
def index(postgresql_server: servers.Server) -> Iterator[PostgresqlKeywords]:
    with closing(opened(postgresql_server.address)) as index:
        yield index


@pytest.fixture(scope="module")
def filled(postgresql_server: servers.Server) -> Iterator[PostgresqlKeywords]:
    with closing(opened(postgresql_server.address)) as index:
        index.put([make_chunk("gone", number, "the dense zebra") for number in range(1, 9)])
        for start in range(0, 300, 75):
            index.put(texts(300)[start : start + 75])
        index.delete(["gone"])
        yield index


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> TantivyKeywords:
    index = TantivyKeywords(tmp_path_factory.mktemp("tantivy"))
    index.put(texts(300))
    return index


some_words = some.lists(some.sampled_from([*WORDS, "García", "Lovelace", "小明", "absent"]), min_size=1, max_size=12)
some_text = some_words.map(" ".join)


@given(
    text=some_text,
    phrases=some.lists(some_words.map(lambda found: " ".join(found[:2])), max_size=1),
    also=some.lists(some.tuples(some_text, some_text), max_size=2),
    where=some.sampled_from([EVERYTHING, Filter(year_min=2003), Filter(tags=frozenset({"graph"}))]),
)
def test_every_hit_has_the_score_that_tantivy_gives_it(
    filled: PostgresqlKeywords,
    reference: TantivyKeywords,
    text: str,
    phrases: list[str],
    also: list[tuple[str, str]],
    where: Filter,
) -> None:
    ours = filled.search(text, limit=999, where=where, phrases=phrases, also=also)
    theirs = reference.search(text, limit=999, where=where, phrases=phrases, also=also)
    assert dict(ours) == pytest.approx(dict(theirs), abs=2e-4)
    assert filled.matches(text, where=where, phrases=phrases) == reference.matches(text, where=where, phrases=phrases)


@given(text=some_text, limit=some.integers(1, 40), where=some.sampled_from([EVERYTHING, Filter(year_min=2005)]))
def test_the_first_of_a_short_list_are_those_of_the_whole(
    filled: PostgresqlKeywords, text: str, limit: int, where: Filter
) -> None:
    """Though most chunks are never looked at."""
    whole = filled.search(text, limit=999, where=where)
    assert filled.search(text, limit=limit, where=where) == whole[:limit]


def test_few_chunks_are_looked_at_for_a_short_list(filled: PostgresqlKeywords) -> None:
    asked = asking("zebra attention tree memory")
    assert asked is not None
    with filled._server.reading() as session:
        search = _Search(session, asked, EVERYTHING)
        reached = search.best(10)[-1][1]
        looked_at = len(search.among(search._asked.above(reached, search._rarity), 999))
        assert looked_at < len(search.among(asked.query, 999)) / 2


@given(frequent=some_words)
def test_frequencies_are_those_of_tantivy(
    filled: PostgresqlKeywords, reference: TantivyKeywords, frequent: list[str]
) -> None:
    assert filled.frequencies(frequent) == reference.frequencies(frequent)


@given(word=some.sampled_from(WORDS), cut=some.integers(0, 8), letter=some.sampled_from("aeiou自"))
def test_words_spelled_nearly_so_are_those_of_tantivy(
    filled: PostgresqlKeywords, reference: TantivyKeywords, word: str, cut: int, letter: str
) -> None:
    wrong = f"{word[:cut]}{letter}{word[cut + 1 :]}"
    for distance in (1, 2):
        ours = filled.near(wrong, distance=distance, beside="", limit=999)
        assert sorted(ours) == sorted(reference.near(wrong, distance=distance, beside="", limit=999))


@given(held=some.lists(some.text("abcdé", max_size=6)), wanted=some.text("abcdé", max_size=6))
def test_spelling_counts_as_edits_do(held: list[str], wanted: str) -> None:
    lengths = range(len(wanted) + 1)
    expected = {w for w in held if any(words.edits(w, wanted[:length], most=2) <= 2 for length in lengths)}
    assert set(spelling.near(held, wanted, list(lengths), 2)) == expected


def test_lengths_are_rounded_as_tantivy_does() -> None:
    lengths = [0, 1, 39, 40, 41, 42, 55, 56, 59, 60, 119, 120, 135, 136, 1_000, 100_000]
    assert [rounded(n) for n in lengths] == [0, 1, 39, 40, 40, 42, 54, 56, 56, 60, 112, 120, 128, 136, 984, 98_328]


def test_a_real_collection_is_ranked_as_by_tantivy(index: PostgresqlKeywords, tmp_path: Path) -> None:
    if not COLLECTION.exists():
        pytest.skip("SciFact is not here: shared/data/retrieval/scifact beside the repository")
    with gzip.open(COLLECTION / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line, _ in zip(lines, range(500), strict=False)]
    with gzip.open(COLLECTION / "queries.jsonl.gz", "rt", encoding="utf-8") as lines:
        queries = [json.loads(line)["text"] for line, _ in zip(lines, range(40), strict=False)]
    chunks = [make_chunk(str(one["_id"]), text=one["text"], title=one["title"]) for one in records]
    other = TantivyKeywords(tmp_path)
    index.put(chunks)
    other.put(chunks)
    for query in queries:
        ours, theirs = (one.search(query, limit=10, where=EVERYTHING) for one in (index, other))
        assert [hit.address for hit in ours] == [hit.address for hit in theirs]
        assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs], abs=2e-4)


def test_what_is_counted_is_what_is_held_after_many_have_written(postgresql_server: servers.Server) -> None:
    name = uuid.uuid4().hex
    with ExitStack() as stack:
        indexes = [stack.enter_context(closing(opened(postgresql_server.address, name))) for _ in range(5)]

        def write(number: int) -> None:
            for paper in range(6):
                text = f"retrieval word{number} word{paper}"
                indexes[number].put([make_chunk(f"w{number}-{paper}", place, text) for place in (1, 2)])
                indexes[number].put([make_chunk("same", number, f"shared word{paper}")])
            indexes[number].delete([f"w{number}-0"])

        with ThreadPoolExecutor(5) as threads:
            list(threads.map(write, range(5)))
        index = indexes[0]
        assert len(index.addresses()) == index.count() == 5 * 5 * 2 + 1
        assert index.frequencies(["retrieval", "word5", "shared", "word0"]) == [50, 11, 1, 10]
        counted: dict[str, int] = dict(index._server.rows("SELECT word, chunks FROM keyword_words"))
        told: dict[str, int] = dict(
            index._server.rows("SELECT word, ndoc FROM ts_stat('SELECT words FROM keyword_chunks')")
        )
        assert counted == told


def test_of_a_deleted_paper_no_word_and_no_name_is_left(index: PostgresqlKeywords) -> None:
    index.put([make_chunk("a", text="zebra tree", authors=("Ada Lovelace",)), make_chunk("b", text="tree")])
    index.put([make_chunk("a", text="zebra tree bush", authors=("Ada Lovelace",))])
    assert index.frequencies(["zebra", "bush", "lovelace", "tree"]) == [1, 1, 1, 2]
    index.delete(["a"])
    words_of_b = index._server.rows("SELECT unnest(tsvector_to_array(words)), 1 FROM keyword_chunks")
    assert sorted(index._server.rows("SELECT word, chunks FROM keyword_words")) == sorted(words_of_b)
    assert ("tree", 1) in words_of_b


def test_a_chunk_of_more_words_than_the_server_can_hold_is_still_found(index: PostgresqlKeywords) -> None:
    many = " ".join(f"word{number}x{'y' * 40}" for number in range(30_000))
    often = "tree " * 20_000
    index.put([make_chunk("a", 1, f"zebra {many}"), make_chunk("a", 2, f"{often} zebra")])
    assert len(index.search("zebra", limit=5, where=EVERYTHING)) == 2
    assert index.search("tree", limit=5, where=EVERYTHING)[0].address == "a/ch1/s1/p2"
    assert index.matches("", where=EVERYTHING, phrases=["tree tree"]) == 1


def test_a_query_as_long_as_a_paper_is_answered(index: PostgresqlKeywords) -> None:
    index.put([make_chunk("a", text="zebra")])
    long = " ".join(f"word{number}" for number in range(2_000))
    assert [hit.address for hit in index.search(f"{long} zebra", limit=5, where=EVERYTHING)] == ["a/ch1/s1/p1"]
    assert index.matches("", where=EVERYTHING, phrases=[f"{long} zebra"]) == 0
    index.put([make_chunk("b", text=long)])
    assert [hit.address for hit in index.search(long, limit=1, where=EVERYTHING)] == ["b/ch1/s1/p1"]
    assert index.matches("", where=EVERYTHING, phrases=[long]) == 1


@pytest.mark.parametrize(
    "hostile", ["'a' | 'b'", "a:* & !b", "'; DROP TABLE keyword_words; --", "\\'", "%s ? {}", "@ada"]
)
def test_nothing_in_a_text_or_a_query_is_syntax(index: PostgresqlKeywords, hostile: str) -> None:
    index.put([make_chunk(hostile, text=f"zebra {hostile}", authors=(hostile,), tags=(hostile,))])
    address = make_chunk(hostile).address
    for query in (hostile, f"zebra {hostile}"):
        found = index.search(query, limit=5, where=EVERYTHING, phrases=["zebra"], also=[(hostile, hostile)])
        assert [hit.address for hit in found] == [address]
    assert index.near(hostile, distance=1, beside=hostile, limit=5) in ([], [address])
    index.delete([hostile])
    assert index.count() == 0


def test_a_server_that_is_lost_is_an_error_and_found_again(stoppable: servers.Postgresql) -> None:
    with closing(opened(stoppable.address)) as index:
        index.put(texts(20))
        before = index.search("dense retrieval", limit=5, where=EVERYTHING)
        stoppable.stop()
        for ask in (index.count, lambda: index.frequencies(["dense"]), lambda: index.put(texts(5))):
            with pytest.raises(StoreUnavailable, match="cannot use the keywords on") as caught:
                ask()
        assert caught.value.hint.endswith("or set keywords = 'tantivy'.")
        stoppable.start()
        assert index.search("dense retrieval", limit=5, where=EVERYTHING) == before


def test_a_score_is_what_the_formula_says(index: PostgresqlKeywords) -> None:
    index.put(
        [make_chunk("a", text="zebra zebra tree"), make_chunk("b", text="tree"), make_chunk("c", text="tree of it")]
    )
    (hit,) = index.search("zebra", limit=5, where=EVERYTHING)
    length = 3 / ((3 + 1 + 3) / 3)
    expected = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5)) * 2.2 * 2 / (2 + 1.2 * (0.25 + 0.75 * length))
    assert hit.score == pytest.approx(expected, abs=1e-4)
