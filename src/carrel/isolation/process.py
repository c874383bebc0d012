"""One worker as its parent sees it: asked, waited for, and stopped when it takes too long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import IO, TYPE_CHECKING, Any, cast

from carrel import errors
from carrel.errors import BudgetExceeded, ParserCrashed, SourceError, TooLarge, WorkerUnavailable
from carrel.ingest.entries import too_large
from carrel.isolation import messages, papers
from carrel.isolation.worker import MORE_TIME, MOST_PICTURES, OUT_OF_MEMORY
from carrel.settings import environment_without_secrets

if TYPE_CHECKING:
    from carrel.parsers import Source
    from carrel.types import Paper

# What can be imported here can be imported there, and nothing else: not what lies in the current folder.
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from carrel.isolation.worker import main; main()"
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_SECONDS_TO_START = 60.0
_BYTES_A_CHARACTER = 4
_STARVED = frozenset({-signal.SIGABRT, 127})
_DAMAGED = "It may be damaged. The other files are not touched by it."


@dataclass(frozen=True, slots=True)
class Budget:
    """What reading one file may take, and how long its text may be."""

    seconds: float = 120.0
    megabytes: int = 2048
    characters: int = 10_000_000
    ocr_pages: int = 200
    """How many of its scanned pages are recognised."""
    ocr_seconds: float = 60.0
    """For each of these, anew."""


class Process:
    is_sound = False
    """It may be asked again."""
    was_used = False
    """Before the last file there was another."""
    is_overdue = False
    _is_recognising = False

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._process = _start()
        try:
            self._begin()
        except BaseException:
            self.stop()
            raise

    def read(self, source: Source, parser_name: str) -> Paper:
        path = str(source.path.absolute()) if source.path else ""
        request = {"parser": parser_name, "name": source.name, "path": path}
        self.was_used, self.is_sound, self.is_overdue = self.is_sound, False, False
        self._is_recognising = False
        try:
            reply = self._exchange(self._budget.seconds, request, source.content)
            for _ in range(self._budget.ocr_pages):
                if reply != (MORE_TIME, b""):
                    break
                self._is_recognising = True
                reply = self._exchange(self._budget.ocr_seconds)
            if reply is None:
                raise self._death(source, parser_name)
            return self._understood(*reply, source, parser_name)
        except messages.Excess as error:
            raise _too_much(source) from error
        except (ValueError, RecursionError) as error:
            reason = f"the {parser_name} reader gave back what is no paper: {_line(str(error))}"
            raise _unreadable(ParserCrashed, source, reason, _DAMAGED) from error

    def stop(self) -> int:
        """End it at once; returns the exit code it had, or has now."""
        self._kill()
        code = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError):
                cast("IO[bytes]", pipe).close()
        return code

    def _begin(self) -> None:
        try:
            reply = self._exchange(_SECONDS_TO_START, asdict(self._budget))
        except (ValueError, RecursionError):
            reply = None
        if reply != ("ready", b""):
            self._kill()
            words = cast("IO[bytes]", self._process.stderr).read().decode(errors="replace").strip()
            raise _unavailable(_line(words.rpartition("\n")[2]) or f"it {_ending(self._process.wait())}")

    def _exchange(self, seconds: float, content: object = None, data: bytes = b"") -> tuple[Any, bytes] | None:
        """Its reply, or what it says next if it is asked nothing; none if it ended, or had to be ended."""
        most = self._budget.characters * _BYTES_A_CHARACTER + MOST_PICTURES
        timer = threading.Timer(seconds, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            if content is not None:
                messages.write(cast("IO[bytes]", self._process.stdin), content, data)
            return messages.read(cast("IO[bytes]", self._process.stdout), most=most)
        except (OSError, EOFError):
            return None
        finally:
            timer.cancel()
            timer.join()

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

    def _understood(self, reply: object, data: bytes, source: Source, parser_name: str) -> Paper:
        match reply:
            case {"paper": structure, "text": int(text), "images": list(images)}:
                paper = papers.unpacked(structure, text, images, data)
                self.is_sound = True
                return paper
            case {"refused": str(kind), "message": str(message), "hint": str(hint)}:
                self.is_sound = True
                raise _source_error(kind)(_line(message), hint=_line(hint))
            case {"too_long": int(size)}:
                self.is_sound = True
                raise too_large(source.name, size, self._budget.characters)
            case {"too_much": True}:
                raise _too_much(source)
            case {"failed": str(words)}:
                reason = f"the {parser_name} reader failed ({_line(words)})"
                raise _unreadable(ParserCrashed, source, reason, _DAMAGED)
        raise papers.Nonsense("the reply has no such form")

    def _death(self, source: Source, parser_name: str) -> SourceError:
        code, budget = self.stop(), self._budget
        if self.is_overdue or -code == getattr(signal, "SIGXCPU", None):
            if self._is_recognising:
                reason = f"OCR of one page took longer than {budget.ocr_seconds:g} s"
                hint = "Raise ingest.ocr_seconds, or set ingest.ocr = 'off'."
                return _unreadable(BudgetExceeded, source, reason, hint)
            reason = f"it took longer than {budget.seconds:g} s"
            return _unreadable(BudgetExceeded, source, reason, "Split it, or raise ingest.parse_seconds.")
        if code == OUT_OF_MEMORY:
            reason = f"it needed more than {budget.megabytes} MB of memory"
            return _unreadable(BudgetExceeded, source, reason, "Split it, or raise ingest.parse_megabytes.")
        hint = f"It may be damaged, or need more memory than the {budget.megabytes} MB of ingest.parse_megabytes."
        # What a library in C does that gets no memory, among other things.
        starved = " (more memory may be what it wanted)" if code in _STARVED else ""
        return _unreadable(ParserCrashed, source, f"the {parser_name} reader {_ending(code)}{starved}", hint)


def _start() -> subprocess.Popen[bytes]:
    if not sys.executable:
        raise _unavailable("this Python does not know its own program")
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-B", "-c", _PROGRAM, *sys.path],
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


def _unreadable(kind: type[SourceError], source: Source, reason: str, hint: str) -> SourceError:
    return kind(f"{source.name!r} cannot be read: {reason}", hint=hint)


def _too_much(source: Source) -> SourceError:
    return _unreadable(TooLarge, source, "what was read of it, pictures included, is too large", "Split it.")


def _source_error(name: str) -> type[SourceError]:
    kind = getattr(errors, name, None)
    return kind if isinstance(kind, type) and issubclass(kind, SourceError) else SourceError


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    with suppress(ValueError):
        return f"crashed ({signal.Signals(-code).name})"
    return f"crashed (signal {-code})"


def _line(text: str) -> str:
    """On one line, and nothing in it that a terminal would obey."""
    return "".join(sign if sign.isprintable() else " " for sign in text[:500])
