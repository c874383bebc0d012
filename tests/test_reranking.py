"""Rerankers in a search: how much they are asked, and what becomes of a search whose reranker fails."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from carrel import doctor
from carrel.errors import ModelDamaged
from carrel.library import Library
from carrel.rerankers.models import probability
from carrel.testing import HashedWords
from carrel.types import Candidate, Confidence, Passage, Strategy
from tests.embedders.test_ollama import Reply, Serve, _impatient, serve
from tests.rerankers import tiny

__all__ = ["_impatient", "serve"]

QUERY = "does aspirin lower the incidence of cancer"
PAPERS = 60


class Recording:
    """Likes short texts, and remembers how much it was asked."""

    name = "recording"

    def __init__(self, *, costly: bool) -> None:
        self.costly = costly
        self.asked: list[list[str]] = []

    def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        self.asked.append([candidate.chunk.address for candidate in candidates])
        return [1 / len(candidate.chunk.text) for candidate in candidates]


class Failing:
    """Does whatever it was told instead of scoring."""

    name = "failing"

    def __init__(self, act: Callable[[Sequence[Candidate]], Any], *, costly: bool) -> None:
        self.act = act
        self.costly = costly

    def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        scores: list[float] = self.act(candidates)
        return scores


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty papers on cancer, each with other words besides."""
    folder = tmp_path_factory.mktemp("library")
    records = [
        {
            "id": f"p{number:02}",
            "title": f"Cancer {number}",
            "abstract": f"The incidence of cancer. {'aspirin ' * (number % 3)}"
            + f"word{number} " * (10 + number * 7 % 60),
            "published": {"year": 2020},
        }
        for number in range(PAPERS)
    ]
    (folder / "new.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    with Library.init(folder, embedder=HashedWords()) as library:
        library.add(folder / "new.jsonl")
    return folder


@pytest.fixture(autouse=True)
def _own_config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))


def opened(folder: Path, reranker: Any = None, **overrides: object) -> Library:
    settings = {key.replace("__", "."): value for key, value in overrides.items()}
    return Library.open(folder, embedder=HashedWords(), reranker=reranker, overrides=settings)


def named(folder: Path, reranker: str) -> Library:
    return Library.open(folder, embedder=HashedWords(), overrides={"reranker": reranker})


def addresses(passages: Sequence[Passage]) -> list[str]:
    return [passage.chunk.address for passage in passages]


@pytest.fixture(scope="module")
def fused_order(folder: Path) -> list[str]:
    """All papers in the order of fusion."""
    with named(folder, "none") as library:
        return addresses(library.search(QUERY, limit=0).passages)


# How much it is asked


@pytest.mark.parametrize(
    ("limit", "settings", "expected"),
    [
        (None, {}, 20),
        (15, {}, 30),
        (3, {}, 20),
        (3, {"search__limit": 3}, 6),
        (None, {"rerank__overfetch": 3}, 30),
        (None, {"rerank__overfetch": 1}, 10),
        (0, {}, 20),
    ],
)
def test_a_costly_reranker_gets_the_first_candidates_only(
    folder: Path, fused_order: list[str], limit: int | None, settings: dict[str, int], expected: int
) -> None:
    reranker = Recording(costly=True)
    with opened(folder, reranker, **settings) as library:
        library.search(QUERY, limit=limit)
    assert [len(asked) for asked in reranker.asked] == [expected]
    assert set(reranker.asked[0]) <= set(fused_order)


def test_a_cheap_reranker_gets_every_candidate(folder: Path) -> None:
    reranker = Recording(costly=False)
    with opened(folder, reranker) as library:
        library.search(QUERY, limit=3)
        library.search(QUERY, limit=0)
    assert [len(asked) for asked in reranker.asked] == [30, 30, PAPERS, PAPERS]


def test_the_best_of_what_it_scored_is_shown(folder: Path) -> None:
    reranker = Recording(costly=True)
    with opened(folder, reranker) as library:
        shown = library.search(QUERY).passages
        every = library.search(QUERY, limit=0).passages
    scores = [1 / len(passage.chunk.text) for passage in every if passage.chunk.address in reranker.asked[0]]
    assert [passage.score for passage in shown] == sorted(scores, reverse=True)[:10]
    assert [passage.probability for passage in shown] == [passage.score for passage in shown]


