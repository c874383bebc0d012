from __future__ import annotations

import pytest

from carrel import fusion
from carrel.types import ArmScore, Hit

VECTOR = [Hit("a", 0.9), Hit("b", 0.8), Hit("c", 0.1)]
KEYWORD = [Hit("c", 12.0), Hit("a", 3.0)]
EVEN = {"vector": 1.0, "keyword": 1.0}


def test_reciprocal_ranks_are_summed_over_the_arms() -> None:
    first, second, third = fusion.reciprocal_rank({"vector": VECTOR, "keyword": KEYWORD}, weights=EVEN, k=60)
    assert (first.address, first.score) == ("a", pytest.approx(1 / 61 + 1 / 62))
    assert (second.address, second.score) == ("c", pytest.approx(1 / 63 + 1 / 61))
    assert (third.address, third.score) == ("b", pytest.approx(1 / 62))


def test_every_arm_keeps_its_rank_and_score() -> None:
    first = fusion.reciprocal_rank({"vector": VECTOR, "keyword": KEYWORD}, weights=EVEN)[0]
    assert first.arms == {"vector": ArmScore(1, 0.9), "keyword": ArmScore(2, 3.0)}


def test_a_weight_of_zero_leaves_the_other_arms_order() -> None:
    weights = {"vector": 1.0, "keyword": 0.0}
    fused = fusion.reciprocal_rank({"vector": VECTOR, "keyword": KEYWORD}, weights=weights)
    assert [one.address for one in fused] == ["a", "b", "c"]


def test_min_max_stretches_each_arm_from_zero_to_one() -> None:
    fused = {one.address: one.score for one in fusion.min_max({"vector": VECTOR, "keyword": KEYWORD}, weights=EVEN)}
    assert fused == {"a": pytest.approx(1.0), "b": pytest.approx(0.875), "c": pytest.approx(1.0)}


def test_equal_scores_stand_in_order_of_arms_then_address() -> None:
    fused = fusion.min_max({"vector": VECTOR, "keyword": KEYWORD}, weights=EVEN)
    assert [one.address for one in fused] == ["a", "c", "b"]
    alone = fusion.min_max({"vector": [Hit("z", 0.5), Hit("y", 0.5)]}, weights=EVEN)
    assert [(one.address, one.score) for one in alone] == [("y", 1.0), ("z", 1.0)]


def test_nothing_found_fuses_to_nothing() -> None:
    assert fusion.reciprocal_rank({"vector": [], "keyword": []}, weights=EVEN) == []
    assert fusion.min_max({"vector": []}, weights=EVEN) == []
