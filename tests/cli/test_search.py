"""Papers, pages and neighbours from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Carrel

NOTES = """# Notes on graphs

A segment tree answers range queries over graphs in logarithmic time.

Dijkstra's algorithm finds shortest paths in graphs when no edge weight is negative.

A spanning tree of graphs joins all their nodes with as few edges as possible.
"""


@pytest.fixture
def graphs(carrel: Carrel, tmp_path: Path) -> Carrel:
    """A paper of three passages, and two records of one abstract."""
    (tmp_path / "notes.md").write_text(NOTES)
    words = " ".join(f"word{number}" for number in range(40))
    lines: list[dict[str, object]] = [
        {"id": name, "title": "Flows in graphs", "authors": [], "abstract": f"Flows in graphs. {words}"}
        for name in ("flows", "copy")
    ]
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    assert carrel("init").code == 0
    small = ("--set", "chunking.min_tokens=1", "--set", "chunking.target_tokens=8")
    assert carrel(*small, "add", "notes.md", "in.jsonl").code == 0
    return carrel


def test_papers_come_with_their_passages_and_these_with_their_neighbours(graphs: Carrel) -> None:
    found = graphs("search", "graphs", "--by-paper", "--context", "--json").json
    notes = next(one for one in found["results"] if one["paper_id"] == "notes")
    assert (found["by_paper"], found["total"], len(notes["passages"])) == (True, 3, 2)
    together = [notes, *notes["passages"]]
    first = next(one for one in together if one["address"] == "notes/ch1/s0/p0")
    assert (first["previous"], first["next"]["address"]) == (None, "notes/ch1/s0/p1")
    assert all(one["previous"] or one["next"] for one in together)
    assert "Showing" not in graphs("search", "graphs", "--by-paper").err


def test_the_other_passages_are_printed_under_the_best(graphs: Carrel) -> None:
    out = graphs("search", "shortest paths in graphs", "--by-paper", "--explain").out
    assert len(re.findall(r"(?m)^\d+\. \[", out)) == 3
    assert len(re.findall(r"(?m)^   \[0\.\d\d\]", out)) == 2
    assert out.count("   fusion ") == 5


def test_what_is_the_same_is_named(graphs: Carrel) -> None:
    found = graphs("search", "flows", "--json").json
    assert [one["duplicates"] for one in found["results"] if one["duplicates"]] == [["flows/abstract"]]
    assert "the same: flows/abstract" in graphs("search", "flows").out
    assert graphs("--set", "search.collapse=false", "search", "flows").out.count("Flows in graphs") > 2


def test_the_next_page_is_printed_and_leads_on_to_the_end(graphs: Carrel) -> None:
    seen: list[str] = []
    cursor: tuple[str, ...] = ()
    for _ in range(9):
        shown = graphs("search", "graphs", "--limit", "2", *cursor)
        seen += re.findall(r"(?m)^   (\S+/\S+)$", shown.out)
        hint = re.search(r"The next page: the same search with (--cursor) (\S+)", shown.err)
        if not hint:
            break
        cursor = hint.group(1), hint.group(2)
    assert len(seen) == len(set(seen)) == 4
    assert graphs("search", "graphs", "--limit", "2", *cursor, "--json").json["next_cursor"] is None


def test_diversity_is_a_flag_or_a_number(graphs: Carrel) -> None:
    plain = graphs("search", "shortest paths", "--json").json["results"]
    diverse = graphs("search", "--diverse", "shortest paths", "--json").json["results"]
    assert diverse == graphs("search", "shortest paths", "--diversity", "0.3", "--json").json["results"]
    assert diverse[0] == plain[0]
    assert {one["address"]: one["score"] for one in diverse} == {one["address"]: one["score"] for one in plain}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--cursor", "nonsense"), "this is not a cursor, or not a whole one"),
        (("--figures", "--by-paper"), "--by-paper is for passages, not for --figures"),
        (("--figures", "--diverse"), "--diversity is for passages, not for --figures"),
        (("--figures", "--cursor", "x"), "--cursor is for passages, not for --figures"),
        (("--diversity", "2"), "Invalid value for '--diversity'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(graphs: Carrel, options: tuple[str, ...], reason: str) -> None:
    failed = graphs("search", "graphs", *options)
    assert (failed.code, failed.out) == (1, "")
    assert reason in failed.err


def test_a_cursor_of_another_query_is_refused(graphs: Carrel) -> None:
    cursor = graphs("search", "graphs", "--limit", "1", "--json").json["next_cursor"]
    failed = graphs("search", "trees", "--cursor", cursor, "--json")
    assert failed.code == 1
    assert "this cursor belongs to another search" in failed.err