@pytest.mark.parametrize("limit", [1, 2, 5, 9])
def test_fewer_passages_are_the_first_of_the_usual_ones(folder: Path, limit: int) -> None:
    with opened(folder, Recording(costly=True)) as library:
        usual, fewer = library.search(QUERY), library.search(QUERY, limit=limit)
    assert addresses(fewer.passages) == addresses(usual.passages)[:limit]


def test_those_it_did_not_score_follow_in_the_order_of_fusion_and_without_a_probability(
    folder: Path, fused_order: list[str]
) -> None:
    reranker = Recording(costly=True)
    with opened(folder, reranker) as library:
        every = library.search(QUERY, limit=0).passages
    scored, rest = every[:20], every[20:]
    assert addresses(scored) == sorted(reranker.asked[0], key=lambda one: addresses(every).index(one))
    assert addresses(rest) == [one for one in fused_order if one not in reranker.asked[0]]
    assert {passage.probability for passage in rest} == {None}
    assert all(passage.score == passage.fused.score for passage in rest)
    assert [passage.rank for passage in every] == list(range(1, PAPERS + 1))


def test_every_page_is_reranked_and_no_passage_is_shown_twice_or_left_out(folder: Path) -> None:
    reranker, cursor = Recording(costly=True), ""
    shown: list[Passage] = []
    with opened(folder, reranker) as library:
        while True:
            page = library.search(QUERY, cursor=cursor)
            shown += page.passages
            if not page.next_cursor:
                break
            cursor = page.next_cursor
    assert len(set(addresses(shown))) == len(shown) == PAPERS
    assert [len(asked) for asked in reranker.asked][:3] == [20, 40, PAPERS]
    assert all(passage.probability is not None for passage in shown)


def test_a_score_of_nothing_still_stands_before_those_without_one(folder: Path) -> None:
    nothing = Failing(lambda candidates: [0.0] * len(candidates), costly=True)
    with opened(folder, nothing) as library:
        every = library.search(QUERY, limit=0).passages
    assert [passage.probability for passage in every] == [0.0] * 20 + [None] * 40


# What becomes of a search whose reranker fails


def broken(candidates: Sequence[Candidate]) -> list[float]:
    raise ModelDamaged("the model is broken")


def impossible(candidates: Sequence[Candidate]) -> list[float]:
    raise ZeroDivisionError("by nothing")


FAULTS = [
    (broken, "the model is broken"),
    (impossible, "the reranker 'failing' failed: ZeroDivisionError: by nothing"),
    (lambda candidates: [0.5] * (len(candidates) - 1), "the reranker 'failing' gave 19 scores for 20 candidates"),
    (lambda _: [], "the reranker 'failing' gave 0 scores for 20 candidates"),
    (lambda candidates: [0.5] * len(candidates) * 2, "the reranker 'failing' gave 40 scores for 20 candidates"),
    (lambda candidates: [*[0.5] * 19, float("nan")], "the reranker 'failing' gave nan, which is no probability"),
    (lambda candidates: [*[0.5] * 19, 1.5], "the reranker 'failing' gave 1.5, which is no probability"),
    (lambda candidates: [*[0.5] * 19, -1], "the reranker 'failing' gave -1.0, which is no probability"),
    (lambda candidates: [*[0.5] * 19, None], "the reranker 'failing' failed: TypeError: "),
    (lambda candidates: None, "the reranker 'failing' failed: TypeError: "),
    (lambda candidates: "what" * 5, "the reranker 'failing' failed: ValueError: "),
]


@pytest.mark.parametrize(("act", "reason"), FAULTS)
def test_the_order_before_reranking_stands_and_no_score_is_made_up(
    folder: Path, fused_order: list[str], act: Callable[[Sequence[Candidate]], Any], reason: str
) -> None:
    with opened(folder, Failing(act, costly=True)) as library:
        result = library.search(QUERY)
    with named(folder, "none") as plain:
        expected = plain.search(QUERY)
    assert [(p.chunk.address, p.score, p.probability) for p in result.passages] == [
        (p.chunk.address, p.fused.score, None) for p in expected.passages
    ]
    shown = result.as_dict()
    assert (shown["rerank_degraded"], expected.as_dict()["rerank_degraded"]) == (True, False)
    (degraded,) = shown["degraded"]
    assert degraded["arm"] == "rerank"
    assert degraded["reason"].startswith(reason)
    assert result.strategy == Strategy.HYBRID


@pytest.mark.parametrize("costly", [True, False])
def test_whatever_a_reranker_raises_does_not_sink_the_search(folder: Path, *, costly: bool) -> None:
    with opened(folder, Failing(impossible, costly=costly)) as library:
        result = library.search(QUERY)
    assert (len(result.passages), result.rerank_degraded) == (10, True)


