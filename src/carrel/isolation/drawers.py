"""Processes that pages are drawn in: kept while somebody looks at pages, replaced when one dies."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from carrel.errors import BudgetExceeded, NotFound, ParserCrashed, SourceError, Unavailable
from carrel.isolation.bounds import OUT_OF_MEMORY
from carrel.isolation.child import Child, ending, line
from carrel.isolation.drawer import Desk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Reply = tuple[dict[str, Any], bytes]
    """JSON and bytes, as all that goes between processes."""

_MOST = 2
"""Processes; so that one page that takes its time does not keep everybody waiting."""
_PATIENCE = 30.0
_LARGEST_REPLY = 64_000_000
_NOT_AGAIN = 300.0
_MOST_REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one page may take, and how long a process waits for the next."""

    seconds: float = 15.0
    megabytes: int = 2048
    idle_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Pdf:
    """A file that is to be seen; it is read only if no process has it open."""

    name: str
    """As it is called where something is wrong with it."""
    digest: str
    read: Callable[[], bytes]


class Draws(Protocol):
    def ask(self, pdf: Pdf, request: Mapping[str, Any]) -> Reply:
        """What comes of a request; `NotFound` if the PDF, or the page of it, cannot be shown."""
        ...

    def close(self) -> None: ...


class Inside:
    """Draws in this process, for who does not want another."""

    def __init__(self) -> None:
        self._desk = Desk()
        self._held = ""
        self._turn = threading.Lock()

    def ask(self, pdf: Pdf, request: Mapping[str, Any]) -> Reply:
        # pdfium is not made for several threads.
        with self._turn:
            asked, content = _asked(pdf, request, self._held)
            self._held = ""
            reply = self._desk.answer(asked, content)
            self._held = _held(reply, pdf)
            return _understood(reply, pdf)

    def close(self) -> None:
        with self._turn:
            self._desk.close()
            self._held = ""


class Drawers:
    """Draws in processes that are started when they are needed, and leave when nobody needs them for a while."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._places = threading.Semaphore(_MOST)
        self._turn = threading.Lock()
        self._idle: list[_Process] = []
        self._all: set[_Process] = set()
        self._given_up: dict[tuple[str, str], _GivenUp] = {}
        """What took too long, or was a process's death."""

    def ask(self, pdf: Pdf, request: Mapping[str, Any]) -> Reply:
        key = (pdf.digest, str(sorted(request.items())))
        if (given_up := self._given_up.get(key)) and time.monotonic() < given_up.until:
            raise given_up.error(pdf)
        with self._process(pdf.digest) as process:
            reply, was_used = process.ask(pdf, request, self._allowance.seconds), process.was_used
        if reply is None and was_used and not process.is_overdue:
            # It may have left a moment ago, or died of what an earlier file left behind in it.
            with self._process(pdf.digest) as process:
                reply = process.ask(pdf, request, self._allowance.seconds)
        if reply is None:
            raise self._give_up(process, key).error(pdf)
        return _understood(reply, pdf)

    def close(self) -> None:
        with self._turn:
            self._idle.clear()
            while self._all:
                self._all.pop().stop()

    @contextmanager
    def _process(self, digest: str) -> Iterator[_Process]:
        """One that nobody else uses meanwhile, with this PDF open if there is such a one."""
        if not self._places.acquire(timeout=_PATIENCE):
            raise Unavailable("too many pages are being drawn at once", hint="Try again in a moment.")
        try:
            process = self._taken(digest)
            try:
                yield process
            finally:
                self._put_back(process)
        finally:
            self._places.release()

    def _taken(self, digest: str) -> _Process:
        with self._turn:
            for process in [one for one in self._idle if not one.is_alive]:
                self._let_go(process)
            if not self._idle:
                return self._started()
            process = next((one for one in self._idle if one.holds == digest), self._idle[0])
            self._idle.remove(process)
            return process

    def _started(self) -> _Process:
        process = _Process(self._allowance)
        self._all.add(process)
        return process

    def _put_back(self, process: _Process) -> None:
        with self._turn:
            if process.is_sound and process in self._all:
                self._idle.append(process)
            else:
                self._let_go(process)

    def _let_go(self, process: _Process) -> None:
        self._all.discard(process)
        if process in self._idle:
            self._idle.remove(process)
        process.stop()

    def _give_up(self, process: _Process, key: tuple[str, str]) -> _GivenUp:
        if len(self._given_up) >= _MOST_REMEMBERED:
            self._given_up.clear()
        self._given_up[key] = given_up = self._reason(process, time.monotonic() + _NOT_AGAIN)
        return given_up

    def _reason(self, process: _Process, until: float) -> _GivenUp:
        allowed, code = self._allowance, process.stop()
        if process.is_overdue:
            return _GivenUp(until, BudgetExceeded, f"takes longer than {allowed.seconds:g} s to draw")
        if code == OUT_OF_MEMORY:
            return _GivenUp(until, BudgetExceeded, f"takes more than {allowed.megabytes} MB of memory to draw")
        return _GivenUp(until, ParserCrashed, f"cannot be drawn: pdfium {ending(code)}")


class _GivenUp(NamedTuple):
    """Why a page is not drawn, and until when that is not tried again."""

    until: float
    kind: type[SourceError]
    reason: str

    def error(self, pdf: Pdf) -> SourceError:
        return self.kind(f"a page of {pdf.name!r} {self.reason}")


class _Process(Child):
    holds = ""
    """The digest of the PDF that it has open."""
    is_sound = False
    was_used = False

    def __init__(self, allowance: Allowance) -> None:
        super().__init__("carrel.isolation.drawer", asdict(allowance), _LARGEST_REPLY)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, pdf: Pdf, request: Mapping[str, Any], seconds: float) -> Reply | None:
        asked, content = _asked(pdf, request, self.holds)
        self.was_used, self.is_sound = self.is_sound, False
        try:
            reply = self.exchange(seconds, asked, content)
        except (ValueError, RecursionError):
            return None
        if reply is None or not isinstance(reply[0], dict):
            return None
        self.is_sound, self.holds = True, _held(reply, pdf)
        return reply


def _asked(pdf: Pdf, request: Mapping[str, Any], held: str) -> Reply:
    """A request as it is sent, with the PDF if it is not open already."""
    is_new = held != pdf.digest
    return {**request, "name": pdf.name, "is_new": is_new}, pdf.read() if is_new else b""


def _held(reply: Reply, pdf: Pdf) -> str:
    return pdf.digest if reply[0].get("is_open") is True else ""


def _understood(reply: Reply, pdf: Pdf) -> Reply:
    match reply[0]:
        case {"refused": str(message), "hint": str(hint)}:
            raise NotFound(line(message), hint=line(hint))
        case {"failed": str(words)}:
            raise ParserCrashed(f"a page of {pdf.name!r} cannot be drawn ({line(words)})")
    return reply
