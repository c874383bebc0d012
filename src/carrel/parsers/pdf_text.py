"""From the parts of a paper to its text: lines joined, divided words made whole, and where each line went."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.parsers.pdf_pieces import HYPHEN
from carrel.types import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from carrel.parsers.pdf_parts import Part
    from carrel.parsers.pdf_rows import Line

_BY_LINES = frozenset({BlockKind.TABLE, BlockKind.CODE, BlockKind.FIGURE, BlockKind.FORMULA})
"""Kinds whose lines stay lines."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST_WORD = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)-$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_UNSPACED = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]{2}")
"""Chinese and Japanese have no blanks where a line ends."""
_DASHED = re.compile(r"^\w[–—]\w")
_ADDRESS = re.compile(r"(?:https?:|www\.)\S*[/.?=&_]$")
_LONGEST_WORD, _LONGEST_ADDRESS = 80, 300
"""Characters looked at: a line may be one word of a hundred thousand."""
_DASH_ENDS = ("-", HYPHEN)
_WHOLE_WORD = 4
"""Letters; shorter ones are syllables as often as words."""
_OPEN = frozenset({
    "as", "well", "self", "high", "low", "long", "short", "open", "real", "time", "cross", "large", "small",
    "full", "fine", "coarse", "end", "state", "so", "two", "three", "four", "five", "one", "first", "second",
    "third", "single", "double", "multi", "non", "user", "peer", "data", "task", "domain", "medium", "co",
})  # fmt: skip
"""What begins words with a hyphen, before another whole word."""
_CLOSED = frozenset({
    "with", "over", "under", "some", "there", "where", "here", "any", "every", "after", "inter", "super",
    "back", "through", "frame", "hand", "base", "pre", "dis", "mis", "out", "sub",
})  # fmt: skip
"""What begins words without."""
_TAILS = frozenset({
    "based", "level", "sized", "driven", "specific", "free", "dependent", "independent", "aware", "scale",
    "quality", "oriented", "related", "trained", "tuned", "tuning", "known", "defined", "informed",
    "supervised", "purpose", "shot", "dimensional", "world", "art", "needed", "efficient", "intensive",
    "consuming", "friendly", "guided", "the", "of", "to",
})  # fmt: skip
"""What ends words with a hyphen."""


@dataclass(frozen=True, slots=True)
class Span:
    line: Line
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Written:
    text: str
    parts: tuple[tuple[int, int], ...]
    """Where each part begins and ends."""
    spans: tuple[Span, ...]


class Words:
    """The words of a paper, to tell how one that a line's end divides is written."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.counts: Counter[str] = Counter()
        for line in lines:
            text = line.text if not line.text.endswith(_DASH_ENDS) else line.text.rpartition(" ")[0]
            self.counts.update(word.lower() for word in _WORD.findall(text))

    def keeps_hyphen(self, before: str, after: str) -> bool:
        """Whether `before-` and `after` are written with a hyphen when they stand in one line."""
        last, first = _LAST_WORD.search(before[-_LONGEST_WORD:]), _FIRST_WORD.match(after[:_LONGEST_WORD])
        if not last or not first:
            return True
        head, tail = last[1].lower(), first[0].lower()
        whole = self.counts[head + tail] + (self.counts[head.replace("-", "") + tail] if "-" in head else 0)
        parted = self.counts[f"{head}-{tail}"]
        if whole or parted:
            return parted > whole
        if "-" in head or not after[0].islower():
            return True
        if head in _CLOSED:
            return False
        whole_words = min(len(head), len(tail)) >= _WHOLE_WORD and self.counts[head] > 0
        return (len(head) > 2 and tail in _TAILS) or (self.counts[tail] > 0 and (head in _OPEN or whole_words))


def written(parts: Sequence[Part]) -> Written:
    words = Words(line for part in parts for line in part.lines)
    pieces: list[str] = []
    where: list[tuple[int, int]] = []
    spans: list[Span] = []
    position = 0
    for part in parts:
        start = position
        for line, text, gap in _lines(part, words):
            spans.append(Span(line, position, position + len(text)))
            pieces += (text, gap)
            position += len(text) + len(gap)
        where.append((start, spans[-1].end))
        pieces.append("\n\n")
        position += 2
    return Written("".join(pieces).rstrip("\n") + "\n", tuple(where), tuple(spans))


def _lines(part: Part, words: Words) -> Iterator[tuple[Line, str, str]]:
    """Each line's text, and what comes between it and the next."""
    edge = min(line.left for line in part.lines)
    for index, line in enumerate(part.lines):
        last = index + 1 == len(part.lines)
        if part.kind in _BY_LINES:
            yield line, _set_off(line, part.kind, edge), "" if last else "\n"
        else:
            text, gap = _prose(line.text, "" if last else part.lines[index + 1].text, words)
            yield line, text, "" if last else gap


def _set_off(line: Line, kind: BlockKind, edge: float) -> str:
    text = ("  " if kind == BlockKind.TABLE else " ").join(piece.text for piece in line.pieces)
    text = text.replace(HYPHEN, "-")
    if kind != BlockKind.CODE:
        return text
    width = max((line.right - line.left) / max(len(text), 1), 1.0)
    return " " * min(round((line.left - edge) / width), 40) + text


def _prose(text: str, following: str, words: Words) -> tuple[str, str]:
    if not text.endswith(_DASH_ENDS) or not following:
        goes_on = _UNSPACED.match(text[-1:] + following[:1]) or _DASHED.match(text[-2:] + following[:1])
        return text.replace(HYPHEN, "-"), "" if goes_on or _ADDRESS.search(text[-_LONGEST_ADDRESS:]) else " "
    plain = text[:-1].rstrip("-") + "-" if text.endswith(HYPHEN) else text
    if not plain[-2:-1].isalnum():
        return plain, " "
    return (plain if words.keeps_hyphen(plain, following) else plain[:-1]), ""
