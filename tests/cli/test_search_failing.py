"""What a search that goes wrong says on the command line, and how it ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Carrel

CACHE = Path(".carrel/cache")


def cut_short(folder: Path) -> None:
    for file in folder.rglob("*.*"):
        if file.is_file() and file.suffix != ".lock":
            file.write_bytes(file.read_bytes()[:10])


@pytest.mark.parametrize(
    ("store", "arm", "damaged"),
    [("vectors", "vector", "the vector index in "), ("keywords", "keyword", "the keyword index in ")],
)
def test_a_damaged_index_is_a_warning_beside_the_others_results_and_an_error_alone(
    library: Carrel, store: str, arm: str, damaged: str
) -> None:
    cut_short(CACHE / store)
    found = library("search", "citation intent")
    assert (found.code, found.out.splitlines()[0][:2]) == (0, "1.")
    (warning,) = [line for line in found.err.splitlines() if line.startswith("warning")]
    assert warning.startswith(f"warning: without {arm}: {damaged}")
    assert warning.endswith("It is derived: delete that directory and run 'carrel index build'.")
    told = library("search", "citation intent", "--json").json
    assert (told["strategy"], told["degraded"][-1]["arm"]) == ("degraded", arm)
    alone = library("search", "citation intent", "--mode", arm)
    assert (alone.code, alone.out) == (1, "")
    assert alone.err.startswith(f"error: {damaged}")
    shutil.rmtree(CACHE / store)
    gone = library("search", "citation intent", "--mode", arm)
    assert (gone.code, gone.err.endswith("Run 'carrel index build' first\n")) == (2, True)
    assert library("index", "build").code == 0
    assert library("search", "citation intent", "--mode", arm).code == 0


def test_an_empty_catalog_is_not_an_empty_result(library: Carrel) -> None:
    for file in Path(".carrel").glob("carrel.db*"):
        file.unlink()
    failed = library("search", "citation intent", "--json")
    assert (failed.code, failed.out) == (1, "")
    error = json.loads(failed.err)
    assert error["error"] == "the catalog is empty, but the indexes name 60 passages for 'citation intent'"
    assert error["hint"].startswith("Run 'carrel index build' to take in refs.jsonl again")


@pytest.mark.parametrize(
    ("arguments", "code", "error", "hint"),
    [
        (("x" * 2001,), 1, "Query exceeds maximum length: 2001 > 2000 characters", "Shorten the query."),
        (("\x01\x1b",), 1, "Search query cannot be empty", "Give a few words or a question."),
        (("x", "--year", "9" * 20), 1, f"year_min must have at most 18 digits, got {'9' * 20}", "Give a smaller"),
        (("x", "--tag", "\udcff"), 1, r"tag '\udcff' is no text", "Type it again, in UTF-8."),
        (("x", "--paper", "nobody"), 1, "Paper 'nobody' not found in database", "'carrel list' shows"),
        (("x", "--limit", "-1"), 1, "Invalid value for '--limit'", "'carrel search --help' explains."),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence_with_the_next_step(
    library: Carrel, arguments: tuple[str, ...], code: int, error: str, hint: str
) -> None:
    failed = library("search", *arguments)
    assert (failed.code, failed.out) == (code, "")
    assert failed.err.startswith(f"error: {error}")
    assert failed.err.split("\n\n")[1].startswith(hint)


def test_a_library_that_was_never_built_is_not_an_empty_one(carrel: Carrel) -> None:
    assert carrel("init").code == 0
    failed = carrel("search", "anything")
    assert (failed.code, failed.err) == (2, "error: Semantic index not found. Run 'carrel index build' first\n")


def test_vectors_of_another_model_are_refused_with_both_ways_out(library: Carrel) -> None:
    failed = library("--set", "embedder=granite", "search", "citation")
    assert failed.code == 1
    assert "error: the index holds vectors of 'hashed-words-64-128', but queries are embedded by 'granite" in failed.err
    assert "Set embedder back, or run 'carrel index build' to re-index with 'granite" in failed.err


def test_where_nothing_is_found_it_is_told_what_was_looked_for(library: Carrel) -> None:
    nothing = library("search", 'citation year:1950 tag:"to read"')
    assert (nothing.code, nothing.out) == (0, "")
    assert nothing.err.splitlines() == [
        "note: year:1950 → year 1950",
        "note: tag:to read → tag to read",
        "Nothing found for 'citation year:1950 tag:\"to read\"'.",
    ]


def test_a_paper_that_is_only_listed_has_no_ledger_of_zeros(library: Carrel) -> None:
    lines = library("search", "year:2019", "--limit", "1", "--explain").out.splitlines()
    assert lines[3].strip() == "listed for what its record says"
    assert "fusion" not in "".join(lines[:4])


def test_half_a_character_in_a_query_is_an_escape_in_json(library: Carrel) -> None:
    told = library("search", "citation \udcff", "--json")
    assert (told.code, told.json["query"]) == (0, "citation \udcff")
    assert "\\udcff" in told.out
