"""Paperpile's JSON export."""

from __future__ import annotations

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

_UNKNOWN = Author("Unknown")
_INCOMPLETE = "paperpile:incomplete"


def read(path: Path, tell: Tell = texts.untold) -> Found:
    """Every entry that says anything of a paper; what it does not say is marked, not guessed."""
    collector = Collector(path, "paperpile")
    try:
        for line, entry in Items(texts.whole(path), tell):
            if not isinstance(entry, dict):
                collector.report(line, f"an entry is a JSON object, this is {type(entry).__name__}")
                continue
            place = text_of(entry, "citekey", "_id") or line
            draft = _draft(entry)
            if draft is None:
                collector.report(place, "it has no title, author, year or DOI")
            else:
                collector.take(draft, place)
    except BrokenJson as error:
        collector.report(error.line, str(error))
    return collector.found()


def _draft(entry: Mapping[str, Any]) -> Draft | None:
    title, doi = text_of(entry, "title"), text_of(entry, "doi")
    authors = [author for name in dicts_of(entry, "author") if (author := _name(name)).last]
    published = _published(entry.get("published"))
    if not (title.strip() or authors or published.year or doi):
        return None
    # The collector marks the entry that has no title.
    incomplete = () if authors and published.year else (_INCOMPLETE,)
    return Draft(
        id=text_of(entry, "citekey", "_id"),
        title=title,
        authors=tuple(authors) or (_UNKNOWN,),
        published=published,
        venue=text_of(entry, "journal", "booktitle", "journalfull"),
        abstract=text_of(entry, "abstract"),
        note=text_of(entry, "note", "notes"),
        doi=doi,
        arxiv=text_of(entry, "arxivid", "arxiv"),
        pmid=text_of(entry, "pmid"),
        pmcid=text_of(entry, "pmcid", "pmc"),
        links=(*words_of(entry, "url"), text_of(entry, "url")),
        files=tuple(_files(entry, article=True)),
        supplements=tuple(_files(entry, article=False)),
        tags=(*words_of(entry, "labelsNamed"), *words_of(entry, "foldersNamed"), *incomplete),
        source=Origin("paperpile", text_of(entry, "_id")),
    )


def _name(name: Mapping[str, Any]) -> Author:
    return names.made(text_of(name, "last", "collective"), text_of(name, "first"), orcid=text_of(name, "orcid"))


def _published(value: Any) -> Published:  # noqa: ANN401
    if isinstance(value, dict):
        return dates.made(text_of(value, "year"), text_of(value, "month"), text_of(value, "day"))
    return dates.read(str(value)) if isinstance(value, str | int) else Published()


def _files(entry: Mapping[str, Any], *, article: bool) -> list[str]:
    wanted = (part for part in dicts_of(entry, "attachments") if (part.get("article_pdf") in (1, "1")) is article)
    return [name for part in wanted if (name := text_of(part, "filename"))]
