from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Carrel
from tests.test_retractions import QUOTE, REFS, ROW, written


@pytest.fixture
def library(carrel: Carrel) -> Carrel:
    Path("refs.jsonl").write_text(REFS.replace('"other",', '"other", "tags": ["corrected"],'), encoding="utf-8")
    written(Path("watch.csv"), ROW)
    assert carrel("init").code == 0
    assert carrel("add", "refs.jsonl").code == 0
    return carrel


def test_without_a_file_tags_are_told_and_how_to_get_one(library: Carrel) -> None:
    told = library("retractions")
    assert told.code == 0
    assert told.out.splitlines() == ["other  Salt in mice", "  CORRECTED (the tag 'corrected')"]
    assert "1 of 2 papers flagged, by tags alone: no file of retractions is set" in told.err
    assert "carrel config set retractions" in told.err


def test_the_flagged_papers_are_listed_with_the_files_date(library: Carrel) -> None:
    assert library("config", "set", "retractions", "watch.csv").code == 0
    told = library("retractions")
    assert "smith2018  Sugar in mice" in told.out
    assert "RETRACTED 2020-05-01 (Retraction Watch, as of 2020-05-01): Duplication of Image" in told.out
    assert "2 of 2 papers flagged; watch.csv, newest notice of 2020-05-01" in told.err
    found = library("retractions", "--json").json
    assert [(paper["id"], paper["flags"][0]["notice"]) for paper in found["papers"]] == [
        ("other", "correction"),
        ("smith2018", "retraction"),
    ]
    assert (found["looked_up"], found["as_of"], found["complaint"]) == (2, "2020-05-01", None)


def test_show_list_search_and_ask_warn_of_a_retracted_paper(library: Carrel) -> None:
    setting = ("--set", "retractions=watch.csv", "--set", "answer.threshold=0")
    assert "RETRACTED 2020-05-01" in library(*setting, "show", "smith2018").out
    assert library(*setting, "show", "smith2018", "--json").json["flags"][0]["date"] == "2020-05-01"
    assert "[RETRACTED] Sugar in mice" in library(*setting, "list").out
    assert [paper["notice"] for paper in library(*setting, "list", "--json").json["papers"]] == [
        "CORRECTED",
        "RETRACTED",
    ]
    assert "[RETRACTED] Sugar in mice" in library(*setting, "search", "sugar").out
    found = library(*setting, "search", "sugar", "--json").json["results"]
    assert found[0]["notice"] == "RETRACTED"
    assert "    RETRACTED 2020-05-01" in library(*setting, "ask", QUOTE).out


def test_a_file_that_is_not_there_is_said_so_wherever_it_matters(library: Carrel) -> None:
    setting = ("--set", "retractions=gone.csv", "--set", "answer.threshold=0")
    assert "'gone.csv' cannot be read" in library(*setting, "retractions").err
    assert "warning: without retractions: 'gone.csv' cannot be read" in library(*setting, "ask", QUOTE).err
