"""What a generator says, sentence by sentence, as soon as each is complete."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MARKS = re.compile(r"\s*((?:\[\d+\]\s*)+)$")


class Said(NamedTuple):
    """A sentence, and the numbers of the excerpts that it claims to rest on."""

    text: str
    numbers: tuple[int, ...] = ()


def read(pieces: Iterable[str]) -> Iterator[Said]:
    waiting = ""
    for piece in pieces:
        *complete, waiting = (waiting + piece).split("\n")
        yield from map(_said, filter(str.strip, complete))
    if waiting.strip():
        yield _said(waiting)


def _said(line: str) -> Said:
    line = line.strip()
    marks = _MARKS.search(line)
    if not marks:
        return Said(line)
    return Said(line[: marks.start()].strip(), tuple(map(int, re.findall(r"\d+", marks.group(1)))))
