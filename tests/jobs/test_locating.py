"""Which files the service may be told to read (FIELD 5.2, 13: traversal, links, devices, other people's folders)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from carrel import layout
from carrel.errors import InvalidSource, TooLarge
from carrel.jobs.locating import Roots

OUTSIDE = "is not in a folder that the service may read"


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    folder, shelf = tmp_path / "library", tmp_path / "shelf"
    folder.mkdir()
    (shelf / ".private").mkdir(parents=True)
    (shelf / ".private" / "key.txt").write_text("secret")
    (shelf / "a.txt").write_text("on the shelf")
    (tmp_path / "secret.txt").write_text("secret")
    made = layout.create(folder)
    (folder / "papers").mkdir()
    (folder / "papers" / "one.txt").write_text("one")
    return Roots.of(made, os.pathsep.join([str(shelf), "", str(tmp_path / "nowhere")]))


def test_files_of_the_library_and_of_the_named_folders_are_found(roots: Roots, tmp_path: Path) -> None:
    one = tmp_path / "library" / "papers" / "one.txt"
    assert roots.find("papers/one.txt") == roots.find(str(one)) == roots.find("papers/../papers/./one.txt") == one
    assert roots.find("../shelf/a.txt") == tmp_path / "shelf" / "a.txt"
    assert roots.read("papers/one.txt", 100) == (one, b"one")


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt",
        "papers/../../secret.txt",
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/zero",
        ".carrel/config.toml",
        ".carrel/carrel.db",
        ".carrel/../.carrel/refs.jsonl",
        "../shelf/.private/key.txt",
        "/",
        "~/x.txt",
        "//server/share/x.txt",
    ],
)
def test_everything_else_is_refused_whether_or_not_it_is_there(roots: Roots, name: str) -> None:
    with pytest.raises(InvalidSource, match=rf"{OUTSIDE}|there is no file"):
        roots.find(name)


def test_of_a_file_that_may_not_be_read_nothing_is_said(roots: Roots) -> None:
    said = []
    for name in ("../secret.txt", "../no-secret.txt"):
        with pytest.raises(InvalidSource) as caught:
            roots.find(name)
        said.append(caught.value.message.replace(name, "X"))
    assert said == [f"'X' {OUTSIDE}"] * 2


@pytest.mark.parametrize("name", ["", "  ", "a\x00.txt", "a\n.txt", "a\x7f.txt", "x" * 5000])
def test_a_name_that_no_file_should_have_is_refused(roots: Roots, name: str) -> None:
    with pytest.raises(InvalidSource):
        roots.find(name)


def test_links_are_followed_first_and_judged_by_where_they_lead(roots: Roots, tmp_path: Path) -> None:
    papers = tmp_path / "library" / "papers"
    (papers / "out.txt").symlink_to(tmp_path / "secret.txt")
    (papers / "in.txt").symlink_to(papers / "one.txt")
    (papers / "folder").symlink_to(tmp_path)
    (papers / "loop.txt").symlink_to(papers / "loop.txt")
    assert roots.find("papers/in.txt") == papers / "one.txt"
    for name in ("papers/out.txt", "papers/folder/secret.txt"):
        with pytest.raises(InvalidSource, match=OUTSIDE):
            roots.find(name)
    with pytest.raises(InvalidSource):
        roots.find("papers/loop.txt")


def test_a_file_that_became_a_link_or_a_pipe_since_is_not_read(roots: Roots, tmp_path: Path) -> None:
    one = tmp_path / "library" / "papers" / "one.txt"
    roots.find("papers/one.txt")
    one.unlink()
    one.symlink_to(tmp_path / "secret.txt")
    with pytest.raises(InvalidSource, match="no longer"):
        roots.read("papers/one.txt", 100)
    one.unlink()
    os.mkfifo(one)
    with pytest.raises(InvalidSource, match="pipe"):
        roots.read("papers/one.txt", 100)
    with pytest.raises(InvalidSource, match="no file"):
        roots.find("papers/one.txt")


def test_no_more_is_read_than_allowed(roots: Roots) -> None:
    with pytest.raises(TooLarge, match="more than the 2 bytes"):
        roots.read("papers/one.txt", 2)


@given(parts=some.lists(some.sampled_from(["..", ".", "papers", "one.txt", "shelf", "a.txt", ".carrel", "secret.txt"])))
def test_whatever_is_found_lies_in_an_open_folder(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    base = tmp_path_factory.getbasetemp() / "locating"
    if not base.exists():
        (base / "library" / "papers").mkdir(parents=True)
        layout.create(base / "library")
        for name in ("library/papers/one.txt", "library/a.txt", "secret.txt", "a.txt"):
            (base / name).write_text("x")
    try:
        found = Roots(layout.find(base / "library")).find("/".join(parts))
    except InvalidSource:
        return
    assert found in {base / "library" / "papers" / "one.txt", base / "library" / "a.txt"}
