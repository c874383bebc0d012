"""CSL-JSON: what citation processors read, and Zotero, Pandoc and Crossref write."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from carrel.references import dates, names, texts
from carrel.references.drafts import Collector, Draft, dicts_of, text_of, words_of
from carrel.references.json_items import BrokenJson, Items
from carrel.types import Author, Origin, Published

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from carrel.references import Found
    from carrel.references.texts import Tell

_ROLES = (
    "author", "editor", "director", "container-author", "collection-editor", "composer", "illustrator", "interviewer",
    "recipient", "reviewed-author", "translator",
)  # fmt: skip
_ZOTERO = re.compile(r"(?:.*/items/|(?:\d+|[ug]\d+)[/_:])(?P<key>[A-Z0-9]{8})")


def read(path: Path, tell: Tell = texts.untold) -> Found:
    """Every item of an array, or of the `items` of an object."""
    collector = Collector(path, "csl")
    try:
        for line, item in Items(texts.whole(path), tell):
            if isinstance(item, dict):
                collector.take(_draft(item), text_of(item, "citation-key", "id") or line)
            else:
                collector.report(line, f"an item is a JSON object, this is {type(item).__name__}")
    except BrokenJson as error:
        collector.report(error.line, str(error))
    return collector.found()


def _draft(item: Mapping[str, Any]) -> Draft:
    own = text_of(item, "id")
    zotero = _ZOTERO.fullmatch(own)
    return Draft(
        id=text_of(item, "citation-key") or (zotero["key"] if zotero else own),
        title=text_of(item, "title", "title-short", "shortTitle"),
        authors=tuple(_authors(item)),
        published=_published(item),
        venue=text_of(item, "container-title", "event-title", "event", "container-title-short", "journalAbbreviation"),
        abstract=text_of(item, "abstract"),
        note="\n".join(part for part in (text_of(item, "note"), text_of(item, "annote")) if part),
        doi=text_of(item, "DOI", "doi"),
        arxiv=_arxiv(item),
        pmid=text_of(item, "PMID"),
        pmcid=text_of(item, "PMCID"),
        links=(text_of(item, "URL"), text_of(item, "number")),
        tags=tuple(_tags(item)),
        source=Origin("zotero", zotero["key"]) if zotero else Origin(),
    )


def _authors(item: Mapping[str, Any]) -> list[Author]:
    for role in _ROLES:
        if found := [_name(name) for name in dicts_of(item, role)]:
            return found
    return []


def _name(name: Mapping[str, Any]) -> Author:
    particles = f"{text_of(name, 'dropping-particle')} {text_of(name, 'non-dropping-particle')}"
    return names.made(
        text_of(name, "family", "literal", "name"),
        text_of(name, "given"),
        particle=particles,
        suffix=text_of(name, "suffix"),
        orcid=text_of(name, "ORCID", "orcid"),
    )


def _published(item: Mapping[str, Any]) -> Published:
    for name in ("issued", "published-print", "published-online", "submitted", "event-date"):
        if (date := _date(item.get(name))).year:
            return date
    return Published()


def _date(value: Any) -> Published:  # noqa: ANN401
    if isinstance(value, str | int):
        return dates.read(str(value))
    if not isinstance(value, dict):
        return Published()
    parts = value.get("date-parts")
    if isinstance(parts, list):
        started = (part for part in parts if isinstance(part, list) and part and part[0])
        return dates.made(*[_whole(step) for step in next(started, [0])[:3]])
    return dates.read(text_of(value, "raw", "literal", "edtf"))


def _whole(step: Any) -> str:  # noqa: ANN401
    return str(step) if isinstance(step, int | str) else ""


def _arxiv(item: Mapping[str, Any]) -> str:
    number = text_of(item, "arxiv", "arXiv")
    return number or (text_of(item, "number") if "arxiv" in text_of(item, "publisher", "archive").lower() else "")


def _tags(item: Mapping[str, Any]) -> list[str]:
    text = text_of(item, "keyword") if isinstance(item.get("keyword"), str) else ""
    tags = re.split(";" if ";" in text else ",", text)
    return [*tags, *words_of(item, "keyword"), *words_of(item, "categories"), *words_of(item, "tags")]
