"""Workers for a batch of files: started when the first is needed, used again, replaced when one dies."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Self

from carrel import registry
from carrel.errors import BudgetExceeded, ParserCrashed, UnknownComponent
from carrel.isolation.process import Process

if TYPE_CHECKING:
    from types import TracebackType

    from carrel.isolation.process import Budget
    from carrel.parsers import Parser, Source
    from carrel.types import Paper


class Workers:
    """Reads files by the registry's parsers, in processes that live as long as the `with` block.

    Several threads may ask at once: each has a process to itself. After `close` the next file starts a new one.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._idle: list[Process] = []
        self._all: set[Process] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._idle.clear()
        while self._all:
            self._all.pop().stop()

    def isolated(self, name: str) -> Parser:
        """The registry's parser of this name, its work done by a worker."""
        return _Isolated(registry.make("parsers", name), name, self)

    def parse(self, source: Source, parser_name: str) -> Paper:
        """What a parser reads of a file; a `SourceError` whatever becomes of the process it is read in."""
        if parser_name not in self._names:
            raise UnknownComponent(
                f"no parser is called {parser_name!r}", hint=f"There are: {', '.join(sorted(self._names))}."
            )
        process = self._free()
        try:
            return self._read(process, source, parser_name)
        except (ParserCrashed, BudgetExceeded):
            if process.is_overdue or not process.was_used:
                raise
        # It may have failed by what an earlier file left behind in it.
        return self._read(self._started(), source, parser_name)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(registry.names("parsers"))

    def _free(self) -> Process:
        try:
            return self._idle.pop()
        except IndexError:
            return self._started()

    def _started(self) -> Process:
        process = Process(self._budget)
        self._all.add(process)
        return process

    def _read(self, process: Process, source: Source, parser_name: str) -> Paper:
        try:
            return process.read(source, parser_name)
        finally:
            if process.is_sound:
                self._idle.append(process)
            else:
                self._all.discard(process)
                process.stop()


class _Isolated:
    def __init__(self, parser: Parser, registered: str, workers: Workers) -> None:
        self.name = parser.name
        self.suffixes = parser.suffixes
        self._registered = registered
        self._workers = workers

    def parse(self, source: Source) -> Paper:
        return self._workers.parse(source, self._registered)
