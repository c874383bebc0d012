"""Files of one JSON object a line, of which every line that is not changed stays as it is, byte for byte."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.errors import InvalidInput, SourceError
from carrel.files import write_atomically
from carrel.types import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

_BOM = b"\xef\xbb\xbf"
_MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>")
_LONGEST = 1_000_000
"""Characters of a line: bip reads no longer ones."""
# As Go writes JSON, so that a file that both programs write does not change from one to the other.
_ESCAPED = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    raw: bytes
    """As it stands in the file, its end included."""
    record: Mapping[str, Any] | None = None
    fault: str = ""
    """Why it is no record; empty also for a line of nothing."""

    @property
    def end(self) -> bytes:
        return self.raw[len(self.raw.rstrip(b"\r\n")) :]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file as it was read."""

    path: Path
    lines: tuple[Line, ...] = ()

    @property
    def records(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Every record, with the number of its line."""
        return ((line.number, line.record) for line in self.lines if line.record is not None)

    @property
    def problems(self) -> list[Problem]:
        """Every line that is no record."""
        name = self.path.name
        return [Problem(f"{name}, line {line.number}", line.fault) for line in self.lines if line.fault]

    def write(self, changes: Mapping[int, Mapping[str, Any] | None], new: Sequence[Mapping[str, Any]] = ()) -> None:
        """Change members of the records on these lines, or drop the lines (None), and add records at the end."""
        self._refuse_conflict()
        kept = b"".join(
            line.raw if line.number not in changes else _changed(line, changes[line.number]) for line in self.lines
        )
        if kept and new and not kept.endswith(b"\n"):
            kept += b"\n"
        write_atomically(self.path, kept + b"".join(_checked(f"{_compact(record)}\n") for record in new))

    def _refuse_conflict(self) -> None:
        markers = [line.number for line in self.lines if line.raw.startswith(_MARKERS)]
        if markers:
            raise InvalidInput(
                f"git left a conflict in {self.path.name}, lines {markers[0]} to {markers[-1]}",
                hint="Keep the lines you want, delete the markers, and run the same command again.",
            )


def read(path: Path, keys: Iterable[str]) -> Sheet:
    """A file whose records are the objects that have a text under each of these keys; empty if it is not there."""
    if not path.exists():
        return Sheet(path)
    return Sheet(path, tuple(_line(number, raw, keys) for number, raw in enumerate(lines(path), start=1)))


def lines(path: Path) -> Iterator[bytes]:
    """The lines of a file as they are."""
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        reason = error.strerror or str(error)
        raise SourceError(f"cannot read {str(path)!r}: {reason}", hint="Look at the file's permissions.") from error


def is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _line(number: int, raw: bytes, keys: Iterable[str]) -> Line:
    body = raw.removeprefix(_BOM) if number == 1 else raw
    if not body.strip():
        return Line(number, raw)
    try:
        record = json.loads(body.decode())
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        return Line(number, raw, fault="no JSON object")
    lacking = [key for key in keys if not is_text(record.get(key))]
    return Line(number, raw, fault=f"it has no {', no '.join(lacking)}") if lacking else Line(number, raw, record)


def _changed(line: Line, changes: Mapping[str, Any] | None) -> bytes:
    """The line with other values under some keys, or without them where a value is None; the rest as it was written."""
    if changes is None:
        return b""
    text = line.raw.decode("utf-8-sig" if line.number == 1 else "utf-8").strip()
    written = dict(_members(text)) | {key: _compact(value) for key, value in changes.items()}
    dropped = {key for key, value in changes.items() if value is None}
    members = (f"{_compact(key)}:{value}" for key, value in written.items() if key not in dropped)
    return _checked(f"{{{','.join(members)}}}") + (line.end or b"\n")


def _members(text: str) -> Iterator[tuple[str, str]]:
    """The keys of a JSON object and their values as they are written."""
    decoder, at = json.JSONDecoder(), 0
    while (start := text.find('"', at)) >= 0:
        key, at = decoder.raw_decode(text, start)
        begin = text.index(":", at) + 1
        while text[begin].isspace():
            begin += 1
        _, at = decoder.raw_decode(text, begin)
        yield key, text[begin:at]


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPED)


def _checked(line: str) -> bytes:
    if len(line) > _LONGEST:
        raise InvalidInput(
            f"the record would be a line of {len(line):,} characters, more than {_LONGEST:,}",
            hint="Say it in fewer words.",
        )
    # Half a character, as only an escape of JSON can say it, becomes that escape again.
    return line.encode("utf-8", "backslashreplace")
