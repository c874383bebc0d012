"""Queries understood by a real library: what is found, what is told, and what happens when a part fails."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel import Library
from carrel.errors import InvalidInput, StoreUnavailable
from carrel.keywords.tantivy import TantivyKeywords
from carrel.selecting import Criteria
from carrel.testing import HashedWords
from carrel.types import Filter, Mode, SearchResult, StepKind, Strategy
from tests.cli.conftest import Carrel, carrel

__all__ = ["carrel"]

PAPERS: tuple[dict[str, Any], ...] = (
    {
        "id": "smith2019",
        "title": "Dense retrieval for questions",
        "authors": [{"first": "Ada", "last": "Smith"}],
        "abstract": "We show that dense retrieval finds passages year after year, where words alone fail to do so.",
        "venue": "ACL",
        "published": {"year": 2019},
        "tags": ["read"],
    },
    {
        "id": "smith2021",
        "title": "Recurrent networks revisited",
        "authors": [{"first": "Bob", "last": "Smith"}],
        "abstract": "A long short-term memory (LSTM) reads a sentence word by word; the LSTM forgets what it must.",
        "venue": "EMNLP",
        "published": {"year": 2021},
        "tags": ["read", "old"],
    },
    {
        "id": "yu2016",
        "title": "Remembering with gates",
        "authors": [{"first": "Tim", "last": "Yu"}],
        "abstract": "The long short-term memory of Hochreiter keeps its state by gates; retrieval is dense here, too.",
        "venue": "ACL",
        "published": {"year": 2016},
        "tags": [],
    },
    {
        "id": "yu2020",
        "title": "Sparse indexes",
        "authors": [{"first": "Ann", "last": "Yu"}],
        "abstract": "Inverted indexes make sparse retrieval fast, and compression makes them small enough for memory.",
        "venue": "SIGIR",
        "published": {"year": 2020},
        "tags": ["old"],
    },
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("library")
    refs = folder / "in.jsonl"
    refs.write_text("".join(f"{json.dumps(one)}\n" for one in PAPERS), encoding="utf-8")
    made = Library.init(folder / "papers", embedder=HashedWords())
    assert made.add(refs).new == len(PAPERS)
    return made


@pytest.fixture
def opened(library: Library) -> Callable[..., Library]:
    """The same library with other settings."""
    folder = library.layout.root.parent
    return lambda **options: Library.open(folder, embedder=HashedWords(), **options)


def found(result: SearchResult) -> list[str]:
    return [passage.chunk.paper_id for passage in result.passages]


def steps(result: SearchResult, kind: StepKind) -> list[tuple[str, str]]:
    return [(step.found, step.taken) for step in result.understood if step.kind == kind]


@pytest.mark.parametrize(
    ("query", "papers"),
    [
        ("author:Yu retrieval", {"yu2016", "yu2020"}),
        ('author:"Tim Yu" retrieval', {"yu2016"}),
        ("author:yu year:2020 retrieval", {"yu2020"}),
        ("year:2016-2019 retrieval", {"smith2019", "yu2016"}),
        ("year:>2019 retrieval", {"smith2021", "yu2020"}),
        ("title:dense retrieval", {"smith2019"}),
        ("venue:acl retrieval", {"smith2019", "yu2016"}),
        ("tag:old retrieval", {"smith2021", "yu2020"}),
        ("tag:old author:Smith retrieval", {"smith2021"}),
        ("venue:ACL venue:EMNLP retrieval", set()),
        ("author:Nobody retrieval", set()),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_fields_choose_the_papers_that_are_searched(library: Library, query: str, papers: set[str], mode: str) -> None:
    result = library.search(query, mode=mode)
    assert set(found(result)) == (papers if mode != "keyword" else papers - {"smith2021"})
    assert len(steps(result, StepKind.FIELD)) >= query.count(":")


@pytest.mark.parametrize(
    ("where", "query", "papers"),
    [
        (Filter(tags=frozenset({"read"})), "tag:old retrieval", ["smith2021"]),
        (Filter(venue="ac"), "venue:EMNLP retrieval", []),
        (Filter(venue="a"), "venue:cl retrieval", ["smith2019", "yu2016"]),
        (Filter(year_min=2017, year_max=2020), "year:2010-2019 retrieval", ["smith2019"]),
        (Filter(paper_ids=frozenset({"yu2016", "smith2019"})), "author:Yu retrieval", ["yu2016"]),
        (Filter(paper_ids=frozenset({"smith2019"})), "author:Yu", []),
    ],
)
def test_a_query_never_widens_a_filter(library: Library, where: Filter, query: str, papers: list[str]) -> None:
    assert sorted(found(library.search(query, where=where))) == papers


def test_fields_and_criteria_hold_together(library: Library) -> None:
    assert found(library.search("year:2016 retrieval", criteria=Criteria(authors=("Yu",)))) == ["yu2016"]
    assert found(library.search("author:Smith retrieval", criteria=Criteria(authors=("Yu",)))) == []


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_a_query_of_fields_alone_lists_the_papers_the_newest_first(library: Library, mode: str) -> None:
    result = library.search("author:Yu", mode=mode)
    assert [(p.rank, p.chunk.address, p.fused.arms, p.probability) for p in result.passages] == [
        (1, "yu2020/abstract", {}, None),
        (2, "yu2016/abstract", {}, None),
    ]
    assert (result.matched, result.degraded, result.counts) == (None, (), {})
    assert found(library.search("year:>2015", limit=2)) == ["smith2021", "yu2020"]
    assert len(library.search("year:>2015", limit=0).passages) == 4


def test_a_list_goes_on_page_by_page(library: Library) -> None:
    first = library.search("year:>2015", limit=3)
    assert first.next_cursor is not None
    assert found(library.search("year:>2015", cursor=first.next_cursor)) == ["yu2016"]


def test_a_question_of_fields_alone_is_not_answered_but_told_what_there_is(library: Library) -> None:
    answer = library.ask("author:Yu")
    assert answer.has_insufficient_evidence
    assert [passage.chunk.paper_id for passage in answer.near_misses] == ["yu2020", "yu2016"]


def test_a_phrase_leaves_only_what_has_it_to_the_words_and_lifts_it(library: Library) -> None:
    result = library.search('"dense retrieval" by gates')
    assert steps(result, StepKind.PHRASE) == [('"dense retrieval"', "must stand there")]
    assert found(result)[0] == "smith2019"
    assert [p.chunk.paper_id for p in result.passages if "keyword" in p.fused.arms] == ["smith2019"]
    assert result.matched == 1
    assert found(library.search('"dense retrieval" by gates', mode=Mode.KEYWORD)) == ["smith2019"]


def test_a_phrase_outside_of_the_filter_is_its_words(library: Library) -> None:
    result = library.search('author:Yu "dense retrieval"', mode=Mode.KEYWORD)
    assert sorted(found(result)) == ["yu2016", "yu2020"]
    (step,) = [step for step in result.understood if step.kind == StepKind.PHRASE]
    assert (step.is_told, step.taken) == (True, "its words: no passage that is searched has the phrase")


def test_quotation_marks_are_marks_where_words_are_not_searched(library: Library) -> None:
    result = library.search('"dense retrieval"', mode=Mode.VECTOR)
    assert steps(result, StepKind.PHRASE) == []
    assert len(found(result)) == 4


def test_a_misspelled_word_is_put_right_for_every_arm(library: Library) -> None:
    wrong, right = library.search("sparce retreival", limit=0), library.search("sparse retrieval", limit=0)
    assert steps(wrong, StepKind.SPELLING) == [("sparce", "sparse"), ("retreival", "retrieval")]
    assert [(p.chunk.address, p.score, p.fused) for p in wrong.passages] == [
        (p.chunk.address, p.score, p.fused) for p in right.passages
    ]
    assert (wrong.query, wrong.matched) == ("sparce retreival", right.matched)


def test_an_acronym_finds_what_never_uses_it_and_the_reverse(library: Library) -> None:
    result = library.search("LSTM", mode=Mode.KEYWORD)
    assert found(result) == ["smith2021", "yu2016"]
    assert steps(result, StepKind.ACRONYM) == [("LSTM", "long short-term memory")]
    assert steps(library.search("long short-term memory"), StepKind.ACRONYM) == [("long short term memory", "lstm")]


@pytest.mark.parametrize(
    ("setting", "kind"),
    [
        ("search.query_fields", StepKind.FIELD),
        ("search.phrases", StepKind.PHRASE),
        ("search.spelling", StepKind.SPELLING),
        ("search.acronyms", StepKind.ACRONYM),
    ],
)
def test_each_step_can_be_switched_off(opened: Callable[..., Library], setting: str, kind: StepKind) -> None:
    query = 'author:Smith "dense retrieval" LSTM sparce'
    with opened() as usual, opened(overrides={setting: False}) as without:
        assert steps(usual.search(query), kind)
        assert not steps(without.search(query), kind)
        kept = {step.kind for step in without.search(query).understood}
        assert kept == {step.kind for step in usual.search(query).understood} - {kind}


def test_understanding_is_a_stage_with_its_own_time(library: Library) -> None:
    timings = library.search("dense retrieval").timings
    assert 0 < timings["understanding"] < timings["total"]


class Broken:
    """An index that fails, or hangs, whatever it is asked."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self, *_arguments: object, **_options: object) -> Any:
        time.sleep(self.seconds)
        raise StoreUnavailable("the index is gone")


