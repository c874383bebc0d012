"""Waiting until something happens at the known locations."""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from carrel.errors import CarrelError
from carrel.ingest.scanning import YOUNG
from carrel.references.zotero_api import is_address
from carrel.types import AddReport, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from carrel.library import Library

QUIET = 1.0
"""Seconds for which a file has to be left in peace before it is read."""
_TICK = 1.0
"""Seconds between two looks at what is to be watched."""
_PAUSE = 5.0
"""Seconds until another try after a failure."""
_STEP = 500
_LONGEST = 5_000
"""Milliseconds without a change, and with changes all the time, after which it is time to look."""


def follow(library: Library, *, poll: float, tell: Callable[[AddReport], None]) -> None:
    """Sync whenever something changed, and every `poll` seconds for what cannot be watched, until told to end."""
    watch, due = Watch(), 0.0
    with _ended_by_signals(), watch:
        while True:
            try:
                is_other = watch.aim_at(_places(library))
                if is_other or watch.take() or time.monotonic() >= due:
                    report = library.sync(quiet=QUIET)
                    tell(report)
                    due = time.monotonic() + (QUIET if _is_waiting(report) else poll)
            # Whatever one look met, the next may go well.
            except Exception as error:
                reason = error.message if isinstance(error, CarrelError) else f"{type(error).__name__}: {error}"
                tell(AddReport(failed=(Problem(str(library.layout.root), reason),)))
                due = time.monotonic() + _PAUSE
            watch.changed.wait(_TICK)


def _is_waiting(report: AddReport) -> bool:
    return any(problem.reason == YOUNG for problem in report.skipped)


def _places(library: Library) -> dict[Path, int]:
    """The files and folders that can be watched; a folder that is another than before is another place."""
    folder = library.layout.root.parent.resolve()
    paths = [folder / one.path for one in library.sources() if not is_address(one.path)]
    return {path: path.stat().st_ino if path.is_dir() else 0 for path in paths if path.parent.is_dir()}


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Ctrl-C and a polite kill end the block, and that is no error."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, before)


@dataclass
class Watch:
    """Threads that wait for the system's word."""

    changed: Event = field(default_factory=Event)
    _places: dict[Path, int] | None = None
    _stop: Event = field(default_factory=Event)
    _threads: list[Thread] = field(default_factory=list)

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_error: object) -> None:
        self._end()

    def take(self) -> bool:
        """Whether something changed since this was last asked."""
        was_set = self.changed.is_set()
        self.changed.clear()
        return was_set

    def aim_at(self, places: dict[Path, int]) -> bool:
        """Watch these from now on; returns whether they are others than before."""
        if places == self._places:
            return False
        self._end()
        self._places, self._stop = places, Event()
        folders = [path for path in places if path.is_dir()]
        # An editor replaces a file by another: it is the folder that has the news.
        files = [path for path in places if path not in folders]
        self._start(folders, lambda path: _is_shown(path, folders), recursive=True)
        kinds = {(path.parent, path.suffix) for path in files}
        self._start({path.parent for path in files}, lambda path: (path.parent, path.suffix) in kinds, recursive=False)
        return True

    def _start(self, paths: Iterable[Path], wanted: Callable[[Path], bool], *, recursive: bool) -> None:
        watched = [path for path in paths if path.is_dir()]
        if not watched:
            return
        ready = Event()
        options = {"wanted": wanted, "recursive": recursive, "ready": ready, "stop": self._stop}
        thread = Thread(target=self._watch, args=(watched,), kwargs=options, daemon=True)
        thread.start()
        self._threads.append(thread)
        ready.wait(_PAUSE)

    def _watch(
        self, paths: list[Path], *, wanted: Callable[[Path], bool], recursive: bool, ready: Event, stop: Event
    ) -> None:
        from watchfiles import watch

        changes = watch(
            *paths,
            watch_filter=lambda _, path: wanted(Path(path)),
            debounce=_LONGEST,
            step=_STEP,
            rust_timeout=_STEP,
            yield_on_timeout=True,
            stop_event=stop,
            raise_interrupt=False,
            recursive=recursive,
            ignore_permission_denied=True,
        )
        try:
            for some in changes:
                # The first word, if only of silence, says that the system has been asked to tell.
                ready.set()
                if some:
                    self.changed.set()
        except OSError:
            # A folder went away, or the system watches no more files: the next poll looks.
            ready.set()

    def _end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(_PAUSE)
        self._threads = []


def _is_shown(path: Path, folders: Iterable[Path]) -> bool:
    """Whether neither the file nor a folder on the way to it is hidden."""
    ways = [path.relative_to(folder).parts for folder in folders if path.is_relative_to(folder)]
    return any(not any(part.startswith(".") for part in way) for way in ways)
