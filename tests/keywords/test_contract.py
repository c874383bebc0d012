"""What every keyword index promises."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from carrel.errors import InvalidInput, StoreUnavailable
from carrel.keywords import KeywordIndex
from carrel.keywords.milvus import MilvusKeywords
from carrel.keywords.postgresql import PostgresqlKeywords
from carrel.keywords.tantivy import TantivyKeywords
from carrel.testing import MemoryKeywords
from carrel.types import EVERYTHING, ChunkKind, Filter, Hit
from tests import servers
from tests.builders import FILTERS, SINGLE_FILTERS, make_chunk, varied_chunks
from tests.milvus_places import place

if TYPE_CHECKING:
    from pathlib import Path

VARIED = varied_chunks(60, text="Retrieval of passages.")


@dataclass(frozen=True)
class Maker:
    """Opens indexes of one kind; what one opening wrote the next one finds, where the kind has a disk."""

    kind: str
    directory: Path
    address: str = ""
    namespace: str = field(default_factory=lambda: f"carrel_keywords_{uuid.uuid4().hex}")
    opened: list[KeywordIndex] = field(default_factory=list)

    def open(self) -> KeywordIndex:
        self.opened.append(self._opened())
        return self.opened[-1]

    def _opened(self) -> KeywordIndex:
        if self.kind == "memory":
            return MemoryKeywords()
        if self.kind == "postgresql":
            argument = self.address.removeprefix("postgresql:")
            return PostgresqlKeywords(argument=argument, namespace=self.namespace, password=servers.PASSWORD)
        if self.kind == "milvus-lite":
            return MilvusKeywords("milvus", self.address.removeprefix("milvus:"), namespace=self.namespace)
        return TantivyKeywords(self.directory)


SERVERS = {"postgresql": "postgresql_server", "milvus-lite": "milvus_lite_server"}
"""By the kind of index, the fixture of its server."""


def made(request: pytest.FixtureRequest, directory: Path) -> Iterator[Maker]:
    server = SERVERS.get(request.param)
    maker = Maker(request.param, directory, request.getfixturevalue(server).address if server else "")
    with ExitStack() as places:
        if request.param == "milvus-lite":
            maker = replace(maker, namespace=places.enter_context(place(maker.address)))
        if request.param == "postgresql" and request.scope == "function":
            # Making its tables takes longer than most tests.
            maker = replace(maker, namespace="carrel_keywords_contract")
            maker.open().clear()
        yield maker
        for index in maker.opened:
            index.close()


@pytest.fixture(params=["tantivy", "memory", "postgresql", "milvus-lite"])
def maker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Maker]:
    yield from made(request, tmp_path / "keywords")


@pytest.fixture
def index(maker: Maker) -> KeywordIndex:
    return maker.open()


@pytest.fixture(params=["tantivy", "postgresql", "milvus-lite"])
def on_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Maker]:
    yield from made(request, tmp_path / "keywords")


@pytest.fixture
def in_files(tmp_path: Path) -> Maker:
    return Maker("tantivy", tmp_path / "keywords")


@pytest.fixture(scope="module", params=["tantivy", "memory", "postgresql", "milvus-lite"])
def filled_by(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maker]:
    yield from made(request, tmp_path_factory.mktemp("filled"))


@pytest.fixture(scope="module")
def filled(filled_by: Maker) -> KeywordIndex:
    index = filled_by.open()
    index.put(VARIED[:30])
    index.put(VARIED)
    return index


def found(index: KeywordIndex, text: str, where: Filter = EVERYTHING) -> list[str]:
    return [hit.address for hit in index.search(text, limit=1000, where=where)]


def put_texts(index: KeywordIndex, *texts: str, language: str = "en") -> list[str]:
    """Put each text as a paper of its own; returns their addresses."""
    chunks = [make_chunk(f"paper{number}", text=text, language=language) for number, text in enumerate(texts)]
    index.put(chunks)
    return [chunk.address for chunk in chunks]


def test_it_is_a_keyword_index_and_empty_at_first(index: KeywordIndex) -> None:
    assert isinstance(index, KeywordIndex)
    assert (index.count(), index.addresses(), found(index, "anything")) == (0, set(), [])
    assert (index.frequencies(["a"]), index.near("anything", distance=2, beside="", limit=3)) == ([0], [])
    assert index.matches("", where=EVERYTHING, phrases=["a b"]) == 0


def test_a_paper_in_another_language_is_not_drowned_by_an_english_library(index: KeywordIndex) -> None:
    english = [make_chunk(f"en{n}", text=f"Results on neural networks, part {n}.", language="en") for n in range(60)]
    german = make_chunk("de", text="Ergebnisse über neuronale Netze und networks im Überblick.", language="de")
    index.put([*english, german])
    assert found(index, "neuronale Netze networks")[0] == german.address
    assert found(index, "Ergebnisse")[0] == german.address


def test_a_note_counts_as_much_as_the_text_it_is_about(index: KeywordIndex) -> None:
    chunks = [make_chunk(f"p{n}", text="An abstract about trees.", kind=ChunkKind.ABSTRACT) for n in range(20)]
    noted = make_chunk("noted", text="An abstract about trees.", kind=ChunkKind.ABSTRACT, note="Ask Ann about pruning.")
    index.put([*chunks, noted])
    assert found(index, "pruning trees")[0] == noted.address


def test_matches_counts_what_a_search_without_limit_finds(index: KeywordIndex) -> None:
    put_texts(index, "dense retrieval", "sparse retrieval", "nothing of the kind")
    assert index.matches("retrieval of the dense kind", where=EVERYTHING) == 3
    assert index.matches("retrieval", where=EVERYTHING) == 2
    assert index.matches("retrieval", where=Filter(paper_ids=frozenset({"paper1"}))) == 1
    assert (index.matches("absent", where=EVERYTHING), index.matches("?!", where=EVERYTHING)) == (0, 0)
    assert len(index.search("retrieval", limit=2**31, where=EVERYTHING)) == 2


@pytest.mark.parametrize(
    ("phrase", "count"),
    [
        ("dense retrieval", 2),
        ("Dense RETRIEVALS", 2),
        ("retrieval dense", 0),
        ("retrieval", 3),
        ("of dense", 1),
        ("Ada Lovelace", 3),
        ("lovelace ada", 0),
        ("absent", 0),
        ('"dense', 3),
    ],
)
def test_a_phrase_is_its_words_side_by_side(index: KeywordIndex, phrase: str, count: int) -> None:
    texts = ("On dense retrieval.", "A retrieval of dense retrieval", "retrieval, but dense and sparse")
    chunks = [make_chunk(f"paper{n}", text=text, authors=("Ada Lovelace",)) for n, text in enumerate(texts)]
    index.put([*chunks, make_chunk("other", text="Nothing of the kind")])
    assert index.matches("kind", where=EVERYTHING, phrases=[phrase]) == count
    assert len(index.search("kind", limit=9, where=EVERYTHING, phrases=[phrase])) == count
    assert len(index.search("", limit=9, where=EVERYTHING, phrases=[phrase])) == count


@pytest.mark.parametrize(("phrase", "language"), [("自然语言", "zh"), ("語処理", "ja"), ("größere Verfahren", "de")])
def test_a_phrase_is_found_in_any_language(index: KeywordIndex, phrase: str, language: str) -> None:
    texts = ("研究自然语言处理", "言語処理の自然", "Eine größere Verfahren", "语言自然 処理語 Verfahren größere")
    put_texts(index, *texts, language=language)
    assert index.matches("", where=EVERYTHING, phrases=[phrase]) == 1


def test_all_phrases_are_required_and_the_words_rank(index: KeywordIndex) -> None:
    plain, better, _ = put_texts(
        index, "dense retrieval and sparse index of it", "sparse index, dense retrieval of trees", "dense retrieval"
    )
    phrases = ["dense retrieval", "sparse index"]
    hits = index.search("trees", limit=9, where=EVERYTHING, phrases=phrases)
    assert [hit.address for hit in hits] == [better, plain]
    one = Filter(paper_ids=frozenset({"paper0"}))
    assert index.search("trees", limit=9, where=one, phrases=phrases)[0].address == plain


def test_a_phrase_without_a_word_asks_for_nothing(index: KeywordIndex) -> None:
    (address,) = put_texts(index, "retrieval")
    hits = index.search("retrieval", limit=9, where=EVERYTHING, phrases=["?!", ""], also=[("retrieval", "?")])
    assert [hit.address for hit in hits] == [address]
    assert index.search("", limit=9, where=EVERYTHING, phrases=["🙂"]) == []


def test_another_name_finds_what_the_name_does_not(index: KeywordIndex) -> None:
    short, long, _ = put_texts(index, "An LSTM reads.", "A long short-term memory reads.", "A memory for short terms")
    found = index.search("LSTM", limit=9, where=EVERYTHING, also=[("LSTM", "long short-term memory")])
    assert {hit.address for hit in found} == {short, long}
    also = [("long short term memory", "lstm")]
    found = index.search("long short term memory", limit=9, where=EVERYTHING, also=also)
    assert found[0].address == long
    assert short in [hit.address for hit in found]


def test_frequencies_say_which_words_there_are(index: KeywordIndex) -> None:
    index.put(
        [
            make_chunk("a", text="Dense retrieval of 自然语言", authors=("Ann O'Neil",)),
            make_chunk("b", text="Sparse retrievals", language="en"),
            make_chunk("c", text="Größere Verfahren", language="de"),
        ]
    )
    words = ["retrieval", "RETRIEVING", "neil", "grössere", "自然语言", "语自", "absent", "", "?"]
    assert index.frequencies(words) == [2, 2, 1, 1, 1, 0, 0, 0, 0]
    assert index.frequencies([]) == []


@pytest.mark.parametrize(
    ("word", "distance"),
    [("retreival", 1), ("algoritms", 1), ("experimnets", 1), ("strctural", 1), ("karpukin", 1), ("agloritms", 2)],
)
def test_chunks_with_a_word_spelled_nearly_so_are_found(index: KeywordIndex, word: str, distance: int) -> None:
    texts = ("Dense retrieval.", "Fast algorithms.", "Our experiments.", "A structural view.", "By the way.", "Trees.")
    chunks = [make_chunk(f"paper{n}", text=text) for n, text in enumerate(texts)]
    chunks[4] = make_chunk("paper4", text="By the way.", authors=("V. Karpukhin",))
    index.put(chunks)
    right = {"retreival": 0, "algoritms": 1, "agloritms": 1, "experimnets": 2, "strctural": 3, "karpukin": 4}[word]
    assert index.near(word, distance=distance, beside="", limit=9) == [chunks[right].address]


def test_those_come_first_that_have_more_of_the_words_beside(index: KeywordIndex) -> None:
    texts = [f"retrieval in part {number}" for number in range(20)]
    *_, last = put_texts(index, *texts, "retrieval of a zebra")
    assert index.near("retreival", distance=1, beside="zebra retreival", limit=3)[0] == last
    assert len(index.near("retreival", distance=1, beside="zebra", limit=3)) == 3


@given(word=some.text(max_size=80), distance=some.sampled_from([1, 2]))
@example(word="\U00018d80", distance=1)  # A letter to tantivy, but not to Python.
def test_no_word_is_an_error(filled: KeywordIndex, word: str, distance: int) -> None:
    assert set(filled.near(word, distance=distance, beside=word, limit=5)) <= filled.addresses()
    assert filled.frequencies([word])[0] <= filled.count()
    assert filled.matches(word, where=EVERYTHING, phrases=[word]) <= filled.count()
    assert len(filled.search(word, limit=5, where=EVERYTHING, also=[(word, word), ("a b", word)])) <= 5


@given(where=FILTERS)
def test_a_filter_holds_for_phrases_too(filled: KeywordIndex, where: Filter) -> None:
    allowed = {chunk.address for chunk in VARIED if where.matches(chunk)}
    hits = filled.search("", limit=1000, where=where, phrases=["of passages"], also=[("x", "retrieval")])
    assert {hit.address for hit in hits} == allowed
    assert filled.matches("", where=where, phrases=["of passages"]) == len(allowed)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("retrieval", "We are retrieving passages."),
        ("retrieving", "Dense retrieval."),
        ("networks", "A neural network."),
        ("NEURAL", "a neural network"),
        ("neural", "A NEURAL NETWORK"),
        ("resume", "His résumé."),
        ("résumé", "His resume."),
        ("résumé", "His re\u0301sume\u0301."),
        ("re\u0301sume\u0301", "His résumé."),
        ("naive", "A naïve baseline"),
        ("bm25", "BM25, a ranking function"),
        ("self-attention", "self attention"),
        ("attention", "multi-head/self-attention."),
    ],
)
def test_english_is_found_by_its_stem_in_any_case_and_with_or_without_accents(
    index: KeywordIndex, query: str, text: str
) -> None:
    right, _ = put_texts(index, text, "Something else altogether")
    assert found(index, query) == [right]


@pytest.mark.parametrize("language", ["de", "fr", "zh"])
def test_another_language_is_found_without_case_and_accents(index: KeywordIndex, language: str) -> None:
    one, other = put_texts(index, "Größere Verfahren", "größere Netze", language=language)
    assert found(index, "VERFAHREN") == [one]
    assert found(index, "größere") == found(index, "GRÖSSERE") == [one, other]


def test_a_text_that_is_taken_for_another_language_is_found_as_any_other(index: KeywordIndex) -> None:
    english = [make_chunk(f"en{n}", text=f"Transport in magnetic fields, part {n}", language="en") for n in range(30)]
    mistaken = make_chunk("la", text="Transport in magnetic fields, part 30", language="la")
    index.put([*english, mistaken])
    scores = {hit.score for hit in index.search("magnetic transport", limit=50, where=EVERYTHING)}
    assert (len(scores), len(found(index, "magnetic transport"))) == (1, 31)


@pytest.mark.parametrize(
    ("query", "text", "language"),
    [
        ("语言", "我们研究自然语言处理的方法", "zh"),
        ("自然语言", "我们研究自然语言处理的方法", "zh"),
        ("言語", "自然言語処理の研究", "ja"),
        ("カード", "これはキャッシュカードです", "ja"),
        ("언어", "자연언어처리", "ko"),
        ("模型", "使用BERT模型", "zh"),
        ("bert", "使用BERT模型", "zh"),
        ("语言", "An English paper on 自然语言处理.", "en"),
        ("猫", "猫", "zh"),
    ],
)
def test_a_word_inside_a_run_of_chinese_japanese_or_korean_is_found(
    index: KeywordIndex, query: str, text: str, language: str
) -> None:
    right, _ = put_texts(index, text, "完全に別のもの 다른 것", language=language)
    assert found(index, query) == [right]


def test_what_a_chunk_stands_under_is_searched_too(index: KeywordIndex) -> None:
    index.put([make_chunk(text="It works.", title="Dense Retrieval", section_path=("Methods", "Quantisation"))])
    assert found(index, "retrieval") == found(index, "quantisation") == ["smith2020/ch1/s1/p1"]


@pytest.mark.parametrize("query", ["garcía", "Garcia", "josé garcía", "王小明", "小明", "O'Neil", "neil"])
def test_authors_are_found_by_their_names(index: KeywordIndex, query: str) -> None:
    index.put([make_chunk("a", authors=("José García", "王小明", "Ann O'Neil")), make_chunk("b", authors=("B. Else",))])
    assert found(index, query) == ["a/ch1/s1/p1"]


def test_an_abstract_is_found_by_its_papers_note_and_tags_and_a_passage_is_not(index: KeywordIndex) -> None:
    noted: dict[str, Any] = {"note": "Lent by a colleague.", "tags": ("thesis chapter",)}
    index.put(
        [
            make_chunk("a", kind=ChunkKind.ABSTRACT, **noted),
            make_chunk("b", kind=ChunkKind.PASSAGE, **noted),
            make_chunk("c", kind=ChunkKind.ABSTRACT),
        ]
    )
    for query in ("colleagues", "chapters", "lent thesis"):
        assert {hit.address for hit in index.search(query, limit=5, where=EVERYTHING)} == {make_chunk("a").address}


def test_authors_names_are_not_stemmed(index: KeywordIndex) -> None:
    index.put([make_chunk("a", authors=("A. Wellings",)), make_chunk("b", authors=("B. Welling",))])
    assert found(index, "Welling") == ["b/ch1/s1/p1"]


@pytest.mark.parametrize("query", ["The Who", "to be or not to be", "what is it"])
def test_a_query_of_stop_words_finds_them(index: KeywordIndex, query: str) -> None:
    right, _ = put_texts(index, f"A study of {query}.", "Neural networks")
    assert right in found(index, query)


@pytest.mark.parametrize(
    "query",
    [
        "",
        " \n\t",
        '"',
        '"retrieval',
        "(retrieval",
        "retrieval)",
        "[retrieval TO",
        "retrieval AND OR NOT",
        "retrieval~2^3",
        "title:retrieval",
        "+retrieval -retrieval",
        "*",
        "retr*",
        "\\",
        "/retrieval/",
        "🙂",
        "retrieval 🙂",
        "\x00 retrieval",
        "\udcff retrieval",
        "a" * 2000,
        "retrieval " * 200,
        "]]{{}}$%§",
    ],
)
def test_anything_is_a_query_and_nothing_in_it_is_syntax(index: KeywordIndex, query: str) -> None:
    right, _ = put_texts(index, "Dense retrieval.", "Nothing of that kind.")
    assert found(index, query) == ([right] if "retrieval" in query else [])


@given(query=some.text(max_size=200))
def test_no_text_is_an_error(filled: KeywordIndex, query: str) -> None:
    assert set(found(filled, query)) <= filled.addresses()


def test_a_rarer_word_weighs_more_and_more_matches_rank_higher(index: KeywordIndex) -> None:
    rare, common, both = put_texts(index, "dense zebra words", "dense retrieval words", "zebra retrieval words")
    assert found(index, "zebra retrieval")[0] == both
    index.put([make_chunk(f"more{number}", text="dense retrieval") for number in range(9)])
    order = found(index, "zebra retrieval")
    assert order.index(rare) < order.index(common)


def test_scores_fall_and_are_above_zero(filled: KeywordIndex, index: KeywordIndex) -> None:
    put_texts(index, "retrieval retrieval retrieval", "retrieval of many other long words", "retrieval", "nothing")
    scores = [hit.score for hit in index.search("retrieval", limit=10, where=EVERYTHING)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores) == 3
    assert scores[-1] > 0
    assert {hit.score > 0 for hit in filled.search("retrieval", limit=100, where=EVERYTHING)} == {True}


@pytest.mark.parametrize("limit", [1, 2, 5, 7, 100])
def test_equal_scores_are_ordered_by_address_and_the_first_of_them_kept(index: KeywordIndex, limit: int) -> None:
    for number in (4, 1, 3):
        index.put([make_chunk(f"paper{number}", text="dense retrieval")])
    index.put([make_chunk("other", number, text="dense retrieval") for number in (5, 2, 9, 7)])
    everything = sorted(index.addresses())
    assert [hit.address for hit in index.search("retrieval", limit=limit, where=EVERYTHING)] == everything[:limit]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(index: KeywordIndex, limit: int) -> None:
    with pytest.raises(InvalidInput, match=str(limit)):
        index.search("anything", limit=limit, where=EVERYTHING)


@pytest.mark.parametrize("where", SINGLE_FILTERS)
def test_each_filter_means_what_filter_matches_says(filled: KeywordIndex, where: Filter) -> None:
    assert set(found(filled, "retrieval", where)) == {chunk.address for chunk in VARIED if where.matches(chunk)}


@given(where=FILTERS)
def test_filters_together_mean_what_filter_matches_says_and_change_no_score(
    filled: KeywordIndex, where: Filter
) -> None:
    allowed = {chunk.address for chunk in VARIED if where.matches(chunk)}
    everything = filled.search("retrieval", limit=1000, where=EVERYTHING)
    assert filled.search("retrieval", limit=1000, where=where) == [hit for hit in everything if hit.address in allowed]


def test_a_put_replaces_all_that_its_papers_had(index: KeywordIndex) -> None:
    index.put([make_chunk("a", number, text="old words") for number in (1, 2, 3)])
    index.put([make_chunk("b", 1, text="old words")])
    index.put([make_chunk("a", 2, text="new words"), make_chunk("a", 4, text="new words")])
    assert index.addresses() == {"a/ch1/s1/p2", "a/ch1/s1/p4", "b/ch1/s1/p1"}
    assert index.count() == 3
    assert found(index, "old") == ["b/ch1/s1/p1"]
    assert found(index, "new") == ["a/ch1/s1/p2", "a/ch1/s1/p4"]


def test_one_put_may_hold_several_papers_in_any_order(index: KeywordIndex) -> None:
    index.put([make_chunk("b", 1), make_chunk("a", 1), make_chunk("b", 2)])
    assert index.addresses() == {"a/ch1/s1/p1", "b/ch1/s1/p1", "b/ch1/s1/p2"}


def test_putting_the_same_again_changes_no_score(index: KeywordIndex) -> None:
    chunks = [make_chunk(f"paper{number}", text="retrieval " * (number + 1)) for number in range(5)]
    index.put(chunks)
    before = index.search("retrieval", limit=10, where=EVERYTHING)
    for _ in range(3):
        index.put(chunks)
    assert index.search("retrieval", limit=10, where=EVERYTHING) == before


@pytest.mark.parametrize(
    "facts",
    [{"year": 2021}, {"venue": "Cell"}, {"tags": ("x",)}, {"topic": "x"}, {"chapter": 2}, {"section": 2}],
    ids=str,
)
def test_a_put_that_changes_only_a_fact_is_filtered_by_the_new_one(index: KeywordIndex, facts: dict[str, Any]) -> None:
    index.put([make_chunk(text="retrieval")])
    changed = make_chunk(text="retrieval", **facts)
    index.put([changed])
    where = Filter(
        year_min=changed.year or None,
        venue=changed.venue,
        tags=frozenset(changed.tags),
        topic=changed.topic,
        chapter=changed.chapter,
        section=changed.section,
    )
    assert found(index, "retrieval", where) == [changed.address]


def test_deleting_forgets_exactly_those_papers(index: KeywordIndex) -> None:
    index.put([make_chunk(paper_id, text="retrieval") for paper_id in ("a", "aa", "b", "a/b", "A")])
    index.delete(["a", "b", "nobody"])
    assert index.addresses() == set(found(index, "retrieval")) == {"aa/ch1/s1/p1", "a/b/ch1/s1/p1", "A/ch1/s1/p1"}


def test_deleting_from_an_empty_index_is_no_error(index: KeywordIndex) -> None:
    index.delete(["nobody"])
    index.delete([])
    assert index.count() == 0


def test_hostile_ids_come_back_as_they_went_in(index: KeywordIndex) -> None:
    papers = ["", "../..", 'a"b', "a b", "naïve 漢字 🙂", "x" * 10_000, "line\nline", "AND"]
    index.put([make_chunk(paper_id, text="retrieval") for paper_id in papers])
    assert index.addresses() == {f"{paper_id}/ch1/s1/p1" for paper_id in papers}
    assert found(index, "retrieval", Filter(paper_ids=frozenset({"a b", "x" * 10_000}))) == [
        "a b/ch1/s1/p1",
        f"{'x' * 10_000}/ch1/s1/p1",
    ]
    index.delete(papers[1:])
    assert index.addresses() == {"/ch1/s1/p1"}


def test_clearing_forgets_everything_and_leaves_room(index: KeywordIndex) -> None:
    put_texts(index, "retrieval")
    index.clear()
    assert (index.count(), index.addresses(), found(index, "retrieval")) == (0, set(), [])
    (address,) = put_texts(index, "retrieval")
    assert found(index, "retrieval") == [address]


def held(index: KeywordIndex) -> tuple[set[str], int, list[Hit]]:
    return index.addresses(), index.count(), index.search("retrieval", limit=99, where=Filter(year_min=2019))


def test_a_closed_index_can_be_opened_again_and_says_the_same(on_disk: Maker) -> None:
    before = on_disk.open()
    before.put(VARIED)
    before.delete(["o'neil/2021"])
    expected = held(before)
    before.close()
    assert held(on_disk.open()) == expected
    assert held(before) == expected


def test_a_reader_follows_every_write_of_another(on_disk: Maker) -> None:
    reader, writer = on_disk.open(), on_disk.open()
    assert found(reader, "retrieval") == []
    (address,) = put_texts(writer, "retrieval")
    assert found(reader, "retrieval") == [address]
    writer.delete(["paper0"])
    assert found(reader, "retrieval") == []
    writer.clear()
    assert (found(reader, "retrieval"), reader.count(), reader.addresses()) == ([], 0, set())
    put_texts(writer, "retrieval")
    assert found(reader, "retrieval") == [address]


def damaged(in_files: Maker, name: str, content: bytes) -> KeywordIndex:
    put_texts(in_files.open(), "retrieval")
    for path in in_files.directory.rglob(name):
        path.write_bytes(content)
    return in_files.open()


@pytest.mark.parametrize(("name", "content"), [("meta.json", b"{"), ("*.term", b""), ("*.idx", b"abc")])
def test_a_damaged_index_is_reported_and_never_an_empty_list(in_files: Maker, name: str, content: bytes) -> None:
    index = damaged(in_files, name, content)
    with pytest.raises(StoreUnavailable, match="cannot be used") as caught:
        index.search("retrieval", limit=1, where=EVERYTHING)
    assert caught.value.hint == "It is derived: delete that directory and run 'carrel index build'."


def test_damage_done_while_it_is_open_is_reported_too(in_files: Maker) -> None:
    index = in_files.open()
    put_texts(index, "retrieval")
    damaged(in_files, "meta.json", b"{")
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        index.count()


def test_a_venue_too_long_for_the_index_to_look_for_is_refused(in_files: Maker) -> None:
    index = in_files.open()
    put_texts(index, "retrieval")
    with pytest.raises(InvalidInput, match="venue is too long to be searched for: 3000 characters"):
        found(index, "retrieval", Filter(venue="x" * 3000))


def test_what_an_older_version_left_is_swept_when_the_index_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "keywords" / "v1").mkdir(parents=True)
    TantivyKeywords(tmp_path / "keywords").put([make_chunk()])
    assert len(list((tmp_path / "keywords").iterdir())) == 1