@pytest.mark.parametrize(("seconds", "reason"), [(0.0, "the index is gone"), (30.0, "no answer within 1.5 s")])
def test_without_the_keyword_index_a_query_is_taken_as_it_stands(
    opened: Callable[..., Library], monkeypatch: pytest.MonkeyPatch, seconds: float, reason: str
) -> None:
    for method in ("search", "matches", "frequencies", "near", "count"):
        monkeypatch.setattr(TantivyKeywords, method, Broken(seconds))
    with opened(overrides={"search.arm_timeout": 1.5}) as library:
        result = library.search('author:Smith "dense retrieval" retreival')
    assert [(part.arm, part.reason) for part in result.degraded] == [("understanding", reason), ("keyword", reason)]
    assert result.strategy == Strategy.DEGRADED
    assert set(found(result)) == {"smith2019", "smith2021"}
    assert {step.kind for step in result.understood} == {StepKind.LANGUAGE, StepKind.FIELD}


@pytest.mark.parametrize("query", ["", "  \n", "\x00", "\x1b \x07"])
def test_a_query_without_anything_is_refused(library: Library, query: str) -> None:
    with pytest.raises(InvalidInput, match="Search query cannot be empty"):
        library.search(query)


def test_a_query_may_have_two_thousand_characters_and_no_more(library: Library) -> None:
    assert library.search("x" * 2000).query == "x" * 2000
    with pytest.raises(InvalidInput, match="Query exceeds maximum length: 2001 > 2000 characters"):
        library.search("x" * 2001)


