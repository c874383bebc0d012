"""Programs that show PDFs. They are started directly, never by a shell, and get nothing but an absolute path."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.errors import InvalidInput, NotFound
from carrel.settings import has_display

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WINDOWED = frozenset({"system", "zathura", "evince", "okular"})
_PATIENCE = 1.0
"""Seconds in which a program that cannot open a file says so; one that shows it goes on."""


def show(files: Mapping[str, Path], reader: str) -> dict[str, str]:
    """Start the reader for each file; returns, by the files' names, why one was not shown."""
    if not files:
        return {}
    if reader == "system" and sys.platform == "win32":
        return dict(_started_by_windows(files))
    command = _command(reader)
    running: dict[str, subprocess.Popen[bytes]] = {}
    errors: dict[str, str] = {}
    for name, path in files.items():
        try:
            running[name] = _start([*command, str(path)])
        except OSError as error:
            errors[name] = f"{command[0]} could not be started: {error.strerror or error}"
    deadline = time.monotonic() + _PATIENCE
    codes = {name: _exit_code(process, deadline) for name, process in running.items()}
    return errors | {name: f"{command[0]} ended with exit code {code}" for name, code in codes.items() if code}


def _command(reader: str) -> list[str]:
    """The program of a reader, and what it is told before the path."""
    on_mac = sys.platform == "darwin"
    if reader == "skim" and not on_mac:
        raise NotFound("the PDF reader 'skim' is for macOS only", hint="Set pdf_reader to another one.")
    if reader in _WINDOWED and sys.platform not in ("darwin", "win32") and not has_display():
        raise NotFound(
            "there is no display to show a PDF on",
            hint="Run it in a graphical session, or set pdf_reader to a program that needs none.",
        )
    if on_mac and reader in ("system", "skim"):
        return ["/usr/bin/open", "-a", "Skim"] if reader == "skim" else ["/usr/bin/open"]
    return [_program("xdg-open" if reader == "system" else reader)]


def _program(name: str) -> str:
    path = os.path.expanduser(name)  # noqa: PTH111
    if Path(path).name != path and not Path(path).is_absolute():
        raise InvalidInput(
            f"setting pdf_reader = {name!r} is neither a program's name nor its whole path",
            hint="As in 'zathura' or '/usr/bin/zathura'.",
        )
    found = shutil.which(path)
    if found is None:
        raise NotFound(
            f"the PDF reader {name!r} is not installed",
            hint="Install it, or set pdf_reader in your own config or as CARREL_PDF_READER.",
        )
    return found


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    # In a session of its own, so that what is typed here does not end it.
    process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)  # noqa: S603
    # Waited for, so that a reader closed while this process lives on leaves nothing behind.
    threading.Thread(target=process.wait, daemon=True).start()
    return process


def _exit_code(process: subprocess.Popen[bytes], deadline: float) -> int:
    """0 also when it still runs."""
    try:
        return process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return 0


def _started_by_windows(files: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    for name, path in files.items():
        try:
            os.startfile(path)  # type: ignore[attr-defined, unused-ignore]  # noqa: S606
        except OSError as error:
            yield name, error.strerror or str(error)
