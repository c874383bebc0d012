"""Which files of a folder are papers, which are lists of references, and which are neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carrel.ingest import finding
from carrel.types import Problem

SUFFIXES = frozenset({".md", ".txt", ".pdf", ".json", ".xml", ".nxml"})
MARKER = json.dumps({"block_type": "Document", "children": [{"block_type": "Page", "children": []}]})
CSL = json.dumps([{"id": "a", "type": "article-journal", "title": "T", "issued": {"date-parts": [[2020]]}}])


def make(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content, encoding="utf-8")


def told(folder: Path) -> tuple[dict[str, bool], list[Problem]]:
    others: list[Problem] = []
    found = finding.told_apart(finding.inside(folder), SUFFIXES, others, named=False)
    return {str(path.relative_to(folder)): is_paper for path, is_paper in found}, others


def test_a_folder_is_sorted_by_what_is_in_its_files(tmp_path: Path) -> None:
    make(
        tmp_path, a__md="# A", refs__json=CSL, paper__json=MARKER, package__json='{"name": "x"}', pom__xml="<project/>"
    )
    make(tmp_path, jats__xml='<?xml version="1.0"?>\n<!DOCTYPE article>\n<article><body/></article>')
    make(tmp_path, tei__xml='<tei:TEI xmlns:tei="http://www.tei-c.org/ns/1.0"/>', notes__docx="PK")
    found, others = told(tmp_path)
    assert found == {"a.md": True, "jats.xml": True, "paper.json": True, "refs.json": False, "tei.xml": True}
    assert [(Path(other.source).name, other.reason[:30]) for other in others] == [
        ("notes.docx", "nothing reads '.docx' files; t"),
        ("package.json", "it holds no references and no "),
        ("pom.xml", "it holds no references and no "),
    ]


def test_an_extraction_by_marker_is_one_paper_whatever_lies_beside_it(tmp_path: Path) -> None:
    make(tmp_path / "cache" / "ABCD1234", ABCD1234__json=MARKER, ABCD1234__md="# The same", meta__json='{"title": "T"}')
    make(tmp_path / "cache" / "ABCD1234" / "images", readme__md="no paper")
    make(tmp_path / "cache" / "refs", refs__json=CSL, other__md="# Other")
    found, others = told(tmp_path / "cache")
    assert found == {"ABCD1234/ABCD1234.json": True, "refs/other.md": True, "refs/refs.json": False}
    assert others == []
    assert told(tmp_path / "cache" / "ABCD1234")[0] == {"ABCD1234.json": True}


def test_links_and_hidden_files_are_left_alone(tmp_path: Path) -> None:
    make(tmp_path / "papers", __hidden="x", a__md="# A")
    (tmp_path / "papers" / "link.md").symlink_to(tmp_path / "papers" / "a.md")
    assert told(tmp_path / "papers")[0] == {"a.md": True}


@pytest.mark.parametrize("name", ["package.json", "pom.xml"])
def test_a_file_that_was_named_goes_to_its_reader_which_says_what_is_wrong(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}" if name.endswith("json") else "<project/>", encoding="utf-8")
    assert list(finding.told_apart([tmp_path / name], SUFFIXES, [], named=True)) == [(tmp_path / name, True)]
