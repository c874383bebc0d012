"""`carrel check`: every fault of the library's own files is named, and nothing is changed."""

from __future__ import annotations

import itertools
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import attachments, checking, layout
from carrel.attachments import PdfRoot
from carrel.references.paths import RefusedPath
from tests.cli.conftest import Carrel, carrel, filled, library

__all__ = ["carrel", "filled", "library"]

GOOD = {"id": "a", "title": "A title", "authors": [{"first": "Ann", "last": "Lee"}], "published": {"year": 2020}}


def lines(*records: dict[str, Any] | str) -> str:
    return "".join(f"{one if isinstance(one, str) else json.dumps({**GOOD, **one})}\n" for one in records)


def checked(folder: Path, text: str | bytes, root: PdfRoot | None = None) -> checking.Checked:
    refs = folder / "refs.jsonl"
    refs.write_bytes(text if isinstance(text, bytes) else text.encode())
    return checking.check(refs, root or PdfRoot(folder))


def found(result: checking.Checked) -> list[tuple[str, tuple[str, ...], str]]:
    return [(issue.kind.value, issue.ids, issue.message) for issue in result.issues]


def test_a_library_without_faults_is_ok(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").touch()
    result = checked(tmp_path, lines({"pdf_path": "a.pdf", "doi": "https://doi.org/10.1000/X", "pmid": "123"}))
    assert result.as_dict() == {"status": "ok", "references": 1, "edges": 0, "concepts": 0, "issues": []}


@pytest.mark.parametrize(
    ("record", "kind", "message"),
    [
        ({"authors": [], "published": {"year": 0}}, "incomplete", "a has no authors, no year"),
        ({"title": "[no title]", "authors": [{"last": "Unknown"}]}, "incomplete", "a has no title, no authors"),
        ({"doi": "10.1/x"}, "invalid_doi", "a has doi '10.1/x'"),
        ({"supersedes": "the preprint"}, "invalid_supersedes", "a has supersedes 'the preprint'"),
        ({"arxiv_id": "17.3"}, "invalid_arxiv_id", "a has arxiv_id '17.3'"),
        ({"pmid": "PMC1"}, "invalid_pmid", "a has pmid 'PMC1'"),
        ({"pmcid": "123"}, "invalid_pmcid", "a has pmcid '123'"),
        (
            {"authors": [{"first": "Ann", "last": "Lee", "orcid": "https://orcid.org/0000"}]},
            "invalid_orcid",
            "a has the ORCID 'https://orcid.org/0000' for Ann Lee",
        ),
        ({"pdf_path": "../a.pdf"}, "missing_pdf", "a: the path '../a.pdf' leads out of its folder by '..'"),
        ({"pdf_path": "https://x.org/a"}, "missing_pdf", "a: 'https://x.org/a' is an address on the web, not a file"),
    ],
)
def test_a_fault_of_a_record_is_named(tmp_path: Path, record: dict[str, Any], kind: str, message: str) -> None:
    assert found(checked(tmp_path, lines(record))) == [(kind, ("a",), message)]


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    (tmp_path / "here.zip").touch()
    (tmp_path / "folder.pdf").mkdir()
    result = checked(tmp_path, lines({"pdf_path": "folder.pdf", "supplement_paths": ["here.zip", "gone.zip"]}))
    assert found(result) == [
        ("missing_pdf", ("a",), f"a: there is no file 'folder.pdf' in {str(tmp_path)!r}"),
        ("missing_supplement", ("a",), f"a: there is no file 'gone.zip' in {str(tmp_path)!r}"),
    ]


def test_one_id_and_one_doi_on_several_lines_are_named(tmp_path: Path) -> None:
    result = checked(
        tmp_path,
        lines({"doi": "10.1000/X"}, {"id": "b", "doi": "doi:10.1000/x"}, {"id": "c", "authors": []}, {"id": "c"}),
    )
    assert found(result) == [
        ("duplicate_id", ("c",), "'c' is on lines 3, 4; only the last counts"),
        ("duplicate_doi", ("a", "b"), "10.1000/x is the DOI of a, b; 'carrel dedupe' merges them"),
    ]
    assert result.references == 3


def test_broken_lines_are_named_by_number_and_cost_only_themselves(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf" + lines({}, '{"id": "b",', '{"id": "c", "title": ""}').encode() + b"\xff\n\n"
    result = checked(tmp_path, text + lines({"id": "d", "authors": []}).encode())
    assert [(issue.lines, issue.message) for issue in result.issues] == [
        ((2,), "line 2: not JSON: Expecting property name enclosed in double quotes at column 12"),
        ((3,), "line 3: 'title' is empty"),
        ((4,), "line 4: not UTF-8 text"),
        ((), "d has no authors"),
    ]


def test_a_conflict_is_one_issue_and_our_side_is_looked_at(tmp_path: Path) -> None:
    result = checked(
        tmp_path,
        lines(
            {}, "<<<<<<< HEAD", {"id": "b", "authors": []}, "||||||| base", {"id": "b"}, "=======", {"id": "b"}, "x",
            ">>>>>>> other", {"id": "c"},
        ),
    )  # fmt: skip
    assert found(result) == [
        ("conflict_markers", (), "git left a conflict in lines 2 to 9; 'carrel resolve' merges it"),
        ("incomplete", ("b",), "b has no authors"),
    ]
    assert result.references == 3


EDGES = [
    ("a", "b", "cites"),
    ("a", "b", "cites"),
    ("a", "gone", "cites"),
    ("a", "broken", "cites"),
    ("concept:known", "a", "introduces"),
    ("a", "concept:unknown", "introduces"),
    ("a", "a", "cites"),
    ("a", "repo:r", "uses"),
    ("a", "project:p", "uses"),
    ("concept:known", "project:q", "studied-by"),
    ("project:p", "project:p-2", "refines"),
    ("concept:known", "concept:known-2", "part-of"),
]


def test_the_curated_graph_is_compared_with_the_papers(tmp_path: Path) -> None:
    keys = ("source_id", "target_id", "relationship_type")
    edges = "".join(json.dumps(dict(zip(keys, edge, strict=True))) + "\n" for edge in EDGES)
    (tmp_path / "edges.jsonl").write_text(f'{edges}\n{{"source_id": "a", "target_id": 1}}\n[\n')
    (tmp_path / "concepts.jsonl").write_text('{"id": "known", "name": "K"}\n{"id": "known-2", "name": "K"}\n')
    (tmp_path / "projects.jsonl").write_text('{"id": "p", "name": "P"}\n{"id": "p-2", "name": "P"}\n')
    result = checked(tmp_path, lines({}, {"id": "b"}, '{"id": "broken", "title": 1'))
    assert (result.edges, result.concepts) == (12, 2)
    graph = [(issue.kind.value, issue.lines) for issue in result.issues if issue.file == "edges.jsonl"]
    assert sorted(graph, key=lambda pair: pair[1]) == [
        ("duplicate_edge", (2,)),
        ("orphaned_edge", (3,)),
        ("orphaned_concept_edge", (6,)),
        ("invalid_edge", (7,)),
        ("invalid_repo_edge", (8,)),
        ("invalid_paper_project_edge", (9,)),
        ("orphaned_project_edge", (10,)),
        ("invalid_edge", (11,)),
        ("broken_line", (14,)),
        ("broken_line", (15,)),
    ]


def test_concepts_are_checked_by_their_own_rules(tmp_path: Path) -> None:
    records = [{"id": "ok", "name": "O"}, {"id": "Not Ok", "name": "N"}, {"id": "nameless"}, {"id": "ok", "name": "O"}]
    (tmp_path / "concepts.jsonl").write_text(lines(*map(json.dumps, records)))
    assert found(checked(tmp_path, "")) == [
        ("invalid_concept", ("Not Ok",), "line 2: 'Not Ok' is no concept's id: small letters, digits, '-' and '_'"),
        ("invalid_concept", ("nameless",), "line 3: nameless has no name"),
        ("duplicate_concept", ("ok",), "'ok' is on lines 1 and 4"),
    ]


@given(st.binary(max_size=300), st.binary(max_size=200))
def test_no_content_makes_the_check_fail(tmp_path_factory: pytest.TempPathFactory, refs: bytes, edges: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "edges.jsonl").write_bytes(edges)
    result = checked(folder, refs + b"\n" + lines({}).encode())
    assert result.references >= 1 or b"=======" in refs or b"|||||||" in refs
    assert (folder / "refs.jsonl").read_bytes().startswith(refs)


def test_the_command_groups_bounds_and_exits_by_what_it_found(library: Carrel, tmp_path: Path) -> None:
    fine = library("check")
    assert (fine.code, fine.out, fine.err) == (0, "60 references, no issues\n", "")
    refs = tmp_path / ".carrel" / "refs.jsonl"
    refs.write_text(refs.read_text() + lines(*({"id": f"p{n}\x1b[31m", "pdf_path": f"{n}.pdf"} for n in range(12))))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    bad = library("check")
    printed = bad.out.splitlines()
    assert (bad.code, len(printed)) == (1, 13)
    assert (printed[0], printed[11:]) == (
        "missing_pdf (12)",
        ["  … 2 more; --json lists all", "72 references, 12 issues"],
    )
    assert "\x1b" not in bad.out
    assert len(library("check", "--json").json["issues"]) == 12
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_missing_or_unreadable_file_is_told(carrel: Carrel, tmp_path: Path) -> None:
    carrel("init")
    refs = tmp_path / ".carrel" / "refs.jsonl"
    refs.unlink()
    assert carrel("check", "--json").json["issues"][0]["type"] == "missing_file"
    refs.mkdir()
    assert carrel("check").err.startswith(f"error: cannot read '{refs}': Is a directory\n")


def test_a_library_that_cannot_be_written_is_checked_all_the_same(carrel: Carrel, tmp_path: Path) -> None:
    bipartite = tmp_path / ".bipartite"
    bipartite.mkdir()
    (bipartite / "refs.jsonl").write_text(lines({}))
    bipartite.chmod(0o500)
    try:
        assert carrel("check", "--json").json["status"] == "ok"
    finally:
        bipartite.chmod(0o700)
    assert [path.name for path in bipartite.iterdir()] == ["refs.jsonl"]


# Where files are looked for


@pytest.mark.parametrize(
    "path", ["../x.pdf", "/etc/hosts", "a/../../x.pdf", "~/x.pdf", "C:\\x.pdf", "", "out.pdf", "way/x.pdf"]
)
def test_no_path_and_no_link_leads_out_of_the_root(tmp_path: Path, path: str) -> None:
    (tmp_path / "x.pdf").touch()
    root = tmp_path / "root"
    root.mkdir()
    (root / "out.pdf").symlink_to(tmp_path / "x.pdf")
    (root / "way").symlink_to(tmp_path)
    with pytest.raises(RefusedPath):
        attachments.follow(path, root)


def test_a_file_is_found_under_either_spelling_of_its_accents(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "-Ü.pdf").touch()
    (tmp_path / "loop.pdf").symlink_to("loop.pdf")
    for path in ("a b/-Ü.pdf", "a b/-U\u0308.pdf", f" {tmp_path}/a b/-Ü.pdf"):
        assert attachments.follow(path, tmp_path) == tmp_path / "a b" / "-Ü.pdf"
    for path in ("gone.pdf", "loop.pdf", f"{'x' * 300}.pdf"):
        assert attachments.follow(path, tmp_path) is None


def test_whatever_a_record_names_what_is_found_lies_in_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "way").symlink_to(tmp_path)
    for folder in (tmp_path, root, root / "sub"):
        (folder / "x.pdf").touch()
    (root / "sub" / "out.pdf").symlink_to(tmp_path / "x.pdf")
    reached = set()
    for steps in itertools.product(("..", ".", "", "sub", "way", "root", "x.pdf", "out.pdf"), repeat=3):
        for slash in "/\\":
            with suppress(RefusedPath):
                reached.add(attachments.follow(slash.join(steps), root))
    # A link that leads back in does no harm.
    assert reached == {None, root / "x.pdf", root / "sub" / "x.pdf"}


@pytest.mark.parametrize(
    ("name", "text", "folder", "remark"),
    [
        ("config.yml", "pdf_root: pdfs\n", "pdfs", ""),
        ("config.json", '{"pdf_root": "pdfs"}', "pdfs", ""),
        ("config.yml", "pdf_reader: skim\n", ".", ""),
        ("config.yml", "pdf_root: /etc\n", ".", "names the PDF folder '/etc', which is not in the library's folder"),
        ("config.yml", "pdf_root: link\n", ".", "names the PDF folder 'link', which is not"),
        ("config.json", '{"pdf_root": "../x\\u0000"}', ".", "which is not in the library's folder"),
        ("config.yml", "pdf_root: [1]\n", ".", "its pdf_root is [1], no path"),
        ("config.yml", ": [", ".", "cannot be read, and its pdf_root is not used: while parsing"),
        ("config.json", "nix", ".", "cannot be read"),
        ("config.yml", "- a\n", ".", "no mapping"),
        ("config.yml", "#" * 200_000, ".", "more than 100,000 bytes"),
        ("config.json", "[" * 90_000, ".", "cannot be read"),
    ],
)
def test_bips_config_names_the_pdf_folder_if_it_lies_in_the_library(
    tmp_path: Path, name: str, text: str, folder: str, remark: str
) -> None:
    home = tmp_path / "lib"
    (home / ".bipartite").mkdir(parents=True)
    (home / "link").symlink_to(tmp_path)
    (home / ".bipartite" / name).write_text(text)
    root = attachments.pdf_root(layout.find(home), "", confined=False)
    assert root.folder == home / folder
    assert remark in root.remark
    assert bool(root.remark) == bool(remark)


def test_only_the_user_may_name_a_folder_elsewhere(
    carrel: Carrel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.pdf").touch()
    (tmp_path / "lib" / "sub").symlink_to(elsewhere)
    carrel("init", "lib")
    (tmp_path / "lib" / ".carrel" / "refs.jsonl").write_text(lines({"pdf_path": "a.pdf"}))
    assert carrel("-C", "lib", "check").code == 1
    assert carrel("-C", "lib", "--set", f"pdf_root={elsewhere}", "check").code == 0
    assert carrel("-C", "lib", "--set", "pdf_root=../elsewhere", "check").code == 0
    for named in (str(elsewhere), "../elsewhere", "~/x", "C:\\x"):
        refused = carrel("-C", "lib", "config", "set", "pdf_root", named)
        assert (refused.code, refused.err.splitlines()[0]) == (
            1,
            f"error: this library's config names a place outside of the library: pdf_root = {named!r}",
        )
    assert carrel("-C", "lib", "config", "set", "pdf_root", "sub").code == 0
    linked = carrel("-C", "lib", "check", "--json").json["issues"]
    assert [issue["type"] for issue in linked] == ["pdf_root", "missing_pdf"]
    monkeypatch.setenv("CARREL_PDF_ROOT", str(elsewhere))
    assert carrel("-C", "lib", "check").code == 0
    config = tmp_path / "lib" / ".carrel" / "config.toml"
    monkeypatch.delenv("CARREL_PDF_ROOT")
    config.write_text(f'pdf_root = "{elsewhere}"\n')
    assert "outside of the library" in carrel("-C", "lib", "check").err