@pytest.mark.parametrize(
    "query",
    [
        "the of and",
        "🙂🙂",
        "?!",
        "dense\x00retrieval",
        "dense \ud800 retrieval",
        '"' * 2000,
        "author:" * 285,
        '"a" ' * 500,
        "year:2019 " * 200,
        "(" * 2000,
        " ".join(f"w{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}zqx" for n in range(280)),
        "LSTM " * 400,
        "long short term memory " * 80,
        "自然语言处理" * 300,
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_any_query_is_answered_soon(library: Library, query: str, mode: str) -> None:
    start = time.monotonic()
    library.search(query, mode=mode)
    assert time.monotonic() - start < 15


@pytest.fixture
def shelf(carrel: Carrel, tmp_path: Path) -> Carrel:
    """Commands in a folder whose library holds the papers above."""
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in PAPERS), encoding="utf-8")
    assert carrel("init").code == 0
    assert carrel("add", "in.jsonl").code == 0
    return carrel


def test_explain_prints_what_was_made_of_the_query(shelf: Carrel) -> None:
    outcome = shelf("search", 'author:Smith "dense retrieval" yera', "--explain")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    for line in (
        "language en",
        "field author:Smith → author Smith",
        'phrase "dense retrieval" → must stand there',
        "spelling yera → year",
    ):
        assert line in lines
    assert "1. [" in lines[0]
    assert "Dense retrieval for questions" in lines[0]
    assert outcome.err.splitlines()[0] == "note: yera → year"


def test_json_carries_what_was_made_of_the_query(shelf: Carrel) -> None:
    shown = shelf("search", "LSTM year:2016", "--json").json
    assert shown["understood"] == [
        {"kind": "language", "from": "", "to": "en"},
        {"kind": "field", "from": "year:2016", "to": "year 2016"},
        {"kind": "acronym", "from": "LSTM", "to": "long short-term memory"},
    ]
    assert [one["paper_id"] for one in shown["results"]] == ["yu2016"]


def test_papers_that_are_only_listed_are_printed_without_a_score(shelf: Carrel) -> None:
    lines = shelf("search", "author:Yu").out.splitlines()
    assert [line for line in lines if line[0].isdigit()] == [
        "1. Sparse indexes (2020)",
        "2. Remembering with gates (2016)",
    ]


def test_an_author_that_the_library_does_not_have_is_told(shelf: Carrel) -> None:
    outcome = shelf("search", "author:Nobody retrieval")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.splitlines() == [
        "note: author:Nobody → no paper of the library",
        "Nothing found for 'author:Nobody retrieval'.",
    ]


def test_figures_are_searched_by_an_understood_query_too(shelf: Carrel) -> None:
    shown = shelf("search", "author:Yu", "--figures", "--figure-type", "table", "--json").json
    assert shown["results"] == []
    assert {"kind": "field", "from": "author:Yu", "to": "author Yu"} in shown["understood"]
