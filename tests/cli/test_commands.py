"""Every command as its user meets it: what is printed where, in which shape, with which exit code."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from carrel.cli import cli, run
from tests.cli.conftest import DEMO, Carrel


def test_init_makes_a_library_once(carrel: Carrel, tmp_path: Path) -> None:
    made = carrel("init", "papers", "--json")
    assert (made.code, made.json) == (0, {"status": "initialized", "path": "papers/.carrel"})
    assert (tmp_path / "papers/.carrel/refs.jsonl").read_text() == ""
    again = carrel("init", "papers")
    assert (again.code, again.out) == (1, "")
    assert again.err.startswith("error: there is a library in 'papers' already\n\n")


def test_add_reports_what_became_of_everything(library: Carrel, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# A note\n\nAbout quarks and gluons.\n")
    (tmp_path / "bad.md").write_bytes(b"\x00\x01\x02" * 100)
    added = library("add", "note.md", "bad.md", DEMO / "refs.jsonl", "--json")
    assert added.code == 1
    assert (added.json["new"], added.json["updated"], added.json["unchanged"]) == (1, 0, 60)
    assert (added.json["papers"], added.json["chunks_embedded"]) == (["note"], 1)
    assert [problem["source"] for problem in added.json["failed"]] == ["bad.md"]


def test_a_failed_line_is_named_on_stderr_and_the_good_ones_kept(carrel: Carrel, tmp_path: Path) -> None:
    carrel("init")
    lines = (DEMO / "refs.jsonl").read_text(encoding="utf-8").splitlines()
    lines[6] = lines[6][:40]
    (tmp_path / "refs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    added = carrel("add", "refs.jsonl")
    assert (added.code, added.out.splitlines()[0]) == (1, "Added 59 new, 0 updated, 0 unchanged")
    assert "Failed: refs.jsonl:7: line 7: not JSON" in added.err
    assert carrel("list", "--json").json["total"] == 59


def test_a_dry_run_changes_nothing(library: Carrel, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("A note.")
    assert library("add", "note.md", "--dry-run").out == (
        "Would add 1 new, 0 updated, 0 unchanged\n  add     note  note  (new)\n"
    )
    assert library("list", "--json").json["total"] == 60


def test_a_dry_run_tells_the_first_papers_and_how_many_more(library: Carrel, tmp_path: Path) -> None:
    entries = "\n".join(f"@misc{{k{number}, title={{Title {number}}}}}" for number in range(23))
    (tmp_path / "lib.bib").write_text(f"{entries}\n@misc{{k0, title={{Title 0}}}}")
    told = library("add", "lib.bib", DEMO / "refs.jsonl", "--dry-run").out.splitlines()
    assert (told[0], len(told)) == ("Would add 23 new, 0 updated, 61 unchanged", 22)
    assert (told[1], told[-1]) == ("  add     k0  Title 0  (new)", "  … 4 more")
    details = library("add", "lib.bib", "--dry-run", "--json").json["details"]
    assert details[-1] == {"id": "k0", "action": "skip", "title": "Title 0", "reason": "duplicate_in_batch"}
    assert len(details) == 24


def test_attached_files_are_counted_with_the_command_that_takes_them_in(library: Carrel, tmp_path: Path) -> None:
    (tmp_path / "my refs").mkdir()
    (tmp_path / "my refs" / "lib.bib").write_text("@misc{k, title={T}, file={k.md}}")
    (tmp_path / "my refs" / "k.md").write_text("# T\n\nWords about quarks.")
    offered = library("add", "my refs/lib.bib").out.splitlines()
    assert offered[-1] == "1 attached file could be taken in, too: carrel add 'my refs/lib.bib' --attached"
    dry = library("add", "my refs/lib.bib", "--attached", "--dry-run").out.splitlines()
    assert dry[-1] == "Would take in 1 attached file"
    taken = library("add", "my refs/lib.bib", "--attached", "--json").json
    assert (taken["papers"], taken["attached"]) == (["k"], [])
    assert "Words about quarks." in library("show", "k/ch1/s0/p0").out


def test_an_address_that_may_not_be_asked_is_named_and_the_rest_is_kept(carrel: Carrel, tmp_path: Path) -> None:
    carrel("init")
    (tmp_path / "lib.bib").write_text("@misc{k, title={T}}")
    added = carrel("add", "https://example.org/lib.bib", "lib.bib")
    assert (added.code, added.out.splitlines()[0]) == (1, "Added 1 new, 0 updated, 0 unchanged")
    assert added.err.splitlines()[-1] == (
        "Failed: https://example.org/lib.bib: 'example.org' is not this machine: "
        "of the network only Zotero at localhost is asked"
    )


def test_list_says_how_many_there_are(library: Carrel) -> None:
    listed = library("list", "--limit", "2")
    assert len(listed.out.splitlines()) == 2
    assert listed.err == "Showing 2 of 60 papers; --limit 0 shows all.\n"
    paper = library("list", "--limit", "1", "--json").json["papers"][0]
    assert {
        "id",
        "title",
        "authors",
        "year",
        "venue",
        "doi",
        "tags",
        "parts",
        "chunk_count",
        "figure_count",
        "listed",
        "indexed",
    } <= paper.keys()


def test_remove_takes_papers_out_or_none(library: Carrel) -> None:
    wrong = library("remove", "karpukhin-etal-2020-dense", "nobody")
    assert (wrong.code, wrong.err.splitlines()[0]) == (1, "error: Paper 'nobody' not found in database")
    assert library("remove", "karpukhin-etal-2020-dense", "--json").json == {"removed": ["karpukhin-etal-2020-dense"]}
    assert library("list", "--json").json["total"] == 59


def test_show_prints_paper_chunk_and_source_text(library: Carrel) -> None:
    paper = library("show", "karpukhin-etal-2020-dense", "--json").json
    assert (paper["kind"], paper["title"]) == ("paper", "Dense Passage Retrieval for Open-Domain Question Answering")
    chunk = library("show", "karpukhin-etal-2020-dense/abstract", "--json").json
    assert (chunk["kind"], chunk["chunk_kind"], chunk["previous"], chunk["next"]) == ("chunk", "abstract", None, None)
    assert (chunk["position"]["total_chunks_in_section"], chunk["position"]["total_chapters_in_paper"]) == (1, 0)
    text = library("show", "karpukhin-etal-2020-dense", "--text").out
    assert text[chunk["start"] : chunk["end"]] == chunk["text"] == paper["abstract"]
    assert library("show", "nobody").code == 1


def test_search_prints_passages_and_explains_them(library: Carrel) -> None:
    found = library("search", "dense passage retrieval", "--limit", "2", "--json").json
    assert {"query", "mode", "strategy", "degraded", "results", "total"} <= found.keys()
    assert (found["mode"], found["strategy"], found["total"]) == ("hybrid", "hybrid", 2)
    first = found["results"][0]
    assert {
        "rank",
        "address",
        "paper_id",
        "title",
        "year",
        "score",
        "text",
        "page",
        "section_path",
        "arms",
    } <= first.keys()
    assert (first["rank"], first["paper_id"]) == (1, "karpukhin-etal-2020-dense")
    explained = library("search", "dense passage retrieval", "--explain").out
    assert "keyword #1" in explained
    assert "rerank 0." in explained
    assert "strategy hybrid; " in explained


@pytest.mark.parametrize(
    ("options", "years"),
    [(("--year", "2018:2019"), {2018, 2019}), (("--year", "2020"), {2020}), (("--year", ":2017"), {2016, 2017})],
)
def test_search_can_be_restricted(library: Carrel, options: tuple[str, ...], years: set[int]) -> None:
    results = library("search", "language model", "--limit", "50", "--json", *options).json["results"]
    assert results
    assert {result["year"] for result in results} <= years


def test_the_log_goes_to_stderr_and_only_when_asked_for(library: Carrel) -> None:
    assert library("search", "language", "--json").err == ""
    logged = library("--log-level", "info", "search", "language", "--json")
    assert logged.json["total"] == 10
    (entry,) = map(json.loads, logged.err.splitlines())
    assert (entry["logger"], entry["event"], entry["strategy"]) == ("carrel.search", "searched", "hybrid")
    assert entry["milliseconds"]["total"] > 0


def test_nothing_found_is_no_error(library: Carrel) -> None:
    found = library("search", "zzzzqqq", "--mode", "keyword")
    assert (found.code, found.out) == (0, "")
    assert "Nothing found" in found.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("search", ""), "Search query cannot be empty"),
        (("search", "x", "--section", "1"), "section requires chapter"),
        (("search", "x", "--chapter", "1"), "chapter requires paper"),
        (("search", "x", "--year", "soon"), "--year 'soon' is not a year or a range"),
        (("search", "x", "--limit", "-1"), "Invalid value for '--limit'"),
        (("search",), "Missing argument 'QUERY'."),
        (("ask", " "), "Search query cannot be empty"),
        (("frobnicate",), "No such command 'frobnicate'."),
        (("config", "set", "search.limt", "5"), "unknown setting 'search.limt' in the command line"),
        (("--set", "nonsense", "list"), "--set 'nonsense' is not KEY=VALUE"),
        (("--set", "embedder=gpt", "search", "x"), "no embedder is called 'gpt'"),
    ],
)
def test_bad_usage_is_one_sentence_a_hint_and_exit_code_1(
    library: Carrel, arguments: tuple[str, ...], message: str
) -> None:
    failed = library(*arguments)
    assert (failed.code, failed.out) == (1, "")
    assert failed.err.startswith(f"error: {message}")
    assert failed.err.count("\n\n") == 1
    told = json.loads(library(*arguments, "--json").err)
    assert told["error"].startswith(message)
    assert told["hint"]


def test_without_a_library_the_exit_code_is_2(carrel: Carrel) -> None:
    failed = carrel("search", "x")
    assert (failed.code, failed.err.splitlines()[-1]) == (2, "Make one with 'carrel init'.")


def test_without_an_index_the_exit_code_is_2(carrel: Carrel) -> None:
    carrel("init")
    failed = carrel("search", "x")
    assert (failed.code, failed.err) == (2, "error: Semantic index not found. Run 'carrel index build' first\n")


def test_ask_answers_with_statements_and_proof(library: Carrel) -> None:
    answer = library(
        "--set", "answer.threshold=0", "ask", "dense passage retrieval for question answering", "--json"
    ).json
    assert {
        "query_id", "question", "answer", "statements", "citations", "confidence", "has_insufficient_evidence",
        "near_misses", "unsupported", "strategy", "generator", "timings",
    } <= answer.keys()  # fmt: skip
    assert answer["statements"]
    for citation in answer["citations"]:
        text = library("show", citation["address"], "--text").out
        assert text[citation["start"] : citation["end"]] == citation["quote"]
        assert {"id", "paper_id", "title", "authors", "year", "page", "boxes", "score"} <= citation.keys()
    printed = library("--set", "answer.threshold=0", "ask", "dense passage retrieval for question answering").out
    assert f"{answer['statements'][0]['text']} [1]\n" in printed
    assert f"[1] {answer['citations'][0]['title']}" in printed
    assert f"“{answer['citations'][0]['quote']}”" in printed


def test_ask_refuses_when_the_evidence_does_not_suffice(library: Carrel) -> None:
    refused = library("--set", "answer.threshold=1", "ask", "Who won the cup?")
    assert refused.code == 0
    assert refused.out.startswith("Insufficient evidence: 0.")
    assert "Near misses" in refused.out


def test_index_check_says_what_is_stale_with_exit_code_6_and_build_mends_it(library: Carrel, tmp_path: Path) -> None:
    assert library("index", "check").code == 0
    refs = tmp_path / ".carrel/refs.jsonl"
    lines = refs.read_text(encoding="utf-8").splitlines()
    refs.write_text("\n".join(lines[1:]) + '\n{"id": "new", "title": "New"}\n', encoding="utf-8")
    stale = library("index", "check", "--json")
    assert (stale.code, stale.json["status"], stale.json["missing_ids"]) == (6, "stale", ["new"])
    assert (stale.json["orphaned"], stale.json["recommendation"]) == (1, "Run 'carrel index build'")
    built = library("index", "build", "--json").json
    assert (built["status"], built["papers_indexed"], built["papers_skipped"], built["chunks_embedded"]) == (
        "complete", 59, 1, 0,
    )  # fmt: skip
    assert library("index", "check").code == 0


def test_config_shows_who_set_what(library: Carrel) -> None:
    assert library("config", "set", "search.limit", "3", "--json").json == {
        "status": "updated",
        "key": "search.limit",
        "value": 3,
    }
    shown = {one["key"]: one for one in library("--set", "threads=2", "config", "show", "--json").json["settings"]}
    assert (shown["search.limit"]["value"], Path(shown["search.limit"]["origin"]).name) == (3, "config.toml")
    assert (shown["threads"]["value"], shown["threads"]["origin"]) == (2, "flag")
    assert shown["embedder"]["origin"] == "environment"
    assert shown["reranker"]["origin"] == "default"
    assert len(library("search", "language", "--json").json["results"]) == 3


def test_doctor_finds_a_healthy_library_well_and_a_damaged_one_not(library: Carrel, tmp_path: Path) -> None:
    well = library("doctor", "--json")
    assert (well.code, well.json["status"]) == (0, "ok")
    assert {check["name"] for check in well.json["checks"]} >= {"python", "library", "embedder", "catalog", "index"}
    segment = next((tmp_path / ".carrel/cache/vectors").glob("segment-*/vectors.f32"))
    segment.write_bytes(segment.read_bytes()[:100])
    ill = library("doctor", "--json")
    assert (ill.code, ill.json["status"]) == (1, "problems")
    broken = {check["name"]: check for check in ill.json["checks"] if check["status"] == "problem"}
    assert "delete that directory and run 'carrel index build'" in broken["vectors"]["hint"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(carrel: Carrel, shell: str) -> None:
    assert "_CARREL_COMPLETE" in carrel("completion", shell).out


GROUPS = {(), ("index",), ("config",), ("cache",), ("concept",), ("edge",), ("token",)}
SPEAKING = {("mcp",), ("worker",)}
"""On stdout the protocol, or nothing."""


def test_every_command_takes_json_and_explains_itself(carrel: Carrel) -> None:
    for path in command_paths():
        explained = carrel(*path, "--help")
        assert explained.code == 0
        assert "--json" in explained.out or path in GROUPS | SPEAKING


def test_an_interruption_is_exit_code_130_and_loses_nothing(
    library: Carrel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from carrel.keywords.tantivy import TantivyKeywords

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "note.md").write_text("A note about quarks.")
    with monkeypatch.context() as patched:
        patched.setattr(TantivyKeywords, "put", interrupt)
        stopped = library("add", "note.md")
    assert stopped.code == 130
    assert "Nothing is lost" in stopped.err
    assert library("index", "check").code == 6
    assert library("add", "note.md").code == 0
    assert library("index", "check").code == 0
    assert library("search", "quarks", "--json").json["results"][0]["paper_id"] == "note"


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False), ("please", False)])
def test_colours_are_for_terminals_and_for_those_who_want_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_color: str, coloured: bool
) -> None:
    import os
    import pty
    import subprocess
    import sys

    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("PYTHONPATH", str(DEMO.parent.parent))
    run(["init", str(tmp_path)])
    (tmp_path / "note.txt").write_text("A note")
    command = [sys.executable, "-m", "carrel", "-C", str(tmp_path), "config", "show"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                shown += piece
    os.close(ours)
    assert process.returncode == 0
    assert (b"\x1b[" in shown) is coloured
    assert "\x1b" not in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def command_paths() -> list[tuple[str, ...]]:
    import click

    context = click.Context(cli)
    paths: list[tuple[str, ...]] = [()]
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        paths.append((name,))
        if isinstance(command, click.Group):
            paths += [(name, sub) for sub in command.commands]
    return paths


def test_the_demo_proves_three_answers_and_refuses_one(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    sources = "\n".join(path.read_text(encoding="utf-8") for path in Path(shown["sources"]).rglob("*.[mj]*"))
    *answered, refused = shown["answers"]
    assert len(answered) == 3
    for answer in answered:
        assert answer["statements"], answer["question"]
        assert all(statement["citations"] for statement in answer["statements"])
        for citation in answer["citations"]:
            assert citation["title"]
            # As grep would look for it, also in the JSON of refs.jsonl.
            assert citation["quote"] in sources or json.dumps(citation["quote"], ensure_ascii=False)[1:-1] in sources
    assert refused["has_insufficient_evidence"]
    assert refused["near_misses"]
    assert not refused["statements"]


def test_semantic_and_similar_find_papers(library: Carrel) -> None:
    found = library("semantic", "dense passage retrieval", "-t", "0.2", "-l", "3")
    assert found.out.startswith('Search: "dense passage retrieval"\nFound 3 papers (threshold: 0.2)\n\n1. [0.')
    near = library("similar", "karpukhin-etal-2020-dense", "--limit", "2", "--json").json
    assert (near["source"]["id"], near["total"]) == ("karpukhin-etal-2020-dense", 2)
    assert "Similar to karpukhin-etal-2020-dense: Dense" in library("similar", "karpukhin-etal-2020-dense").out
    assert library("semantic", "x", "-l", "0").code == 1
    assert library("similar", "nobody").code == 1


def test_search_can_ask_for_authors_titles_and_dois(library: Carrel) -> None:
    def found(*options: str) -> set[str]:
        results = library("search", "language", "--limit", "60", "--json", *options).json["results"]
        return {result["paper_id"] for result in results}

    assert found("--author", "Karpukhin") == {"karpukhin-etal-2020-dense"}
    assert found("--author", "Vladimir Karpukhin", "--title", "dense retrieval") == {"karpukhin-etal-2020-dense"}
    assert found("--author", "Nobody") == set()
    doi = library("show", "karpukhin-etal-2020-dense", "--json").json["doi"]
    assert found("--doi", f"https://doi.org/{doi}") == {"karpukhin-etal-2020-dense"}
