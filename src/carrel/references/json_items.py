"""The items of a JSON export, one after the other: a broken one costs what follows it, not what came before."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from carrel.references.texts import untold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.references.texts import Tell

_ITEMS_BETWEEN = 200
"""Items read between two words of progress."""
_SPACE = re.compile(r"[ \t\r\n]*+")
_LISTS = frozenset({"items", "references", "data"})
_DECODER = json.JSONDecoder(strict=False)


class BrokenJson(ValueError):
    """Where a file stops being JSON."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


@dataclass
class Items:
    """An array of objects, or an object with such an array under `items`."""

    text: str
    tell: Tell = untold
    around: dict[str, Any] = field(default_factory=dict)
    """What an object says before its items."""
    _position: int = 0
    _counted: int = 0
    _line: int = 1

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        """Each item with its line. Raises BrokenJson where the text breaks off, after all that came before."""
        sign = self._next_sign()
        if sign == "[":
            yield from self._array()
        elif sign == "{":
            yield from self._object()
        else:
            raise BrokenJson(self._here(), "it is not JSON: neither an array nor an object")

    def _array(self) -> Iterator[tuple[int, Any]]:
        self._position += 1
        number = 0
        while (sign := self._next_sign()) != "]":
            if sign == ",":
                self._position += 1
                continue
            if not number % _ITEMS_BETWEEN:
                self.tell(self._position, len(self.text))
            number += 1
            line = self._here()
            yield line, self._decode()
        self._position += 1

    def _object(self) -> Iterator[tuple[int, Any]]:
        start, self._position = self._position, self._position + 1
        listed = False
        while (sign := self._next_sign()) != "}":
            if sign == ",":
                self._position += 1
                continue
            name = self._decode()
            if self._next_sign() != ":":
                raise BrokenJson(self._here(), "it is not JSON: a ':' is missing")
            self._position += 1
            if name in _LISTS and self._next_sign() == "[":
                listed = True
                yield from self._array()
            else:
                self.around[str(name)] = self._decode()
        if not listed:
            self._position = start
            yield self._here(), self.around

    def _next_sign(self) -> str:
        found = _SPACE.match(self.text, self._position)
        self._position = found.end() if found else self._position
        if self._position >= len(self.text):
            raise BrokenJson(self._here(), "the JSON breaks off; what came before is read")
        return self.text[self._position]

    def _decode(self) -> Any:  # noqa: ANN401
        self._next_sign()
        try:
            value, self._position = _DECODER.raw_decode(self.text, self._position)
        except RecursionError as error:
            raise BrokenJson(self._here(), "it is nested too deeply") from error
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise BrokenJson(self._here(), f"it is not JSON: {reason}; what came before is read") from error
        return value

    def _here(self) -> int:
        """The line of the position; counted on from the last, not from the beginning."""
        if self._position >= self._counted:
            self._line += self.text.count("\n", self._counted, self._position)
            self._counted = self._position
        return self._line
