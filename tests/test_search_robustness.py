"""A search goes on without what fails it, says so, and never takes a failure for an empty result."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from carrel import Library
from carrel.catalogs import QueryRecord
from carrel.errors import CarrelError, DimensionMismatchError, IndexNotFound, InvalidInput, StoreUnavailable
from carrel.graphs import GraphStore
from carrel.keywords import KeywordIndex
from carrel.rerankers.fused import Fused
from carrel.search.begun import within
from carrel.search.meaning import Meaning
from carrel.testing import HashedWords, MemoryVectors
from carrel.types import Candidate, Concept, Contribution, Filter, Mention, SearchResult, Strategy, Vector
from carrel.types import Fused as FusedRank
from tests import test_robustness as processes
from tests.builders import make_chunk
from tests.test_library import record, write_refs

QUESTION = "subject3 graphs"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """Eight papers, and a concept that one of them speaks of."""
    with Library.init(tmp_path / "library", embedder=HashedWords()) as made:
        made.add(write_refs(tmp_path / "in.jsonl", [record(number) for number in range(8)]))
        put_concept(made)
        yield made


def put_concept(library: Library) -> None:
    (chunk,) = library.stores.catalog.chunks(["paper3/abstract"])
    mention = Mention("subject3 graphs", chunk.address)
    library.stores.graph.put([Contribution("paper3", (chunk,), (Concept(QUESTION),), (mention,))])


def found(result: SearchResult) -> list[str]:
    return [passage.chunk.address for passage in result.passages]


# Stores


def cut_short(folder: Path) -> None:
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix not in (".json", ".lock"):
            os.truncate(file, file.stat().st_size // 2)


def overwrite(file: Path) -> None:
    file.write_bytes(b"rubbish" * 2000)


KILLED: dict[str, tuple[str, Callable[[Path], None], type[CarrelError], str]] = {
    "no vectors": ("vector", lambda cache: shutil.rmtree(cache / "vectors"), IndexNotFound, "Semantic index not found"),
    "half the vectors": ("vector", lambda cache: cut_short(cache / "vectors"), StoreUnavailable, "was cut short"),
    "no vector manifest": (
        "vector",
        lambda cache: overwrite(cache / "vectors/manifest.json"),
        StoreUnavailable,
        "cannot be read",
    ),
    "no words": ("keyword", lambda cache: shutil.rmtree(cache / "keywords"), IndexNotFound, "Keyword index not found"),
    "half the words": ("keyword", lambda cache: cut_short(cache / "keywords"), StoreUnavailable, "was cut short"),
    "no word manifest": (
        "keyword",
        lambda cache: overwrite(next(cache.rglob("meta.json"))),
        StoreUnavailable,
        "cannot be used",
    ),
    "no graph": ("graph", lambda cache: overwrite(cache / "graph/graph.db"), StoreUnavailable, "cannot use graph"),
}


@pytest.mark.parametrize("name", KILLED)
def test_a_store_that_is_killed_in_the_middle_of_use_is_named_and_the_others_answer(
    library: Library, name: str
) -> None:
    arm, kill, error, reason = KILLED[name]
    before = library.search(QUESTION)
    assert (before.degraded, set(before.counts)) == ((), {"vector", "keyword"})
    # Of a small graph, SQLite would go on to remember every page.
    library.stores.graph.close()
    kill(library.layout.cache)
    result = library.search(QUESTION)
    assert (result.strategy, found(result)[0]) == (Strategy.DEGRADED, "paper3/abstract")
    told = {part.arm: part.reason for part in result.degraded}
    assert set(told) - {"understanding"} == {arm}
    assert reason in told[arm]
    assert "carrel index build" in told[arm]
    with pytest.raises(error, match=reason):
        library.search(QUESTION, mode=arm)


@pytest.mark.parametrize("name", KILLED)
def test_what_the_message_says_to_do_mends_it(library: Library, name: str) -> None:
    arm, kill, _, _ = KILLED[name]
    before = library.search(QUESTION)
    kill(library.layout.cache)
    library.close()
    shutil.rmtree(library.layout.cache / {"vector": "vectors", "keyword": "keywords", "graph": "graph"}[arm], True)
    library.build_index()
    put_concept(library)
    after = library.search(QUESTION)
    assert (after.degraded, found(after)) == ((), found(before))


def test_a_library_that_is_opened_with_a_damaged_store_searches_by_the_others(library: Library) -> None:
    library.close()
    cut_short(library.layout.cache / "vectors")
    overwrite(library.layout.cache / "graph/graph.db")
    with Library.open(library.layout.root, embedder=HashedWords()) as opened:
        result = opened.search(QUESTION)
        assert {part.arm for part in result.degraded} == {"vector", "graph"}
        assert found(result)[0] == "paper3/abstract"
        assert opened.search(QUESTION, mode="keyword").degraded == ()
        shutil.rmtree(library.layout.cache / "graph")
        assert opened.build_index(force=True).chunks_embedded == 8


def test_without_any_store_left_the_search_fails(library: Library) -> None:
    for name in ("vectors", "keywords", "graph"):
        shutil.rmtree(library.layout.cache / name)
    library.stores.graph.close()
    with pytest.raises(IndexNotFound, match="Run 'carrel index build' first"):
        library.search(QUESTION)


def test_vectors_are_not_counted_where_some_are_found(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may look at every row to count them."""
    counted: list[str] = []

    def count() -> int:
        counted.append("vectors")
        return 8

    monkeypatch.setattr(library.stores.vectors, "count", count)
    for mode in ("hybrid", "vector", "keyword", "graph"):
        assert found(library.search(QUESTION, mode=mode))[0] == "paper3/abstract"
    assert [paper.reference.id for paper in library.semantic(QUESTION, limit=1, threshold=0.1).papers] == ["paper3"]
    assert library.similar("paper3", limit=1).papers
    assert counted == []
    assert library.search(QUESTION, mode="vector", where=Filter(year_min=2999)).passages == ()
    assert set(counted) == {"vectors"}


