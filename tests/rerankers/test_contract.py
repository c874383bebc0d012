"""What every reranker promises."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as some

from carrel.rerankers import Reranker
from carrel.rerankers.fused import Fused as FusedReranker
from carrel.rerankers.http import Http
from carrel.rerankers.onnx import CrossEncoder
from carrel.testing import SharedWords
from carrel.types import ArmScore, Candidate, Fused
from tests.builders import make_chunk
from tests.embedders.test_ollama import Scripted
from tests.rerankers import tiny

QUERY = "Does aspirin lower the incidence of colorectal cancer?"
ANSWER = "Aspirin lowers the incidence of colorectal cancer in people with Lynch syndrome."
BESIDE = "The committee met on Tuesday and approved the minutes of its last meeting."
ARMS = (("vector", "keyword"), ("vector",), ("keyword",), ("graph",), ())


@pytest.fixture(scope="module", params=["fused", "shared-words", "onnx-cross-encoder", "http: jina", "http: tei"])
def reranker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reranker]:
    if request.param == "onnx-cross-encoder":
        yield CrossEncoder(str(tiny.save(tmp_path_factory.mktemp("models") / "tiny")))
    elif request.param.startswith("http"):
        server = Scripted(tiny.jina if request.param.endswith("jina") else tiny.tei)
        yield Http(server.url)
        server.shutdown()
        server.server_close()
    else:
        yield FusedReranker() if request.param == "fused" else SharedWords()


def candidate(text: str, arms: tuple[str, ...] = ARMS[0], score: float = 0.8, number: int = 1) -> Candidate:
    chunk = make_chunk(number=number, text=text, title="A title")
    scores = {"vector": score, "keyword": 10 * score, "graph": score}
    return Candidate(chunk, Fused(chunk.address, 0.03, {arm: ArmScore(number, scores[arm]) for arm in arms}))


def candidates() -> list[Candidate]:
    """A good one among others, each found a little worse than the one before."""
    texts = [BESIDE, ANSWER, "Cancer is a disease.", "", "漢字 🙂"]
    scores = [0.7, 0.9, 0.75, 0.5, 0.4]
    return [candidate(text, score=scores[at], number=at + 1) for at, text in enumerate(texts)]


def test_it_is_a_reranker_with_a_name(reranker: Reranker) -> None:
    assert isinstance(reranker, Reranker)
    assert reranker.name


def test_no_candidates_have_no_scores(reranker: Reranker) -> None:
    assert reranker.score(QUERY, []) == []


def test_each_candidate_has_a_probability(reranker: Reranker) -> None:
    scores = reranker.score(QUERY, candidates())
    assert len(scores) == 5
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert {type(score) for score in scores} == {float}


def test_scores_are_in_the_candidates_order_whatever_it_is(reranker: Reranker) -> None:
    forward = reranker.score(QUERY, candidates())
    assert reranker.score(QUERY, candidates()[::-1])[::-1] == pytest.approx(forward, abs=1e-6)


def test_the_candidate_that_answers_scores_highest(reranker: Reranker) -> None:
    scores = reranker.score(QUERY, candidates())
    assert scores.index(max(scores)) == 1
    assert scores[1] > scores[0]


def test_the_same_question_is_scored_the_same_again(reranker: Reranker) -> None:
    assert reranker.score(QUERY, candidates()) == reranker.score(QUERY, candidates())


def test_the_candidates_are_left_as_they_were(reranker: Reranker) -> None:
    given_ones = candidates()
    reranker.score(QUERY, given_ones)
    assert given_ones == candidates()


@pytest.mark.parametrize("arms", ARMS, ids=str)
def test_whichever_arms_found_them_candidates_are_scored(reranker: Reranker, arms: tuple[str, ...]) -> None:
    scores = reranker.score(QUERY, [candidate(ANSWER, arms), candidate(BESIDE, arms, number=2)])
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert scores[0] > scores[1]


def test_candidates_of_different_arms_are_scored_together(reranker: Reranker) -> None:
    scores = reranker.score(QUERY, [candidate(ANSWER, arms, number=at) for at, arms in enumerate(ARMS, start=1)])
    assert [0.0 <= score <= 1.0 for score in scores] == [True] * 5


def test_a_single_candidate_is_scored(reranker: Reranker) -> None:
    (score,) = reranker.score(QUERY, [candidate(ANSWER)])
    assert 0.0 < score <= 1.0


@given(query=some.text(max_size=80), text=some.text(max_size=200))
def test_any_text_can_be_scored(reranker: Reranker, query: str, text: str) -> None:
    scores = reranker.score(query, [candidate(text), candidate(ANSWER, number=2)])
    assert [0.0 <= score <= 1.0 for score in scores] == [True, True]


def test_the_double_scores_the_share_of_the_querys_words() -> None:
    scores = SharedWords().score("aspirin lowers cancer risk", [candidate("Aspirin. Cancer!"), candidate("RISK")])
    assert scores == [0.5, 0.25]
    assert SharedWords().score("?", [candidate("anything")]) == [0.0]
