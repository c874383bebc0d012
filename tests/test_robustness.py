"""What happens to a real process: killed, two at once, no space left, nothing writable."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from carrel import Library
from carrel.types import SearchResult

ROOT = Path(__file__).parent.parent
WORDS = "graph neural retrieval model language corpus translation parsing semantic dense sparse index citation".split()


def refs(path: Path, prefix: str, count: int) -> Path:
    records = [
        {
            "id": f"{prefix}{number}",
            "title": f"On {WORDS[number % 13]} and {WORDS[number % 7]}",
            "authors": [],
            "abstract": " ".join(WORDS[(number * step) % 13] for step in range(1, 20)) + f" {prefix}{number}",
        }
        for number in range(count)
    ]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "CARREL_INGEST__BATCH_CHARACTERS": "3000"}
    command = [sys.executable, "-m", "carrel", *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(*arguments: str | Path) -> tuple[int, str, str]:
    process = start(*arguments)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def active(library: Path) -> int:
    connection = sqlite3.connect(library / ".carrel/carrel.db")
    try:
        return int(connection.execute("SELECT count(*) FROM papers WHERE state = 'active'").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def found(library: Path) -> list[list[tuple[str, float]]]:
    def listed(result: SearchResult) -> list[tuple[str, float]]:
        return [(passage.chunk.address, passage.fused.score) for passage in result.passages]

    with Library.open(library) as opened:
        modes = ("hybrid", "vector", "keyword")
        return [listed(opened.search(query, mode=mode)) for query in ("dense graph", "a7 parsing") for mode in modes]


def test_killed_in_the_middle_and_run_again_ends_like_an_undisturbed_run(tmp_path: Path) -> None:
    source = refs(tmp_path / "in.jsonl", "a", 150)
    Library.init(tmp_path / "whole").close()
    assert finish("-C", tmp_path / "whole", "add", source)[0] == 0
    killed = tmp_path / "killed"
    Library.init(killed).close()
    for wanted in (10, 80):
        process = start("-C", killed, "add", source)
        while active(killed) < wanted and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    assert 80 <= active(killed) < 150
    code, out, _ = finish("-C", killed, "add", source, "--json")
    assert code == 0
    assert (json.loads(out)["new"], json.loads(out)["unchanged"]) == (0, 150)
    assert finish("-C", killed, "index", "check")[0] == 0
    assert found(killed) == found(tmp_path / "whole")


def test_ctrl_c_leaves_with_130_and_a_library_that_goes_on(tmp_path: Path) -> None:
    source = refs(tmp_path / "in.jsonl", "a", 400)
    Library.init(tmp_path).close()
    process = start("-C", tmp_path, "add", source)
    while active(tmp_path) < 20 and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Nothing is lost: the same command goes on where it stopped." in err
    assert "Traceback" not in err
    assert finish("-C", tmp_path, "add", source)[0] == 0
    assert finish("-C", tmp_path, "index", "check")[0] == 0


def test_two_at_once_both_get_their_papers_in_while_readers_read(tmp_path: Path) -> None:
    Library.init(tmp_path).close()
    assert finish("-C", tmp_path, "add", refs(tmp_path / "c.jsonl", "c", 20))[0] == 0
    writers = [start("-C", tmp_path, "add", refs(tmp_path / f"{name}.jsonl", name, 60)) for name in ("a", "b")]
    with Library.open(tmp_path) as reader:
        while any(writer.poll() is None for writer in writers):
            assert reader.search("dense graph").degraded == ()
    for writer in writers:
        out, err = writer.communicate(timeout=60)
        assert (writer.returncode, out.splitlines()[0]) == (0, "Added 60 new, 0 updated, 0 unchanged"), err
    assert finish("-C", tmp_path, "index", "check", "--json")[0] == 0
    assert len((tmp_path / ".carrel/refs.jsonl").read_text().splitlines()) == 140


def test_one_that_cannot_wait_any_longer_says_so(tmp_path: Path) -> None:
    source = refs(tmp_path / "a.jsonl", "a", 5)
    with Library.init(tmp_path) as library, library._writing():
        code, _, err = finish("-C", tmp_path, "--set", "lock_timeout=0.2", "add", source)
    assert code == 1
    assert "waiting for another process" in err
    assert "error: another process is writing to" in err
    assert finish("-C", tmp_path, "add", source)[0] == 0


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("needs root and mount, to make a full or read-only disk")
    done = subprocess.run([mount, *options, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"cannot mount here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("kilobytes", [40, 300, 700, 1500])
def test_a_full_disk_is_named_and_costs_nothing_that_was_there(tmp_path: Path, kilobytes: int) -> None:
    """At each size another step is the one that finds no room."""
    first, second = refs(tmp_path / "a.jsonl", "a", 4), refs(tmp_path / "b.jsonl", "b", 300)
    disk = tmp_path / "disk"
    disk.mkdir()
    with mounted(disk, "-t", "tmpfs", "-o", "size=2m", "tmpfs"):
        assert finish("init", disk)[0] == 0
        assert finish("-C", disk, "add", first)[0] == 0
        used = shutil.disk_usage(disk).used // 1024
        subprocess.run(["mount", "-o", f"remount,size={used + kilobytes}k", str(disk)], check=True)
        code, _, err = finish("-C", disk, "add", second)
        assert code == 1
        assert err.splitlines()[0].startswith("error: no space left to write"), err
        assert "Free some space" in err
        subprocess.run(["mount", "-o", "remount,size=60m", str(disk)], check=True)
        assert finish("-C", disk, "show", "a1")[0] == 0
        code, out, err = finish("-C", disk, "add", first, second, "--json")
        assert code == 0, err
        assert json.loads(out)["new"] + json.loads(out)["unchanged"] == 304
        assert finish("-C", disk, "index", "check")[0] == 0


def test_a_read_only_library_can_be_searched_and_refuses_to_be_changed(tmp_path: Path) -> None:
    written = tmp_path / "written"
    source = refs(tmp_path / "a.jsonl", "a", 10)
    Library.init(written).close()
    assert finish("-C", written, "add", source)[0] == 0
    still = tmp_path / "still"
    still.mkdir()
    with mounted(still, "--bind", str(written)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(still)], check=True)
        code, out, err = finish("-C", still, "search", "dense graph", "--json")
        assert (code, json.loads(out)["degraded"], err) == (0, [], "")
        assert finish("-C", still, "index", "check")[0] == 0
        for arguments in (("add", source), ("remove", "a1"), ("index", "build"), ("config", "set", "threads", "1")):
            code, _, err = finish("-C", still, *arguments)
            assert code == 1
            assert err.startswith("error: cannot write to ")
            assert "Make the directory writable" in err
    assert finish("-C", written, "index", "check")[0] == 0