def test_a_catalog_that_lost_its_papers_is_an_error_and_not_an_empty_result(library: Library) -> None:
    library.close()
    for file in library.layout.root.glob("carrel.db*"):
        file.unlink()
    with Library.open(library.layout.root, embedder=HashedWords()) as opened:
        with pytest.raises(StoreUnavailable, match="the catalog is empty, but the indexes name 8 passages") as caught:
            opened.search(QUESTION)
        assert "carrel index build" in caught.value.hint
        opened.build_index()
        assert found(opened.search(QUESTION))[0] == "paper3/abstract"


def test_a_damaged_catalog_is_named_with_the_next_step(library: Library) -> None:
    library.close()
    overwrite(library.layout.database)
    with (
        Library.open(library.layout.root, embedder=HashedWords()) as opened,
        pytest.raises(StoreUnavailable, match=r"cannot use catalog '.*carrel\.db': file is not a database") as caught,
    ):
        opened.search(QUESTION)
    assert "carrel doctor" in caught.value.hint


def test_a_catalog_that_somebody_writes_to_is_read_at_once_and_only_history_is_left_out(library: Library) -> None:
    first = library.search(QUESTION)
    writer = sqlite3.connect(library.layout.database, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    start = time.monotonic()
    result = library.search(QUESTION)
    assert time.monotonic() - start < 5
    assert (result.degraded, found(result)) == ((), found(first))
    writer.execute("ROLLBACK")
    library.search(QUESTION)
    assert writer.execute("SELECT count(*) FROM rag_queries").fetchone() == (2,)
    writer.close()


# Arms


class Slow(HashedWords):
    """An embedder that questions take their time with."""

    def __init__(self) -> None:
        super().__init__()
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.is_done = threading.Event()

    def embed_query(self, text: str) -> Vector:
        self.is_done.clear()
        self.may_go_on.wait(60)
        self.is_done.set()
        return super().embed_query(text)


class Failing(HashedWords):
    """Somebody's embedder, with an error of its own."""

    def embed_query(self, text: str) -> Vector:
        raise RuntimeError(f"no memory for {text!r}")


def reopened(library: Library, embedder: HashedWords, **overrides: object) -> Library:
    library.close()
    return Library.open(library.layout.root, embedder=embedder, overrides=overrides)


def test_every_stage_has_its_time(library: Library) -> None:
    timings = library.search(QUESTION).timings
    arms = {"vector", "keyword"}
    stages = {"understanding", "fusion", "feedback", "catalog", "rerank", "bridges", "arrange", "total"}
    assert arms | stages == set(timings)
    assert all(0 < timings[arm] <= timings["total"] for arm in arms)


def test_a_slow_arm_costs_its_deadline_and_no_more_and_its_time_is_told(library: Library) -> None:
    embedder = Slow()
    with reopened(library, embedder, **{"search.arm_timeout": 1.5}) as opened:
        opened.search(QUESTION)
        embedder.may_go_on.clear()
        start = time.monotonic()
        result = opened.search("subject5")
        spent = time.monotonic() - start
        timings = dict(result.timings)
        embedder.may_go_on.set()
        assert embedder.is_done.wait(60)
        time.sleep(0.5)
    assert [(part.arm, part.reason) for part in result.degraded] == [("vector", "no answer within 1.5 s")]
    assert (result.strategy, found(result)[0]) == (Strategy.DEGRADED, "paper5/abstract")
    assert 1.5 <= spent < 30
    assert timings["vector"] == 1500.0
    assert dict(result.timings) == timings, "an arm that comes late changes a result that is out"


class Halted:
    """A store that says nothing, or nothing when asked by these verbs, until it is let go."""

    def __init__(self, store: object, *verbs: str) -> None:
        self.may_go_on = threading.Event()
        self._store, self._verbs = store, verbs

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._store, name)
        if not callable(real) or (self._verbs and name not in self._verbs):
            return real

        def told(*values: Any, **named: Any) -> Any:
            self.may_go_on.wait(60)
            return real(*values, **named)

        return told


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_graph_that_says_nothing_costs_its_deadlines_and_no_more(library: Library, weight: float) -> None:
    with reopened(library, HashedWords(), **{"search.arm_timeout": 0.5, "search.weight_graph": weight}) as opened:
        graph = Halted(opened.stores.graph)
        opened.stores = replace(opened.stores, graph=cast("GraphStore", graph))
        result = within(30, lambda: opened.search(QUESTION))
        graph.may_go_on.set()
    assert {part.arm for part in result.degraded} == {"graph"}
    assert (found(result)[0], result.concepts) == ("paper3/abstract", ())


