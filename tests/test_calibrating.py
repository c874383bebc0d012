"""Whether probabilities keep their word, and which threshold suits them."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import Library, settings
from carrel.errors import InvalidInput
from carrel.evaluate import calibrating
from carrel.evaluate.calibrating import AS_SAID, Map, Trial
from carrel.evaluate.calibration_reports import CalibrationReport
from carrel.testing import HashedWords
from carrel.trials import calibrating as trials
from tests.own_papers import own_papers, put_whole

FOUR = (
    Trial("a", 0.9, True, 0.1),
    Trial("b", 0.8, True, 0.3),
    Trial("c", 0.6, False, 0.6),
    Trial("d", 0.2, True, 0.0),
)
PROBABILITIES = st.floats(0, 1)
TRIALS = st.lists(st.builds(Trial, st.text(), PROBABILITIES, st.booleans(), PROBABILITIES), min_size=1, max_size=40)


def synthetic(count: int, *, slope: float, shift: float, seed: int = 0) -> list[Trial]:
    """Questions whose probabilities mean sigmoid(slope · logit + shift)."""
    chance = random.Random(seed)  # noqa: S311
    meant = Map(slope, shift)
    found = []
    for number in range(count):
        likely, without = chance.uniform(0.05, 0.95), chance.uniform(0.0, 0.02)
        right = chance.random() < float(meant.of(np.array([likely]))[0])
        found.append(Trial(f"q{number}", likely, right, without))
    return found


def test_the_brier_score_is_the_mean_squared_error() -> None:
    having, without = [0.01, 0.04, 0.36, 0.64], [0.01, 0.09, 0.36, 0.0]
    assert calibrating.brier(*calibrating.said(FOUR)) == pytest.approx((2 * sum(having) + sum(without)) / 12)


def test_bins_say_how_often_what_was_said_came_true() -> None:
    found = calibrating.bins(*calibrating.said(FOUR))
    shown = [(round(one.predicted, 3), one.observed, one.count) for one in found]
    assert shown == [
        (0.0, 0.0, 1),
        (0.1, 0.0, 1),
        (0.2, 1.0, 2),
        (0.3, 0.0, 1),
        (0.6, 0.0, 3),
        (0.8, 1.0, 2),
        (0.9, 1.0, 2),
    ]
    apart = (0 + 0.1 + 2 * 0.8 + 0.3 + 3 * 0.6 + 2 * 0.2 + 2 * 0.1) / 12
    assert calibrating.calibration_error(*calibrating.said(FOUR)) == pytest.approx(apart)


def test_the_area_counts_pairs_and_half_of_the_equal_ones() -> None:
    # 0.9 and 0.8 beat all four; 0.6 beats three and equals one; 0.2 beats two.
    assert calibrating.auroc(FOUR) == pytest.approx((4 + 4 + 3.5 + 2) / 16)


def test_coverage_and_risk_at_a_threshold() -> None:
    assert calibrating.coverage(FOUR, 0.6) == (0.6, 0.75, 0.25, pytest.approx(3 / 7))
    assert calibrating.coverage(FOUR, 0.7) == (0.7, 0.5, 0.0, 0.0)
    assert calibrating.coverage(FOUR, 0.95) == (0.95, 0.0, 0.0, 0.0)


@given(TRIALS, PROBABILITIES, PROBABILITIES)
def test_a_higher_threshold_never_answers_more(some: list[Trial], one: float, other: float) -> None:
    low, high = (calibrating.coverage(some, threshold) for threshold in sorted((one, other)))
    assert low.answered >= high.answered
    assert low.answered_without >= high.answered_without
    assert 0 <= low.risk <= 1


@given(TRIALS)
def test_a_map_rises_or_there_is_none(some: list[Trial]) -> None:
    made = calibrating.fit(*calibrating.said(some))
    if made is not None:
        steps = made.of(np.linspace(0.001, 0.999, 50))
        assert np.isfinite(steps).all()
        assert (np.diff(steps) >= 0).all()
        assert 0 <= made.meaning(0.6) <= 1


def test_a_known_map_is_found_again() -> None:
    likely = np.random.default_rng(1).uniform(0.02, 0.98, 20_000)
    meant = Map(1.5, 1.0)
    right = (np.random.default_rng(2).uniform(size=len(likely)) < meant.of(likely)).astype(np.float64)
    made = calibrating.fit(likely, right)
    assert made is not None
    assert (made.slope, made.shift) == (pytest.approx(1.5, abs=0.06), pytest.approx(1.0, abs=0.06))
    assert float(made.of(np.array([made.meaning(0.6)]))[0]) == pytest.approx(0.6)


def test_what_is_said_too_low_gets_a_lower_threshold() -> None:
    found = calibrating.calibrate(synthetic(300, slope=1.0, shift=2.0), certainty=0.6, seed=0)
    assert found.doubt == ""
    assert found.map != AS_SAID
    assert found.gain.mean > 0
    assert found.interval.low <= found.threshold <= found.interval.high
    assert found.threshold < 0.4


def test_what_keeps_its_word_is_left_alone() -> None:
    found = calibrating.calibrate(synthetic(300, slope=1.0, shift=0.0), certainty=0.6, seed=0)
    assert (found.map, found.threshold, found.doubt) == (AS_SAID, 0.6, "")
    assert "keep their word" in CalibrationReport("x", found, 0.6).verdict


def test_too_few_questions_tell_nothing() -> None:
    found = calibrating.calibrate(synthetic(49, slope=1.0, shift=2.0), certainty=0.6, seed=0)
    assert found.doubt == "49 questions are too few to tell: 50 are needed"


def test_probabilities_that_mean_nothing_are_told() -> None:
    chance = random.Random(0)  # noqa: S311
    backwards = [Trial(str(n), 0.2 + 0.1 * chance.random(), True, 0.7 + 0.1 * chance.random()) for n in range(60)]
    assert "tell nothing" in calibrating.calibrate(backwards, certainty=0.6, seed=0).doubt
    never = [Trial(str(n), chance.random(), False, chance.random()) for n in range(60)]
    assert "tell nothing" in calibrating.calibrate(never, certainty=0.6, seed=0).doubt


def test_the_same_seed_gives_the_same_report() -> None:
    some = synthetic(80, slope=1.0, shift=2.0)
    one, other = (CalibrationReport("x", calibrating.calibrate(some, certainty=0.6, seed=5), 0.6) for _ in range(2))
    assert one.as_dict(with_scores=True) == other.as_dict(with_scores=True)
    assert json.loads(json.dumps(one.as_dict()))["queries"] == 80


def test_a_report_shows_the_fitted_threshold_beside_the_usual_ones() -> None:
    report = CalibrationReport(
        "x", calibrating.calibrate(synthetic(300, slope=1.0, shift=2.0), certainty=0.6, seed=0), 0.6
    )
    assert [one.threshold for one in report.coverages] == [report.calibration.threshold, 0.4, 0.6, 0.8]
    shown = report.as_markdown()
    assert f"{report.calibration.threshold:g} (fitted)" in shown
    assert "0.6 (present)" in shown
    assert report.as_svg().count("<circle") == len(report.bins)


def _report(count: int) -> CalibrationReport:
    return CalibrationReport(
        "scifact", calibrating.calibrate(synthetic(count, slope=1.0, shift=2.0), certainty=0.6, seed=0), 0.6
    )


def test_a_written_threshold_says_where_it_comes_from(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("# mine\n[answer]\ntop_k = 3 # few\n", encoding="utf-8")
    report = _report(300)
    kept = trials.write(report, config)
    text = config.read_text(encoding="utf-8")
    assert tomllib.loads(text)["answer"] == {"top_k": 3, "threshold": kept}
    assert "# mine" in text
    assert "# few" in text
    assert f"threshold = {kept} # {kept} fitted 20" in text
    assert "scifact (300 questions, Brier 0." in text
    assert settings.load(config)[0].answer.threshold == kept
    trials.write(report, config)
    assert config.read_text(encoding="utf-8").count("fitted") == 1


def test_what_cannot_be_told_is_not_written(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    with pytest.raises(InvalidInput, match="nothing was written: 30 questions are too few"):
        trials.write(_report(30), config)
    assert not config.exists()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.init(tmp_path / "library", embedder=HashedWords()) as made:
        yield put_whole(made, *own_papers())


def test_a_library_is_asked_with_and_without_what_answers(library: Library) -> None:
    before = library.layout.config.read_bytes()
    report = trials.calibrate_own(library, count=24)
    found = report.calibration
    assert len(found.trials) == 24
    assert report.auroc > 0.5
    assert np.mean([trial.right for trial in found.trials]) > 0.4
    assert found.doubt.startswith("24 questions are too few")
    assert trials.calibrate_own(library, count=24).as_dict() == report.as_dict()
    assert library.layout.config.read_bytes() == before


def test_what_is_calibrated_is_what_an_answer_goes_by_with_a_reranker_or_without(tmp_path: Path) -> None:
    with Library.init(tmp_path / "library", embedder=HashedWords(), overrides={"reranker": "none"}) as made:
        put_whole(made, *own_papers())
        report = trials.calibrate_own(made, count=8)
        trial = report.calibration.trials[0]
    assert 0 < trial.likely < 1
    assert report.auroc > 0.5
