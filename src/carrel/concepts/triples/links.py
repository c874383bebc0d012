"""What the links of an article say: its author sends the reader from what it is about to something else, and why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.concepts.triples.ends import linked
from carrel.concepts.triples.plain import plain
from carrel.concepts.triples.statements import Statement
from carrel.concepts.triples.topics import special
from carrel.naming import key
from carrel.types import Predicate

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

LINK = re.compile(
    r"(?<!!)\[([^\[\]\n]{1,150})\]\((<[^<>\n]{1,300}>|[^()\s]{1,300}(?:\([^()\s]{0,100}\)[^()\s]{0,100})?)\)"
)
_BEFORE = 80
_SMALL = (
    r"(?:\s+(?:the|an?|any|some|our|this|another|standard|usual|ordinary|simple|classical|popular|article|articles|page|"
    r"section|chapter|post|on|about|called|named|algorithm|method|data\s+structure|both|e\.g\.|i\.e\.|main|separate|also))*\s*[\"“(]?\s*$"
)
_WHY: tuple[tuple[Predicate, bool, float, re.Pattern[str]], ...] = tuple(
    (predicate, turned, confidence, re.compile(rf"\b(?:{words}){_SMALL}", re.IGNORECASE))
    for predicate, turned, confidence, words in (
        (
            Predicate.PREREQUISITE,
            True,
            0.8,
            r"familiar\s+with|knowledge\s+(?:of|about)|(?:should|must|need\s+to|first)\s+"
            r"(?:read|know|learn|understand|see)|prerequisites?:?|recommend\s+(?:to\s+read|reading)",
        ),
        (
            Predicate.USES,
            True,
            0.6,
            r"(?:is|are|be)\s+used\s+(?:(?:in|for|by)(?:\s+\w+ing)?|to\s+\w+)|(?:applied|applications?)\s+(?:to|in)",
        ),
        (Predicate.COMPARED_TO, False, 0.7, r"than|unlike|in\s+contrast\s+to|compared\s+(?:to|with)|instead\s+of"),
        (
            Predicate.USES,
            False,
            0.6,
            r"use|uses|using|via|apply|applies|applying|run|running|by\s+means\s+of|help\s+of|"
            r"based\s+on|relies\s+on|with|employs?|reduc\w+\s+(?:\w+\s+){0,4}to|by",
        ),
        (
            Predicate.USES,
            False,
            0.55,
            r"make|perform|performing|do|doing|find|finding|compute|computing|calculate|"
            r"calculating|build|building|construct|constructing",
        ),
        (Predicate.RELATED_TO, False, 0.6, r"see|articles?|in|from|about|similar\s+to|like|read|refer\s+to"),
    )
)
_JOINED = re.compile(r"[\s,)]*(?:and|or|as\s+well\s+as)?\s*(?:the|an?|with)?\s*[\"“(]?\s*", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|cannot|without|no|if)\b|n['’]t\b", re.IGNORECASE)
_OTHERWISE = re.compile(
    r"\b(?:other|another|alternativ\w+|although|even\s+though|typically|also\s+be|many\s+solutions|standard\s+way|already|naive|even\s+possible|instead)\b",
    re.IGNORECASE,
)
"""Speaks of what would do as well; so the article's own way is another."""
_OPTIONAL = re.compile(r"\b(?:may|might|could|not|optional\w*)\b|n['’]t\b", re.IGNORECASE)
_ELSEWHERE = re.compile(r"(?:[a-z][a-z0-9+.-]*:|//|#)", re.IGNORECASE)
_PAGE = re.compile(r"(?:.*/)?([^/#?]+?)(?:\.(?:md|markdown|html?|ipynb))?(?:[#?].*)?")


def links(sentence: str, topic: str, known: Mapping[str, str]) -> Iterator[Statement]:
    """Of a sentence in an article about the topic."""
    if not re.search(r"\w", LINK.sub("", sentence)):
        # An entry of a table of contents: it says where something is, not what that has to do with the topic.
        return
    why, last, doubtful = None, 0, _doubtful(sentence)
    for link in LINK.finditer(sentence):
        before = plain(sentence[max(0, link.start() - _BEFORE) : link.start()])
        joined = why and _JOINED.fullmatch(sentence, last, link.start())
        why, last = why if joined else _why(before, doubtful), link.end()
        name = linked(special(plain(f"[{link.group(1)}]")), known)
        if name and not _is_own(link.group(2), name, topic) and (made := _made(topic, name, why, link.group(2))):
            yield made


def _doubtful(sentence: str) -> set[Predicate]:
    """What cannot be told by the words before a link alone: the sentence says that something else would do."""
    other = {Predicate.USES} if _OTHERWISE.search(sentence) else set()
    return other | ({Predicate.PREREQUISITE} if _OPTIONAL.search(sentence) else set())


def _why(before: str, doubtful: Collection[Predicate]) -> tuple[Predicate, bool, float] | None:
    if _DENIED.search(before):
        return None
    why = next(((predicate, turned, sure) for predicate, turned, sure, words in _WHY if words.search(before)), None)
    return None if why and why[0] in doubtful else why


def _made(topic: str, name: str, why: tuple[Predicate, bool, float] | None, target: str) -> Statement | None:
    predicate, turned, confidence = why or (Predicate.RELATED_TO, False, 0.5)
    if predicate != Predicate.PREREQUISITE and _ELSEWHERE.match(target.lstrip("<")):
        return None
    ends = (name, topic) if turned else (topic, name)
    return Statement(ends[0], predicate, ends[1], confidence, "link")


def _is_own(target: str, name: str, topic: str) -> bool:
    """Whether it leads to another place of the same article."""
    page = _PAGE.fullmatch(target.strip("<>"))
    own = key(topic)
    return key(name) == own or bool(page and key(re.sub(r"[_-]+", " ", page.group(1))) == own)
