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
    from carrel.parsers.pdf_pieces import Piece
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
_SUSPENDED = re.compile(r"(?:and|or|und|oder)\s")
"""After a hyphen: `token- and sentence-level`."""
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
_SYLLABLES = frozenset({"as", "so", "co"})
"""Of those that begin words with a hyphen, what begins as many without."""
_SUFFIX = re.compile(
    r"(?:m|n|t|l|r|p|d|b|g)?ings?(?:ly)?|ments?|mental(?:ly)?|[ts]ions?|[ts]ional(?:ly)?|nes+es|ness|less(?:ly|ness)?|"
    r"ful(?:ly|ness)?|(?:a|i)(?:ble|bly|bility|bilities)|i[sz](?:ations?|ed|es|er|ers|ing)|ically|ical|istic(?:s|ally)?|"
    r"ally|ities|ances?|ences?|atives?|atively|ingly|edly|ists?|isms?|ships?|hood|wards?|wise"
)
_CLOSING = frozenset({
    "back", "backs", "book", "books", "work", "works", "shop", "shops", "room", "rooms", "page", "pages", "ware",
    "line", "lines", "base", "bases", "sets", "point", "points", "stream", "load", "loads", "light", "lights",
    "board", "boards", "stone", "stones", "field", "fields", "side", "where", "thing", "body", "ever", "standing",
})  # fmt: skip
"""What ends words without a hyphen."""
_TAILS = frozenset({
    "based", "level", "sized", "driven", "specific", "free", "dependent", "independent", "aware", "scale",
    "quality", "oriented", "related", "trained", "tuned", "tuning", "known", "defined", "informed",
    "supervised", "purpose", "shot", "dimensional", "world", "art", "needed", "efficient", "intensive",
    "consuming", "friendly", "guided", "the", "of", "to", "grained", "speaking", "learning", "making", "solving",
    "sharing", "saving", "matching", "balancing", "weighted", "centered", "centred", "centric", "directed", "facing",
    "sensitive", "effective", "distribution", "source", "party", "term", "order", "wide", "type", "style",
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

    @property
    def texts(self) -> list[str]:
        """Of each part."""
        return [self.text[start:end] for start, end in self.parts]


class Words:
    """The words of a paper, to tell how one that a line's end divides is written."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.counts: Counter[str] = Counter()
        divided = False
        for line in lines:
            text = line.text.partition(" ")[2] if divided else line.text
            divided = line.text.endswith(_DASH_ENDS)
            text = text.rpartition(" ")[0] if divided else text
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
        if "-" in head or len(head) == 1 or not after[0].islower():
            return True
        if head in _CLOSED or tail in _CLOSING or _SUFFIX.fullmatch(tail):
            return False
        return (len(head) > 2 and tail in _TAILS) or self._is_compound(head, tail)

    def _is_compound(self, head: str, tail: str) -> bool:
        if len(tail) < _WHOLE_WORD:
            return False
        if head in _SYLLABLES:
            return self.counts[tail] > 0 or tail in _TAILS
        return head in _OPEN or (len(head) >= _WHOLE_WORD and self.counts[head] > 0)


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
    if part.kind in _BY_LINES:
        yield from _set_off(part, words)
        return
    for index, line in enumerate(part.lines):
        last = index + 1 == len(part.lines)
        text, gap = _prose(line.text, "" if last else part.lines[index + 1].text, words)
        yield line, text, "" if last else gap


def _set_off(part: Part, words: Words) -> Iterator[tuple[Line, str, str]]:
    if part.kind == BlockKind.TABLE:
        texts = ["  ".join(filter(None, row)) for row in _cells(part.lines, words)]
    else:
        texts = [" ".join(piece.text for piece in line.pieces) for line in part.lines]
    edge = min(line.left for line in part.lines)
    kept = [(line, text.replace(HYPHEN, "-")) for line, text in zip(part.lines, texts, strict=True) if text]
    for index, (line, text) in enumerate(kept, start=1):
        indent = _indent(line, text, edge) if part.kind == BlockKind.CODE else ""
        yield line, indent + text, "" if index == len(kept) else "\n"


def _indent(line: Line, text: str, edge: float) -> str:
    width = max((line.right - line.left) / max(len(text), 1), 1.0)
    return " " * min(round((line.left - edge) / width), 40)


def _cells(lines: Sequence[Line], words: Words) -> list[list[str]]:
    """The cells of each line, a word that goes on in the cell's next line whole where it begins."""
    rows = [[piece.text for piece in line.pieces] for line in lines]
    for index in range(len(lines) - 2, -1, -1):
        for cell, piece in enumerate(lines[index].pieces):
            if not piece.text.endswith(_DASH_ENDS):
                continue
            below = next((n for n, other in enumerate(lines[index + 1].pieces) if _is_under(other, piece)), None)
            if below is None or not rows[index + 1][below][:1].islower():
                continue
            rest, _, after = rows[index + 1][below].partition(" ")
            begun, gap = _prose(piece.text, rest, words)
            if not gap:
                rows[index][cell], rows[index + 1][below] = begun + rest, after
    return rows


def _is_under(piece: Piece, above: Piece) -> bool:
    width = min(piece.right, above.right) - max(piece.left, above.left)
    return width > 0.5 * min(piece.right - piece.left, above.right - above.left)


def _prose(text: str, following: str, words: Words) -> tuple[str, str]:
    if not text.endswith(_DASH_ENDS) or not following:
        goes_on = _UNSPACED.match(text[-1:] + following[:1]) or _DASHED.match(text[-2:] + following[:1])
        return text.replace(HYPHEN, "-"), "" if goes_on or _ADDRESS.search(text[-_LONGEST_ADDRESS:]) else " "
    plain = text[:-1].rstrip("-") + "-" if text.endswith(HYPHEN) else text
    if not plain[-2:-1].isalnum() or _SUSPENDED.match(following):
        return plain, " "
    return (plain if words.keeps_hyphen(plain, following) else plain[:-1]), ""
