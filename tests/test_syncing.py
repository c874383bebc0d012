"""What becomes of the library when its sources change: every store is the real one, only the embedder is instant."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel import Library
from carrel.catalogs.locations import Location
from carrel.errors import InvalidInput
from carrel.references import jsonl
from carrel.references.rebasing import rebase
from carrel.testing import HashedWords
from carrel.types import AddReport, Part, Reference
from carrel.types.papers import Action, Detail, Reason
from tests.embedders.test_ollama import Reply, Serve, serve
from tests.references.test_zotero_api import BOOK, speaking

__all__ = ["serve"]


@pytest.fixture(scope="module", autouse=True)
def in_this_process() -> Iterator[None]:
    """Parsers at work here: starting another process takes longer than all the rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CARREL_INGEST__ISOLATE", "false")
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "papers").mkdir()
    return tmp_path / "papers"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.init(tmp_path / "library", embedder=HashedWords()) as opened:
        yield opened


def write(path: Path, words: str, title: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {title or f'The long title of {path.stem}'}\n\n{words}\n", encoding="utf-8")
    return path


def bib(path: Path, *entries: str) -> Path:
    path.write_text("\n".join(f"@article{{{entry}}}" for entry in entries), encoding="utf-8")
    return path


def counts(report: AddReport) -> tuple[int, int, int, tuple[str, ...]]:
    return report.new, report.updated, report.unchanged, report.retired


def texts(library: Library) -> dict[str, str]:
    rows = [row for row in library.list() if Part.BODY in row.parts]
    found = {row.reference.id: library.stores.catalog.document(row.reference.id, Part.BODY) for row in rows}
    return {paper_id: document.text.splitlines()[-1] for paper_id, document in found.items() if document}


def homes(library: Library) -> dict[str, str]:
    return {paper: Path(source).name for source, paper in library.stores.catalog.sources().items()}


def listed(library: Library) -> dict[str, str]:
    return {one.id: one.title for one in jsonl.read(library.layout.refs).references}


# What is looked at


def test_what_was_added_is_remembered_as_it_was_given_and_a_dry_run_is_not(library: Library, tmp_path: Path) -> None:
    inside = write(library.layout.root.parent / "notes/a.md", "Apples.").parent
    outside = write(tmp_path / "else/b.md", "Bears.")
    library.add(inside, tags=("x",), dry_run=True)
    library.add(tmp_path / "missing")
    assert library.sources() == []
    library.add(inside, tags=("x",))
    library.add(outside, attached=True)
    assert library.sources() == [Location(str(outside), attached=True), Location("notes", folder=True, tags=("x",))]


def test_what_lies_in_a_known_folder_needs_no_place_of_its_own_unless_it_has_tags(
    library: Library, folder: Path
) -> None:
    inner = write(folder / "thesis/a.md", "Apples.").parent
    library.add(inner / "a.md")
    library.add(inner, tags=("thesis",))
    library.add(folder)
    library.add(inner / "a.md")
    assert [(one.path, one.tags) for one in library.sources()] == [(str(folder), ()), (str(inner), ("thesis",))]
    write(inner / "new.md", "News.")
    write(folder / "other.md", "Others.")
    assert library.sync().new == 2
    assert {row.reference.id: row.reference.tags for row in library.list()} == {
        "a": ("thesis",),
        "new": ("thesis",),
        "other": (),
    }


def test_a_forgotten_source_is_looked_at_no_longer_and_its_papers_stay(library: Library, folder: Path) -> None:
    path = write(folder / "a.md", "Apples.")
    library.add(folder)
    assert library.forget(folder) == str(folder)
    path.unlink()
    assert counts(library.sync()) == (0, 0, 0, ())
    assert texts(library) == {"a": "Apples."}
    with pytest.raises(InvalidInput, match="is not followed"):
        library.forget(folder)


def test_a_library_that_moves_with_its_papers_stays_in_step(tmp_path: Path) -> None:
    with Library.init(tmp_path / "one", embedder=HashedWords()) as library:
        write(tmp_path / "one/notes/a.md", "Apples.")
        library.add(tmp_path / "one/notes")
    (tmp_path / "one").rename(tmp_path / "two")
    with Library.open(tmp_path / "two", embedder=HashedWords()) as library:
        assert counts(library.sync()) == (0, 0, 1, ())
        (tmp_path / "two/notes/a.md").unlink()
        assert counts(library.sync()) == (0, 0, 0, ("a",))


# Texts


def test_new_edited_and_deleted_files_are_added_updated_and_retired(library: Library, folder: Path) -> None:
    for name in ("a", "b", "c"):
        write(folder / f"{name}.md", f"About {name}.")
    library.add(folder)
    write(folder / "a.md", "Changed.")
    (folder / "b.md").unlink()
    write(folder / "d.md", "About d.")
    report = library.sync()
    assert (counts(report), report.papers, report.failed) == ((1, 1, 1, ("b",)), ("d", "a"), ())
    assert texts(library) == {"a": "Changed.", "c": "About c.", "d": "About d."}
    assert library.check_index().healthy
    assert counts(library.sync()) == (0, 0, 3, ())


def test_a_renamed_file_keeps_its_paper_and_nothing_is_embedded(library: Library, folder: Path) -> None:
    path = write(folder / "a.md", "Apples are red.")
    library.add(folder)
    before = library.stores.catalog.chunks_of(["a"])
    (folder / "deep").mkdir()
    path.rename(folder / "deep/z.md")
    assert library.sync(dry_run=True).details == (Detail("a", Action.SKIP, "The long title of a", Reason.MOVED),)
    assert homes(library) == {"a": "a.md"}
    report = library.sync()
    assert (counts(report), report.chunks_embedded) == ((0, 0, 1, ()), 0)
    assert (library.stores.catalog.chunks_of(["a"]), homes(library)) == (before, {"a": "z.md"})
    write(folder / "deep/z.md", "Apples are green.")
    assert (counts(library.sync()), texts(library)) == ((0, 1, 0, ()), {"a": "Apples are green."})


def test_a_single_file_that_was_renamed_is_followed_to_its_new_name(library: Library, folder: Path) -> None:
    write(folder / "other.md", "Others.")
    library.add(write(folder / "a.md", "Apples."), bib(folder / "lib.bib", "x, title={Xylophones}"), tags=("t",))
    (folder / "a.md").rename(folder / "b.md")
    (folder / "lib.bib").rename(folder / "all.bib")
    assert counts(library.sync()) == (0, 0, 2, ())
    assert [(Path(one.path).name, one.tags) for one in library.sources()] == [("all.bib", ("t",)), ("b.md", ("t",))]
    assert (homes(library), list(listed(library))) == ({"a": "b.md"}, ["x"])
    assert counts(library.sync()) == (0, 0, 2, ())


def test_renamed_and_edited_it_is_the_same_paper_by_its_title_and_else_another(library: Library, folder: Path) -> None:
    write(folder / "a.md", "Apples.", "A title that is long enough to tell")
    write(folder / "b.md", "Bears.", "Another title, as long as the other one")
    write(folder / "c.md", "Cows.")
    library.add(folder)
    (folder / "a.md").unlink()
    (folder / "b.md").unlink()
    write(folder / "y.md", "Apples, revised.", "A title that is long enough to tell")
    write(folder / "z.md", "Bears, revised.", "Quite a different title now")
    assert counts(library.sync()) == (1, 1, 1, ("b",))
    assert texts(library) == {"a": "Apples, revised.", "c": "Cows.", "z": "Bears, revised."}


def test_of_two_files_with_the_title_of_one_that_is_gone_only_one_takes_its_place(
    library: Library, folder: Path
) -> None:
    write(folder / "a.md", "Apples.", "A title that is long enough to tell")
    library.add(folder)
    (folder / "a.md").unlink()
    for name in ("y", "z"):
        write(folder / f"{name}.md", f"Text of {name}.", "A title that is long enough to tell")
    library.sync()
    assert texts(library) == {"a": "Text of y.", "z": "Text of z."}


def test_a_copy_is_no_second_paper_and_takes_over_when_the_original_goes(library: Library, folder: Path) -> None:
    write(folder / "a.md", "Apples.")
    library.add(folder)
    shutil.copy(folder / "a.md", folder / "b.md")
    assert (counts(library.sync()), homes(library)) == ((0, 0, 2, ()), {"a": "a.md"})
    (folder / "a.md").unlink()
    assert (counts(library.sync()), homes(library)) == ((0, 0, 1, ()), {"a": "b.md"})


def test_an_edited_file_stays_its_paper_though_a_copy_of_the_old_one_remains(library: Library, folder: Path) -> None:
    write(folder / "z.md", "First draft.")
    library.add(folder)
    shutil.copy(folder / "z.md", folder / "backup.md")
    write(folder / "z.md", "Second draft.")
    assert counts(library.sync()) == (1, 1, 0, ())
    assert texts(library) == {"z": "Second draft.", "backup": "First draft."}


@pytest.mark.parametrize("doi", ["", "doi: 10.1000/trees\n"])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_copy_of_an_older_text_never_takes_the_place_of_the_edited_one(
    library: Library, folder: Path, doi: str, is_known: bool
) -> None:
    head = f"---\ntitle: On trees\n{doi}---\n"
    (folder / "m.md").write_text(f"{head}Old.\n")
    library.add(folder)
    for name in ("a.md", "z.md"):
        shutil.copy(folder / "m.md", folder / name)
    if is_known:
        assert counts(library.sync()) == (0, 0, 3, ())
    (folder / "m.md").write_text(f"{head}New.\n")
    assert counts(library.sync()) == (1, 1, 1, ())
    assert (texts(library), counts(library.sync())) == ({"m": "New.", "a": "Old."}, (0, 0, 3, ()))


def test_files_that_become_alike_are_one_paper_and_what_nobody_has_any_longer_is_gone(
    library: Library, folder: Path
) -> None:
    for name in ("b", "c"):
        write(folder / f"{name}.md", f"About {name}.")
    library.add(folder)
    for name in ("a", "b", "c"):
        write(folder / f"{name}.md", "All alike.", "One long title for all of them")
    assert counts(library.sync()) == (0, 1, 2, ("c",))
    assert (texts(library), counts(library.sync())) == ({"b": "All alike."}, (0, 0, 3, ()))


def test_two_files_that_change_places_keep_their_papers(library: Library, folder: Path) -> None:
    a, b = write(folder / "a.md", "Apples."), write(folder / "b.md", "Bears.")
    library.add(folder)
    a.rename(folder / "x.md")
    b.rename(a)
    (folder / "x.md").rename(b)
    assert (counts(library.sync()), homes(library)) == ((0, 0, 2, ()), {"a": "b.md", "b": "a.md"})


def test_a_paper_removed_by_hand_stays_removed_until_its_file_changes_or_is_added(
    library: Library, folder: Path
) -> None:
    path = write(folder / "a.md", "Apples.")
    library.add(folder)
    library.remove("a")
    assert (library.sync().new, texts(library)) == (0, {})
    write(path, "Apples again.")
    assert (library.sync().new, texts(library)) == (1, {"a": "Apples again."})
    library.remove("a")
    assert (library.add(folder).new, library.sync().new) == (1, 0)


def test_of_two_files_of_one_paper_the_other_takes_over_when_one_goes(library: Library, folder: Path) -> None:
    head = "---\ntitle: On trees\ndoi: 10.1000/trees\n---\n"
    (folder / "a.md").write_text(f"{head}First.\n")
    library.add(folder)
    (folder / "b.md").write_text(f"{head}Second.\n")
    assert (counts(library.sync()), texts(library)) == ((0, 1, 1, ()), {"a": "Second."})
    assert (counts(library.sync()), texts(library)) == ((0, 0, 2, ()), {"a": "Second."})
    (folder / "b.md").unlink()
    assert (counts(library.sync()), texts(library)) == ((0, 1, 0, ()), {"a": "First."})


def test_a_file_that_becomes_unreadable_is_named_and_its_text_stays(library: Library, folder: Path) -> None:
    path = write(folder / "a.md", "Apples.")
    library.add(folder)
    path.write_bytes(b"\x00\x01\x02" * 99)
    report = library.sync()
    assert ([problem.source for problem in report.failed], report.retired) == ([str(path)], ())
    assert texts(library) == {"a": "Apples."}


def test_a_reference_outlives_its_text(library: Library, folder: Path) -> None:
    library.add(bib(folder / "lib.bib", "x, title={A title that is long enough}"))
    text = write(folder / "texts/x.md", "Words.", "A title that is long enough")
    library.add(text.parent)
    assert texts(library) == {"x": "Words."}
    text.unlink()
    assert (counts(library.sync()), texts(library), listed(library)) == (
        (0, 1, 1, ()),
        {},
        {"x": "A title that is long enough"},
    )
    assert library.check_index().healthy


def test_unchanged_files_are_not_even_read(library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        os.utime(write(folder / f"{name}.md", "Words."), (1_000_000_000, 1_000_000_000))
    monkeypatch.setattr("carrel.ingest.following._RACE", -1)
    library.add(folder)
    hashed: list[Path] = []

    def content_digest(files: list[Path]) -> str:
        hashed.extend(files)
        return "digest of another content"

    monkeypatch.setattr("carrel.ingest.following.content_digest", content_digest)
    library.sync()
    assert hashed == []
    os.utime(folder / "b.md")
    library.sync(dry_run=True)
    assert hashed == [folder / "b.md"]


# References


def test_entries_come_change_and_go_with_their_file(library: Library, folder: Path) -> None:
    path = bib(folder / "lib.bib", "x, title={X}, year=2001", "y, title={Y}", "z, title={Z}")
    library.add(folder)
    bib(path, "x, title={X revised}", "z, title={Z}", "new, title={New}")
    report = library.sync()
    assert (counts(report), report.papers) == ((1, 1, 1, ("y",)), ("new", "x"))
    assert listed(library) == {"x": "X revised", "z": "Z", "new": "New"}
    assert [row.reference.published.year for row in library.list() if row.reference.id == "x"] == [0]
    assert library.check_index().healthy
    assert counts(library.sync()) == (0, 0, 3, ())


def edit(library: Library, paper_id: str, **changes: Any) -> None:
    """As the user does in refs.jsonl."""
    held = {one.id: one for one in jsonl.read(library.layout.refs).references}
    jsonl.write(library.layout.refs, {paper_id: replace(held[paper_id], **changes)})


def test_what_the_user_wrote_here_is_never_overwritten_by_what_did_not_change_there(
    library: Library, folder: Path
) -> None:
    path = bib(folder / "lib.bib", "x, title={X}, year=2001, keywords={old, both}", "y, title={Y}")
    library.add(path)
    edit(library, "x", title="My own title", note="mine", tags=("old", "both", "mine"))
    library.sync()
    bib(path, "x, title={X}, year=2002, keywords={both, fresh}", "y, title={Y}")
    assert counts(library.sync()) == (0, 1, 1, ())
    (row,) = [row.reference for row in library.list() if row.reference.id == "x"]
    assert (row.title, row.note, row.published.year, row.tags) == (
        "My own title",
        "mine",
        2002,
        ("both", "mine", "fresh"),
    )
    bib(path, "x, title={Their title}, year=2002, keywords={both, fresh}", "y, title={Y}")
    report = library.sync()
    assert [(one.source, one.reason.split(" in ")[0]) for one in report.skipped] == [("x", "title changed here and")]
    assert listed(library)["x"] == "My own title"
    assert library.sync().skipped == ()


def test_an_entry_that_goes_leaves_behind_what_only_the_library_has(library: Library, folder: Path) -> None:
    path = bib(folder / "lib.bib", *(f"{name}, title={{A title that is long for {name}}}" for name in "wxyz"))
    library.add(path, write(folder / "text.md", "Words.", "A title that is long for w"))
    edit(library, "x", note="mine")
    bib(path, "z, title={A title that is long for z}")
    report = library.sync()
    assert report.retired == ("y",)
    assert sorted((one.source, one.reason) for one in report.skipped) == [
        ("w", "no file lists it any longer; kept, because its text is here"),
        ("x", "no file lists it any longer; kept, because its record says more"),
    ]
    assert sorted(listed(library)) == ["w", "x", "z"]
    assert library.sync().skipped == ()


def test_an_entry_stays_while_another_file_has_it(library: Library, folder: Path) -> None:
    one = bib(folder / "one.bib", "x, title={X}", "y, title={Y}")
    two = bib(folder / "two.bib", "x, title={X}", "z, title={Z}")
    library.add(folder)
    bib(one, "y, title={Y}")
    assert (library.sync().retired, sorted(listed(library))) == ((), ["x", "y", "z"])
    bib(two, "z, title={Z}")
    assert (library.sync().retired, sorted(listed(library))) == (("x",), ["y", "z"])


def test_a_reference_removed_by_hand_stays_removed(library: Library, folder: Path) -> None:
    path = bib(folder / "lib.bib", "x, title={X}", "y, title={Y}")
    library.add(path)
    library.remove("x")
    bib(path, "x, title={X}", "y, title={Y}", "z, title={Z}")
    assert (library.sync().new, sorted(listed(library))) == (1, ["y", "z"])


def test_a_broken_file_of_references_retires_nothing(library: Library, folder: Path) -> None:
    path = folder / "refs.jsonl"
    path.write_text('{"id": "x", "title": "X"}\n{"id": "y", "title": "Y"}\n')
    library.add(path)
    path.write_text('{"id": "x", "title": "X"}\n{"id": "y", "ti')
    for _ in range(2):
        report = library.sync()
        assert (len(report.failed), report.retired, sorted(listed(library))) == (1, (), ["x", "y"])
    path.write_text("")
    assert (len(library.sync().failed), sorted(listed(library))) == (1, ["x", "y"])
    path.write_text('{"id": "x", "title": "X"}\n')
    assert (library.sync().retired, sorted(listed(library))) == (("y",), ["x"])


def test_the_library_follows_zotero_and_retires_nothing_while_zotero_does_not_answer(
    library: Library, serve: Serve
) -> None:
    items = [BOOK | {"key": f"BOOK{number:04}"} for number in range(6)]
    server = serve(speaking(items))
    address = f"{server.url}/api/users/0"
    library.add(address, "http://example.org/x.bib", tags=("mine",))
    assert library.sources() == [Location(address, tags=("mine",))]
    assert counts(library.sync()) == (0, 0, 6, ())
    server.script = lambda *_: Reply(resets=True)
    report = library.sync()
    assert (counts(report), [one.source for one in report.failed]) == ((0, 0, 0, ()), [address])
    items[0] = items[0] | {"data": {"itemType": "book", "title": "Changed"}}
    del items[5]
    server.script = speaking([*items, BOOK | {"key": "BOOK9999"}])
    assert counts(library.sync()) == (1, 1, 4, ("BOOK0005",))
    assert {row.reference.tags for row in library.list()} == {("mine",)}
    assert counts(library.sync()) == (0, 0, 6, ())


def test_files_that_references_name_are_followed_where_they_lie(library: Library, folder: Path, tmp_path: Path) -> None:
    scan = write(tmp_path / "files/scan.md", "Words.")
    (tmp_path / "files/other.txt").write_text("x")
    path = bib(tmp_path / "lib.bib", "x, title={X}, file={files/scan.md}")
    library.add(path, attached=True)
    assert texts(library) == {"x": "Words."}
    write(scan, "Other words.")
    assert (counts(library.sync()), texts(library)) == ((0, 1, 1, ()), {"x": "Other words."})
    write(tmp_path / "files/late.md", "Late.")
    bib(path, "x, title={X}, file={files/scan.md}", "y, title={Y}, file={files/late.md}")
    library.sync()
    assert texts(library) == {"x": "Other words.", "y": "Late."}
    scan.unlink()
    library.sync()
    assert (texts(library), sorted(listed(library))) == ({"y": "Late."}, ["x", "y"])


def test_a_text_that_comes_later_belongs_to_the_reference_that_names_it(library: Library, folder: Path) -> None:
    bib(folder / "lib.bib", "yu, title={On graphs}, file={scan.md}")
    library.add(folder)
    write(folder / "scan.md", "Words.", "Quite another title")
    library.sync()
    assert texts(library) == {"yu": "Words."}


@given(st.data())
def test_a_rebased_record_has_their_changes_and_keeps_ours(data: st.DataObject) -> None:
    values = st.sampled_from(["", "a", "b", "c"])
    tags = st.lists(values.filter(bool), unique=True).map(tuple)
    base, ours, theirs = (
        Reference("id", "T", venue=data.draw(values), note=data.draw(values), tags=data.draw(tags)) for _ in range(3)
    )
    after, disputed = rebase(ours, base, theirs)
    assert rebase(base, base, theirs) == (replace(theirs, tags=after_tags(base, theirs)), [])
    assert rebase(ours, base, base) == (ours, [])
    for name in ("venue", "note"):
        own, old, new = (getattr(one, name) for one in (ours, base, theirs))
        assert getattr(after, name) in (own, new)
        if own not in ("", old):
            assert getattr(after, name) == own
            assert (name in disputed) == (new not in (old, own))
    assert set(after.tags) == set(ours.tags) - (set(base.tags) - set(theirs.tags)) | (set(theirs.tags) - set(base.tags))


def after_tags(base: Reference, theirs: Reference) -> tuple[str, ...]:
    kept = [tag for tag in base.tags if tag in theirs.tags]
    return (*kept, *(tag for tag in theirs.tags if tag not in base.tags))


# What is only out of reach


@pytest.mark.parametrize("how", ["emptied", "gone"])
def test_a_folder_that_is_gone_or_emptied_at_once_retires_nothing_unless_told_to(
    library: Library, folder: Path, how: str
) -> None:
    for number in range(5):
        write(folder / f"{number}.md", f"Text {number}.")
    library.add(folder)
    shutil.rmtree(folder)
    if how == "emptied":
        folder.mkdir()
    for dry_run in (True, False):
        report = library.sync(dry_run=dry_run)
        assert (report.retired, [one.source for one in report.failed]) == ((), [str(folder)])
        assert "'carrel sync --prune' does" in report.failed[0].reason
    assert len(texts(library)) == 5
    report = library.sync(prune=True)
    assert (len(report.retired), report.failed, texts(library)) == (5, (), {})


def test_a_disk_mounted_below_a_folder_is_missed_as_a_whole(library: Library, folder: Path) -> None:
    for number in range(5):
        write(folder / f"disk/{number}.md", f"Text {number}.")
        write(folder / f"old/{number}.md", f"Old {number}.")
    write(folder / "here.md", "Here.")
    library.add(folder)
    for path in (folder / "disk").iterdir():
        path.unlink()
    shutil.rmtree(folder / "old")
    report = library.sync()
    assert [one.source for one in report.failed] == [str(folder / "disk")]
    assert (len(report.retired), len(texts(library))) == (5, 6)


def test_a_few_files_may_go_at_once_and_a_single_one_too(library: Library, folder: Path) -> None:
    for number in range(3):
        write(folder / f"few/{number}.md", f"Text {number}.")
    single = write(folder / "single.md", "Single.")
    write(folder / "beside.md", "Beside.")
    library.add(folder / "few", single)
    for path in (folder / "few").iterdir():
        path.unlink()
    single.unlink()
    report = library.sync()
    assert (sorted(report.retired), report.failed) == (["0", "1", "2", "single"], ())
    assert library.sync().failed == ()
    write(single, "Back.")
    assert (library.sync().new, texts(library)) == (1, {"single": "Back."})


def test_a_single_file_whose_folder_is_empty_or_gone_is_missing_not_deleted(library: Library, folder: Path) -> None:
    single = write(folder / "single.md", "Single.")
    library.add(single)
    single.unlink()
    for _ in range(2):
        assert [one.source for one in library.sync().failed] == [str(single)]
        shutil.rmtree(folder, ignore_errors=True)
    assert texts(library) == {"single": "Single."}


def test_a_deleted_file_of_many_references_retires_nothing_unless_told_to(library: Library, folder: Path) -> None:
    path = bib(folder / "lib.bib", *(f"k{number}, title={{T{number}}}" for number in range(5)))
    write(folder / "a.md", "Apples.")
    library.add(folder)
    path.unlink()
    report = library.sync()
    assert (report.retired, [one.source for one in report.failed]) == ((), [str(path)])
    assert "5 papers are in no other" in report.failed[0].reason
    assert (len(library.sync(prune=True).retired), listed(library)) == (5, {})
    assert library.sync().failed == ()


def test_a_renamed_and_edited_file_of_references_retires_what_it_lost(library: Library, folder: Path) -> None:
    path = bib(folder / "lib.bib", *(f"k{number}, title={{T{number}}}" for number in range(9)))
    library.add(folder)
    path.unlink()
    bib(folder / "all.bib", *(f"k{number}, title={{T{number}}}" for number in range(8)))
    report = library.sync()
    assert (counts(report), report.failed) == ((0, 0, 8, ("k8",)), ())


def test_a_file_that_is_still_being_written_is_left_alone_and_nothing_retired_meanwhile(
    library: Library, folder: Path
) -> None:
    write(folder / "a.md", "Apples.")
    library.add(folder)
    (folder / "a.md").unlink()
    path = write(folder / "b.md", "Half a")
    report = library.sync(quiet=60)
    assert (counts(report), [one.source for one in report.skipped]) == ((0, 0, 0, ()), [str(path)])
    os.utime(path, (1, 1))
    assert counts(library.sync(quiet=60)) == (1, 0, 0, ("a",))


def test_the_librarys_own_directory_is_no_source(library: Library) -> None:
    library.add(library.layout.refs)
    write(library.layout.root.parent / "a.md", "Apples.")
    library.add(library.layout.root.parent)
    assert [one.path for one in library.sources()] == ["."]
    assert counts(library.sync()) == (0, 0, 1, ())


# Whatever happens to the files

NAMES = ("a.md", "b.md", "c.txt", "deep/a.md", "deep/d.md")
WORDS = ("apples", "bears", "cows", "deer", "eels")
_name, _word = st.sampled_from(NAMES), st.sampled_from(WORDS)
OPERATIONS = st.one_of(
    st.tuples(st.just("write"), _name, _word),
    st.tuples(st.just("rename"), _name, _name),
    st.tuples(st.just("copy"), _name, _name),
    st.tuples(st.just("delete"), _name, st.just("")),
    st.tuples(st.just("sync"), st.just(""), st.just("")),
)


def operate(folder: Path, verb: str, first: str, second: str) -> None:
    path = folder / first
    if verb == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# The one long title of {second}\n\nThis text is about {second}.\n")
    elif path.is_file():
        (folder / second).parent.mkdir(exist_ok=True)
        if verb == "delete":
            path.unlink()
        elif verb == "rename":
            path.rename(folder / second)
        elif first != second:
            shutil.copy(path, folder / second)


def holdings(library: Library) -> tuple[list[str], list[str]]:
    """What a library has and finds, without the names of its papers."""
    held = sorted(texts(library).values())
    passages = library.search("a text about apples and bears", limit=20).passages if held else ()
    return held, sorted(passage.chunk.text for passage in passages)


@settings(max_examples=25)
@given(st.lists(OPERATIONS, min_size=3, max_size=14))
def test_a_synced_library_is_one_freshly_built_but_for_its_ids(operations: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "papers")
        folder.mkdir()
        with Library.init(Path(place, "synced"), embedder=HashedWords()) as synced:
            synced.add(folder)
            for verb, first, second in operations:
                if verb == "sync":
                    synced.sync(prune=True)
                else:
                    operate(folder, verb, first, second)
            synced.sync(prune=True)
            again = synced.sync()
            assert (again.papers, again.retired, again.chunks_embedded) == ((), (), 0)
            assert synced.check_index().healthy or not texts(synced)
            sources = synced.stores.catalog.sources()
            assert all((folder / source).is_file() for source in sources)
            with Library.init(Path(place, "fresh"), embedder=HashedWords()) as fresh:
                fresh.add(folder)
                assert holdings(synced) == holdings(fresh)
