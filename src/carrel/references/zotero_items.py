"""Zotero's items, as its JSON exports and its database have them: the same nouns in both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from carrel.references import dates, names, texts
from carrel.references.drafts import Collector, Draft, dicts_of, text_of, words_of
from carrel.references.json_items import BrokenJson, Items
from carrel.types import Author, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from carrel.references import Found
    from carrel.references.texts import Tell

    Children = dict[str, list[dict[str, Any]]]
    """By the key of the item they hang on."""

NO_PAPERS = frozenset({"attachment", "note", "annotation"})
PDF = "application/pdf"
_VENUES = (
    "publicationTitle", "proceedingsTitle", "bookTitle", "encyclopediaTitle", "dictionaryTitle", "websiteTitle",
    "blogTitle", "forumTitle", "programTitle", "conferenceName", "meetingName", "journalAbbreviation", "repository",
)  # fmt: skip
_TITLES = ("title", "caseName", "nameOfAct", "subject", "shortTitle")
_DATES = ("date", "issueDate", "dateDecided", "dateEnacted", "filingDate")
_CITATION_KEY = re.compile(r"^(?:citation key|bibtex)\s*:\s*(\S+)[^\S\n]*\n?", re.IGNORECASE | re.MULTILINE)
_URI_KEY = re.compile(r"/items/([A-Z0-9]{8})(?:[/?]|$)")


def read(path: Path, tell: Tell = texts.untold) -> Found:
    """Every item of a Better BibTeX or Zotero JSON export, and of what Zotero's API answers."""
    collector = Collector(path, "zotero")
    text = texts.whole(path)
    items, hanging = Items(text, tell), _hanging(text)
    try:
        for line, item in items:
            if not isinstance(item, dict):
                collector.report(line, f"an item is a JSON object, this is {type(item).__name__}")
                continue
            data = data_of(item)
            if _is_paper(data):
                data = _with_children(data, hanging.get(_key(data), ()))
                collector.take(draft(data, _collections(data, items.around)), _place(data) or line)
    except BrokenJson as error:
        collector.report(error.line, str(error))
    return collector.found()


def _hanging(text: str) -> Children:
    """The children that stand among the items, as they do in what the API answers."""
    found: list[dict[str, Any]] = []
    try:
        if '"parentItem"' in text:
            found += (data_of(item) for _line, item in Items(text) if isinstance(item, dict))
    except BrokenJson:
        # Reported where the items themselves are read.
        pass
    return _by_parent(found)


