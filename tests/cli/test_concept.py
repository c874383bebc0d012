"""`carrel concept`: the user's own concepts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import DEMO, Carrel

PAPER, OTHER = "karpukhin-etal-2020-dense", "beltagy-etal-2019-scibert"


@pytest.fixture
def library(carrel: Carrel, tmp_path: Path) -> Carrel:
    """A library of two papers."""
    lines = (DEMO / "refs.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    papers = [line for line in lines if any(f'"id": "{paper}"' in line for paper in (PAPER, OTHER))]
    (tmp_path / "papers.jsonl").write_text("".join(papers), encoding="utf-8")
    assert carrel("init").code == 0
    assert carrel("add", tmp_path / "papers.jsonl").code == 0
    return carrel


@pytest.fixture
def concepts(library: Carrel) -> Carrel:
    """The same, with two concepts and an edge."""
    assert library("concept", "add", "dense", "-n", "Dense retrieval", "-a", "DPR", "-d", "By meaning.").code == 0
    assert library("concept", "add", "sparse", "-n", "Sparse retrieval").code == 0
    joined = library("edge", "add", "-s", PAPER, "-t", "concept:dense", "-r", "introduces", "-m", "It does so.")
    assert joined.code == 0
    return library


def test_a_concept_is_added_got_and_listed(library: Carrel) -> None:
    added = library("concept", "add", "dense", "-n", "Dense retrieval", "-a", "DPR", "-a", "by, meaning", "--json")
    record = {"id": "dense", "name": "Dense retrieval", "aliases": ["DPR", "by, meaning"]}
    assert (added.code, added.json) == (0, {"status": "created", "concept": record})
    assert library("concept", "get", "concept:dense", "--json").json == record
    assert library("concept", "get", "dpr").out == "dense  Dense retrieval\n  also DPR, by, meaning\n"
    assert library("concept", "list", "--json").json == {"concepts": [record], "count": 1}
    listed = library("concept", "list")
    assert (listed.out, listed.err) == ("dense  Dense retrieval  DPR, by, meaning\n", "1 concepts\n")


def test_what_is_not_there_or_not_right_is_one_sentence_and_a_hint(concepts: Carrel) -> None:
    unknown = concepts("concept", "get", "nothing", "--json")
    assert (unknown.code, json.loads(unknown.err)) == (
        1,
        {"error": "there is no concept 'nothing'", "hint": "'carrel concept list' shows those there are."},
    )
    wrong = concepts("concept", "add", "No Id", "-n", "N")
    assert (wrong.code, wrong.out) == (1, "")
    assert wrong.err == "error: 'No Id' is no concept's id\n\nUse small letters, digits, '-' and '_', as in 'no-id'.\n"
    assert concepts("concept", "update", "dense").err.startswith("error: nothing was said to be changed")
    assert concepts("concept", "update", "dense", "-a", "x", "--no-aliases").code == 1


def test_a_concept_is_updated_and_its_aliases_replaced(concepts: Carrel) -> None:
    updated = concepts("concept", "update", "dense", "-a", "dense vectors", "-d", "", "--json")
    record = {"id": "dense", "name": "Dense retrieval", "aliases": ["dense vectors"]}
    assert updated.json == {"status": "updated", "concept": record}
    assert "aliases" not in concepts("concept", "update", "dense", "--no-aliases", "--json").json["concept"]


def test_a_concept_with_edges_is_deleted_by_force(concepts: Carrel) -> None:
    refused = concepts("concept", "delete", "dense")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("error: the concept 'dense' has 1 edges\n\nDelete them, too, with --force")
    deleted = concepts("concept", "delete", "dense", "-f", "--json")
    assert deleted.json == {"status": "deleted", "id": "dense", "edges_removed": 1}
    assert concepts("concept", "delete", "sparse").out == "Deleted sparse\n"
    assert concepts("concept", "list", "--json").json == {"concepts": [], "count": 0}


def test_papers_of_a_concept_and_concepts_of_a_paper(concepts: Carrel) -> None:
    said = {"relationship_type": "introduces", "summary": "It does so."}
    papers = {"concept_id": "dense", "papers": [{"paper_id": PAPER, **said}], "count": 1}
    for name in ("dense", "concept:dense", "Dense Retrieval"):
        assert concepts("concept", "papers", name, "--json").json == papers
    assert concepts("concept", "papers", "dense", "-t", "applies", "--json").json["count"] == 0
    assert concepts("concept", "papers", "dense").out == f"{PAPER}  introduces  It does so.\n"
    of = {"paper_id": PAPER, "concepts": [{"concept_id": "dense", **said}], "count": 1}
    assert concepts("concept", "of", PAPER, "--json").json == of
    assert concepts("concept", "of", "Dense Passage Retrieval for Open-Domain Question Answering", "--json").json == of
    assert concepts("concept", "of", PAPER, "--type", "applies").err == "0 concepts\n"
    assert concepts("concept", "of", OTHER).err == "0 concepts\n"
    assert concepts("concept", "of", "nobody").err.startswith("error: Paper 'nobody' not found in database")


def test_a_merge_is_told_and_the_old_id_says_what_it_became(concepts: Carrel) -> None:
    merged = concepts("concept", "merge", "dense", "sparse", "--json")
    assert merged.json == {
        "status": "merged",
        "source_id": "dense",
        "target_id": "sparse",
        "edges_updated": 1,
        "aliases_added": ["Dense retrieval", "dense", "DPR"],
        "duplicates_removed": 0,
    }
    got = concepts("concept", "get", "dense", "--json")
    assert got.json["id"] == "sparse"
    (history,) = got.json["merged"]
    assert (history["id"], history["name"]) == ("dense", "Dense retrieval")
    assert got.err == f"dense (Dense retrieval) was merged into sparse at {history['at']}\n"
    again = concepts("concept", "merge", "dense", "sparse")
    assert (again.code, again.err.splitlines()[0]) == (1, "error: 'dense' and 'sparse' are one concept already")


def test_a_merge_for_people_says_how_it_is_undone(concepts: Carrel) -> None:
    merged = concepts("concept", "merge", "dense", "sparse")
    assert merged.out.splitlines()[0] == "Merged dense into sparse"
    assert merged.err == "To undo it, go back to the former concepts.jsonl and edges.jsonl with git.\n"


def test_what_a_file_says_does_not_steer_the_terminal(concepts: Carrel, tmp_path: Path) -> None:
    evil = "\x1b[31mred\u202e\x00"
    record = {"id": f"e{evil}", "name": evil, "aliases": [evil], "description": evil}
    with (tmp_path / ".carrel" / "concepts.jsonl").open("a") as file:
        file.write(json.dumps(record) + "\n" + json.dumps({"id": "x"}) + "\n")
    with (tmp_path / ".carrel" / "edges.jsonl").open("a") as file:
        keys = ("source_id", "target_id", "relationship_type", "summary")
        file.write(json.dumps(dict.fromkeys(keys, evil) | {"target_id": "concept:dense"}) + "\n")
    for arguments in (
        ("concept", "list"),
        ("concept", "get", evil),
        ("concept", "papers", "dense"),
        ("edge", "list"),
        ("edge", "export"),
        ("edge", "groom"),
    ):
        told = concepts(*arguments)
        assert told.code == 0
        assert "red" in told.out
        for sign in ("\x1b", "\u202e", "\x00"):
            assert sign not in told.out + told.err, arguments
        assert "warning: concepts.jsonl, line 4: it has no name" in told.err or arguments[1] == "groom"
    assert concepts("concept", "get", evil, "--json").json == record
