"""What a sure passage names by its title follows it; nothing else moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel import Library
from carrel.errors import StoreUnavailable
from carrel.search.bridging import bridged
from carrel.search.specificity import Specificity
from carrel.testing import HashedWords, MemoryGraph
from carrel.types import Chunk, Contribution, Fused, Mention, Passage, Strategy
from tests.builders import make_chunk
from tests.test_library import write_refs

ALL = 1000
"""Passages of the library, of which few speak of any concept here."""


def passage(paper_id: str, probability: float | None, *, title: str = "", heading: str = "") -> Passage:
    chunk = make_chunk(paper_id, title=title or f"On {paper_id}", section_path=(heading,) if heading else ())
    return Passage(0, chunk, probability or 0.0, Fused(chunk.address, 0.0, {}), probability)


def graph_of(passages: Sequence[Passage], spoken: dict[str, dict[str, float]]) -> MemoryGraph:
    """Paper → what its passage speaks of, and how centrally."""
    graph = MemoryGraph()
    chunks = {one.chunk.paper_id: one.chunk for one in passages}
    graph.put([_speaking(chunks[paper_id], said) for paper_id, said in spoken.items() if paper_id in chunks])
    return graph


def _speaking(chunk: Chunk, said: dict[str, float]) -> Contribution:
    mentions = (Mention(name, chunk.address, 1, share) for name, share in said.items())
    return Contribution(chunk.paper_id, (chunk,), mentions=tuple(mentions))


def order(
    passages: Sequence[Passage],
    spoken: dict[str, dict[str, float]],
    named: frozenset[str] = frozenset(),
    weight: float = 4,
) -> dict[str, float | None]:
    graph = graph_of(passages, spoken)
    after = bridged(passages, graph, Specificity(ALL), named=lambda _: named, weight=weight)
    assert [one.rank for one in after] == list(range(1, len(passages) + 1))
    return {one.chunk.paper_id: one.probability for one in after}


JOURNAL = passage("journal", 0.8, title="Journal of Rest")
OTHERS = [passage("other", 0.2), passage("third", 0.1)]
SOCIETY = passage("society", 0.05, title="Sleep Society (London)")
SPOKEN = {"journal": {"Journal of Rest": 0.95, "Sleep society": 0.3}, "society": {"Sleep Society": 0.95}}


def test_what_is_named_by_its_title_rises_towards_what_names_it() -> None:
    after = order([JOURNAL, *OTHERS, SOCIETY], SPOKEN)
    assert list(after) == ["journal", "society", "other", "third"]
    assert (after["journal"], after["other"], after["third"]) == (0.8, 0.2, 0.1)
    # 0.8 sure, rare (1 - log 2 / log 1000), half named and half of that for 0.3: evidence 0.4678, logit up by 1.871.
    assert after["society"] == pytest.approx(0.2547, abs=1e-3)


def test_it_never_passes_what_led_to_it() -> None:
    after = order([JOURNAL, *OTHERS, SOCIETY], SPOKEN, weight=100)
    assert list(after)[:2] == ["journal", "society"]
    assert after["society"] == after["journal"] == 0.8


def test_it_tells_where_it_was_named() -> None:
    passages = [JOURNAL, SOCIETY]
    _, led = bridged(passages, graph_of(passages, SPOKEN), Specificity(ALL), named=lambda _: (), weight=4)
    assert str(led.path) == "journal/ch1/s1/p1 — Sleep Society — mentioned here"
    assert led.as_dict()["path"]["source"] == "journal/ch1/s1/p1"
    assert led.signals["bridge"] == pytest.approx(0.4678, abs=1e-3)
    assert led.score == led.probability


def test_what_names_the_title_of_a_sure_passage_rises_half_as_much() -> None:
    back = order([passage("society", 0.8, title="Sleep Society"), *OTHERS, passage("journal", 0.05)], SPOKEN)
    assert next(iter(back)) == "society"
    assert 0.1 < (back["journal"] or 0) < 0.2547


def test_a_heading_is_a_title() -> None:
    section = passage("book", 0.05, title="Handbook", heading="Sleep Society")
    assert list(order([JOURNAL, *OTHERS, section], {**SPOKEN, "book": {"Sleep Society": 0.95}}))[1] == "book"


@pytest.mark.parametrize(
    ("passages", "spoken", "named"),
    [
        ([JOURNAL, *OTHERS, SOCIETY], SPOKEN, frozenset({"sleep society"})),
        ([JOURNAL, *OTHERS, passage("society", 0.05, title="Of sleep and societies")], SPOKEN, frozenset()),
        ([JOURNAL, *OTHERS, SOCIETY], {**SPOKEN, "journal": {"Journal of Rest": 0.95}}, frozenset()),
        ([JOURNAL], SPOKEN, frozenset()),
        ([], {}, frozenset()),
    ],
    ids=["named in the question", "not entitled so", "not named", "alone", "nothing"],
)
def test_nothing_moves_without_a_bridge(
    passages: list[Passage], spoken: dict[str, dict[str, float]], named: frozenset[str]
) -> None:
    before = {one.chunk.paper_id: one.probability for one in passages}
    after = order(passages, spoken, named)
    assert (list(after), after) == (list(before), before)


def test_passages_of_one_paper_do_not_lift_each_other() -> None:
    first, second = passage("book", 0.8), passage("book", 0.1, heading="Sleep Society")
    spoken = {"book": {"Sleep Society": 0.9}}
    assert (
        bridged([first, second], graph_of([first], spoken), Specificity(ALL), named=lambda _: (), weight=9)[
            1
        ].probability
        == 0.1
    )


def test_what_no_reranker_has_scored_stays_behind() -> None:
    unscored = passage("society", None, title="Sleep Society")
    assert order([JOURNAL, *OTHERS, unscored], SPOKEN) == {"journal": 0.8, "other": 0.2, "third": 0.1, "society": None}


def test_what_many_speak_of_lifts_little() -> None:
    crowd = {f"c{number}": {"Sleep Society": 0.2} for number in range(200)}
    passages = [JOURNAL, *OTHERS, SOCIETY, *(passage(paper, 0.01) for paper in crowd)]
    assert (order(passages, {**SPOKEN, **crowd})["society"] or 0) < 0.1


NAMES = ("alpha", "beta", "gamma")
PASSAGES = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from(NAMES), st.dictionaries(st.sampled_from(NAMES), st.floats(0, 1))),
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(given_passages=PASSAGES, weight=st.floats(0, 100))
def test_none_is_lost_none_falls_in_probability_and_the_best_stays_the_best(
    given_passages: list[tuple[float, str, dict[str, float]]], weight: float
) -> None:
    best_first = sorted(given_passages, key=lambda one: -one[0])
    passages = [passage(f"p{number}", p, title=title) for number, (p, title, _) in enumerate(best_first)]
    spoken = {f"p{number}": said for number, (_, _, said) in enumerate(best_first)}
    before = {one.chunk.paper_id: one.probability for one in passages}
    after = order(passages, spoken, weight=weight)
    assert after.keys() == before.keys()
    assert list(after)[:1] == list(before)[:1]
    assert all(before[paper] <= after[paper] <= 1 for paper in before)  # type: ignore[operator]
    assert sorted(after.values(), reverse=True) == list(after.values())  # type: ignore[type-var]


# In a library


def record(paper_id: str, title: str, abstract: str) -> dict[str, Any]:
    return {"id": paper_id, "title": title, "authors": [], "abstract": abstract}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    fillers = [
        record(f"filler{number}", f"Notes on rivers {number}", f"Water flows down the river {number} into the lake.")
        for number in range(12)
    ]
    records = [
        record("journal", "Journal of Rest", "The Journal of Rest is published by the Kalmar Institute every spring."),
        record("institute", "Kalmar Institute", "Kalmar Institute. Its first director was Olga Brandt, a botanist."),
        *fillers,
    ]
    with Library.init(tmp_path / "library", embedder=HashedWords()) as made:
        made.add(write_refs(tmp_path / "in.jsonl", records))
        yield made


QUESTION = "who publishes the Journal of Rest"


def test_a_search_follows_the_bridge_and_tells_it(library: Library) -> None:
    result = library.search(QUESTION, limit=3)
    first, second = result.passages[:2]
    assert (first.chunk.paper_id, second.chunk.paper_id) == ("journal", "institute")
    assert str(second.path).startswith("journal/abstract — Kalmar Institute — ")
    assert [(named.said, named.concept) for named in result.concepts] == [("Journal of Rest", "Journal of Rest")]
    assert result.no_concepts == ""
    assert "bridges" in result.timings


def test_without_weight_the_graph_has_no_say(library: Library) -> None:
    with Library.open(
        library.layout.root.parent,
        embedder=HashedWords(),
        overrides={"search.weight_bridge": 0},
    ) as plain:
        result = plain.search(QUESTION, limit=3)
        assert "graph" not in result.counts
        assert (result.concepts, result.no_concepts, result.passages[1].path) == ((), "", None)
        assert [one.chunk.paper_id for one in plain.search(QUESTION, mode="graph").passages[:2]] == [
            "journal",
            "institute",
        ]


def test_a_question_that_names_no_concept_is_no_failure(library: Library) -> None:
    result = library.search("how are you")
    assert result.degraded == ()
    assert result.no_concepts == "no concept of the graph is named in the question"
    alone = library.search("how are you", mode="graph")
    assert (alone.passages, alone.degraded, alone.strategy) == ((), (), Strategy.GRAPH_ONLY)
    assert alone.no_concepts == "no concept of the graph is named in the question"


def test_an_empty_graph_is_told_of(library: Library) -> None:
    library.stores.graph.clear()
    result = library.search(QUESTION)
    assert result.degraded == ()
    assert result.no_concepts == "the graph of concepts is empty; 'carrel index build' builds it"


@pytest.mark.parametrize(
    ("error", "reason"),
    [(StoreUnavailable("the graph is gone"), "the graph is gone"), (KeyError("sleep"), "KeyError: 'sleep'")],
    ids=["ours", "anybody's"],
)
def test_a_graph_that_fails_is_a_degradation(
    library: Library, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def breaking(_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(library.stores.graph, "spoken", breaking)
    result = library.search(QUESTION, limit=3)
    assert [(part.arm, part.reason) for part in result.degraded] == [("graph", reason)]
    assert result.strategy == Strategy.DEGRADED
    assert result.passages[0].chunk.paper_id == "journal"


@pytest.mark.parametrize("reranker", ["fused", "none"])
def test_asked_alone_the_graph_orders_by_evidence_whatever_its_weight_beside_others(
    library: Library, reranker: str
) -> None:
    overrides = {"reranker": reranker, "search.shortlist": 1, "search.limit": 1}
    with Library.open(library.layout.root.parent, embedder=HashedWords(), overrides=overrides) as opened:
        result = opened.search("Journal of Rest", mode="graph")
    assert [one.chunk.paper_id for one in result.passages] == ["journal"]
    assert result.passages[0].fused.score > 0
