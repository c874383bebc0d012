"""The beginning of a text, as much as tells what it is about."""

from __future__ import annotations

from carrel import sentences

_LEAST = 120
_MOST = 300
_READ = 3000
"""Characters in which a preview is looked for."""


def preview(text: str) -> str:
    """On one line, cut where a sentence ends, between 120 and 300 characters; at a word where none does."""
    start = text[:_READ]
    for span in sentences.spans(start):
        line = _line(start[: span.end])
        if len(line) > _MOST:
            break
        if len(line) >= _LEAST:
            return line
    return _cut(_line(start))


def first_sentence(text: str) -> str:
    """Of the prose, if there is any."""
    start = text[:_READ]
    span = next(iter([*sentences.prose(start), *sentences.spans(start)]), None)
    return _cut(_line(start[span.start : span.end])) if span else ""


def _line(text: str) -> str:
    return " ".join(text.split())


def _cut(line: str) -> str:
    return line if len(line) <= _MOST else f"{line[: _MOST - 2].rsplit(' ', 1)[0]} …"
