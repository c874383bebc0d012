"""A process that files are read in, as its parent sees it: asked, waited for, and stopped when it takes too long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, Any, cast

from carrel.errors import WorkerUnavailable
from carrel.isolation import messages
from carrel.settings import environment_without_secrets

# What can be imported here can be imported there, and nothing else: not what lies in the current folder.
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from {module} import main; main()"
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_SECONDS_TO_START = 60.0
_STARVED = frozenset({-signal.SIGABRT, 127})
"""How a library in C ends that gets no memory, among other things."""


class Child:
    """Runs `main` of a module, which gets the bounds it lives within and says that it is ready."""

    is_overdue = False
    """It had to be ended, because it took too long."""

    def __init__(self, module: str, bounds: object, most: int) -> None:
        self._most = most
        """Bytes of data that it may answer with."""
        self._process = _start(module)
        try:
            self._begin(bounds)
        except BaseException:
            self.stop()
            raise

    def exchange(self, seconds: float, content: object = None, data: bytes = b"") -> tuple[Any, bytes] | None:
        """Its reply, or what it says next if it is asked nothing; none if it ended, or had to be ended."""
        timer = threading.Timer(seconds, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            if content is not None:
                messages.write(cast("IO[bytes]", self._process.stdin), content, data)
            return messages.read(cast("IO[bytes]", self._process.stdout), most=self._most)
        except (OSError, EOFError):
            return None
        finally:
            timer.cancel()
            timer.join()

    def stop(self) -> int:
        """End it at once; returns the exit code it had, or has now."""
        self._kill()
        code = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError):
                cast("IO[bytes]", pipe).close()
        return code

    def _begin(self, bounds: object) -> None:
        try:
            reply = self.exchange(_SECONDS_TO_START, bounds)
        except (ValueError, RecursionError):
            reply = None
        if reply != ("ready", b""):
            self._kill()
            words = cast("IO[bytes]", self._process.stderr).read().decode(errors="replace").strip()
            raise _unavailable(line(words.rpartition("\n")[2]) or f"it {ending(self._process.wait())}")

    def _give_up(self) -> None:
        self.is_overdue = True
        self._kill()

    def _kill(self) -> None:
        """With all that it has started."""
        if sys.platform == "win32":
            self._process.kill()
            return
        # Safe as long as it was not waited for: nothing else can have its number.
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)


def _start(module: str) -> subprocess.Popen[bytes]:
    if not sys.executable:
        raise _unavailable("this Python does not know its own program")
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-B", "-c", _PROGRAM.format(module=module), *sys.path],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=environment_without_secrets() | _ONE_THREAD,
            # Ctrl-C is for the parent, which stops it; and what it starts can be stopped with it.
            start_new_session=True,
        )
    except OSError as error:
        raise _unavailable(error.strerror or str(error)) from error


def _unavailable(reason: str) -> WorkerUnavailable:
    return WorkerUnavailable(
        f"the process that files are read in could not be started: {reason}",
        hint="To read them without it, set CARREL_INGEST__ISOLATE=false.",
    )


def ending(code: int) -> str:
    starved = " (more memory may be what it wanted)" if code in _STARVED else ""
    if code >= 0:
        return f"ended with exit code {code}{starved}"
    with suppress(ValueError):
        return f"crashed ({signal.Signals(-code).name}){starved}"
    return f"crashed (signal {-code})"


def line(text: str) -> str:
    """On one line, and nothing in it that a terminal would obey."""
    return "".join(sign if sign.isprintable() else " " for sign in text[:500])
