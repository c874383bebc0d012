"""The graph's word on a search, from the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Carrel

RECORDS = (
    ("journal", "Journal of Rest", "The Journal of Rest is published by the Kalmar Institute every spring."),
    ("institute", "Kalmar Institute", "Kalmar Institute. Its first director was Olga Brandt, a botanist."),
    ("river", "River deltas", "River deltas are fed by water that flows down to the sea."),
)


@pytest.fixture
def rest(carrel: Carrel, tmp_path: Path) -> Carrel:
    lines = [{"id": name, "title": title, "authors": [], "abstract": text} for name, title, text in RECORDS]
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    assert carrel("init").code == 0
    assert carrel("add", "in.jsonl").code == 0
    return carrel


def test_explain_tells_the_concepts_of_the_question_and_the_way_to_each_passage(rest: Carrel) -> None:
    out = rest("search", "Journal of Rest", "--mode", "graph", "--explain").out
    assert "   led to by Journal of Rest — discussed here" in out.splitlines()
    assert "   led to by Journal of Rest — in journal/abstract — Kalmar Institute — discussed here" in out.splitlines()
    assert "concept Journal of Rest → Journal of Rest, by name" in out.splitlines()
    assert "river/abstract" not in out
    both = rest("search", "who publishes the Journal of Rest", "--explain").out
    assert "   led to by journal/abstract — Kalmar Institute — discussed here" in both.splitlines()


def test_json_has_the_path_and_the_concepts(rest: Carrel) -> None:
    found = rest("search", "Journal of Rest", "--mode", "graph", "--json").json
    assert found["concepts"] == [{"said": "Journal of Rest", "concept": "Journal of Rest", "match": "name"}]
    assert (found["strategy"], found["no_concepts"]) == ("graph_only", None)
    paths = {one["paper_id"]: one["path"] for one in found["results"]}
    start = {"source": None, "start": "Journal of Rest", "role": "DISCUSSES"}
    by = {"concept": "Kalmar Institute", "address": "journal/abstract", "forward": True}
    assert paths == {"journal": {**start, "links": []}, "institute": {**start, "links": [by]}}
    assert rest("search", "river deltas", "--mode", "keyword", "--json").json["results"][0]["path"] is None


def test_a_question_without_a_concept_finds_nothing_by_the_graph_and_says_why(rest: Carrel) -> None:
    told = rest("search", "how are you", "--mode", "graph")
    assert (told.code, told.out) == (0, "")
    assert "note: no concept of the graph is named in the question" in told.err.splitlines()
    assert "concepts: no concept of the graph is named in the question" in rest("search", "how are", "--explain").out


def test_an_empty_graph_says_what_builds_it(rest: Carrel) -> None:
    shutil.rmtree(Path(".carrel/cache/graph"))
    alone = rest("search", "Journal of Rest", "--mode", "graph")
    assert (alone.code, alone.out) == (2, "")
    assert alone.err == "error: The graph of concepts is empty. Run 'carrel index build' first\n"
    assert (
        "concepts: the graph of concepts is empty; 'carrel index build' builds it"
        in rest("search", "Journal of Rest", "--explain").out
    )
    assert rest("index", "build").code == 0
    assert rest("search", "Journal of Rest", "--mode", "graph").code == 0


def test_a_filter_holds_for_what_the_graph_leads_to(rest: Carrel) -> None:
    found = rest("search", "Journal of Rest", "--mode", "graph", "--paper", "institute", "--json").json
    assert [one["address"] for one in found["results"]] == ["institute/abstract"]


def test_an_answer_can_do_without_the_graph(rest: Carrel) -> None:
    shutil.rmtree(Path(".carrel/cache/graph"))
    Path(".carrel/cache/graph").mkdir()
    Path(".carrel/cache/graph/graph.db").write_bytes(b"no database" * 1000)
    question = "who publishes the Journal of Rest"
    assert [one["arm"] for one in rest("ask", question, "--json").json["degraded"]] == ["graph"]
    assert rest("ask", question, "--no-graph", "--json").json["degraded"] == []
