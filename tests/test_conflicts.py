"""Two people changed the same refs.jsonl."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel import Library
from carrel.errors import InvalidInput
from carrel.references import conflicts, jsonl
from carrel.testing import HashedWords
from carrel.types import Author, Origin, Published, Reference

BASE = Reference("a", "Title", doi="10.1000/a", authors=(Author("Yu"),), published=Published(2020), venue="ACL")


def conflict(ours: list[Reference], theirs: list[Reference], base: list[Reference] | None = None) -> str:
    def dumped(side: list[Reference]) -> list[str]:
        return [jsonl.dump(reference) for reference in side]

    ancestor = ["||||||| base", *dumped(base)] if base is not None else []
    lines = ["<<<<<<< HEAD", *dumped(ours), *ancestor, "=======", *dumped(theirs), ">>>>>>> other"]
    return "\n".join([jsonl.dump(Reference("first", "F")), *lines, jsonl.dump(Reference("last", "L"))]) + "\n"


def merged(ours: Reference, theirs: Reference, base: Reference | None = None) -> Reference:
    resolution = conflicts.resolve(conflict([ours], [theirs], [base] if base else None))
    assert resolution.unresolved == ()
    first, middle, last = map(jsonl.load, resolution.text.splitlines())
    assert (first.id, last.id) == ("first", "last")
    return middle


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ({"abstract": "A"}, {"note": "N"}, {"abstract": "A", "note": "N"}),
        ({"tags": ("x", "y")}, {"tags": ("y", "z")}, {"tags": ("x", "y", "z")}),
        ({"authors": (Author("Yu"), Author("Li"))}, {}, {"authors": (Author("Yu"), Author("Li"))}),
        ({}, {"published": Published(2020, 5)}, {"published": Published(2020, 5)}),
        ({"source": Origin("zotero", "K")}, {}, {"source": Origin("zotero", "K")}),
    ],
)
def test_what_one_side_says_stands_and_more_exact_or_longer_wins(
    ours: dict[str, Any], theirs: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert merged(replace(BASE, **ours), replace(BASE, **theirs)) == replace(BASE, **expected)


def test_records_are_recognised_by_doi_even_under_another_id() -> None:
    found = merged(replace(BASE, abstract="A"), replace(BASE, id="other", doi="https://doi.org/10.1000/A", note="N"))
    assert (found.id, found.abstract, found.note) == ("a", "A", "N")


def test_with_the_common_ancestor_the_side_that_changed_something_wins() -> None:
    assert merged(replace(BASE, venue="EMNLP"), BASE, BASE).venue == "EMNLP"
    assert merged(BASE, replace(BASE, title="Better"), BASE).title == "Better"


def test_records_of_one_side_only_are_all_kept() -> None:
    resolution = conflicts.resolve(conflict([BASE, Reference("b", "B")], [Reference("c", "C")]))
    assert [jsonl.load(line).id for line in resolution.text.splitlines()] == ["first", "a", "b", "c", "last"]
    assert (resolution.total_papers, resolution.ours_papers, resolution.theirs_papers) == (5, 2, 1)


def test_what_cannot_be_reconciled_is_named_and_keeps_its_markers() -> None:
    ours, theirs = replace(BASE, title="One", published=Published(2019)), replace(BASE, title="Two")
    text = conflict([ours, Reference("b", "B")], [theirs])
    resolution = conflicts.resolve(text)
    (left,) = resolution.unresolved
    assert (left.paper_id, left.fields) == ("a", ("title", "published"))
    lines = resolution.text.splitlines()
    assert lines[1:6] == ["<<<<<<< ours", jsonl.dump(ours), "=======", jsonl.dump(theirs), ">>>>>>> theirs"]
    assert [jsonl.load(line).id for line in (lines[0], *lines[6:])] == ["first", "b", "last"]
    chosen = conflicts.resolve(text, lambda _paper, _field, _ours, theirs: theirs)
    assert chosen.unresolved == ()
    assert jsonl.load(chosen.text.splitlines()[1]) == theirs


def test_a_conflict_that_never_ends_or_holds_rubbish_is_refused(tmp_path: Path) -> None:
    with Library.init(tmp_path, embedder=HashedWords()) as library:
        for text in ("<<<<<<< HEAD\n", conflict([BASE], [BASE]).replace('"Title"', "Title", 1)):
            library.layout.refs.write_text(text)
            with pytest.raises(InvalidInput, match="cannot be read"):
                library.resolve()
            assert library.layout.refs.read_text() == text


def test_two_clones_that_diverged_are_merged_without_loss(tmp_path: Path) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")

    def run(folder: Path, *arguments: str, check: bool = True) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "merge.conflictStyle=diff3"]
        subprocess.run([git, *identity, *arguments], cwd=folder, check=check, capture_output=True)

    def write(folder: Path, *references: Reference) -> None:
        text = "".join(f"{jsonl.dump(one)}\n" for one in references)
        (folder / ".carrel" / "refs.jsonl").write_text(text)
        run(folder, "add", ".")
        run(folder, "commit", "-qm", "x")

    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    run(one, "init", "-q", "-b", "main")
    Library.init(one).close()
    papers = [replace(BASE, id=name, doi=f"10.1000/{name}") for name in "abc"]
    write(one, *papers)
    run(tmp_path, "clone", "-q", "one", "two")
    write(one, replace(papers[0], title="Ours"), replace(papers[1], note="N"), papers[2], replace(BASE, id="d", doi=""))
    write(
        two,
        replace(papers[0], title="Theirs"),
        replace(papers[1], abstract="A"),
        papers[2],
        replace(BASE, id="e", doi=""),
    )
    run(one, "pull", "-q", "--no-rebase", str(two), "main", check=False)
    with Library.open(one, embedder=HashedWords()) as library:
        assert "<<<<<<<" in library.layout.refs.read_text()
        resolution = library.resolve()
        assert [(left.paper_id, left.fields) for left in resolution.unresolved] == [("a", ("title",))]
        final = library.resolve(choose=lambda _paper, _field, ours, _theirs: ours)
        assert final.unresolved == ()
        kept = {one.id: one for one in map(jsonl.load, library.layout.refs.read_text().splitlines())}
    assert kept.keys() == set("abcde")
    assert (kept["a"].title, kept["b"].note, kept["b"].abstract) == ("Ours", "N", "A")
