"""The entries of a BibTeX file: cut out line by line, so that one that never ends costs only itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_START = re.compile(r"(?<![\w\\])@\s*(?P<kind>[A-Za-z][\w-]*)\s*(?P<brace>[{(])")
# Inside of an entry only this is the beginning of another: the one before was never closed.
_SURE_START = re.compile(
    r"\s*@\s*(?:[A-Za-z][\w-]*\s*[{(]\s*[^\s{}(),=\"]+\s*,|(?:comment|string|preamble)\s*[{(])", re.I
)
_GOES_ON = re.compile(r"\s*,\s*(?:[\w-]+\s*=|$)")
_BRACE = re.compile(r"[{}]")
_ANY_BRACE = re.compile(r"\\?[{}]")
_ROUND = re.compile(r'[{}")]')
_KEY_END = re.compile(r"[,=\"{}\n]")
# From the beginning of a word only, and never back: what is between fields may be a megabyte of anything.
_NAME = re.compile(r"(?<![^\s=,{}\"#()])(?P<name>[^\s=,{}\"#()]++)\s*+=\s*+")
_BARE = re.compile(r"[^\s,#{}\"=]+")
_HASH = re.compile(r"\s*#\s*")
_NEXT_FIELD = re.compile(r",[ \t]*+\n[ \t]*+[\w-]++[ \t]*+=")
_SHORT_LINE = 10_000
_MOST_REPAIRS = 20
_QUOTE = re.compile(r'[{}"]')


class Piece(NamedTuple):
    """A part of a value: text, or the name of a macro."""

    text: str
    is_macro: bool = False


class Entry(NamedTuple):
    kind: str
    key: str
    line: int
    fields: dict[str, tuple[Piece, ...]]
    faults: tuple[str, ...] = ()


@dataclass
class _Open:
    """An entry whose end has not come yet."""

    kind: str
    line: int
    brace: str
    depth: int = 1
    quoted: bool = False
    stray: bool = False
    parts: list[str] = field(default_factory=list)

    def end_in(self, text: str, start: int) -> int:
        """Where it ends in this line; -1 when it goes on."""
        return self._round_end(text, start) if self.brace == "(" else self._end(text, start)

    def _end(self, text: str, start: int) -> int:
        # A shortcut for most lines. Not for long ones: a file of one line would be counted again by every entry.
        if len(text) < _SHORT_LINE and (closed := text.count("}", start)) < self.depth:
            self.depth += text.count("{", start) - closed
            return -1
        for found in _BRACE.finditer(text, start):
            self.depth += 1 if found.group() == "{" else -1
            if not self.depth and not self._has_stray_brace(text, found.end()):
                return found.start()
        return -1

    def _has_stray_brace(self, text: str, end: int) -> bool:
        """`title = {A}},` and then more fields: one brace too many, not the end."""
        if not _GOES_ON.match(text, end):
            return False
        self.depth, self.stray = 1, True
        return True

    def _round_end(self, text: str, start: int) -> int:
        for found in _ROUND.finditer(text, start):
            sign = found.group()
            if sign == "{":
                self.depth += 1
            elif sign == "}":
                self.depth = max(self.depth - 1, 1)
            elif self.depth == 1 and sign == '"':
                self.quoted = not self.quoted
            elif self.depth == 1 and sign == ")" and not self.quoted:
                return found.start()
        return -1

    def entry(self, *, closed: bool) -> Entry:
        return _parse(self.kind.lower(), self.line, "".join(self.parts), closed=closed or self.stray)


def read(lines: Iterable[str]) -> Iterator[Entry]:
    """Every entry, `@string` and `@preamble` among them, in the order of the file."""
    current: _Open | None = None
    for number, text in enumerate(lines, start=1):
        position = 0
        if current and _SURE_START.match(text):
            yield current.entry(closed=False)
            current = None
        while position < len(text):
            if current is None:
                begun = _begin(text, position)
                if begun is None:
                    break
                position = begun.end()
                current = _Open(begun["kind"], number, begun["brace"])
            end = current.end_in(text, position)
            current.parts.append(text[position : end if end >= 0 else len(text)])
            if end < 0:
                break
            yield current.entry(closed=True)
            current, position = None, end + 1
    if current:
        yield current.entry(closed=False)


def _begin(text: str, position: int) -> re.Match[str] | None:
    # Between entries everything is a comment, but a `%` is meant to silence even an entry.
    if not position and text.lstrip().startswith("%"):
        return None
    return _START.search(text, position)


def _parse(kind: str, line: int, body: str, *, closed: bool) -> Entry:
    if kind in ("comment", "preamble"):
        return Entry(kind, "", line, {})
    key, position = ("", 0) if kind == "string" else _key(body)
    fields: dict[str, tuple[Piece, ...]] = {}
    faults: list[str] = []
    while found := _NAME.search(body, position):
        pieces, position = _value(body, found.end())
        name = found["name"].lower()
        if position < 0:
            pieces, position = _up_to_the_next(body, found.end())
            faults.append(f"the field {name!r} is never closed; it was read up to the next field")
        if len(faults) > _MOST_REPAIRS:
            break
        if pieces and not _says_something(fields.get(name)):
            fields[name] = pieces
    if not closed and not faults:
        faults.append("its closing brace is missing; it was read up to the next entry")
    return Entry(kind, key, line, fields, tuple(faults))


def _says_something(pieces: tuple[Piece, ...] | None) -> bool:
    """Of a field that stands twice the first counts, unless it is empty."""
    return bool(pieces) and any(piece.text.strip() for piece in pieces or ())


def _key(body: str) -> tuple[str, int]:
    """The key and where the fields begin; EndNote writes entries without one."""
    start = len(body) - len(body.lstrip())
    found = _KEY_END.search(body, start)
    if found and found.group() not in ",\n":
        return "", 0
    end = found.start() if found else len(body)
    return body[start:end].strip(), end


def _value(body: str, position: int) -> tuple[tuple[Piece, ...], int]:
    """The pieces of a value that `#` joins, and where it ends; -1 when it never does."""
    pieces: list[Piece] = []
    while True:
        sign = body[position : position + 1]
        if sign == "{":
            end = _closing_brace(body, position)
            pieces.append(Piece(body[position + 1 : end]))
        elif sign == '"':
            end = _closing_quote(body, position)
            pieces.append(Piece(body[position + 1 : end]))
        elif bare := _BARE.match(body, position):
            end = bare.end() - 1
            pieces.append(Piece(bare.group(), is_macro=not bare.group().isdigit()))
        else:
            return tuple(pieces), position
        if end < 0:
            return (), -1
        more = _HASH.match(body, end + 1)
        if not more:
            return tuple(pieces), end + 1
        position = more.end()


def _up_to_the_next(body: str, position: int) -> tuple[tuple[Piece, ...], int]:
    """What stands between the brace or quote that nothing closes and the line of the next field."""
    found = _NEXT_FIELD.search(body, position)
    end = found.start() if found else len(body)
    # Without any brace: those that are left do not pair.
    return (Piece(_ANY_BRACE.sub("", body[position + 1 : end].rstrip().removesuffix('"'))),), end


def _closing_brace(body: str, position: int) -> int:
    depth = 0
    for found in _BRACE.finditer(body, position):
        depth += 1 if found.group() == "{" else -1
        if not depth:
            return found.start()
    return -1


def _closing_quote(body: str, position: int) -> int:
    depth = 0
    for found in _QUOTE.finditer(body, position + 1):
        if found.group() == '"':
            if depth <= 0:
                return found.start()
        else:
            depth += 1 if found.group() == "{" else -1
    return -1
