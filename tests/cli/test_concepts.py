"""`carrel concepts`, `carrel graph` and `carrel path`."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.library import Library
from carrel.types import Concept, Contribution, Mention, Predicate, Role, Triple
from tests.cli.conftest import Carrel

TEXT = """# Segment tree

A segment tree answers range queries. Segment trees need recursion, as every tree does. It uses an array of nodes.
"""
EVIL = "Evil\x1b[31m\u202e"


@pytest.fixture
def notes(carrel: Carrel, tmp_path: Path) -> Carrel:
    """A library with one text, and a graph that was written by hand."""
    (tmp_path / "tree.md").write_text(TEXT)
    assert carrel("init").code == 0
    assert carrel("add", "tree.md").code == 0
    with Library.open(tmp_path) as library:
        (chunk,) = library.stores.catalog.chunks_of(["tree"])
        said = "Segment trees need recursion, as every tree does."
        start = chunk.start + chunk.text.index(said)
        at = (chunk.address, said, start, start + len(said))
        contribution = Contribution(
            "tree",
            (chunk,),
            (
                Concept("Segment tree", ("interval tree",), "A segment tree answers range queries.", "", chunk.address),
                Concept("Recursion"),
                Concept("Array"),
            ),
            (
                Mention("Segment tree", chunk.address, 3, 1.0, Role.DISCUSSES),
                Mention("Array", chunk.address, 1, 0.5, Role.CODE_EXAMPLE_FOR),
            ),
            (
                Triple("Recursion", Predicate.PREREQUISITE, "Segment tree", 0.9, *at),
                Triple("Segment tree", Predicate.USES, "Array", 0.8, *at),
                Triple("Array", Predicate.RELATED_TO, EVIL, 0.7, chunk.address, EVIL),
            ),
        )
        library.stores.graph.put([contribution])
    return carrel


def test_concepts_are_a_table_and_json(notes: Carrel) -> None:
    shown = notes("concepts", "--limit", "2")
    head, first, _ = shown.out.splitlines()
    assert head.split() == ["papers", "chunks", "concept", "definition"]
    assert first.split() == "1 1 Segment tree A segment tree answers range queries.".split()
    assert "Showing 2 of 4 concepts" in shown.err
    told = notes("concepts", "TREE", "--json").json
    assert (told["query"], told["total"], [one["name"] for one in told["concepts"]]) == ("TREE", 1, ["Segment tree"])
    assert set(told["concepts"][0]) == {
        "key", "name", "aliases", "category", "definition", "defined_at", "papers", "chunks", "weight", "curated",
    }  # fmt: skip


def test_a_table_fits_a_narrow_terminal(notes: Carrel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = notes("concepts").out.splitlines()
    assert lines[2].strip() == "A segment tree answers range …"
    wide = [line for line in notes("graph", "Segment tree").out.splitlines() if len(line) > 40]
    assert wide == []


def test_a_graph_is_a_tree_of_relations_with_the_sentences_that_state_them(notes: Carrel) -> None:
    shown = notes("graph", "interval tree", "--hops", "2")
    assert shown.code == 0
    for line in (
        "Segment tree",
        "also interval tree · in 1 paper, 1 chunk",
        "A segment tree answers range queries.",
        "needs",
        "└─ Recursion",
        "     “Segment trees need recursion, as every tree does.”",
        "     tree/ch1/s0/p0 · Segment tree",
        "uses",
        "└─ Array",
        "discussed in",
        "  tree/ch1/s0/p0 · Segment tree",
        "  tree Segment tree, 1 chunk",
    ):
        assert line in shown.out.splitlines(), line
    assert "is related to Evil" in shown.out


def test_what_papers_say_does_not_steer_the_terminal(notes: Carrel) -> None:
    for arguments in (("concepts",), ("graph", "Array"), ("path", "Array"), ("graph", EVIL)):
        shown = notes(*arguments)
        assert "\x1b[31m" not in shown.out + shown.err
        assert "\u202e" not in shown.out + shown.err


def test_the_json_of_a_graph_has_the_concept_its_nodes_and_edges(notes: Carrel) -> None:
    told = notes("graph", "Segment tree", "--json").json
    assert set(told) == {"concept", "centre", "hops", "nodes", "edges", "total"}
    assert [node["name"] for node in told["nodes"]] == ["Segment tree", "Recursion", "Array"]
    edge = next(edge for edge in told["edges"] if edge["predicate"] == "PREREQUISITE")
    assert (edge["subject"], edge["object"], edge["statements"]) == ("Recursion", "Segment tree", 1)
    evidence = edge["evidence"][0]
    stored = notes("show", evidence["address"], "--text").out
    assert stored[evidence["start"] : evidence["end"]] == evidence["text"]
    assert {"relations", "discussed", "code_examples", "formulas", "speakers", "citations"} <= set(told["concept"])


def test_a_path_is_numbered_and_says_why(notes: Carrel) -> None:
    shown = notes("path", "segment trees")
    lines = shown.out.splitlines()
    assert [line for line in lines if line[:4].strip().rstrip(".").isdigit()] == ["  1. Recursion", "  2. Segment tree"]
    assert "     because Recursion is needed for Segment tree" in lines
    assert "       “Segment trees need recursion, as every tree does.”" in lines
    told = notes("path", "Segment tree", "--json").json
    assert (told["concept"], [step["name"] for step in told["steps"]], told["set_aside"]) == (
        "Segment tree", ["Recursion", "Segment tree"], [],
    )  # fmt: skip
    alone = notes("path", "Recursion")
    assert (alone.code, alone.err) == (0, "no paper tells what to know before 'Recursion'\n")


def test_a_path_that_leads_nowhere_names_concepts_called_alike(notes: Carrel, tmp_path: Path) -> None:
    with Library.open(tmp_path) as library:
        library.stores.graph.put([Contribution("other", concepts=(Concept("Segment"),))])
    assert notes("path", "Segment").err.splitlines() == [
        "no paper tells what to know before 'Segment'",
        "there are also: Segment tree",
    ]


def test_an_unknown_concept_and_an_empty_library_are_one_sentence_and_exit_code_1(
    notes: Carrel, carrel: Carrel, tmp_path: Path
) -> None:
    unknown = notes("path", "Segmant tree")
    assert (unknown.code, unknown.out) == (1, "")
    assert unknown.err.splitlines()[0] == (
        "error: there is no concept 'Segmant tree' in the library; the nearest is 'Segment tree'"
    )
    assert carrel("init", tmp_path / "empty").code == 0
    for command in ("graph", "path"):
        empty = carrel("-C", tmp_path / "empty", command, "Tree")
        assert (empty.code, empty.out) == (1, "")
        assert "the library has no concepts yet" in empty.err
        assert "carrel index build" in empty.err
    listed = carrel("-C", tmp_path / "empty", "concepts")
    assert (listed.code, listed.out) == (0, "")
    assert "'carrel add' takes papers in" in listed.err
    drawn = carrel("-C", tmp_path / "empty", "graph", "--html", tmp_path / "map.html")
    assert drawn.code == 1
    assert not (tmp_path / "map.html").exists()


def test_a_graph_becomes_a_page_that_replaces_only_its_own(notes: Carrel, tmp_path: Path) -> None:
    drawn = notes("graph", "--html", "map.html", "--json")
    assert drawn.json == {"output_path": "map.html", "concepts": 4, "relations": 3}
    assert (tmp_path / "map.html").read_text().startswith("<!doctype html>")
    assert notes("graph", "Recursion", "--html", "map.html").out == "3 concepts and 2 relations are in 'map.html'\n"
    (tmp_path / "map.html").write_text("mine")
    refused = notes("graph", "--html", "map.html")
    assert (refused.code, (tmp_path / "map.html").read_text()) == (1, "mine")
    assert notes("graph", "--html", "map.html", "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("graph",), "no concept was named"),
        (("graph", "Array", "--force"), "--force has no part without --html"),
        (("graph", "Array", "--hops", "4"), "4 is not in the range"),
        (("path", "Array", "--limit", "0"), "0 is not in the range"),
        (("path", " "), "no concept was named"),
    ],
)
def test_what_cannot_be_done_is_said(notes: Carrel, arguments: tuple[str, ...], message: str) -> None:
    shown = notes(*arguments)
    assert shown.code == 1
    assert message in shown.err


def test_a_paper_shows_what_it_speaks_of_most(notes: Carrel) -> None:
    assert "speaks of Segment tree, Array" in notes("show", "tree").out
    assert notes("show", "tree", "--json").json["concepts"] == ["Segment tree", "Array"]


def test_every_command_of_the_graph_explains_itself(carrel: Carrel) -> None:
    for command in ("concepts", "graph", "path"):
        assert carrel(command, "--help").out.startswith(f"Usage: carrel {command}")
