"""`carrel edge`: what the user joins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Carrel
from tests.cli.test_concept import OTHER, PAPER, library

__all__ = ["library"]


@pytest.fixture
def edges(library: Carrel) -> Carrel:
    """A library with a concept and three edges."""
    assert library("concept", "add", "dense", "-n", "Dense retrieval").code == 0
    assert library("edge", "add", "-s", PAPER, "-t", OTHER, "-r", "cites", "-m", "One.").code == 0
    assert library("edge", "add", "-s", PAPER, "-t", "dense", "-r", "introduces", "-m", "Two.").code == 0
    assert library("edge", "add", "-s", OTHER, "-t", PAPER, "-r", "extends", "-m", "Three.").code == 0
    return library


def summaries(records: list[dict[str, str]]) -> list[str]:
    return [record["summary"] for record in records]


def test_an_edge_is_added_and_then_updated(library: Carrel) -> None:
    added = library("edge", "add", "-s", PAPER, "-t", OTHER, "-r", "cites", "-m", "One.", "--json").json
    created = added["edge"]["created_at"]
    record = {"source_id": PAPER, "target_id": OTHER, "relationship_type": "cites", "summary": "One."}
    assert added == {"action": "added", "edge": {**record, "created_at": created}}
    again = library("edge", "add", "-s", PAPER, "-t", OTHER, "-r", "cites", "-m", "Two.", "--json").json
    assert again == {"action": "updated", "edge": {**record, "summary": "Two.", "created_at": created}}
    assert library("edge", "add", "-s", PAPER, "-t", OTHER, "-r", "cites", "-m", "Two.").out == (
        f"Updated {PAPER} —cites→ {OTHER}\n"
    )


def test_an_unusual_type_is_warned_of_and_an_illegal_pair_refused(edges: Carrel) -> None:
    warned = edges("edge", "add", "-s", PAPER, "-t", "concept:dense", "-r", "likes", "-m", "It does.", "--json")
    assert (warned.code, warned.json["action"]) == (0, "added")
    assert warned.err.startswith("warning: 'likes' is not one of the usual types here: introduces, ")
    refused = edges("edge", "add", "-s", PAPER, "-t", "repo:x", "-r", "uses", "-m", "M", "--json")
    assert refused.code == 1
    assert json.loads(refused.err) == {
        "error": f"'{PAPER} —uses→ repo:x': a repository has no edges",
        "hint": "Edges join two papers, a paper and a concept, two concepts, or a concept and a project.",
    }
    unknown = edges("edge", "add", "-s", PAPER, "-t", "nobody", "-r", "cites", "-m", "M")
    assert unknown.err.splitlines()[0] == "error: there is no paper and no concept 'nobody'"


def test_edges_are_listed_by_direction_and_node(edges: Carrel) -> None:
    everything = edges("edge", "list", "--json").json
    assert (summaries(everything["edges"]), everything["count"]) == (["One.", "Two.", "Three."], 3)
    outgoing = edges("edge", "list", PAPER, "--json").json
    assert (outgoing["paper_id"], summaries(outgoing["outgoing"]), outgoing["incoming"]) == (
        PAPER,
        ["One.", "Two."],
        [],
    )
    incoming = edges("edge", "list", "--paper", PAPER, "--incoming", "--json").json
    assert (incoming["outgoing"], summaries(incoming["incoming"])) == ([], ["Three."])
    both = edges("edge", "list", PAPER, "--all", "--json").json
    assert [summaries(both[way]) for way in ("outgoing", "incoming")] == [["One.", "Two."], ["Three."]]
    for arguments in (("--concept", "dense"), ("--concept", "concept:dense"), ("concept:dense",)):
        of_concept = edges("edge", "list", *arguments, "--json").json
        assert (of_concept["concept_id"], summaries(of_concept["incoming"])) == ("dense", ["Two."])
    assert edges("edge", "list", "--project", "project:p", "--json").json["project_id"] == "p"
    assert edges("edge", "list", PAPER, "--concept", "dense").code == 1
    for wrong in (("--concept", "nothing"), ("nobody",), ("--paper", "nobody")):
        assert edges("edge", "list", *wrong).code == 1
    assert edges("edge", "export", "-p", "nobody").code == 1
    listed = edges("edge", "list", PAPER)
    assert listed.out.splitlines()[0] == f"{PAPER} —cites→ {OTHER}  One."
    assert listed.err == "2 edges\n"


def test_edges_are_searched_by_type_and_exported_as_lines(edges: Carrel, tmp_path: Path) -> None:
    found = edges("edge", "search", "-r", "extends", "--json").json
    assert (found["relationship_type"], summaries(found["edges"])) == ("extends", ["Three."])
    exported = edges("edge", "export")
    assert exported.out == (tmp_path / ".carrel" / "edges.jsonl").read_text()
    of_other = edges("edge", "export", "--paper", OTHER)
    assert summaries([json.loads(line) for line in of_other.out.splitlines()]) == ["One.", "Three."]
    assert edges("edge", "export", "--json").json["count"] == 3


def test_an_import_says_what_became_of_each_line(edges: Carrel, tmp_path: Path) -> None:
    exported = edges("edge", "export").out
    given = tmp_path / "given.jsonl"
    given.write_text(exported.replace('"cites"', '"builds-on"') + "nonsense\n")
    imported = edges("edge", "import", given, "--json")
    assert imported.code == 1
    assert imported.json == {
        "added": 1,
        "updated": 2,
        "skipped": 1,
        "errors": [{"line": 4, "error": "no JSON object"}],
    }
    again = edges("edge", "import", given)
    assert (again.code, again.out, again.err) == (1, "0 added, 3 updated, 1 left out\n", "line 4: no JSON object\n")
    given.write_text(exported)
    assert edges("edge", "import", given).code == 0
    missing = edges("edge", "import", tmp_path / "none")
    assert missing.err.startswith("error: there is no file ")


def test_edges_of_a_removed_paper_are_found_and_taken_out(edges: Carrel) -> None:
    assert edges("edge", "groom", "--json").json == {"status": "clean", "orphaned_edges": [], "fixed": False}
    edges("remove", OTHER)
    assert edges("check", "--json").json["issues"][0]["type"] == "orphaned_edge"
    found = edges("edge", "groom")
    assert found.out.splitlines() == [
        f"{PAPER} —cites→ {OTHER}  missing_target",
        f"{OTHER} —extends→ {PAPER}  missing_source",
    ]
    assert found.err == "2 orphaned edges found; take them out with --fix\n"
    fixed = edges("edge", "groom", "--fix", "--json").json
    assert (fixed["status"], fixed["fixed"]) == ("fixed", True)
    assert fixed["orphaned_edges"][0] == {
        "source_id": PAPER,
        "target_id": OTHER,
        "relationship_type": "cites",
        "reason": "missing_target",
    }
    assert edges("edge", "list", "--json").json["count"] == 1


def test_dedupe_says_how_many_edges_follow(edges: Carrel, tmp_path: Path) -> None:
    refs = tmp_path / ".carrel" / "refs.jsonl"
    record = next(line for line in refs.read_text().splitlines() if f'"id": "{OTHER}"' in line)
    copy = {**json.loads(record), "id": "copy", "abstract": ""}
    refs.write_text(refs.read_text() + json.dumps(copy) + "\n")
    assert edges("index", "build").code == 0
    edges("edge", "add", "-s", "copy", "-t", "dense", "-r", "applies", "-m", "Four.")
    shown = edges("dedupe", "--json").json
    assert (shown["total_duplicates"], shown["edges_modified"]) == (1, 1)
    assert edges("dedupe", "--merge", "--json").json["edges_modified"] == 1
    assert edges("edge", "list", "--concept", "dense", "--json").json["incoming"][1]["source_id"] == OTHER
    assert edges("dedupe", "--json").json["edges_modified"] == 0
