"""What `add` says of a run before it happens, the files that references name, and hostile libraries taken in whole."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.identifiers import unused
from carrel.library import Library
from carrel.references import jsonl, merge_all
from carrel.testing import HashedWords
from carrel.types import Origin, Part, Reference
from carrel.types.papers import Action, Attachment, Detail, Reason


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.init(tmp_path / "library", embedder=HashedWords()) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "papers").mkdir()
    return tmp_path / "papers"


def bib(folder: Path, *entries: str, name: str = "lib.bib") -> Path:
    path = folder / name
    path.write_text("\n".join(f"@article{{{entry}}}" for entry in entries), encoding="utf-8")
    return path


# Why


def test_a_dry_run_says_of_each_paper_what_would_happen_and_why(library: Library, folder: Path) -> None:
    library.add(bib(folder, "a, title={A}, doi={10.1000/a}", "b, title={B}", "c, title={C}"))
    (folder / "notes.md").write_text("# Notes on everything\n\nText.")
    again = bib(
        folder, "x, title={A2}, doi={10.1000/A}", "b, title={B}", "c, title={C2}", "c, title={C2}",
        "d, title={D}, doi={10.1000/d}", "e, title={D}, doi={10.1000/d}, year=2020", "a, title={E}, doi={10.1000/e}",
    )  # fmt: skip
    report = library.add(again, folder / "notes.md", dry_run=True)
    assert report.details == (
        Detail("a", Action.UPDATE, "A2", Reason.DOI_MATCH),
        Detail("b", Action.SKIP, "B", Reason.UNCHANGED),
        Detail("c", Action.UPDATE, "C2", Reason.ID_MATCH),
        Detail("c", Action.SKIP, "C2", Reason.DUPLICATE_IN_BATCH),
        Detail("d", Action.ADD, "D", Reason.NEW),
        Detail("d", Action.UPDATE, "D", Reason.DUPLICATE_IN_BATCH),
        Detail("a-2", Action.ADD, "E", Reason.ID_TAKEN),
        Detail("notes", Action.ADD, "Notes on everything", Reason.NEW),
    )
    assert (report.new, report.updated, report.unchanged) == (3, 2, 2)
    done = library.add(again, folder / "notes.md")
    assert (done.new, done.updated, done.unchanged, done.papers) == (3, 2, 2, report.papers)
    assert (done.details, report.as_dict()["details"][0]["reason"]) == ((), "doi_match")


def test_a_paper_is_recognised_by_its_source_before_all_else() -> None:
    known = {"k": Reference("k", "K", doi="10.1000/k", source=Origin("zotero", "KEY")), "l": Reference("l", "L")}
    merged = merge_all(known, [Reference("l", "New", doi="10.1000/k", source=Origin("zotero", "KEY"))])
    assert merged.details == [Detail("k", Action.UPDATE, "New", Reason.SOURCE_ID_MATCH)]


def test_a_text_of_a_known_paper_updates_it_and_the_same_text_again_is_skipped(library: Library, folder: Path) -> None:
    library.add(bib(folder, "a, title={A long enough title}"))
    text = folder / "text.md"
    text.write_text("# A long enough title\n\nText.")
    first = library.add(text, dry_run=True)
    library.add(text)
    second = library.add(text, dry_run=True)
    assert [(one.id, one.action, one.reason) for one in (*first.details, *second.details)] == [
        ("a", Action.UPDATE, Reason.KNOWN_PAPER),
        ("a", Action.SKIP, Reason.UNCHANGED),
    ]


@given(st.sets(st.integers(2, 40)), st.booleans())
def test_an_unused_id_is_free_and_the_first_where_there_are_no_gaps(numbers: set[int], is_taken: bool) -> None:
    taken = {f"a-{number}" for number in numbers} | ({"a"} if is_taken else set())
    found = unused("a", taken)
    assert found not in taken
    if is_taken and numbers == set(range(2, 2 + len(numbers))):
        assert found == f"a-{len(numbers) + 2}"


def test_ten_thousand_papers_of_one_id_take_no_more_than_seconds() -> None:
    start = time.monotonic()
    merged = merge_all({}, [Reference("same", "T", doi=f"10.1000/{number}") for number in range(10_000)])
    assert time.monotonic() - start < 5
    assert (len(set(merged.new)), merged.new[0], merged.new[-1]) == (10_000, "same", "same-10000")


# Attached files


def texts_of(library: Library) -> dict[str, str]:
    rows = [row for row in library.list() if Part.BODY in row.parts]
    bodies = {row.reference.id: library.stores.catalog.document(row.reference.id, Part.BODY) for row in rows}
    return {paper_id: document.text for paper_id, document in bodies.items() if document}


def test_attached_files_are_offered_and_on_demand_taken_in_as_the_paper_of_their_reference(
    library: Library, folder: Path
) -> None:
    (folder / "files").mkdir()
    file = folder / "files" / "scan.md"
    file.write_text("# Quite another title\n\nGraphs have vectors.")
    refs = bib(folder, "yu, title={On graphs}, file={:files/scan.md:MD}", "yu2, title={T}")
    offered = library.add(refs)
    assert (offered.attached, texts_of(library)) == ((Attachment("yu", str(file.resolve())),), {})
    assert library.add(refs, dry_run=True, attached=True).attached == offered.attached
    taken = library.add(refs, attached=True)
    assert (taken.new, taken.updated, taken.papers, taken.attached) == (0, 1, ("yu",), ())
    assert texts_of(library) == {"yu": "# Quite another title\n\nGraphs have vectors."}
    assert library.list()[0].reference.title == "On graphs"
    assert library.add(refs, attached=True).attached == library.add(refs).attached == ()


def test_a_new_reference_and_its_text_are_one_new_paper(library: Library, folder: Path) -> None:
    (folder / "a.txt").write_text("Some words about graphs.")
    report = library.add(bib(folder, "a, title={A}, file={a.txt}"), attached=True)
    assert (report.new, report.updated, report.papers, list(texts_of(library))) == (1, 0, ("a",), ["a"])


def test_a_duplicate_without_the_file_does_not_hide_it(library: Library, folder: Path) -> None:
    (folder / "a.txt").write_text("Some words about graphs.")
    refs = bib(folder, "a, title={A}, doi={10.1000/a}, file={a.txt}", "b, title={A}, doi={10.1000/a}")
    assert [one.paper_id for one in library.add(refs).attached] == ["a"]


def test_a_file_met_in_the_same_folder_belongs_to_the_reference_that_names_it(library: Library, folder: Path) -> None:
    (folder / "scan.md").write_text("# Quite another title\n\nGraphs have vectors.")
    bib(folder, "yu, title={On graphs}, file={scan.md}")
    report = library.add(folder)
    assert (report.papers, report.attached, list(texts_of(library))) == (("yu",), (), ["yu"])


def test_files_that_are_missing_or_lead_out_are_remarks_to_those_who_want_them(library: Library, folder: Path) -> None:
    (folder.parent / "secret.md").write_text("# Secret")
    (folder / "out.md").symlink_to(folder.parent / "secret.md")
    (folder / "dir.md").mkdir()
    refs = bib(folder, "a, title={A}, file={gone.md}", "b, title={B}, file={out.md}", "c, title={C}, file={dir.md}")
    assert library.add(refs).skipped == ()
    report = library.add(refs, attached=True)
    assert (report.failed, texts_of(library)) == ((), {})
    assert [(one.source, one.reason) for one in report.skipped] == [
        ("a", "its file is not taken in: there is no file 'gone.md'"),
        ("b", "its file is not taken in: the path 'out.md' leads out of its folder by a link"),
        ("c", "its file is not taken in: there is no file 'dir.md'"),
    ]


def test_a_record_of_refs_jsonl_cannot_name_a_file_elsewhere(library: Library, folder: Path) -> None:
    (folder.parent / "secret.md").write_text("# Secret")
    records = [
        Reference("a", "A", pdf_path="../secret.md"),
        Reference("b", "B", pdf_path=str(folder.parent / "secret.md")),
        Reference("c", "C", supplement_paths=("http://example.org/x.md", "~/.ssh/id.md")),
    ]
    (folder / "refs.jsonl").write_text("".join(f"{jsonl.dump(record)}\n" for record in records))
    report = library.add(folder / "refs.jsonl", attached=True)
    assert (texts_of(library), [problem.source for problem in report.skipped]) == ({}, ["a", "b", "c"])


def test_files_are_looked_for_in_pdf_root_when_they_are_not_beside_the_references(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "pdfs").mkdir()
    (tmp_path / "pdfs" / "a.md").write_text("# A\n\nWords.")
    refs = bib(folder, "a, title={A}, file={a.md}")
    overrides = {"pdf_root": str(tmp_path / "pdfs")}
    with Library.init(tmp_path / "library", embedder=HashedWords(), overrides=overrides) as library:
        assert library.add(refs, attached=True).papers == ("a",)
        assert list(texts_of(library)) == ["a"]


def test_a_broken_attachment_is_named_and_the_references_are_kept(library: Library, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"\x00\x01\x02" * 100)
    report = library.add(bib(folder, "a, title={A}, file={a.md}"), attached=True)
    assert (report.new, [Path(problem.source).name for problem in report.failed]) == (1, ["a.md"])


# While reading


def test_progress_is_told_while_a_file_is_read(library: Library, folder: Path) -> None:
    references = [Reference(f"r{number}", f"T{number}") for number in range(2_100)]
    files = {
        "a.jsonl": "".join(f"{jsonl.dump(one)}\n" for one in references),
        "a.bib": "".join(f"@misc{{{one.id},\ntitle={{{one.title}}}\n}}\n" for one in references),
        "a.ris": "".join(f"TY  - JOUR\nID  - {one.id}\nTI  - {one.title}\nER  - \n" for one in references),
        "a.json": json.dumps([{"type": "book", "id": one.id, "title": one.title} for one in references]),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
        told: list[tuple[str, int, int]] = []
        library.add(folder / name, dry_run=True, progress=lambda *words, told=told: told.append(words))
        steps = [(done, total) for stage, done, total in told if stage == f"reading papers/{name}"]
        assert len(steps) >= 2, name
        assert steps == sorted(steps), name
        assert 0 < steps[-1][0] <= steps[-1][1], name


# Hostile libraries

LAUGHS = "".join(f"@string{{a{n} = {' # '.join([f'a{n - 1}'] * 10)}}}\n" for n in range(1, 30))
HOSTILE = {
    "field.bib": f"@misc{{k, title={{T}}, abstract={{{'x ' * 500_000}}}, note={{{'y' * 1_000_000}}}}}",
    "braces.bib": "@misc{k, title={T" + "{" * 100_000 + "\n@misc{l, title={L}}",
    "laughs.bib": f"@string{{a0 = {{lol}}}}\n{LAUGHS}@misc{{k, title = a29}}\n@misc{{l, title = {{L}}}}",
    "paths.bib": "@misc{k, title={T}, file={../../../etc/passwd:PDF;/etc/shadow.pdf:PDF;C:\\x.pdf:PDF}}",
    "html.bib": "@misc{k, title={<script>alert(1)</script><b onclick='x'>T</b> &lt;img src=x onerror=alert(1)&gt;}}",
    "ids.bib": "@misc{k, title={A}}\n@misc{k, title={B}}\n@misc{K, title={C}}",
    "ids2.bib": "@misc{../../k/abstract, title={A}}\n@misc{k\x1b[2J, title={B}}",
    "nul.bib": "@misc{k\0, ti\0tle={T\0T}}\0",
    "crlf.bib": "@misc{k,\r\n  title={T},\r\n  year={2020}\r\n}\r\n",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_hostile_library_is_taken_in_safely_and_a_second_time_changes_nothing(
    library: Library, folder: Path, name: str, encoding: str
) -> None:
    (folder / name).write_bytes(HOSTILE[name].encode(encoding))
    start = time.monotonic()
    report = library.add(folder / name, attached=True)
    assert time.monotonic() - start < 20
    assert report.new >= 1
    written = jsonl.read(library.layout.refs)
    assert (written.problems, sorted(one.id for one in written.references)) == ([], sorted(report.papers))
    assert all("<script" not in one.title and "\0" not in one.title for one in written.references)
    assert all(not (one.pdf_path or one.supplement_paths) for one in written.references)
    assert all(len(jsonl.dump(one)) < 1_000_000 for one in written.references)
    before = library.layout.refs.read_bytes()
    again = library.add(folder / name, attached=True)
    assert (again.new, again.updated, library.layout.refs.read_bytes()) == (0, 0, before)
    assert {row.reference.id for row in library.list()} == set(report.papers)
