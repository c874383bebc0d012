"""`carrel sync --watch` as a real process: it follows what happens to the files, and others work meanwhile."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Thread
from typing import IO, Any

import pytest

from carrel import Library
from carrel.testing import HashedWords

ROOT = Path(__file__).parent.parent
CARREL = """
import sys
from carrel import registry
from carrel.cli import run
registry.BUILT_IN["embedders"]["hashed-words"] = "carrel.testing:HashedWords"
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Papers in the folder of a library that follows them."""
    folder = tmp_path / "papers"
    folder.mkdir()
    write(folder / "a.md", "Apples.")
    with Library.init(tmp_path, embedder=HashedWords()) as library:
        library.add(folder)
    return folder


def write(path: Path, words: str) -> None:
    path.write_text(f"# The long title of {path.stem}\n\n{words}\n", encoding="utf-8")


def start(library: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    settings = {"CARREL_EMBEDDER": "hashed-words", "CARREL_INGEST__ISOLATE": "false", "CARREL_LOCK_TIMEOUT": "1"}
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **settings}
    command = [sys.executable, "-c", CARREL, "-C", str(library), *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(library: Path, *arguments: str | Path) -> tuple[int, str, str]:
    process = start(library, *arguments)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@dataclass
class Watching:
    """A process that watches, and what it has said so far."""

    process: subprocess.Popen[str]
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._threads = [
            Thread(target=_collect, args=(stream, lines), daemon=True)
            for stream, lines in ((self.process.stdout, self.out), (self.process.stderr, self.err))
            if stream
        ]
        for thread in self._threads:
            thread.start()

    @property
    def reports(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in list(self.out)]

    def has_told(self, key: str, word: str = "") -> bool:
        """Whether a report has something under this key, in which the word is."""
        return eventually(lambda: any(one[key] and word in json.dumps(one[key]) for one in self.reports))

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        code = self.process.wait(20)
        for thread in self._threads:
            thread.join(20)
        return code


def _collect(stream: IO[str], lines: list[str]) -> None:
    with stream:
        for line in stream:
            lines.append(line)  # noqa: PERF402 - as they come


@contextmanager
def watching(library: Path) -> Iterator[Watching]:
    """`carrel sync --watch --json`, once it watches."""
    watch = Watching(start(library, "sync", "--watch", "--json"))
    try:
        assert eventually(lambda: bool(watch.out)), watch.err
        yield watch
    finally:
        watch.end(signal.SIGKILL)


def sources(library: Path) -> dict[str, str]:
    """By paper: the path of its text, as long as it is in the library and indexed."""
    sql = "SELECT id, source FROM papers JOIN texts ON paper_id = id WHERE state = 'active' AND part = 'body'"
    with closing(sqlite3.connect(library / ".carrel/carrel.db")) as connection:
        return dict(connection.execute(sql).fetchall())


def eventually(is_so: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.05)
    return is_so()


def text(library: Path, paper_id: str) -> str:
    sql = "SELECT text FROM texts WHERE paper_id = ? AND part = 'body'"
    with closing(sqlite3.connect(library / ".carrel/carrel.db")) as connection:
        found = connection.execute(sql, [paper_id]).fetchone()
    return str(found[0]).splitlines()[-1] if found else ""


def is_text(library: Path, paper_id: str, words: str) -> bool:
    return text(library, paper_id) == words


def test_the_library_follows_its_folder_until_ctrl_c_ends_it(tmp_path: Path, folder: Path) -> None:
    with watching(tmp_path) as watch:
        first = watch.reports[0]
        assert (first["new"], first["unchanged"], first["retired"]) == (0, 1, [])
        write(folder / "b.md", "Bears.")
        assert eventually(lambda: sources(tmp_path) == {"a": "papers/a.md", "b": "papers/b.md"})
        (folder / "a.md").rename(folder / "z.md")
        assert eventually(lambda: sources(tmp_path) == {"a": "papers/z.md", "b": "papers/b.md"})
        write(folder / "b.md", "Brown bears.")
        assert eventually(lambda: text(tmp_path, "b") == "Brown bears.")
        (folder / "z.md").unlink()
        assert watch.has_told("retired")
        assert sources(tmp_path) == {"b": "papers/b.md"}
        assert (watch.end(signal.SIGINT), watch.err) == (0, [])
    assert [one["retired"] for one in watch.reports if one["retired"]] == [["a"]]
    assert [one["papers"] for one in watch.reports if one["papers"]] == [["b"], ["b"]]
    assert finish(tmp_path, "index", "check")[0] == 0


def test_others_read_and_write_meanwhile_and_what_they_add_is_followed_too(tmp_path: Path, folder: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write(other / "c.md", "Cows.")
    with watching(tmp_path) as watch:
        assert finish(tmp_path, "add", other)[0] == 0
        write(other / "d.md", "Deer.")
        assert eventually(lambda: set(sources(tmp_path)) == {"a", "c", "d"})
        code, out, _ = finish(tmp_path, "search", "deer", "--json")
        assert (code, json.loads(out)["results"][0]["paper_id"]) == (0, "d")
        assert watch.has_told("papers", "d")
        assert (watch.end(signal.SIGTERM), watch.err) == (0, [])


def test_neither_a_busy_library_nor_a_broken_file_ends_it(tmp_path: Path, folder: Path) -> None:
    with watching(tmp_path) as watch, Library.open(tmp_path, embedder=HashedWords()) as library:
        with library._writing():
            (folder / "broken.md").write_bytes(b"\x00\x01" * 99)
            assert watch.has_told("failed", "another process is writing")
        assert watch.has_told("failed", "broken.md")
        write(folder / "good.md", "Good.")
        assert watch.has_told("papers", "good")
        assert watch.process.poll() is None


def test_a_file_that_grows_is_taken_in_once_and_whole_and_hidden_ones_never(tmp_path: Path, folder: Path) -> None:
    with watching(tmp_path) as watch:
        write(folder / ".hidden.md", "Hidden.")
        with (folder / "long.md").open("w") as file:
            for number in range(25):
                file.write(f"Sentence number {number} of a text that is slowly copied.\n\n")
                file.flush()
                time.sleep(0.1)
            file.write("The end.\n")
        assert watch.has_told("papers")
        assert text(tmp_path, "long") == "The end."
    assert [one["papers"] for one in watch.reports if one["papers"]] == [["long"]]
    assert set(sources(tmp_path)) == {"a", "long"}


def test_a_single_file_that_an_editor_replaces_is_followed(tmp_path: Path, folder: Path) -> None:
    write(tmp_path / "note.md", "First.")
    assert finish(tmp_path, "add", tmp_path / "note.md")[0] == 0
    with watching(tmp_path):
        for words in ("Second.", "Third."):
            write(tmp_path / "note.tmp", words)
            (tmp_path / "note.tmp").rename(tmp_path / "note.md")
            assert eventually(partial(is_text, tmp_path, "note", words))


def test_killed_in_the_middle_of_a_sync_the_next_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    def made(name: str) -> Path:
        papers = tmp_path / name / "papers"
        papers.mkdir(parents=True)
        for number in range(60):
            write(papers / f"{number}.md", f"Text number {number} about subject {number % 7}.")
        with Library.init(tmp_path / name, embedder=HashedWords()) as library:
            library.add(papers)
        for number in range(20):
            (papers / f"{number}.md").rename(papers / f"new{number}.md")
            (papers / f"{number + 20}.md").unlink()
            write(papers / f"{number + 40}.md", f"Changed text {number}.")
            write(papers / f"{number + 60}.md", f"Fresh text {number}.")
        return tmp_path / name

    whole, killed = made("whole"), made("killed")
    assert finish(whole, "sync", "--json")[0] == 0
    for wait in (0.0, 0.05, 0.1):
        kill_at_work(killed, wait)
    code, _, err = finish(killed, "sync", "--json")
    assert (code, err) == (0, "")
    assert sources(killed) == sources(whole)
    assert len(sources(whole)) == 60
    assert finish(killed, "index", "check")[0] == 0
    with Library.open(whole, embedder=HashedWords()) as one, Library.open(killed, embedder=HashedWords()) as other:
        results = [library.search("fresh text about subject 3", limit=20).passages for library in (one, other)]
        first, second = [[(found.chunk.address, found.chunk.text) for found in some] for some in results]
        assert (first, len(first)) == (second, 20)
        assert counted(one) == counted(other)


def kill_at_work(library: Path, wait: float) -> None:
    """End a sync without mercy, a while after its first change."""
    before, process = sources(library), start(library, "sync")
    eventually(lambda: sources(library) != before or process.poll() is not None)
    time.sleep(wait)
    process.kill()
    process.communicate()


def counted(library: Library) -> tuple[int, int]:
    return library.stores.vectors.count(), library.stores.keywords.count()
