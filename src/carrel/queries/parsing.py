"""A query taken apart: fields, quoted phrases, and the rest. Whatever is neither is plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.queries.fields import NO_FIELDS, take
from carrel.types import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.queries.fields import Fields

_QUOTED = r'"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»'
_FIELD = re.compile(rf"(?<!\S)(?P<name>author|title|venue|tag|year):(?P<value>{_QUOTED}|[^\s\"“„«]+)", re.IGNORECASE)
_PHRASE = re.compile(rf"(?<![^\s(\[])(?P<quoted>{_QUOTED})(?!\w)")
_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_MOST_PHRASES = 8


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the query; a phrase is one without its quotation marks."""

    text: str
    is_phrase: bool = False


@dataclass(frozen=True, slots=True)
class Parsed:
    pieces: tuple[Piece, ...]
    """In order, without the fields."""
    fields: Fields = NO_FIELDS
    steps: tuple[Step, ...] = ()

    @property
    def text(self) -> str:
        return joined(self.pieces)

    @property
    def phrases(self) -> tuple[str, ...]:
        return tuple(piece.text for piece in self.pieces if piece.is_phrase)


def parse(query: str, *, fields: bool = True, phrases: bool = True) -> Parsed:
    """Any text is a query."""
    text, asked, steps = readable(query), NO_FIELDS, list[Step]()
    if fields:
        text, asked = _without_fields(text, steps)
    return Parsed(tuple(_pieces(text)) if phrases else (Piece(text),), asked, tuple(steps))


def readable(text: str) -> str:
    """The text without control characters, and without the halves of characters that bytes from elsewhere leave."""
    return _UNWRITABLE.sub(" ", text.encode("utf-8", "replace").decode())


def joined(pieces: tuple[Piece, ...]) -> str:
    return " ".join("".join(piece.text for piece in pieces).split())


def _without_fields(text: str, steps: list[Step]) -> tuple[str, Fields]:
    kept, end, fields = "", 0, NO_FIELDS
    for match in _FIELD.finditer(text):
        taken = take(fields, match["name"], _value(match["value"]))
        if taken:
            fields, step = taken
            steps.append(step)
            kept += text[end : match.start()]
            end = match.end()
    return kept + text[end:], fields


def _value(text: str) -> str:
    """Without its quotation marks, or without the punctuation of the sentence it stands in."""
    return text[1:-1] if text[0] in '"“„«' else text.rstrip(",;.!?)]")


def _pieces(text: str) -> Iterator[Piece]:
    end = 0
    for match in list(_PHRASE.finditer(text))[:_MOST_PHRASES]:
        inside = " ".join(match["quoted"][1:-1].split())
        if any(character.isalnum() for character in inside):
            yield Piece(text[end : match.start()])
            yield Piece(inside, is_phrase=True)
            end = match.end()
    yield Piece(text[end:])
