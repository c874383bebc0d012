"""`carrel open`: the right file goes to the user's program, and nothing else is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from carrel import readers
from carrel.catalogs import Entry
from carrel.library import Library
from carrel.testing import HashedWords
from carrel.types import Document, Part, Reference
from tests.cli.conftest import Carrel, carrel

__all__ = ["carrel"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="its little programs are shell scripts")

FILES = {"a": "a.pdf", "b": "a b/-Ü $(x).pdf", "c": "gone.pdf", "d": ""}


def record(paper_id: str, pdf: str = "", supplements: tuple[str, ...] = ()) -> str:
    fields = {"id": paper_id, "title": paper_id, "pdf_path": pdf, "supplement_paths": list(supplements)}
    return json.dumps(fields) + "\n"


@dataclass(frozen=True)
class Reader:
    """A program that writes down what it was started with."""

    log: Path

    @property
    def seen(self) -> list[list[str]]:
        calls = self.log.read_text().split("\0\n\0") if self.log.exists() else []
        return sorted(call.split("\0") for call in calls if call)


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    programs = tmp_path / "bin"
    programs.mkdir()
    log = tmp_path / "log"
    for name in ("xdg-open", "zathura", "mine"):
        # In one write, for several are started at once.
        script = f"#!/bin/sh\nprintf '%s\\0' '{name}' \"$@\" '\n' >> '{log}'\n"
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(sys, "platform", "linux")
    return Reader(log)


@pytest.fixture
def papers(carrel: Carrel, tmp_path: Path) -> Path:
    carrel("init", "lib")
    folder = tmp_path / "lib"
    (folder / "a b").mkdir()
    for name in ("a.pdf", "a b/-Ü $(x).pdf", "s.zip", "run.sh"):
        (folder / name).touch()
    text = "".join(record(paper_id, pdf) for paper_id, pdf in FILES.items())
    (folder / ".carrel" / "refs.jsonl").write_text(text + record("e", supplements=("s.zip", "run.sh")))
    return folder


def test_each_paper_goes_to_the_system_as_one_absolute_path(carrel: Carrel, papers: Path, reader: Reader) -> None:
    done = carrel("-C", "lib", "open", "a", "b", "a", "--json")
    paths = [str(papers / FILES[paper_id]) for paper_id in ("a", "b")]
    assert done.code == 0
    assert done.json == {"opened": [{"id": "a", "path": paths[0]}, {"id": "b", "path": paths[1]}], "errors": []}
    assert reader.seen == sorted(["xdg-open", path] for path in paths)


def test_what_cannot_be_opened_is_named_and_the_rest_opened(carrel: Carrel, papers: Path, reader: Reader) -> None:
    done = carrel("-C", "lib", "open", "c", "a", "d", "nobody")
    assert (done.code, done.out) == (1, f"Opened a: {papers / 'a.pdf'}\n")
    assert done.err.splitlines() == [
        f"Failed: c: there is no file 'gone.pdf' in {str(papers)!r}",
        "Failed: d: it has no PDF: the record names none, and its text was not read from one",
        "Failed: nobody: Paper 'nobody' not found in database",
    ]
    assert len(reader.seen) == 1


def test_supplements_are_opened_by_number_but_no_programs(carrel: Carrel, papers: Path, reader: Reader) -> None:
    assert carrel("-C", "lib", "open", "e", "--supplement", "1").code == 0
    program = carrel("-C", "lib", "open", "e", "--supplement", "2")
    assert "files like 'run.sh' are not opened" in program.err
    assert "it has no supplement 3: the record names 2" in carrel("-C", "lib", "open", "e", "--supplement", "3").err
    assert "the record names none" in carrel("-C", "lib", "open", "a", "--supplement", "1").err
    assert reader.seen == [["xdg-open", str(papers / "s.zip")]]


def test_the_pdf_that_the_text_was_read_from_comes_first(papers: Path, tmp_path: Path, reader: Reader) -> None:
    outside = tmp_path / "outside.pdf"
    for path in (outside, papers / "read.pdf"):
        path.touch()
    with Library.open(papers, embedder=HashedWords()) as library:
        for paper_id, source in (("a", "read.pdf"), ("new", str(outside)), ("b", "moved away.pdf")):
            document = Document(paper_id, Part.BODY, "Text.", "digest", source=source)
            library.stores.catalog.put([Entry(Reference(paper_id, paper_id), document, ())])
        opened = library.open_papers("a", "new", "b").opened
    assert opened == (("a", papers / "read.pdf"), ("new", outside), ("b", papers / FILES["b"]))
    assert len(reader.seen) == 3


def test_the_last_papers_of_refs_jsonl_are_the_recent_ones(carrel: Carrel, papers: Path, reader: Reader) -> None:
    with (papers / ".carrel" / "refs.jsonl").open("a") as file:
        file.write(record("f", "a.pdf") + record("g", FILES["b"]))
    done = carrel("-C", "lib", "open", "--recent", "2", "--json").json
    assert [one["id"] for one in done["opened"]] == ["g", "f"]
    assert len(reader.seen) == 2


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def test_papers_new_since_a_commit_are_opened(carrel: Carrel, papers: Path, reader: Reader) -> None:
    outside = carrel("-C", "lib", "open", "--since", "HEAD")
    assert (outside.code, "not a git repository" in outside.err) == (1, True)
    git(papers, "init", "-q")
    git(papers, "commit", "-q", "--allow-empty", "-m", "nothing")
    git(papers, "add", ".carrel/refs.jsonl")
    git(papers, "commit", "-q", "-m", "some")
    refs = papers / ".carrel" / "refs.jsonl"
    refs.write_text(record("f", "a.pdf") + refs.read_text().replace('"title": "a"', '"title": "changed"'))
    assert [one["id"] for one in carrel("-C", "lib", "open", "--since", "HEAD", "--json").json["opened"]] == ["f"]
    everything = carrel("-C", "lib", "open", "--since", "HEAD~1", "--json").json
    assert [one["id"] for one in everything["opened"]] == ["f", "a", "b"]
    git(papers, "commit", "-q", "-a", "-m", "all")
    nothing = carrel("-C", "lib", "open", "--since", "HEAD")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "There is nothing new to open.\n")
    assert len(reader.seen) == 4


@pytest.mark.parametrize("commit", ["--output=/tmp/x", "-p", "", "a\nb"])
def test_nothing_that_git_could_take_for_an_option_reaches_it(carrel: Carrel, papers: Path, commit: str) -> None:
    assert carrel("-C", "lib", "open", f"--since={commit}").err.startswith(f"error: {commit!r} is no commit\n")


def test_an_unknown_commit_and_a_missing_git_are_told(
    carrel: Carrel, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(papers, "init", "-q")
    assert carrel("-C", "lib", "open", "--since", "nix").err.startswith("error: git knows no commit 'nix'\n")
    monkeypatch.setenv("PATH", "/nowhere")
    assert carrel("-C", "lib", "open", "--since", "HEAD").err.startswith("error: git is not installed\n")


@pytest.mark.parametrize(
    "extra", [(), ("a", "--recent", "1"), ("--recent", "1", "--since", "HEAD"), ("a", "--since", "x")]
)
def test_one_way_of_choosing_is_needed(carrel: Carrel, papers: Path, extra: tuple[str, ...]) -> None:
    done = carrel("-C", "lib", "open", *extra)
    assert (done.code, done.err.splitlines()[0]) == (
        1,
        "error: what to open is named by ids, by --recent or by --since, one of them",
    )


def test_a_supplement_needs_its_paper(carrel: Carrel, papers: Path) -> None:
    done = carrel("-C", "lib", "open", "--recent", "1", "--supplement", "1")
    assert done.err.startswith("error: --supplement needs the id of its paper\n")


def test_too_many_windows_are_refused_before_the_first(carrel: Carrel, papers: Path, reader: Reader) -> None:
    (papers / ".carrel" / "refs.jsonl").write_text("".join(record(f"p{n}", "a.pdf") for n in range(51)))
    done = carrel("-C", "lib", "open", "--recent", "99")
    assert done.err.startswith("error: 51 papers are to be opened, more than 50\n")
    assert reader.seen == []


@pytest.mark.parametrize("name", ["zathura", "mine", "path"])
def test_the_user_chooses_the_program(
    carrel: Carrel, papers: Path, reader: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("CARREL_PDF_READER", str(tmp_path / "bin" / "mine") if name == "path" else name)
    assert carrel("-C", "lib", "open", "a").code == 0
    assert reader.seen == [["mine" if name == "path" else name, str(papers / "a.pdf")]]


def test_a_library_cannot_choose_the_program(carrel: Carrel, papers: Path, reader: Reader) -> None:
    assert carrel("-C", "lib", "config", "set", "pdf_reader", "mine").code == 1
    (papers / ".carrel" / "config.toml").write_text('pdf_reader = "mine"\n')
    done = carrel("-C", "lib", "open", "a")
    assert (done.code, "setting pdf_reader may not be set in" in done.err) == (1, True)
    assert reader.seen == []


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("evince-that-is-not-there", "the PDF reader 'evince-that-is-not-there' is not installed"),
        ("mine --now", "the PDF reader 'mine --now' is not installed"),
        ("bin/mine", "setting pdf_reader = 'bin/mine' is neither a program's name nor its whole path"),
        ("skim", "the PDF reader 'skim' is for macOS only"),
    ],
)
def test_a_program_that_cannot_be_used_is_told(
    carrel: Carrel, papers: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch, named: str, message: str
) -> None:
    monkeypatch.setenv("CARREL_PDF_READER", named)
    done = carrel("-C", "lib", "open", "a")
    assert (done.code, done.err.splitlines()[0], done.out) == (1, f"error: {message}", "")
    assert reader.seen == []


def test_without_a_display_it_is_said_and_nothing_started(
    carrel: Carrel, papers: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert carrel("-C", "lib", "open", "a").err.startswith("error: there is no display to show a PDF on\n")
    monkeypatch.setenv("CARREL_PDF_READER", "mine")
    assert carrel("-C", "lib", "open", "a").code == 0
    assert [call[0] for call in reader.seen] == ["mine"]


def test_a_program_that_fails_is_told_and_one_that_stays_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, body in (("fails", "exit 3"), ("stays", "exec sleep 20")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    failed = readers.show({"a": tmp_path / "a.pdf"}, str(tmp_path / "fails"))
    assert failed == {"a": f"{tmp_path / 'fails'} ended with exit code 3"}
    start = time.monotonic()
    assert readers.show({"a": tmp_path / "a.pdf", "b": tmp_path / "b.pdf"}, str(tmp_path / "stays")) == {}
    assert time.monotonic() - start < 15


def test_a_program_of_another_kind_cannot_be_started_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "odd").write_bytes(b"\x7fELF nonsense")
    (tmp_path / "odd").chmod(0o755)
    assert "could not be started" in readers.show({"a": tmp_path}, str(tmp_path / "odd"))["a"]
