"""What a generator says, statement by statement, as soon as each is complete.

A statement is a line, or the part of it up to its marks: `It is hard. It melts late. [1]` is one, for a generator that
quotes two sentences that belong together. `parts` are its single sentences, for whoever cannot believe it whole.

Small models format as they like. Headings, code, thoughts, tags, list markers and talk about the answer are left out;
whoever repeats himself or never ends is not listened to any longer.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from carrel import sentences
from carrel.answer import marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LONGEST_LINE = 2000
"""Characters. Of a longer line each sentence is a statement; one that has no sentence in it is not prose."""
_MOST_STATEMENTS = 200
_MOST_OFTEN = 3
_MOST_REPEATS = 6
"""In a row, of whatever was said before."""
_DEEPEST = 5
_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)
_LONGEST_TAG = 16
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_]?)")
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_TAG = re.compile(
    r"<\|[^|<>]{1,30}\|>|</?(?:p|br|b|i|em|strong|ul|ol|li|div|span|h[1-6]|html|body|head|title|a|cite|answer|think"
    r"|thinking|code|pre|table|tr|td|th|hr|center|s|meta|link|script|style)(?:\s+[\w-]+=[^<>]{0,300})?\s*/?>",
    re.IGNORECASE,
)
_RAISED = re.compile(r"(?<=[.!?\s])<sup>\s*\[?(\d{1,3})\]?\s*</sup>", re.IGNORECASE)
_COMPLETE = re.compile(
    rf"(?:[.!?。！？][\"'”’)*]*[^\S\n]*{marks.MARKS}[.,;]?|{marks.MARKS}[.!?])(?=[^\S\n]+[^\s\[(【,;a-z⁰¹²³⁴-⁹])"
)
_NO_STATEMENT = re.compile(r"\s*(?:#{1,6}\s|```|~~~|[-=*_|:\s]{3,}$|\|.*\|\s*$|\*\*[^*.!?]+\*\*:?\s*$|<!|<\?)")
_LISTED = re.compile(r"^\s*(?:>\s*)*(?:(?:[-*+•–—▪◦]|\(?\d{1,2}[.)]|[a-z]\))\s+)*")
_PREFACE = re.compile(
    r"^[\s*_]*(?:(?:sure|certainly|of course|okay|absolutely)[,!.]+\s+)?"
    r"(?:(?:the )?(?:final answer|answer|response|summary|conclusion|excerpt(?: \d+)?|statement \d+|a)"
    r"(?: is| says| states)?\**\s*:\**\s*)?",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"^(?:sure|certainly|of course|okay|absolutely|great question|i hope this|let me know|as an ai)\b(?!.*\[\d)"
    r"|here (?:is|are) (?:the|my|your|an?) (?:answer|response|summary)\b|[^\[]*:$",
    re.IGNORECASE,
)
_BOLD = re.compile(r"(?<![\w*])\*\*(?=[\w(\"'])|(?<=[^\s*])\*\*(?![\w*])")
_FIELD = re.compile(r'[\s\[{]*"(?P<key>\w+)"\s*:\s*(?P<value>"(?:[^"\\]|\\.)*"?)?[^"]*$')
_SPOKEN = frozenset({"answer", "text", "statement", "sentence", "claim", "response", "content"})
_RESTS_ON = re.compile(r"cit|source|excerpt|ref|number", re.IGNORECASE)


class Said(NamedTuple):
    """A sentence, or some that stand together, and the numbers of the excerpts that it claims to rest on."""

    text: str
    numbers: tuple[int, ...] = ()

    @property
    def parts(self) -> tuple[Said, ...]:
        """Its sentences, without the marks inside of them; what the last one rests on is said of all."""
        found = [self.text[span.start : span.end] for span in sentences.spans(self.text)]
        bare = [marks.taken_out(sentence) for sentence in found]
        return tuple(Said(text, inside + self.numbers) for text, inside in bare if text)


def read(pieces: Iterable[str]) -> Iterator[Said]:
    """Each statement once; ends where nothing new is said."""
    times: Counter[str] = Counter()
    repeats = 0
    for said in islice(_with_late_marks(_statements(_lines(_aloud(pieces)))), _MOST_STATEMENTS):
        key = said.text.lower()
        times[key] += 1
        repeats = repeats + 1 if times[key] > 1 else 0
        if not repeats:
            yield said
        if times[key] >= _MOST_OFTEN or repeats >= _MOST_REPEATS:
            return


def _aloud(pieces: Iterable[str]) -> Iterator[str]:
    """All but what is only thought: `<think>…</think>`."""
    waiting, closing = "", ""
    for piece in pieces:
        waiting += piece
        if closing:
            waiting, closing = _after(waiting, closing)
        while not closing and (opening := _THOUGHTS.search(waiting)):
            yield waiting[: opening.start()]
            waiting, closing = _after(waiting[opening.end() :], f"</{opening[1]}>")
        if not closing:
            done = _begun_tag(waiting)
            yield waiting[:done]
            waiting = waiting[done:]
    if not closing:
        yield waiting


def _after(text: str, closing: str) -> tuple[str, str]:
    """What follows the end of a thought; where it has not ended, what its end may have begun with."""
    end = re.search(closing, text, re.IGNORECASE)
    return (text[end.end() :], "") if end else (text[-len(closing) :], closing)


def _begun_tag(text: str) -> int:
    """Where a tag begins of which the rest may not be here yet."""
    tag = text.rfind("<", max(0, len(text) - _LONGEST_TAG))
    return tag if tag >= 0 else len(text)


def _lines(heard: Iterable[str]) -> Iterator[str]:
    line = ""
    for piece in heard:
        rest = piece.replace("\r", "\n")
        while rest:
            room = _LONGEST_LINE - len(line)
            line, rest = line + rest[:room], rest[room:]
            while (end := _end(line)) is not None:
                yield line[:end]
                line = line[end:]
            if len(line) == _LONGEST_LINE:
                yield line
                return
    yield line


def _end(line: str) -> int | None:
    """Where the first statement of a text ends, if what is there suffices to tell."""
    newline = line.find("\n")
    if complete := _COMPLETE.search(line, 0, newline if newline >= 0 else len(line)):
        return complete.end()
    if newline >= 0:
        return newline + 1
    found = sentences.spans(line) if len(line) == _LONGEST_LINE else []
    return found[1].start if len(found) > 1 else None


def _statements(lines: Iterable[str]) -> Iterator[Said]:
    for line in lines:
        for text in _unpacked(_CONTROL.sub("", _ESCAPE.sub("", line))):
            yield from _said(text)


def _said(text: str) -> Iterator[Said]:
    """None, if it is a heading or talk; one without words is the marks of the last."""
    if _NO_STATEMENT.match(text):
        return
    plain = " ".join(_TAG.sub(" ", _RAISED.sub(r"[\1]", text)).split())
    plain = _BOLD.sub("", _PREFACE.sub("", _LISTED.sub("", plain))).strip()
    if marks.are_all(plain):
        yield Said("", marks.numbers(plain))
    elif not _TALK.match(plain):
        said = Said(*marks.taken_off(plain))
        if re.search(r"\w", said.text):
            yield said


def _with_late_marks(heard: Iterable[Said]) -> Iterator[Said]:
    """Marks on a line of their own belong to what stands before them."""
    waiting: Said | None = None
    for said in heard:
        if not said.text:
            waiting = Said(waiting.text, said.numbers) if waiting else None
        if waiting:
            yield waiting
        waiting = None
        if said.numbers and said.text:
            yield said
        elif said.text:
            waiting = said
    if waiting:
        yield waiting


def _unpacked(line: str) -> Iterator[str]:
    """The line, or what is said in it where it is JSON or a part of that."""
    if not line.lstrip().startswith(("{", "[", '"')) or marks.are_all(line):
        yield line
        return
    try:
        yield from _strings(json.loads(line), _DEEPEST)
    except (ValueError, RecursionError):
        field = _FIELD.match(line)
        value = field["value"] if field and field["key"] in _SPOKEN else None
        if value or not field:
            yield value.strip('"').replace('\\"', '"') if value else line


def _strings(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth:
        for one in value:
            yield from _strings(one, depth - 1)
    elif isinstance(value, dict) and depth:
        cited = "".join(
            f"[{number}]" for key, given in value.items() if _RESTS_ON.search(key) for number in _whole(given)
        )
        for key, given in value.items():
            if isinstance(given, str) and key in _SPOKEN:
                yield f"{given} {cited}"
            elif isinstance(given, list | dict) and not _RESTS_ON.search(key):
                yield from _strings(given, depth - 1)


def _whole(value: object) -> list[int]:
    given = value if isinstance(value, list) else [value]
    return [number for number in given if isinstance(number, int) and 0 <= number < 1000]
