"""References out again: for LaTeX, for citation processors, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carrel import Library
from carrel.errors import PaperNotFound
from carrel.references import bibtex, bibtex_writer
from carrel.references.bibtex_writer import escaped
from carrel.testing import HashedWords
from carrel.types import Author, Published, Reference

FULL = Reference(
    id="yu-2020",
    title="50% of BERT & friends: an O($n^2$) study of {braces}_under",
    doi="10.1000/x_1",
    authors=(Author("Yu", "Tim"), Author("Müller-Ångström", "Zoë"), Author("The ACME Team")),
    abstract="Costs #1: ~5 $ and a\\b^c; see {this}.",
    venue="Proceedings of the 5th Workshop on Things & Stuff",
    note="read twice",
    published=Published(2020, 5, 17),
    pdf_path="papers/yu.pdf",
    tags=("nlp", "to read"),
    pmid="123",
    pmcid="PMC123",
    arxiv_id="2001.00001",
)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a & b % c # d _ e", r"a \& b \% c \# d \_ e"),
        ("{x} ~ ^ \\", r"\{x\} \textasciitilde{} \textasciicircum{} \textbackslash{}"),
        ("cost $5", r"cost \$5"),
        ("an $n^2$ bound", "an $n^2$ bound"),
        ("Zoë Ångström", "Zoë Ångström"),
    ],
)
def test_special_characters_are_escaped_and_formulas_kept(text: str, latex: str) -> None:
    assert escaped(text) == latex


def test_a_conference_is_inproceedings_and_a_preprint_an_article() -> None:
    assert bibtex_writer.dump(FULL).startswith("@inproceedings{yu-2020,\n")
    for venue in ("Nature", "arXiv Workshop Proceedings", ""):
        assert bibtex_writer.dump(Reference("a", "T", venue=venue)).startswith("@article{a,\n")


def test_a_record_written_as_bibtex_and_read_again_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "out.bib").write_text(bibtex_writer.dump(FULL), encoding="utf-8")
    (back,) = bibtex.read(tmp_path / "out.bib").references
    for field in Reference.__dataclass_fields__:
        if field != "source":
            assert getattr(back, field) == getattr(FULL, field), field


@pytest.fixture
def library(tmp_path: Path) -> Library:
    lines = [
        {"id": name, "title": f"Title of {name}", "doi": f"10.1000/{name}", "tags": [name, "all"]} for name in "cab"
    ]
    (tmp_path / "refs.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    made = Library.init(tmp_path / "l", embedder=HashedWords())
    made.add(tmp_path / "refs.jsonl")
    return made


def test_those_named_are_exported_in_the_order_asked_or_all_in_order(library: Library) -> None:
    assert [line[:11] for line in library.export("c", "a").splitlines() if line.startswith("@")] == [
        "@article{c,",
        "@article{a,",
    ]
    assert [item["id"] for item in json.loads(library.export(style="csl"))] == ["a", "b", "c"]
    with pytest.raises(PaperNotFound, match="Paper 'nobody' not found"):
        library.export("a", "nobody")


def test_appending_adds_what_is_missing_by_doi_or_key_and_keeps_the_rest(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "mine.bib"
    mine = "% mine\n@book{a, title={My own A}}\n@misc{other, doi={https://doi.org/10.1000/B}}"
    path.write_text(mine)
    appended = library.export_to(path)
    assert (appended.exported, appended.skipped, appended.skipped_ids) == (1, 2, ("a", "b"))
    assert path.read_text().startswith(mine)
    assert [one.id for one in bibtex.read(path).references] == ["a", "other", "c"]
    assert library.export_to(path).exported == 0


def test_tags_are_counted(library: Library) -> None:
    assert library.tags() == {"all": 3, "a": 1, "b": 1, "c": 1}
