"""Zotero's database, read from a copy: Zotero may run, and nothing of its own is touched."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.errors import SourceError
from carrel.references.drafts import Collector
from carrel.references.texts import unreadable, untold
from carrel.references.zotero_items import NO_PAPERS, draft, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.references import Found
    from carrel.references.texts import Tell

_ATTEMPTS = 5
_ITEMS_BETWEEN = 200
"""Items read between two words of progress."""
# The index of a WAL is made anew; a journal undoes what Zotero was in the middle of.
_BESIDE = ("-wal", "-journal")
_LINKED_FILE, _LINKED_ADDRESS = 2, 3

_ITEMS = """
    SELECT items.itemID, items.key, itemTypesCombined.typeName
    FROM items JOIN itemTypesCombined USING (itemTypeID) JOIN libraries USING (libraryID)
    WHERE libraries.type IN ('user', 'group') AND items.itemID NOT IN (SELECT itemID FROM deletedItems)
    ORDER BY items.itemID
"""
_FIELDS = """
    SELECT itemData.itemID, fieldsCombined.fieldName, itemDataValues.value
    FROM itemData JOIN fieldsCombined USING (fieldID) JOIN itemDataValues USING (valueID)
"""
_BASE_FIELDS = """
    SELECT items.itemID, fieldsCombined.fieldName, itemDataValues.value
    FROM itemData JOIN items USING (itemID)
    JOIN baseFieldMappingsCombined AS mapping
      ON mapping.itemTypeID = items.itemTypeID AND mapping.fieldID = itemData.fieldID
    JOIN fieldsCombined ON fieldsCombined.fieldID = mapping.baseFieldID
    JOIN itemDataValues USING (valueID)
"""
_CREATORS = """
    SELECT itemCreators.itemID, creatorTypes.creatorType, creators.lastName, creators.firstName
    FROM itemCreators JOIN creators USING (creatorID) JOIN creatorTypes USING (creatorTypeID)
    ORDER BY itemCreators.itemID, itemCreators.orderIndex
"""
_TAGS = "SELECT itemTags.itemID, tags.name FROM itemTags JOIN tags USING (tagID) ORDER BY tags.name"
_COLLECTIONS = """
    SELECT collectionItems.itemID, collections.collectionName
    FROM collectionItems JOIN collections USING (collectionID) ORDER BY collections.collectionName
"""
_NOTES = """
    SELECT parentItemID, note FROM itemNotes
    WHERE parentItemID IS NOT NULL AND itemID NOT IN (SELECT itemID FROM deletedItems) ORDER BY itemID
"""
_ATTACHMENTS = """
    SELECT itemAttachments.parentItemID, items.key, linkMode, contentType, path
    FROM itemAttachments JOIN items USING (itemID)
    WHERE parentItemID IS NOT NULL AND path IS NOT NULL
      AND itemAttachments.itemID NOT IN (SELECT itemID FROM deletedItems)
    ORDER BY contentType <> 'application/pdf', itemAttachments.itemID
"""


def read(path: Path, tell: Tell = untold) -> Found:
    """Every item that is not in the bin, with its tags, collections, notes and attachments."""
    collector = Collector(path, "zotero")
    with tempfile.TemporaryDirectory(prefix="carrel-zotero-") as folder:
        copy = _copied(path, Path(folder))
        try:
            with closing(sqlite3.connect(copy)) as connection:
                connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
                for item, collections in _items(connection, tell):
                    collector.take(draft(item, collections), item["key"])
        except sqlite3.Error as error:
            raise SourceError(
                f"{str(path)!r} is not a database of Zotero 5 or newer: {error}",
                hint="Point at the zotero.sqlite in Zotero's data directory.",
            ) from error
    return collector.found()


def _copied(path: Path, folder: Path) -> Path:
    """A copy of the database and of what Zotero has not yet written into it, all of one moment."""
    copy = folder / "zotero.sqlite"
    try:
        for _attempt in range(_ATTEMPTS):
            before = _state(path)
            _copy_all(path, copy)
            if _state(path) == before:
                return copy
    except OSError as error:
        raise unreadable(path, error) from error
    raise SourceError(f"{str(path)!r} changes faster than it can be copied", hint="Wait until Zotero has synchronised.")


def _copy_all(path: Path, copy: Path) -> None:
    shutil.copyfile(path, copy)
    for suffix in _BESIDE:
        beside, target = Path(f"{path}{suffix}"), Path(f"{copy}{suffix}")
        target.unlink(missing_ok=True)
        if beside.exists():
            shutil.copyfile(beside, target)


def _state(path: Path) -> tuple[tuple[int, int], ...]:
    """When each of the files was last written, and its size."""
    files = (path, *(beside for suffix in _BESIDE if (beside := Path(f"{path}{suffix}")).exists()))
    return tuple((stat.st_mtime_ns, stat.st_size) for stat in (file.stat() for file in files))


def _items(connection: sqlite3.Connection, tell: Tell) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    creators, tags = _grouped(connection, _CREATORS), _grouped(connection, _TAGS)
    notes, attachments = _grouped(connection, _NOTES), _grouped(connection, _ATTACHMENTS)
    collections, fields = _grouped(connection, _COLLECTIONS), _grouped(connection, _FIELDS)
    base_fields = _grouped(connection, _BASE_FIELDS)
    papers = [row for row in connection.execute(_ITEMS) if row[2] not in NO_PAPERS]
    for count, (number, key, kind) in enumerate(papers):
        if not count % _ITEMS_BETWEEN:
            tell(count, len(papers))
        item = {
            # What a case calls its name and a film its running time, all items call title and date.
            **dict(base_fields[number]),
            **dict(fields[number]),
            "key": key,
            "itemType": kind,
            "creators": [
                {"creatorType": role, "lastName": last, "firstName": first} for role, last, first in creators[number]
            ],
            "tags": [name for (name,) in tags[number]],
            "notes": [note for (note,) in notes[number]],
            "attachments": [{"path": path} for row in attachments[number] if (path := _path(*row))],
        }
        yield item, tuple(name for (name,) in collections[number])


def _grouped(connection: sqlite3.Connection, query: str) -> defaultdict[int, list[tuple[Any, ...]]]:
    """The rows of a query by the item they belong to."""
    rows: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for number, *values in connection.execute(query):
        rows[number].append(tuple(values))
    return rows


def _path(key: str, link: int, content: str | None, path: str) -> str:
    """Where an attachment lies, from Zotero's data directory on."""
    if link == _LINKED_ADDRESS:
        return ""
    if link == _LINKED_FILE:
        return path
    return stored(key, path.removeprefix("storage:"), content)
