"""Telling formats apart, and every format on the libraries of real users."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.errors import SourceError, UnsupportedFormat
from carrel.identifiers import normalise_arxiv, normalise_pmcid, normalise_pmid, normalise_title
from carrel.references import Found, formats, jsonl, merge_all
from carrel.types import Reference

Write = Callable[[str, str | bytes], Path]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.bib", "", "bibtex"),
        ("a.BIBLATEX", "", "bibtex"),
        ("a.txt", "% mine\n\n@article{k, title={T}}", "bibtex"),
        ("a.txt", "TY  - JOUR\n", "ris"),
        ("a.txt", "plain words", None),
        ("a.md", "@article{k, title={T}}", None),
        ("a.ris", "", "ris"),
        ("refs.jsonl", "", "jsonl"),
        ("a.json", '[{"type": "book", "title": "T"}]', "csl"),
        ("a.csl.json", "[]", "csl"),
        ("a.json", '{"items": [{"itemType": "book"}]}', "zotero_json"),
        ("a.json", '[{"data": {"itemType": "book"}}]', "zotero_json"),
        ("a.json", '[{"_id": "x", "citekey": "y"}]', "paperpile"),
        ("a.json", '{"name": "package", "version": 1}', None),
        ("a.json", "[", None),
        ("a.db", "SQLite format 3\0", None),
    ],
)
def test_a_format_is_told_by_name_and_content(write: Write, name: str, content: str, kind: str | None) -> None:
    assert formats.sniff(write(name, content)) == kind


def test_a_file_of_no_known_format_is_refused_and_a_missing_one_named(write: Write, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFormat, match=r"notes\.txt"):
        formats.read(write("notes.txt", "words"))
    with pytest.raises(SourceError, match="cannot read"):
        formats.sniff(tmp_path / "absent.json")


@pytest.mark.parametrize(
    ("text", "arxiv"),
    [
        ("1706.03762v5", "1706.03762"),
        ("arXiv:1706.03762", "1706.03762"),
        ("https://arxiv.org/pdf/1706.03762v2.pdf", "1706.03762"),
        ("arXiv preprint arXiv:1706.03762", "1706.03762"),
        ("10.48550/arXiv.2001.00001", "2001.00001"),
        ("math.GT/0309136", "math/0309136"),
        ("http://arxiv.org/abs/astro-ph/0405395v1", "astro-ph/0405395"),
        ("ZACDOQ", ""),
        ("10.1000/2001.00001", ""),
    ],
)
def test_an_arxiv_id_has_one_spelling(text: str, arxiv: str) -> None:
    assert normalise_arxiv(text) == arxiv


def test_pubmed_ids_have_one_spelling() -> None:
    assert [normalise_pmid(text) for text in ("PMID: 0123", "https://pubmed.ncbi.nlm.nih.gov/123/", "x1", "")] == [
        "123", "123", "", "",
    ]  # fmt: skip
    assert [normalise_pmcid(text) for text in ("pmc77", "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC77/", "77")] == [
        "PMC77", "PMC77", "",
    ]  # fmt: skip


# The libraries of real users

MOJIBAKE = re.compile(r"[ÃÂ][\x80-\xbf]|â€.|\ufffd")
ENTRY = re.compile(
    r"^(?!\s*%).*?(?<![\w\\])@\s*(?!comment|string|preamble|xdata)[a-z_]+\s*[{(]", re.IGNORECASE | re.MULTILINE
)


def read_all(libraries: Path) -> dict[str, Found]:
    return {path.name: formats.read(path) for path in sorted(libraries.rglob("*")) if path.is_file()}


def test_every_entry_of_every_library_is_read_or_named(libraries: Path) -> None:
    empty = 0
    for path in sorted(libraries.rglob("*")):
        if path.suffix in (".bib", ".bibtex", ".biblatex"):
            found = formats.read(path)
            dropped = [problem for problem in found.problems if problem.reason.startswith("it has no title")]
            counted = len(ENTRY.findall(path.read_text(encoding="utf-8")))
            assert len(found.references) + len(dropped) == counted, path.name
            empty += len(dropped)
    assert empty == 7


def test_what_is_read_of_the_libraries_can_be_stored_and_read_again(libraries: Path) -> None:
    references = [reference for found in read_all(libraries).values() for reference in found.references]
    assert len(references) > 3_500
    assert all(jsonl.load(jsonl.dump(reference)) == reference for reference in references)


def test_no_mojibake_is_in_what_is_read_but_what_the_users_had_themselves(libraries: Path) -> None:
    for path in libraries.rglob("*.bib*"):
        source = path.read_text(encoding="utf-8")
        for reference in formats.read(path).references:
            assert all(sign in source for sign in MOJIBAKE.findall(jsonl.dump(reference))), reference


def test_a_second_import_of_the_same_library_changes_nothing(libraries: Path) -> None:
    incoming = formats.read(libraries / "Bulk performance test.bib").references
    merged = merge_all({}, incoming)
    again = merge_all(merged.changed, incoming)
    assert (len(merged.new), again.new, again.updated) == (1241, [], [])


def test_one_library_exported_twice_gives_the_same_papers(libraries: Path) -> None:
    """Better BibTeX wrote the same 1,241 items as biblatex and as JSON: each is the other's proof."""
    written = formats.read(libraries / "Bulk performance test.bib").references
    exported = formats.read(libraries / "Bulk performance test.json").references

    def facts(found: list[Reference]) -> list[tuple[str, int, str]]:
        return sorted((normalise_title(paper.title), paper.published.year, paper.doi) for paper in found)

    assert facts(written) == facts(exported)


def test_accents_of_the_libraries_are_right(libraries: Path) -> None:
    authors = {
        str(author) for found in read_all(libraries).values() for paper in found.references for author in paper.authors
    }
    assert {"Radim Řehůřek", "Pavel Krejčí", "Jan Franců", "J Bonča", "Kurt Gödel", "东方不败"} <= authors


def test_the_real_zotero_database_gives_all_items_but_those_of_feeds(libraries: Path) -> None:
    found = formats.read(libraries / "zotero.sqlite")
    assert (len(found.references), found.problems) == (49, [])
    assert found.references[0].id == "shelah1969"
