"""The bibliography of a JATS article: entries as they are printed, and what their elements say of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carrel.identifiers import normalise_doi
from carrel.parsers import bibliography
from carrel.parsers.xml_inline import Tags, inline
from carrel.parsers.xml_names import attribute, child, children, descendants, first, local
from carrel.types import Cited

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.etree import _Element

_KINDS = ("element-citation", "mixed-citation", "nlm-citation", "citation", "product", "note", "p", "related-article")
_TITLES = ("article-title", "chapter-title", "data-title", "part-title")
_OWN_WORKS = frozenset({"book", "report", "thesis", "software", "data"})
"""Kinds of publication whose source is the work itself."""
_TAGS = Tags(breaks=frozenset({"p", "label", "title"}), skipped=frozenset({"object-id", "graphic"}))
_NAMES = frozenset({"name", "string-name", "collab"})
_FIELDS = frozenset({*_TITLES, "source", "year", "volume", "issue", "fpage", "lpage", "elocation-id"})
_PLACED = frozenset({*_FIELDS, *_NAMES, "person-group", "etal", "page-range"})
_NOT_PRINTED = frozenset({"month", "day", "issn", "isbn", "date-in-citation"})
_APART = frozenset({
    "surname", "given-names", "suffix", "name", "string-name", "pub-id", "ext-link", "year", "source", "article-title",
})  # fmt: skip
_SIGNS = re.compile(r"[.,;:()]")
_BEFORE_SIGN = re.compile(r"\s+([.,;:)\]])")


def citations(ref: _Element) -> Iterator[Cited]:
    """What one entry cites: mostly one work."""
    label = _words(child(ref, "label"))
    for place, citation in enumerate(_listed(ref)):
        text = _printed(citation)
        if label and not place and not text.startswith(label):
            text = f"{label}. {text}" if label.isalnum() else f"{label} {text}"
        yield _cited(citation, text)


def _listed(ref: _Element) -> list[_Element]:
    alternatives = child(ref, "citation-alternatives")
    if alternatives is not None and len(alternatives):
        printed = child(alternatives, "mixed-citation")
        return [printed if printed is not None else alternatives[0]]
    return list(children(ref, *_KINDS))


def _cited(citation: _Element, text: str) -> Cited:
    guessed = bibliography.cited(text)
    title = _words(first(citation, *_TITLES))
    if not title and attribute(citation, "publication-type") in _OWN_WORKS:
        title = _words(first(citation, "source"))
    year = bibliography.year_of(_words(first(citation, "year")))
    return Cited(text, title.rstrip(" .,;") or guessed.title, _doi(citation) or guessed.doi, year or guessed.year)


def _doi(citation: _Element) -> str:
    for found in descendants(citation, "pub-id", "ext-link", "object-id", "uri"):
        kind = attribute(found, "pub-id-type") or attribute(found, "ext-link-type")
        if kind == "doi" or "doi" in attribute(found, "href"):
            return normalise_doi(_words(found)) or normalise_doi(attribute(found, "href"))
    return ""


def _printed(citation: _Element) -> str:
    """As a reader sees it: with the publisher's own signs where the file has them, else with ours."""
    between = "".join(inner.tail or "" for inner in citation)
    if len(citation) == 0 or _SIGNS.search(between + (citation.text or "")):
        pieces: list[str] = []
        _gather(citation, pieces)
        return _BEFORE_SIGN.sub(r"\1", " ".join("".join(pieces).split()))
    title = _words(first(citation, *_TITLES))
    source = " ".join(filter(None, (_field(citation, "source"), _where(citation))))
    others = (_other(inner) for inner in citation if local(inner) not in _PLACED | _NOT_PRINTED)
    return _sentences([_who_and_when(citation), title, source, *others])


def _other(element: _Element) -> str:
    text = _words(element)
    return f"doi:{text}" if attribute(element, "pub-id-type") == "doi" and text else text


def _who_and_when(citation: _Element) -> str:
    named = (found for found in descendants(citation, *_NAMES) if local(_parent(found)) not in _NAMES)
    people = [_person(found) for found in named]
    if first(citation, "etal") is not None:
        people.append("et al")
    year = _field(citation, "year")
    return " ".join(filter(None, (", ".join(people), f"({year})" if year else "")))


def _where(citation: _Element) -> str:
    issue = _field(citation, "issue")
    numbers = f"{_field(citation, 'volume')}{f'({issue})' if issue else ''}"
    ends = (_field(citation, "fpage") or _field(citation, "elocation-id"), _field(citation, "lpage"))
    pages = "–".join(dict.fromkeys(filter(None, ends)))
    return ": ".join(filter(None, (numbers, pages)))


def _sentences(texts: Iterable[str]) -> str:
    return " ".join(text if text[-1] in "?!" else f"{text.rstrip(' .')}." for text in texts if text)


def _field(citation: _Element, name: str) -> str:
    return _words(first(citation, name))


def _words(element: _Element | None) -> str:
    return inline(element, _TAGS) if element is not None else ""


def _person(name: _Element) -> str:
    words = [_words(found) for found in descendants(name, "surname", "given-names", "suffix")]
    return " ".join(words) if words else _words(name)


def _parent(element: _Element) -> _Element:
    parent = element.getparent()
    return parent if parent is not None else element


def _gather(element: _Element, pieces: list[str]) -> None:
    """All words; elements that touch are two: `<surname>Yu</surname><given-names>T</given-names>` is `Yu T`."""
    pieces.append(element.text or "")
    for inner in element:
        if local(inner) in _APART and "".join(pieces[-3:])[-1:].isalnum():
            pieces.append(" ")
        _gather(inner, pieces)
        tail = inner.tail or ""
        pieces.append(f" {tail}" if local(inner) in _APART and tail[:1].isalnum() else tail)