def test_matches_that_are_not_counted_in_time_are_not_told(library: Library) -> None:
    with reopened(library, HashedWords(), **{"search.arm_timeout": 0.5}) as opened:
        assert opened.search(QUESTION).matched == 1
        keywords = Halted(opened.stores.keywords, "matches")
        opened.stores = replace(opened.stores, keywords=cast("KeywordIndex", keywords))
        result = within(30, lambda: opened.search(QUESTION))
        keywords.may_go_on.set()
    assert (result.matched, result.degraded, found(result)[0]) == (None, (), "paper3/abstract")


def test_an_error_that_is_not_carrels_own_sinks_no_search_either(library: Library) -> None:
    with reopened(library, Failing()) as opened:
        result = opened.search("subject3")
        reason = "RuntimeError: no memory for 'subject3'"
        assert [(part.arm, part.reason) for part in result.degraded] == [("vector", reason)]
        assert found(result) == ["paper3/abstract"]
        with pytest.raises(RuntimeError, match="no memory"):
            opened.search("subject3", mode="vector")


def test_a_passage_far_below_all_others_is_improbable_without_a_warning() -> None:
    """Where the first are all alike, the next lies any number of standard deviations below them."""
    near, far = (
        Candidate(
            make_chunk(number=number), FusedRank("a", 0.0, {}), {"similarity": 0.5, "similarity_z": z, "words_z": z}
        )
        for number, z in enumerate((0.0, -1e7), start=1)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, last = Fused().score("text", [near, far])
    assert (last, first > 0) == (0.0, True)


def test_vectors_of_another_model_or_length_are_refused_before_they_are_compared(library: Library) -> None:
    other, longer = HashedWords(), HashedWords(dim=32)
    other.name, longer.name = "other", library.embedder.name
    with reopened(library, other) as opened, pytest.raises(InvalidInput, match="embedded by 'other'") as caught:
        opened.search("subject3")
    assert "Set embedder back, or run 'carrel index build'" in caught.value.hint
    with reopened(library, longer) as opened, pytest.raises(DimensionMismatchError, match="32 != 64") as mismatch:
        opened.search("subject3")
    assert f"Set embedder back to '{longer.name}'" in mismatch.value.hint
    assert longer.name in mismatch.value.message


# Queries


ODD = {
    "as long as may be": "graph " * 333 + "ab",
    "one long word": "x" * 2000,
    "stop words": "to be or not to be",
    "emoji": "🦓🏳️‍🌈👩‍👩‍👧",
    "controls between words": "subject3\x00\x07\x1b[31m\x7f graphs\r\n",
    "from right to left": "\u202eשלום עולם مرحبا\u202c",
    "chinese": "最短路与图论",
    "combining": "e" + "\u0301" * 1999,
    "no width": "sub\u200bject3\ufeff",
    "half a character": "subject3 \udcff",
    "quotation marks": '"' * 2000,
    "fields of nothing": "author: year: tag: venue:",
    "fields of fields": "author:author:author: year:year:2019",
    "wildcards": "* ? ~ ^ AND NOT ( [ TO ] } \\ / 'or' 1=1;--",
}


@pytest.mark.parametrize("name", ODD)
def test_whatever_is_asked_is_answered_in_every_mode_and_shape(library: Library, name: str) -> None:
    for mode in ("hybrid", "vector", "keyword", "graph"):
        result = library.search(ODD[name], mode=mode, limit=3)
        assert result.degraded == ()
        assert len(result.passages) <= 3
        assert json.loads(json.dumps(result.as_dict()))["query"] == ODD[name]
    for shape in ({"by_paper": True}, {"diversity": 0.5}, {"limit": 0}, {"where": Filter(year_min=2003)}):
        assert library.search(ODD[name], **shape).degraded == ()


def test_control_characters_part_words_and_are_no_query_by_themselves(library: Library) -> None:
    assert found(library.search("subject3\x00graphs"))[0] == "paper3/abstract"
    with pytest.raises(InvalidInput, match="Search query cannot be empty"):
        library.search("\x00\x01\x1b\x9f \n")
    with pytest.raises(InvalidInput, match="Query exceeds maximum length: 2001 > 2000 characters"):
        library.search("x" * 2001)


WRONG = {
    "year_min must have at most 18 digits, got 10{30}": Filter(year_min=10**30),
    "year_max must have at most 18 digits, got -10{18}": Filter(year_max=-(10**18)),
    "chapter must have at most 18 digits": Filter(chapter=10**20),
    r"tag '\\udcff' is no text": Filter(tags=frozenset({"read", "\udcff"})),
    r"paper 'a\\x00b' is no text": Filter(paper_ids=frozenset({"a\0b"})),
    r"venue '\\ud800' is no text": Filter(venue="\ud800"),
    r"topic '\\x00' is no text": Filter(topic="\0"),
}


@pytest.mark.parametrize("reason", WRONG)
def test_what_no_store_can_look_for_is_refused_by_name(library: Library, reason: str) -> None:
    for search in (library.search, library.semantic, library.ask):
        with pytest.raises(InvalidInput, match=reason) as caught:
            search("subject3", where=WRONG[reason])
        assert caught.value.hint


@pytest.mark.parametrize("where", [Filter(year_min=10**17), Filter(venue="x" * 200), Filter(chapter=10**17)])
def test_what_no_paper_has_is_just_not_found(library: Library, where: Filter) -> None:
    result = library.search("subject3", where=where)
    assert (result.passages, result.degraded, result.strategy) == ((), (), Strategy.HYBRID)


# Sizes


def test_a_library_of_one_paper_is_searched_like_any_other(tmp_path: Path) -> None:
    with Library.init(tmp_path / "one", embedder=HashedWords()) as library:
        library.add(write_refs(tmp_path / "in.jsonl", [record(3)]))
        for mode in ("hybrid", "vector", "keyword"):
            result = library.search("subject3", mode=mode)
            assert (found(result), result.degraded, result.next_cursor) == (["paper3/abstract"], (), None)
            assert 0 <= (result.passages[0].probability or 0.0) <= 1
        assert found(library.search("subject3", by_paper=True, diversity=1.0, limit=1)) == ["paper3/abstract"]
        nothing = library.search("unheard", mode="keyword")
        assert (nothing.passages, nothing.degraded, nothing.matched) == ((), (), 0)


def test_papers_that_have_no_vector_are_found_by_their_words_beside_others_that_have(tmp_path: Path) -> None:
    short = record(9, abstract="Too short.", title="Graph theory")
    with Library.init(tmp_path / "two", embedder=HashedWords()) as library:
        library.add(write_refs(tmp_path / "in.jsonl", [record(3), short]))
        result = library.search("graph", where=Filter(paper_ids=frozenset({"paper9"})))
        assert (found(result), result.degraded) == (["paper9/abstract"], ())


# At once


def test_eight_threads_search_while_another_process_adds(tmp_path: Path) -> None:
    Library.init(tmp_path).close()
    assert processes.finish("-C", tmp_path, "add", processes.refs(tmp_path / "a.jsonl", "a", 12))[0] == 0
    questions = [f"{word} a{number}" for number, word in enumerate(processes.WORDS[:8])]
    writer = processes.start("-C", tmp_path, "add", processes.refs(tmp_path / "b.jsonl", "b", 40))
    results: list[SearchResult] = []
    with Library.open(tmp_path) as library, ThreadPoolExecutor(8) as threads:
        while writer.poll() is None or len(results) < 80:
            results += threads.map(library.search, questions)
    assert writer.communicate()[1] == ""
    assert {result.degraded for result in results} == {()}
    assert all(len(result.passages) == 10 for result in results)
    history = sqlite3.connect(tmp_path / ".carrel/carrel.db")
    kept = history.execute("SELECT count(*) FROM rag_queries").fetchone()[0]
    history.close()
    # Some may be left out while the other process writes, but not for want of a turn among the threads.
    assert kept > 0.8 * len(results)


def test_threads_take_turns_at_writing_the_history(library: Library) -> None:
    catalog = library.stores.catalog
    queries = [QueryRecord(str(number), "graphs", "hybrid", 1.0) for number in range(200)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(partial(catalog.analytics.record, keep_text=False), queries))
    reader = sqlite3.connect(library.layout.database)
    assert reader.execute("SELECT count(*) FROM rag_queries").fetchone() == (200,)
    reader.close()


class Recovering(HashedWords):
    """A model whose server is away at first."""

    is_away = True

    def embed_query(self, text: str) -> Vector:
        if self.is_away:
            raise StoreUnavailable("away")
        return super().embed_query(text)


def test_a_question_that_could_not_be_embedded_ahead_is_tried_again() -> None:
    embedder = Recovering()
    meaning = Meaning(embedder, MemoryVectors(model="m", dim=64))
    meaning.begin("trees")
    with pytest.raises(StoreUnavailable, match="away"):
        meaning._side.begun("trees").outcome()
    embedder.is_away = False
    meaning.begin("trees")
    assert meaning.of_question("trees").shape == (64,)