def test_ctrl_c_while_it_scores_is_not_taken_for_a_fault_of_its(folder: Path) -> None:
    def interrupted(candidates: Sequence[Candidate]) -> list[float]:
        raise KeyboardInterrupt

    for costly in (True, False):
        with opened(folder, Failing(interrupted, costly=costly)) as library, pytest.raises(KeyboardInterrupt):
            library.search(QUERY)


def test_one_that_is_slower_than_its_time_counts_as_failed_and_is_not_waited_for(folder: Path) -> None:
    done = threading.Event()

    def slow(candidates: Sequence[Candidate]) -> list[float]:
        done.wait(60)
        return [0.5] * len(candidates)

    start = time.monotonic()
    with opened(folder, Failing(slow, costly=True), rerank__timeout=0.1) as library:
        result = library.search(QUERY)
    assert time.monotonic() - start < 30
    done.set()
    assert [part.reason for part in result.degraded] == ["the reranker 'failing' was not done within 0.1 s"]
    assert {passage.probability for passage in result.passages} == {None}


def test_an_answer_claims_nothing_when_its_reranker_failed(folder: Path) -> None:
    with opened(folder, Failing(broken, costly=True)) as library:
        answer = library.ask(QUERY)
    assert (answer.confidence, answer.has_insufficient_evidence) == (Confidence.INSUFFICIENT, True)
    assert (answer.statements, len(answer.near_misses)) == ((), 3)
    assert [part.arm for part in answer.degraded] == ["rerank"]


def test_nothing_found_is_nothing_to_rerank(folder: Path) -> None:
    reranker = Recording(costly=True)
    with opened(folder, reranker) as library:
        assert library.search("zebra", mode="keyword").passages == ()
    assert reranker.asked == []


# The real ones


def test_a_cross_encoder_reranks_a_library(folder: Path, tmp_path: Path) -> None:
    chosen = f"onnx-cross-encoder:{tiny.save(tmp_path / 'tiny')}"
    with named(folder, chosen) as library:
        result = library.search(QUERY)
    # All have "the", "incidence", "of" and "cancer", those with "aspirin" one more, [SEP] counts as another.
    assert [round(p.score, 3) for p in result.passages] == [round(probability(2), 3)] * 10
    assert all("aspirin" in passage.chunk.text for passage in result.passages)
    assert not result.rerank_degraded


Rising = tuple[str, list[Reply]]


@pytest.fixture
def rising(serve: Serve) -> Rising:
    """A server that gives these answers before it works as it should."""
    faults: list[Reply] = []
    server = serve(lambda path, question: faults.pop(0) if faults else tiny.jina(path, question))
    return server.url, faults


def test_a_server_that_fails_degrades_one_search_and_not_the_next(folder: Path, rising: Rising) -> None:
    url, faults = rising
    faults.append(Reply({"detail": "out of memory"}, 500))
    with named(folder, f"http:{url}") as library:
        first, second = library.search(QUERY), library.search(QUERY)
    assert [part.reason for part in first.degraded] == [f"the model server {url!r} answered 500: out of memory"]
    assert (second.rerank_degraded, second.passages[0].probability) == (False, pytest.approx(5 / 7))


def checked(folder: Path, reranker: str) -> tuple[str, str, str]:
    checks = doctor.examine(str(folder), {"reranker": reranker})
    (check,) = [check for check in checks if check.name == "reranker"]
    return check.status, check.detail, check.hint


def test_the_doctor_tries_the_reranker(folder: Path, tmp_path: Path, rising: Rising) -> None:
    url, faults = rising
    assert checked(folder, "none") == ("ok", "none", "")
    assert checked(folder, "fused") == ("ok", "fused, answers", "")
    assert checked(folder, f"http:{url}") == ("ok", f"http:{url}, answers", "")
    faults.append(Reply({"detail": "who?"}, 401))
    status, detail, hint = checked(folder, f"http:{url}")
    assert (status, "answered 401: who?" in detail, "CARREL_RERANK__API_KEY" in hint) == ("problem", True, True)
    tiny.save(tmp_path / "tiny")
    assert checked(folder, f"onnx-cross-encoder:{tmp_path / 'tiny'}")[0] == "ok"
    status, detail, hint = checked(folder, f"onnx-cross-encoder:{tmp_path / 'none'}")
    assert (status, "in the model folder" in detail, "model.onnx" in hint) == ("problem", True, True)
