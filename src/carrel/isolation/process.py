"""One worker that papers are read in, as its parent sees it."""

from __future__ import annotations

import signal
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from carrel import errors
from carrel.errors import BudgetExceeded, ParserCrashed, SourceError, TooLarge
from carrel.ingest.entries import too_large
from carrel.isolation import messages, papers
from carrel.isolation.bounds import OUT_OF_MEMORY
from carrel.isolation.child import Child, ending, line
from carrel.isolation.worker import MORE_TIME, MOST_PICTURES

if TYPE_CHECKING:
    from carrel.parsers import Source
    from carrel.types import Paper

_BYTES_A_CHARACTER = 4
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


class Process(Child):
    is_sound = False
    """It may be asked again."""
    was_used = False
    """Before the last file there was another."""
    _is_recognising = False

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        most = budget.characters * _BYTES_A_CHARACTER + MOST_PICTURES
        super().__init__("carrel.isolation.worker", asdict(budget), most)

    def read(self, source: Source, parser_name: str) -> Paper:
        path = str(source.path.absolute()) if source.path else ""
        request = {"parser": parser_name, "name": source.name, "path": path}
        self.was_used, self.is_sound, self.is_overdue = self.is_sound, False, False
        self._is_recognising = False
        try:
            reply = self.exchange(self._budget.seconds, request, source.content)
            for _ in range(self._budget.ocr_pages):
                if reply != (MORE_TIME, b""):
                    break
                self._is_recognising = True
                reply = self.exchange(self._budget.ocr_seconds)
            if reply is None:
                raise self._death(source, parser_name)
            return self._understood(*reply, source, parser_name)
        except messages.Excess as error:
            raise _too_much(source) from error
        except (ValueError, RecursionError) as error:
            reason = f"the {parser_name} reader gave back what is no paper: {line(str(error))}"
            raise _unreadable(ParserCrashed, source, reason, _DAMAGED) from error

    def _understood(self, reply: object, data: bytes, source: Source, parser_name: str) -> Paper:
        match reply:
            case {"paper": structure, "text": int(text), "images": list(images)}:
                paper = papers.unpacked(structure, text, images, data)
                self.is_sound = True
                return paper
            case {"refused": str(kind), "message": str(message), "hint": str(hint)}:
                self.is_sound = True
                raise _source_error(kind)(line(message), hint=line(hint))
            case {"too_long": int(size)}:
                self.is_sound = True
                raise too_large(source.name, size, self._budget.characters)
            case {"too_much": True}:
                raise _too_much(source)
            case {"failed": str(words)}:
                reason = f"the {parser_name} reader failed ({line(words)})"
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
        return _unreadable(ParserCrashed, source, f"the {parser_name} reader {ending(code)}", hint)


def _unreadable(kind: type[SourceError], source: Source, reason: str, hint: str) -> SourceError:
    return kind(f"{source.name!r} cannot be read: {reason}", hint=hint)


def _too_much(source: Source) -> SourceError:
    return _unreadable(TooLarge, source, "what was read of it, pictures included, is too large", "Split it.")


def _source_error(name: str) -> type[SourceError]:
    kind = getattr(errors, name, None)
    return kind if isinstance(kind, type) and issubclass(kind, SourceError) else SourceError
