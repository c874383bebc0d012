"""What headings, lists and links say of how concepts stand to each other."""

from __future__ import annotations

import pytest

from carrel.concepts.triples import extract
from carrel.concepts.triples.topics import topic_of
from carrel.types import Predicate, Triple
from tests.builders import make_chunk


def found(text: str, title: str = "Centroid decomposition", section: str = "Introduction") -> list[Triple]:
    return extract(make_chunk(text=text, title=title, section_path=(section,)), {})


def told(triples: list[Triple]) -> list[tuple[str, str, str]]:
    return [(triple.subject, str(triple.predicate), triple.object) for triple in triples]


def test_a_line_of_prerequisites_names_what_is_to_be_understood_before_the_topic() -> None:
    text = "Prerequisite knowledge: [Depth First Search](dfs.md), [Divide and Conquer](https://a.org), [Trees](<t(1)>)."
    triples = found(text)
    assert told(triples) == [
        ("Depth First Search", "PREREQUISITE", "Centroid decomposition"),
        ("Divide and Conquer", "PREREQUISITE", "Centroid decomposition"),
        ("Trees", "PREREQUISITE", "Centroid decomposition"),
    ]
    assert {triple.evidence for triple in triples} == {text}
    assert min(triple.confidence for triple in triples) > 0.9


def test_prerequisites_may_be_words_without_links() -> None:
    assert told(found("**Prerequisites:** binary search, prefix sums and trees")) == [
        ("binary search", "PREREQUISITE", "Centroid decomposition"),
        ("prefix sums", "PREREQUISITE", "Centroid decomposition"),
        ("trees", "PREREQUISITE", "Centroid decomposition"),
    ]


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Prerequisites", ("Binary search", "PREREQUISITE", "Centroid decomposition")),
        ("See also", ("Centroid decomposition", "RELATED_TO", "Binary search")),
        ("Related problems", ("Centroid decomposition", "RELATED_TO", "Binary search")),
        ("Applications", ("Binary search", "USES", "Centroid decomposition")),
        ("Applications of the suffix array", ("Binary search", "USES", "suffix array")),
        ("Types of search algorithms", ("Binary search", "EXAMPLE_OF", "search algorithms")),
    ],
)
def test_a_heading_says_what_the_items_of_its_list_are(heading: str, expected: tuple[str, str, str]) -> None:
    for item in ("- Binary search", "1. [Binary search](b.md): fast", "* **Binary search** halves the range"):
        assert told(found(item, section=heading))[0] == expected
        triples = found(f"Some words before.\n\n## {heading}\n\n{item}\n\n## Notes\n\n- Other things")
        assert told(triples)[0] == expected
        assert triples[0].evidence == item.partition(" ")[2]


@pytest.mark.parametrize(
    "heading", ["Practice problems", "Notes", "References", "Implementation", "Prerequisites of life"]
)
def test_other_headings_say_nothing_of_their_lists(heading: str) -> None:
    assert found("- Binary search\n- Merge sort", section=heading) == []


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("We find it with the help of [binary search](b.md).", ("Centroid decomposition", "USES", "binary search")),
        ("This is computed using a [binary search](b.md).", ("Centroid decomposition", "USES", "binary search")),
        ("The problem is reduced to [binary search](b.md).", ("Centroid decomposition", "USES", "binary search")),
        ("It is used in [binary search](b.md).", ("binary search", "USES", "Centroid decomposition")),
        ("It is used to compute [binary sums](b.md).", ("binary sums", "USES", "Centroid decomposition")),
        ("See also [binary search](b.md).", ("Centroid decomposition", "RELATED_TO", "binary search")),
        ("Read the article on [binary search](b.md).", ("Centroid decomposition", "RELATED_TO", "binary search")),
        ("It is faster than [binary search](b.md).", ("Centroid decomposition", "COMPARED_TO", "binary search")),
        (
            "You should be familiar with [binary search](b.md).",
            ("binary search", "PREREQUISITE", "Centroid decomposition"),
        ),
        ("Think of [binary search](b.md) here.", ("Centroid decomposition", "RELATED_TO", "binary search")),
        ("It works with [searches - binary search](b.md).", ("Centroid decomposition", "USES", "binary search")),
    ],
)
def test_a_link_says_why_the_reader_is_sent_there(sentence: str, expected: tuple[str, str, str]) -> None:
    assert told(found(sentence)) == [expected]


def test_links_that_are_listed_share_their_reason() -> None:
    assert told(found("We use [binary search](b.md), [hashing](h.md) or a [sparse tree](s.md) here.")) == [
        ("Centroid decomposition", "USES", "binary search"),
        ("Centroid decomposition", "USES", "hashing"),
        ("Centroid decomposition", "USES", "sparse tree"),
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "Use it with the code from [some site](https://example.org).",
        "See [the section below](#below).",
        "More in [advanced centroid decomposition](centroid_decomposition.md#advanced).",
        "We [improve](b.md) it.",
        "Read more [here](b.md).",
        "![binary search](b.md)",
    ],
)
def test_links_to_elsewhere_to_itself_and_without_a_name_say_nothing(sentence: str) -> None:
    assert found(sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "It does not use [binary search](b.md).",
        "Another way is to use [binary search](b.md).",
        "Knowledge about [binary search](b.md) may help, but is not a prerequisite.",
        "If you are familiar with [binary search](b.md), this is easy.",
        "Although it is typically solved with [binary search](b.md), there is a better way.",
    ],
)
def test_what_is_not_used_or_would_do_as_well_is_only_related(sentence: str) -> None:
    assert {triple.predicate for triple in found(sentence)} <= {Predicate.RELATED_TO}


def test_without_a_topic_links_and_lists_say_nothing() -> None:
    text = "Prerequisites: [binary search](b.md)\n\nWe use [binary search](b.md)."
    assert found(text, title="On the long and winding road to a better understanding of many other things") == []
    assert found(text, title="") == []


@pytest.mark.parametrize(
    ("title", "topic"),
    [
        ("Segment Tree", "Segment Tree"),
        ("Maximum flow - Dinic's algorithm", "Dinic's algorithm"),
        ("Lowest Common Ancestor - O(sqrt(N)) and O(log N) with O(N) preprocessing", "Lowest Common Ancestor"),
        ("Manacher's Algorithm - Finding all sub-palindromes in O(N)", "Manacher's Algorithm"),
        ("Introduction to Dynamic Programming", "Dynamic Programming"),
        ("Suffix Tree. Ukkonen's Algorithm", "Suffix Tree"),
        ("The Inclusion-Exclusion Principle", "Inclusion-Exclusion Principle"),
        ("Treap (Cartesian tree)", "Treap"),
        ("Introduction", ""),
        ("", ""),
        ("Effects of early treatment on late outcomes in a large cohort", ""),
    ],
)
def test_a_title_that_is_a_name_tells_the_topic(title: str, topic: str) -> None:
    assert topic_of(title, {}) == topic


def test_an_entry_of_a_table_of_contents_says_nothing_of_the_topic() -> None:
    assert found("- [Binary search](b.md)\n- [Suffix array](s.md)\n", title="Navigation", section="Strings") == []
    assert told(found("It has much in common with [binary search](b.md) on an array.")) != []
