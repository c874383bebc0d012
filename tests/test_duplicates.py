"""One paper under several ids."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from carrel import Library
from carrel.references import duplicates, jsonl
from carrel.testing import HashedWords
from carrel.types import Author, Origin, Published, Reference

PAPER = Reference("a", "Attention is all we need", authors=(Author("Yu"),), published=Published(2020))


def groups(*references: Reference) -> list[tuple[str, list[str], str]]:
    return [(g.primary.id, [one.id for one in g.duplicates], g.reason) for g in duplicates.find(references)]


def test_records_are_one_paper_by_source_doi_or_title_year_and_first_author() -> None:
    assert groups(PAPER, replace(PAPER, id="b")) == [("a", ["b"], "title")]
    by_doi = replace(PAPER, id="b", title="Other words entirely", doi="https://doi.org/10.1/X")
    assert groups(replace(PAPER, doi="10.1/x"), by_doi) == []
    assert groups(replace(PAPER, doi="10.1000/x"), replace(by_doi, doi="10.1000/X")) == [("a", ["b"], "doi")]
    origin = Origin("zotero", "K")
    found = groups(replace(PAPER, source=origin), Reference("b", "Other", source=origin))
    assert found == [("a", ["b"], "source")]


def test_papers_that_differ_in_year_author_or_say_too_little_are_not_one() -> None:
    assert groups(PAPER, replace(PAPER, id="b", published=Published(2021))) == []
    assert groups(PAPER, replace(PAPER, id="b", authors=(Author("Li"),))) == []
    assert groups(replace(PAPER, title="Preface"), replace(PAPER, id="b", title="Preface")) == []
    assert groups(replace(PAPER, authors=()), replace(PAPER, id="b", authors=())) == []


def test_a_chain_of_likenesses_is_one_group() -> None:
    b = replace(PAPER, id="b", doi="10.1000/x")
    c = Reference("c", "Under another title", doi="10.1000/x")
    assert groups(PAPER, b, c) == [("b", ["a", "c"], "title")]


def test_the_most_complete_record_stays_and_takes_what_only_the_others_say() -> None:
    poor = replace(PAPER, note="mine", tags=("x",))
    rich = replace(PAPER, id="b", abstract="An abstract.", tags=("y",))
    (group,) = duplicates.find([poor, rich])
    assert group.merged == replace(rich, note="mine", tags=("y", "x"))


def test_merging_leaves_one_record_everywhere(tmp_path: Path) -> None:
    abstract = "An abstract that is long enough to be embedded and to be found by its meaning."
    (tmp_path / "refs.jsonl").write_text(
        "".join(f"{jsonl.dump(one)}\n" for one in (replace(PAPER, abstract=abstract), Reference("z", "Zebras")))
    )
    with Library.init(tmp_path / "l", embedder=HashedWords()) as library:
        library.add(tmp_path / "refs.jsonl")
        with library.layout.refs.open("a") as file:
            file.write(jsonl.dump(replace(PAPER, id="b", note="mine")) + "\n")
        library.build_index()
        assert [group.primary.id for group in library.duplicates()] == ["a"]
        assert [group.primary.id for group in library.dedupe()] == ["a"]
        assert library.duplicates() == []
        kept = {json.loads(line)["id"]: line for line in library.layout.refs.read_text().splitlines()}
        assert kept.keys() == {"a", "z"}
        assert json.loads(kept["a"])["note"] == "mine"
        assert {row.reference.id for row in library.list()} == {"a", "z"}
        assert library.check_index().healthy
