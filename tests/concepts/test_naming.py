"""One key for all the spellings of a concept's name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.naming import key

ANYTHING = st.text(st.characters(codec=None), max_size=40)
MARKED = st.text(st.sampled_from("aAsSxe -_*$`'’\\{}.,;:?#+0129ßİﬁ\u200fи中 "), max_size=20)


@pytest.mark.parametrize(
    ("spellings", "shared"),
    [
        (("Segment Tree", "segment trees", "the segment-tree", "a  Segment\ttree"), "segment tree"),
        (("colour", "Colors", "COLOUR"), "color"),
        (("optimisation", "Optimizations"), "optimization"),
        (("centre", "centers"), "center"),
        (("modelling", "Modeling"), "modeling"),
        (("leukaemia", "leukemias"), "leukemia"),
        (("analysis", "analyses"), "analysis"),
        (("matrix", "Matrices"), "matrix"),
        (("virus", "viruses"), "virus"),
        (("class", "Classes"), "class"),
        (("database", "databases", "data bases"), "database"),
        (("data set", "datasets"), "dataset"),
        (("CNN", "CNNs"), "cnn"),
        (("GPU", "GPUs", "gpus"), "gpu"),
        (("part of speech", "parts-of-speech"), "part of speech"),
        (("$k$-d tree", "k-d trees", "*k*-d tree"), "k d tree"),
        (("**Bold** term", "`bold` terms"), "bold term"),
        (("Dijkstra's algorithm", "Dijkstra’s algorithms", "Dijkstra algorithm"), "dijkstra algorithm"),
        (("non-linear", "nonlinear", "Non–linear"), "nonlinear"),
        (("snake_case", "snake case"), "snake case"),
        (("ﬁlter", "filters"), "filter"),
    ],
)
def test_spellings_of_one_name_share_a_key(spellings: tuple[str, ...], shared: str) -> None:
    assert {key(spelling) for spelling in spellings} == {shared}


@pytest.mark.parametrize(
    "name",
    ["bias", "gauss", "dns", "time series", "species", "k means", "texas", "physics", "gas", "aws", "naive bayes"],
)
def test_a_singular_that_ends_in_s_keeps_it(name: str) -> None:
    assert key(name) == key(name.upper()) == name


@pytest.mark.parametrize(
    ("one", "other"),
    [("C", "C++"), ("C", "C#"), ("A", "A*"), ("0-1 BFS", "01 BFS"), ("Type 1", "Type 2"), ("DNS", "DN")],
)
def test_signs_that_tell_names_apart_stay(one: str, other: str) -> None:
    assert key(one) != key(other)


def test_an_article_alone_and_mark_up_alone_are_names() -> None:
    assert [key(name) for name in ("The", "a", "$$", "***", "  x  ")] == ["the", "a", "$$", "***", "x"]


def test_only_an_empty_name_has_an_empty_key() -> None:
    assert key("") == ""
    assert key("\x00") == key(" \n") == key("\u200b") == "\ufffd"


def test_what_cannot_be_seen_or_stored_is_left_out() -> None:
    assert key("seg\u200bment\u202e tree\x00") == "segment tree"
    assert key("tree\ud800").isprintable()


def test_a_name_of_ten_thousand_letters_is_a_name() -> None:
    assert key("Ab " * 3_400) == " ".join(["ab"] * 3_400)


@given(st.one_of(ANYTHING, MARKED))
def test_the_key_of_a_key_is_itself(name: str) -> None:
    found = key(name)
    assert key(found) == found


@given(st.one_of(ANYTHING, MARKED))
def test_a_key_can_be_stored_and_is_empty_for_nothing_else(name: str) -> None:
    found = key(name)
    assert bool(found) == bool(name)
    assert found == " ".join(found.split())
    assert "\x00" not in found.encode("utf-8").decode()


@given(st.text("abcdefg -", min_size=1, max_size=20))
def test_capitals_and_articles_do_not_count(name: str) -> None:
    assert key(name.upper()) == key(name.title()) == key(name) or "'" in name
