"""Reading full papers from the command line: show, list, tags, search for figures, cited."""

from __future__ import annotations

import json
import re

import pytest

from carrel import Library
from carrel.testing import HashedWords
from tests.cli.conftest import Carrel
from tests.full_papers import paper, put, reference


@pytest.fixture
def papers(carrel: Carrel) -> Carrel:
    """A library of three full papers, one of which the others cite."""
    carrel("init")
    with Library.open(".", embedder=HashedWords()) as library:
        great = paper(reference("great", "A great work on graphs", doi="10.1000/great", authors=()), cited=())
        put(library, paper(reference()), paper(reference("o'neil/2021", "Other trees", tags=("read",))), great)
    return carrel


def test_show_prints_an_outline_whose_addresses_can_be_shown(papers: Carrel) -> None:
    shown = papers("show", "trees").out
    assert "trees/ch2  Methods  3 chunks, 2 figures\n" in shown
    assert "  trees/ch2/s1  Complexity  1 chunk, 1 figure\n    Both take logarithmic time, as Table 1 shows.\n" in shown
    assert shown.endswith("\ntrees: 6 chunks, 3 figures; cites 3 works, 1 of them in this library\n")
    chapter = papers("show", "trees/ch2").out
    assert chapter.startswith("Methods\n\ntrees/ch2/s0/p0\nEvery node keeps a sum")
    assert "\nComplexity\n" in chapter
    assert papers("show", "trees/ch2/s1").out == (
        "Methods — Complexity\n\ntrees/ch2/s1/p0\nBoth take logarithmic time, as Table 1 shows.\n\n"
        "trees/ch2/s1: 1 chunk, 1 figure: trees/fig2\n"
    )


def test_show_prints_a_chunk_with_what_is_beside_it_and_a_figure_with_who_speaks_of_it(papers: Carrel) -> None:
    chunk = papers("show", "o'neil/2021/ch2/s0/p0").out
    assert "o'neil/2021/ch2/s0/p0, 1 of 2 in its section, page 2, 24 tokens\n" in chunk
    assert "o'neil/2021/fig1  Figure 1: A segment tree over eight leaves.\n" in chunk
    assert "next: o'neil/2021/ch2/s0/p1  Updates walk" in chunk
    figure = papers("show", "Other trees/fig1").out
    assert "o'neil/2021/fig1, Figure 1, page 2\n\nFigure 1: A segment tree over eight leaves.\n" in figure
    assert "\no'neil/2021/ch1/s0/p0\nThey are drawn in Fig. 1.\n" in figure
    assert "| 8 | 0.1 |" in papers("show", "trees/fig2").out


@pytest.mark.parametrize("address", ["nobody", "", "trees/ch99", "trees/fig0", "trees/ch٢"])
def test_show_of_nothing_is_an_error_in_both_shapes(papers: Carrel, address: str) -> None:
    failed = papers("show", address)
    assert (failed.code, failed.out) == (1, "")
    assert failed.err.startswith("error: ")
    assert json.loads(papers("show", address, "--json").err).keys() == {"error", "hint"}


def test_list_is_restricted_sorted_and_counted(papers: Carrel) -> None:
    listed = papers("list", "--author", "müll", "--tag", "graphs", "--json").json
    assert [(one["id"], one["chunk_count"], one["figure_count"]) for one in listed["papers"]] == [("trees", 6, 3)]
    assert papers("list", "great", "Other trees", "--sort", "title").out.splitlines() == [
        "great  (2021) A great work on graphs",
        "o'neil/2021  (2021) Other trees",
    ]
    cut = papers("list", "--sort", "year", "--limit", "1")
    assert (len(cut.out.splitlines()), cut.err) == (1, "Showing 1 of 3 papers; --limit 0 shows all.\n")
    assert papers("list", "--limit", "0").err == "3 papers\n"
    assert papers("list", "--year", "2022:", "--venue", "trees").err == "0 papers\n"
    assert papers("list", "nobody").code == 1


def test_tags_of_some_papers(papers: Carrel) -> None:
    assert papers("tags").out.splitlines() == ["     3  read", "     2  graphs"]
    assert papers("tags", "--paper", "o'neil/2021", "--json").json == {"tags": [{"tag": "read", "papers": 1}]}


