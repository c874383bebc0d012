"""How a process of the command line ends, whatever else goes on in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from carrel import Library
from carrel.cli import app

CARREL = [sys.executable, "-m", "carrel"]
FULL = Path("/dev/full")
BUSY = """
import threading
from carrel.cli import main
from carrel.embedders.granite import Granite

model = Granite()

def work():
    while True:
        model.embed_query("granite")
        begun.set()

begun = threading.Event()
threading.Thread(target=work, daemon=True).start()
begun.wait()
main(["nothing"])
"""


def test_a_command_ends_as_it_says_while_a_model_is_at_work(tmp_path: Path) -> None:
    """As where it fails early. A thread that is halted in the middle of C++ would abort the process."""
    program = tmp_path / "program.py"
    program.write_text(BUSY)
    ended = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stderr.partition("\n")[0]) == (1, "error: No such command 'nothing'.")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full, which is always full")
def test_a_disk_that_is_full_for_the_output_is_one_sentence(tmp_path: Path) -> None:
    Library.init(tmp_path).close()
    with FULL.open("w") as full:
        ended = subprocess.run(
            [*CARREL, "-C", str(tmp_path), "config", "show"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    assert ended.returncode == 1
    assert (
        ended.stderr
        == "error: no space is left where something was to be written\n\nFree some, or write it elsewhere.\n"
    )


def test_a_reader_that_has_seen_enough_ends_it_in_peace(tmp_path: Path) -> None:
    Library.init(tmp_path).close()
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        command = [*CARREL, "-C", str(tmp_path), "config", "show"]
        ended = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, timeout=120, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize(("left", "code"), [(SystemExit(143), 143), (SystemExit("stopped"), 1), (SystemExit(), 0)])
def test_a_process_that_is_told_to_leave_keeps_its_exit_code(
    left: SystemExit, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(**_: object) -> None:
        raise left

    monkeypatch.setattr(app.cli, "main", leave)
    assert app.run(["list"]) == code
