"""What headings and labels say of the lists behind them: prerequisites, related things, kinds, applications."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.concepts.triples.ends import linked
from carrel.concepts.triples.links import LINK
from carrel.concepts.triples.plain import plain
from carrel.concepts.triples.statements import Statement
from carrel.concepts.triples.topics import special
from carrel.naming import key
from carrel.types import Predicate, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from carrel.types import Chunk

LONGEST_LINE = 1000
_PREREQUISITES = r"pre-?requisites?(?:\s+knowledge)?|(?:required|prior|background)\s+knowledge"
_RELATED = r"see\s+also|related(?:\s+(?:topics?|problems?|articles?|algorithms?|concepts?|methods?))?"
_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]+(.+?)[ \t#]*$")
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(.*\S)")
_LABELLED = re.compile(
    rf"^[ \t>*_]*(?P<label>{_PREREQUISITES}|{_RELATED})[*_]*:[*_]*[ \t]*(?P<rest>\S.*)$", re.IGNORECASE
)
_ABOUT = tuple(
    (predicate, turned, re.compile(rf"(?:{words})[:.]?", re.IGNORECASE))
    for predicate, turned, words in (
        (Predicate.PREREQUISITE, True, _PREREQUISITES),
        (Predicate.RELATED_TO, False, _RELATED),
        (Predicate.USES, True, r"(?:some\s+)?applications?(?:\s+of\s+(?:the\s+)?(?P<what>.{2,60}))?"),
        (
            Predicate.EXAMPLE_OF,
            True,
            r"(?:(?:different\s+)?(?:types|kinds|variants|examples)|variations)\s+of\s+(?:the\s+)?(?P<what_kind>.{2,60})",
        ),
    )
)
_SURE = {Predicate.PREREQUISITE: 0.95, Predicate.RELATED_TO: 0.8, Predicate.USES: 0.7, Predicate.EXAMPLE_OF: 0.8}
_HEAD = re.compile(r"\s*(?:\*\*|__)(.{2,80}?)(?:\*\*|__)|\s*([^:.;()]{2,80}?)\s*(?::\s|\s[-–—]\s|[.;(]|$)")
_BETWEEN = re.compile(r"\s*(?:,|;|\band\b)\s*")


@dataclass(frozen=True, slots=True)
class _List:
    """What is listed: each item stands so to `of`."""

    predicate: Predicate
    turned: bool
    of: str


def listed(chunk: Chunk, topic: str, known: Mapping[str, str]) -> Iterator[tuple[Span, Statement]]:
    current = _opened(chunk.section_path[-1] if chunk.section_path else "", topic, known)
    for line in re.finditer(r"[^\n]+", chunk.text):
        if len(line.group()) > LONGEST_LINE:
            continue
        if heading := _HEADING.match(line.group()):
            current = _opened(plain(heading.group(1)).strip(), topic, known)
        elif (label := _LABELLED.match(line.group())) and topic:
            what = _opened(label["label"], topic, known)
            span = Span(line.start() + label.start("label"), line.start() + len(line.group().rstrip()))
            yield from ((span, made) for name in _names(label["rest"], known) if (made := _said(what, name)))
        elif current and (item := _ITEM.match(line.group())):
            span = Span(line.start() + item.start(1), line.start() + item.end(1))
            yield from ((span, made) for name in _item(item.group(1), known) if (made := _said(current, name)))


def _opened(heading: str, topic: str, known: Mapping[str, str]) -> _List | None:
    for predicate, turned, words in _ABOUT:
        if found := words.fullmatch(heading.strip()):
            named = next((text for text in found.groupdict().values() if text), "")
            of = linked(named, known) if named else topic
            return _List(predicate, turned, of) if of else None
    return None


def _said(what: _List | None, name: str) -> Statement | None:
    if what is None or key(name) == key(what.of):
        return None
    ends = (name, what.of) if what.turned else (what.of, name)
    return Statement(ends[0], what.predicate, ends[1], _SURE[what.predicate], "list")


def _names(text: str, known: Mapping[str, str]) -> list[str]:
    """All that a line names: its links, else what commas part."""
    found = [plain(link.group(1)) for link in LINK.finditer(text)] or _BETWEEN.split(plain(text))
    return [name for phrase in found if (name := linked(phrase.strip(" ."), known))]


def _item(text: str, known: Mapping[str, str]) -> list[str]:
    """What an item of a list is about: its first link, else its first words."""
    if link := LINK.search(text):
        return [name] if (name := linked(plain(link.group(1)).strip(), known)) else []
    head = _HEAD.match(special(text))
    name = linked(plain(head.group(1) or head.group(2)).strip(), known) if head else ""
    return [name] if name else []