def test_search_finds_figures_and_says_who_mentions_them(papers: Carrel) -> None:
    found = papers("search", "segment tree", "--figures", "--figure-type", "figure", "--paper", "trees", "--json").json
    assert (found["figure_type"], found["total"]) == ("figure", 1)
    first = found["results"][0]
    assert (first["address"], first["label"], first["page"], first["image"]) == ("trees/fig1", "Figure 1", 2, None)
    assert [one["address"] for one in first["referenced_by"]] == ["trees/ch1/s0/p0", "trees/ch2/s0/p0"]
    assert all(0 <= first[name] <= 1 for name in ("score", "similarity", "probability"))
    printed = papers("search", "measured seconds", "--figures", "--figure-type", "table", "--explain").out
    assert "trees/fig2, Table 1, page 3\n   Table 1: Measured seconds.\n   mentioned by trees/ch2/s1/p0\n" in printed
    assert re.search(r"fusion \d+\.\d ms", printed)
    nothing = papers("search", "zebra", "--figures", "--mode", "keyword")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "Nothing found for 'zebra'.\n")


def test_search_shows_what_stands_beside_each_passage_when_asked(papers: Carrel) -> None:
    asked = ("search", "updates walk from the leaf", "--paper", "Segment trees in practice", "--limit", "1")
    plain = papers(*asked, "--json").json["results"][0]
    assert plain["address"] == "trees/ch2/s0/p1"
    assert "previous" not in plain
    first = papers(*asked, "--context", "--json").json["results"][0]
    assert (first["previous"]["address"], first["next"]) == ("trees/ch2/s0/p0", None)
    assert "   previous: trees/ch2/s0/p0  Every node keeps a sum" in papers(*asked, "--context").out


def test_cited_shows_bibliographies_citing_papers_and_what_is_missing(papers: Carrel) -> None:
    bibliography = papers("cited", "trees")
    assert bibliography.out.splitlines() == [
        "   1  Smith. A great work on graphs. 2019.  → great",
        "   2  Jones. Another matter entirely. 2018.",
        "   3  Personal communication.",
    ]
    assert bibliography.err == "trees cites 3 works, 1 of them in this library\n"
    by = papers("cited", "--by", "great")
    assert by.out.splitlines()[0] == "o'neil/2021  (2021) Other trees"
    assert by.err == "great is cited by 2 papers of this library\n"
    missing = papers("cited", "--missing")
    assert missing.out == "   2  Another matter entirely (2018)\n      cited by o'neil/2021, trees\n"
    assert "2 entries without a DOI" in missing.err
    assert papers("cited", "--missing", "--limit", "1", "--json").json["works"][0]["cited_by"] == [
        "o'neil/2021",
        "trees",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("search", "x", "--figure-type", "table"), "--figure-type needs --figures"),
        (("search", "x", "--figures", "--figure-type", "photo"), "Invalid value for '--figure-type'"),
        (("search", "x", "--figures", "--context"), "--context is for passages, not for --figures"),
        (("search", "x", "--figures", "--section", "1"), "section requires chapter"),
        (("search", "x", "--paper", "nobody"), "Paper 'nobody' not found in database"),
        (("cited",), "no paper was named"),
        (("cited", "--by"), "no paper was named"),
        (("cited", "trees", "--missing"), "--missing is asked of the whole library"),
        (("cited", "trees", "--limit", "3"), "--limit needs --missing"),
        (("cited", "nobody"), "Paper 'nobody' not found in database"),
        (("list", "--sort", "size"), "Invalid value for '--sort'"),
        (("list", "--year", "soon"), "--year 'soon' is not a year or a range"),
        (("tags", "--paper", "nobody"), "Paper 'nobody' not found in database"),
    ],
)
def test_bad_usage_is_one_sentence_and_a_hint(papers: Carrel, arguments: tuple[str, ...], message: str) -> None:
    failed = papers(*arguments)
    assert (failed.code, failed.out) == (1, "")
    assert failed.err.startswith(f"error: {message}")
    assert failed.err.count("\n\n") == 1
