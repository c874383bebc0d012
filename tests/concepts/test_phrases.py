"""Noun phrases without a model."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.concepts.phrases import noun_phrases


def phrases(text: str) -> list[str]:
    return [text[span.start : span.end] for span in noun_phrases(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We describe a lazy segment tree.", ["lazy segment tree"]),
        ("The trees keep partial sums of long arrays.", ["trees", "partial sums", "long arrays"]),
        ("It finds shortest paths.", ["shortest paths"]),
        ("The proposed parser uses labelled data.", ["parser", "labelled data"]),
        ("Words were labelled by hand.", ["Words", "hand"]),
        ("They model the noise.", ["noise"]),
        ("A model of the noise", ["model", "noise"]),
        ("Rules which allow recursion", ["Rules", "recursion"]),
        ("Using part-of-speech tags, we train.", ["part-of-speech tags"]),
        ("State-of-the-art speech recognition", ["speech recognition"]),
        ("Hashing maps keys to buckets.", ["Hashing maps keys", "buckets"]),
    ],
)
def test_a_phrase_is_a_noun_and_what_describes_it(text: str, expected: list[str]) -> None:
    assert phrases(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He taught at the University of the Arts in London.", ["University of the Arts", "London"]),
        ("She admired Vincent van Gogh.", ["Vincent van Gogh"]),
        ("Voters in the United States of America agreed.", ["Voters", "United States of America"]),
        ("Ask Mary K. Jones about it.", ["Mary K. Jones"]),
        ("We grew E. coli overnight.", ["E. coli"]),
        ("We read Dijkstra's algorithm and the tree's root.", ["Dijkstra's algorithm", "tree", "root"]),
    ],
)
def test_a_name_is_a_phrase_with_what_names_have_inside(text: str, expected: list[str]) -> None:
    assert phrases(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sorted by `std::sort` in C++ and C#.", ["C++", "C#"]),
        ("We ran A* search.", ["A* search"]),
        ("A $k$-d tree with $n$ leaves", ["$k$-d tree", "leaves"]),
        ("```\nint depth;\n```\nThe height", ["height"]),
        ("See Figure 3, Table 2 and [12, 13].", []),
        ("In Table S1 and in tables 3 and 4, the sparse table has hash tables.", ["sparse table", "hash tables"]),
        ("As shown (Meyer and Moore, 1987), hashing helps.", ["hashing"]),
        ("Smith et al. used graphs.", ["graphs"]),
        ("See https://example.org/trees for trees.", ["trees"]),
        ("$$ a = b $$ is linear.", []),
    ],
)
def test_code_formulas_citations_and_addresses_are_none(text: str, expected: list[str]) -> None:
    assert phrases(text) == expected


def test_no_phrase_goes_across_a_sentence_or_a_list_item() -> None:
    assert phrases("We saw a tree. Graphs came later.\n- heaps\n- stacks") == ["tree", "Graphs", "heaps", "stacks"]


def test_capitals_of_a_headline_tell_nothing() -> None:
    assert phrases("Learning to Rank Search Results With Sparse Trees") == [
        "Learning",
        "Search Results",
        "Sparse Trees",
    ]


def test_in_another_language_only_names_are_phrases() -> None:
    text = (
        "Die Suche nach kurzen Wegen ist ein altes Problem der Informatik und wurde zuerst von Edsger Dijkstra gelöst."
    )
    assert "Edsger Dijkstra" in phrases(text)
    assert not any(phrase.islower() for phrase in phrases(text))


def test_terms_in_latin_letters_are_found_in_chinese() -> None:
    assert phrases("本文介绍 Suffix Automaton 的构造。") == ["Suffix Automaton"]


@given(st.text(st.characters(codec=None), max_size=200))
def test_phrases_lie_in_the_text_in_order_and_apart(text: str) -> None:
    end = 0
    for span in noun_phrases(text):
        assert end <= span.start < span.end <= len(text)
        end = span.end


@pytest.mark.parametrize("piece", ["a", "a-", "(", "$a ", "[a](", "Aa of ", "`", "<a", "1-", "\n ", "x' ", "A."])
def test_no_text_takes_more_than_time_in_proportion(piece: str) -> None:
    started = time.process_time()
    noun_phrases(piece * (60_000 // len(piece)))
    assert time.process_time() - started < 3