def families(items: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The papers among the items of a library, each with the notes and attachments that hang on it."""
    everything = list(items)
    children = _by_parent(everything)
    for item in everything:
        if _is_paper(item):
            yield _with_children(item, children.get(_key(item), ()))


def _by_parent(items: Iterable[dict[str, Any]]) -> Children:
    children: Children = {}
    for item in items:
        if (parent := text_of(item, "parentItem")) and not item.get("deleted"):
            children.setdefault(parent, []).append(item)
    return children


def _is_paper(item: Mapping[str, Any]) -> bool:
    return text_of(item, "itemType") not in NO_PAPERS and not item.get("deleted")


def _with_children(item: dict[str, Any], children: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if not children:
        return item
    notes = [text_of(child, "note") for child in children if text_of(child, "itemType") == "note"]
    # Sorting is stable: the PDFs first, each kind in the order it came.
    files = [_attached(child) for child in sorted(children, key=lambda child: text_of(child, "contentType") != PDF)]
    return {**item, "notes": notes, "attachments": [{"path": path} for path in files if path]}


def _attached(child: Mapping[str, Any]) -> str:
    mode = text_of(child, "linkMode")
    if mode == "linked_file":
        return text_of(child, "path")
    name = text_of(child, "filename") if mode in ("imported_file", "imported_url") else ""
    return stored(_key(child), name, text_of(child, "contentType"))


def stored(key: str, name: str, content: str | None) -> str:
    """Where Zotero keeps a file, from its data directory on.

    Snapshots of pages keep a file for every picture; only the page itself is told, and it is no paper.
    """
    is_paper = name and (content == PDF or name.lower().endswith((".pdf", ".epub", ".djvu")))
    return f"storage/{key}/{name}" if is_paper else ""


def draft(item: Mapping[str, Any], collections: tuple[str, ...] = ()) -> Draft:
    extra = text_of(item, "extra")
    key = _key(item)
    own = text_of(item, "citationKey", "citekey")
    said = _CITATION_KEY.search(extra)
    return Draft(
        id=own or (said[1] if said else "") or key,
        title=text_of(item, *_TITLES),
        authors=tuple(_authors(item)),
        published=dates.read(text_of(item, *_DATES)),
        venue=text_of(item, *_VENUES),
        abstract=text_of(item, "abstractNote"),
        note="\n\n".join(part for part in (_CITATION_KEY.sub("", extra), *_notes(item)) if part.strip()),
        doi=text_of(item, "DOI"),
        arxiv=_arxiv(item),
        pmid=text_of(item, "PMID"),
        pmcid=text_of(item, "PMCID"),
        links=(text_of(item, "url"),),
        files=tuple(path for attachment in dicts_of(item, "attachments") if (path := text_of(attachment, "path"))),
        # In one order, for each way to Zotero has its own.
        tags=(*sorted(_tags(item)), *sorted(collections)),
        source=Origin("zotero", key) if key else Origin(),
    )


def data_of(item: dict[str, Any]) -> dict[str, Any]:
    """The API wraps an item's fields in `data`, and says beside them which day is meant by its date."""
    inner, meta = item.get("data"), item.get("meta")
    if not isinstance(inner, dict):
        return item
    day = text_of(meta, "parsedDate") if isinstance(meta, dict) else ""
    return {"key": item.get("key"), **inner, **({"date": day} if day else {})}


def _place(item: Mapping[str, Any]) -> str:
    return text_of(item, "citationKey") or _key(item) or text_of(item, "itemID")


def _key(item: Mapping[str, Any]) -> str:
    uri = _URI_KEY.search(text_of(item, "uri", "select"))
    return text_of(item, "itemKey", "key") or (uri[1] if uri else "")


def _authors(item: Mapping[str, Any]) -> list[Author]:
    """The authors; else the editors; else whoever is named first, and all who did the same."""
    creators = dicts_of(item, "creators")
    roles = [text_of(creator, "creatorType") for creator in creators]
    role = next((role for role in ("author", "editor") if role in roles), roles[0] if roles else "")
    return [_name(creator) for creator in creators if text_of(creator, "creatorType") == role]


def _name(creator: Mapping[str, Any]) -> Author:
    return names.made(text_of(creator, "lastName", "name"), text_of(creator, "firstName"))


def _notes(item: Mapping[str, Any]) -> list[str]:
    return [*words_of(item, "notes"), *(text_of(note, "note") for note in dicts_of(item, "notes"))]


def _tags(item: Mapping[str, Any]) -> list[str]:
    return [*words_of(item, "tags"), *(text_of(tag, "tag", "name") for tag in dicts_of(item, "tags"))]


def _arxiv(item: Mapping[str, Any]) -> str:
    said = text_of(item, "archiveID", "reportNumber", "number", "publicationTitle")
    return said if "arxiv" in f"{said} {text_of(item, 'repository', 'libraryCatalog')}".lower() else ""


def _collections(item: Mapping[str, Any], around: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the collections that an export lists with the items in them."""
    listed = around.get("collections")
    collections = listed.values() if isinstance(listed, dict) else listed if isinstance(listed, list) else ()
    number = item.get("itemID")
    found = (entry for entry in collections if isinstance(entry, dict) and _holds(entry, number))
    return tuple(text_of(entry, "name") for entry in found)


def _holds(collection: Mapping[str, Any], number: object) -> bool:
    items = collection.get("items")
    return isinstance(items, list) and number is not None and number in items
