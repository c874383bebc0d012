"""The order of study."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.atlas.paths import StudyPath, path
from carrel.errors import InvalidInput, NotFound
from tests.atlas.graphs import Written, memory


def names(found: StudyPath) -> list[str]:
    return [step.row.concept.name for step in found.steps]


def walk(written: Written, name: str, limit: int = 12) -> StudyPath:
    return path(name, written.graph, written.catalog, limit=limit)


def test_what_is_needed_comes_first_and_the_target_last(written: Written) -> None:
    written.paper("a", "Lazy propagation | needs | Segment tree", "Segment tree | needs | Recursion")
    written.paper("b", "Segment tree | needs | Array")
    found = walk(written, "Lazy propagation")
    assert names(found) == ["Array", "Recursion", "Segment tree", "Lazy propagation"]
    assert found.steps[-1].because == ()


def test_each_step_says_why_in_whose_words_and_where_to_read_it(written: Written) -> None:
    written.paper("a", "Segment tree | needs | Recursion", discusses=["Recursion"])
    step = walk(written, "Segment tree").steps[0]
    (reason,) = step.because
    assert (reason.before, reason.after, reason.said) == (
        "Recursion", "Segment tree", "Recursion is needed for Segment tree",
    )  # fmt: skip
    assert (reason.evidence[0].text, reason.evidence[0].where.address) == (
        "Segment tree needs Recursion.", "a/ch1/s1/p1",
    )  # fmt: skip
    assert step.read is not None
    assert step.read.address == "a/ch1/s1/p1"
    told = step.as_dict()["because"][0]
    assert (told["predicate"], told["evidence"][0]["page"]) == ("PREREQUISITE", 1)


def test_uses_examples_and_parts_count_where_nothing_says_outright_what_comes_first(written: Written) -> None:
    written.paper(
        "a",
        "Dijkstra | uses | Heap",
        "Dijkstra | example of | Shortest path",
        "Relaxation | part of | Dijkstra",
        "Dijkstra | like | Bellman-Ford",
        discusses=["Heap", "Shortest path"],
    )
    assert names(walk(written, "Dijkstra")) == ["Heap", "Relaxation", "Shortest path", "Dijkstra"]
    written.paper("b", "Dijkstra | needs | Graph")
    assert names(walk(written, "Dijkstra")) == ["Graph", "Dijkstra"]


def test_what_no_chunk_is_about_is_no_step_unless_it_is_stated(written: Written) -> None:
    written.paper("a", "Dijkstra | uses | Thing")
    assert names(walk(written, "Dijkstra")) == ["Dijkstra"]
    written.paper("b", "Dijkstra | needs | Thing")
    assert names(walk(written, "Dijkstra")) == ["Thing", "Dijkstra"]


def test_everyday_words_are_no_steps_and_nothing_comes_before_them(written: Written) -> None:
    for number in range(12):
        written.paper(f"p{number}", discusses=["Number"])
    written.paper("a", "Sieve | uses | Number", "Number | needs | Set", discusses=["Number"])
    assert names(walk(written, "Sieve")) == ["Sieve"]
    written.paper("b", "Sieve | needs | Number")
    assert names(walk(written, "Sieve")) == ["Number", "Sieve"]


def test_a_circle_is_broken_at_its_weakest_statement_and_that_is_said(written: Written) -> None:
    written.paper("a", ("A1 | needs | B1", 0.9), ("B1 | needs | C1", 0.8), ("C1 | needs | A1", 0.6))
    found = walk(written, "A1")
    assert names(found) == ["C1", "B1", "A1"]
    (aside,) = found.set_aside
    assert (aside.said, aside.evidence[0].text) == ("A1 is needed for C1", "C1 needs A1.")
    # From the other side, too: what is surely after C1 is no step before it.
    assert names(walk(written, "C1")) == ["C1"]
    assert [reason.said for reason in walk(written, "C1").set_aside] == ["A1 is needed for C1"]


def test_nobody_needs_himself(written: Written) -> None:
    written.paper("a", "Heap | needs | heaps", "Heap | needs | Tree")
    assert [step.row.key for step in walk(written, "Heap").steps] == ["tree", "heap"]


def test_the_most_wanted_are_kept_and_no_concept_comes_twice(written: Written) -> None:
    needs = [(f"Target | needs | Near {number}", 0.9 - number / 100) for number in range(9)]
    written.paper("a", *needs, "Near 0 | needs | Far", "Near 1 | needs | Far")
    found = names(walk(written, "Target", limit=3))
    assert len(found) == len(set(found)) == 4
    assert {"Near 0", "Near 1"} < set(found)
    assert found[-1] == "Target"


def test_papers_that_speak_of_a_concept_and_are_not_spoken_of_by_its_own_show_what_comes_first(
    written: Written,
) -> None:
    written.paper("bs", title="Binary search", discusses=["Binary search"])
    written.paper(
        "st",
        "Segment tree | related to | Binary search",
        "Segment tree | related to | Array",
        title="Segment tree: an introduction",
        discusses=["Segment tree"],
    )
    found = walk(written, "Segment tree")
    assert names(found) == ["Binary search", "Segment tree"]
    (reason,) = found.steps[0].because
    assert (reason.predicate, reason.said) == (None, "1 of 2 chunks on Segment tree speaks of Binary search")
    assert reason.evidence[0].text == "Segment tree related to Binary search."
    assert names(walk(written, "Binary search")) == ["Binary search"]


def test_a_concept_without_needs_is_its_own_path_and_an_unknown_one_none(written: Written) -> None:
    written.paper("a", "A1 | like | B1")
    assert names(walk(written, "A1")) == ["A1"]
    with pytest.raises(NotFound, match="there is no concept 'Z99'"):
        walk(written, "Z99")
    with pytest.raises(InvalidInput, match="limit must be at least 1"):
        walk(written, "A1", limit=0)


def test_what_is_stated_further_back_than_a_path_goes_still_orders_what_is_on_it(written: Written) -> None:
    """Else the fourth step back would come before what it needs, and nobody would be told of the circle."""
    written.paper("a", "Target | needs | A1", "A1 | needs | B1", "B1 | needs | C1", "C1 | needs | D1")
    written.paper("b", "D1 | needs | B1")
    found = walk(written, "Target")
    assert len(found.set_aside) == 1
    order = names(found)
    pairs = {("B1", "D1"), ("D1", "C1"), ("C1", "B1")} - {(one.before, one.after) for one in found.set_aside}
    assert all(order.index(one) < order.index(other) for one, other in pairs if {one, other} <= {*order})


def test_a_concept_of_many_needs_comes_after_each_that_is_on_the_path(written: Written) -> None:
    needs = [(f"Tree | needs | Part {number}", 0.9 - number / 100) for number in range(7)]
    written.paper("a", ("Target | needs | Part 6", 0.5), ("Target | needs | Tree", 0.9), *needs)
    order = names(walk(written, "Target"))
    assert order.index("Part 6") < order.index("Tree")


EDGES = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from((0.5, 0.6, 0.7, 0.8, 0.9))), min_size=1, max_size=20
)


@given(EDGES, st.integers(1, 8))
def test_whatever_is_stated_a_path_ends_at_its_target_and_keeps_what_it_did_not_set_aside(
    stated: list[tuple[int, int, float]], limit: int
) -> None:
    written = memory()
    written.paper("a", *((f"C{after} | needs | C{before}", sure) for after, before, sure in stated))
    target = f"C{stated[0][0]}"
    found = walk(written, target, limit)
    order = names(found)
    assert order[-1] == target
    assert len(order) == len(set(order)) <= limit + 1
    place = {name: number for number, name in enumerate(order)}
    aside = {(reason.before, reason.after) for reason in found.set_aside}
    for step in found.steps:
        assert all(place[reason.before] < place[reason.after] for reason in step.because)
        assert step.because or step is found.steps[-1]
    for after, before, _ in stated:
        ends = (f"C{before}", f"C{after}")
        if after != before and ends not in aside and set(ends) <= set(order) and limit >= 8:
            assert place[ends[0]] < place[ends[1]]
    assert list(pairwise(order)) == list(pairwise(names(walk(written, target, limit))))
