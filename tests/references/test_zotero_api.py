"""Zotero's local API, as a server that speaks it and can be told to misbehave."""

from __future__ import annotations

import json
import re
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from carrel.errors import SourceError
from carrel.library import Library
from carrel.references import formats, zotero, zotero_api, zotero_items
from carrel.testing import HashedWords
from tests.embedders.test_ollama import Reply, Serve, serve
from tests.references.test_zotero import YU, database

__all__ = ["database", "serve"]

HOME = "/home/me/My Zotero"
MODES = ("imported_file", "imported_url", "linked_file", "linked_url")
BOOK = {"key": "BOOK1111", "data": {"itemType": "book", "title": "A book"}, "meta": {"parsedDate": "2019-02-01"}}


def answered_items(path: Path) -> list[dict[str, Any]]:
    """The items of a database as Zotero's server tells them, children among them, without the bin."""
    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT itemID, key, typeName"
        " FROM items JOIN itemTypesCombined USING (itemTypeID) JOIN libraries USING (libraryID)"
        " WHERE libraries.type = 'user' AND itemID NOT IN (SELECT itemID FROM deletedItems) ORDER BY itemID"
    ).fetchall()
    keys = {number: key for number, key, _kind in rows}
    return [answered(connection, keys, *row) for row in rows]


def answered(connection: sqlite3.Connection, keys: dict[int, str], number: int, key: str, kind: str) -> dict[str, Any]:
    data: dict[str, Any] = {"key": key, "version": 1, "itemType": kind, "tags": [], "relations": {}}
    item: dict[str, Any] = {
        "key": key,
        "version": 1,
        "library": {"type": "user"},
        "links": {},
        "meta": {},
        "data": data,
    }
    data |= connection.execute(
        "SELECT fieldName, value FROM itemData JOIN fieldsCombined USING (fieldID) JOIN itemDataValues USING (valueID)"
        " WHERE itemID = ?",
        [number],
    ).fetchall()
    if found := re.fullmatch(r"(\d{4})-(\d\d)-(\d\d) (.*)", str(data.get("date", ""))):
        data["date"] = found[4]
        item["meta"]["parsedDate"] = "-".join(part for part in found.groups()[:3] if int(part))
    data["creators"] = [
        {"creatorType": role, "name": last} if mode else {"creatorType": role, "firstName": first, "lastName": last}
        for role, first, last, mode in connection.execute(
            "SELECT creatorType, firstName, lastName, fieldMode FROM itemCreators JOIN creators USING (creatorID)"
            " JOIN creatorTypes USING (creatorTypeID) WHERE itemID = ? ORDER BY orderIndex",
            [number],
        )
    ]
    tags = "SELECT name FROM itemTags JOIN tags USING (tagID) WHERE itemID = ? ORDER BY tagID DESC"
    data["tags"] = [{"tag": name, "type": 1} for (name,) in connection.execute(tags, [number])]
    held = connection.execute("SELECT collectionID FROM collectionItems WHERE itemID = ?", [number])
    data["collections"] = [f"COLL{collection:04}" for (collection,) in held]
    for parent, note in connection.execute("SELECT parentItemID, note FROM itemNotes WHERE itemID = ?", [number]):
        data |= {"note": note, "parentItem": keys.get(parent)}
    attachment = "SELECT parentItemID, linkMode, contentType, path FROM itemAttachments WHERE itemID = ?"
    for parent, mode, content, path in connection.execute(attachment, [number]):
        data |= {"parentItem": keys.get(parent), "linkMode": MODES[mode], "contentType": content}
        if MODES[mode].startswith("imported"):
            data["filename"] = path.removeprefix("storage:")
            place = quote(f"{HOME}/storage/{key}/{data['filename']}")
            item["links"]["enclosure"] = {"type": content, "href": f"file://{place}"}
        else:
            data["path"] = path
    return item


def speaking(items: list[dict[str, Any]], collections: dict[str, str] | None = None) -> Callable[[str, Any], Reply]:
    """Answers pages as Zotero does, of the library and of its collections."""
    listed = [{"key": key, "data": {"key": key, "name": name}} for key, name in (collections or {}).items()]

    def script(path: str, _question: Any) -> Reply:
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        assert (query["sort"], query["direction"]) == ("dateAdded", "asc")
        found = re.fullmatch(r"/api/users/0(?:/collections/(\w{8}))?/(items|collections)", parts.path)
        if found is None:
            return Reply(b"Not found", 404, {"Zotero-API-Version": "3"})
        rows = listed if found[2] == "collections" else items
        if found[1]:
            inside = {item["key"] for item in items if found[1] in item["data"].get("collections", [])}
            rows = [item for item in items if inside & {item["key"], item["data"].get("parentItem")}]
        start = int(query["start"])
        headers = {"Zotero-API-Version": "3", "Total-Results": str(len(rows))}
        return Reply(rows[start : start + int(query["limit"])], headers=headers)

    return script


def test_one_library_read_from_the_database_the_api_and_a_saved_answer_gives_the_same_records(
    libraries: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(zotero_api, "PAGE", 20)
    items = answered_items(libraries / "zotero.sqlite")
    server = serve(speaking(items))
    by_api = formats.read(f"{server.url}/api/users/0/items")
    assert by_api.references == zotero.read(libraries / "zotero.sqlite").references
    assert (len(by_api.references), by_api.folder) == (49, Path(HOME))
    assert sum(reference.note != "" for reference in by_api.references) > 40
    assert [path for path in server.paths() if "/items?" in path][-1].endswith("&limit=20&start=80")
    (tmp_path / "saved.json").write_text(json.dumps(items))
    assert zotero_items.read(tmp_path / "saved.json").references == by_api.references


def test_items_come_with_all_that_hangs_on_them_and_the_bin_stays_out(database: Path, serve: Serve) -> None:
    trashed = {"key": "GONE1111", "data": {"itemType": "book", "title": "Gone", "deleted": 1}}
    server = serve(speaking([*answered_items(database), trashed], {"COLL0001": "Graphs"}))
    found = formats.read(f"zotero://127.0.0.1:{server.server_address[1]}")
    assert found.references[0] == YU
    assert [reference.id for reference in found.references[1:]] == ["CASE1111"]
    assert [remark.reason for remark in found.remarks] == [
        "the path '/home/x.pdf' is not in the folder of its file; the entry is kept without it"
    ]


def test_a_collection_is_read_alone_and_one_that_is_not_there_is_named(database: Path, serve: Serve) -> None:
    server = serve(speaking(answered_items(database), {"COLL0001": "Graphs"}))
    port = server.server_address[1]
    assert formats.read(f"zotero://localhost:{port}/collections/COLL0001").references == [YU]
    with pytest.raises(SourceError, match="Zotero has no collection 'NONE1111' in users/0; nothing was taken in"):
        formats.read(f"zotero://localhost:{port}/collections/NONE1111")
    with pytest.raises(SourceError, match="Zotero has no library 'groups/7'"):
        formats.read(f"zotero://localhost:{port}/groups/7")


def test_zoteros_own_reading_of_a_date_counts(serve: Serve) -> None:
    server = serve(speaking([BOOK | {"data": {**BOOK["data"], "date": "1/2/2019"}}]))  # type: ignore[dict-item]
    (reference,) = formats.read(f"{server.url}/api/").references
    assert (reference.published.year, reference.published.month, reference.published.day) == (2019, 2, 1)


def test_progress_is_told_page_by_page(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zotero_api, "PAGE", 2)
    server = serve(speaking([BOOK | {"key": f"BOOK{number:04}"} for number in range(5)]))
    told: list[tuple[str, int, int]] = []
    formats.read(f"{server.url}/api", lambda *words: told.append(words))
    stage = f"reading {server.url}/api"
    assert told == [(stage, 2, 5), (stage, 4, 5), (stage, 5, 5)]


ZOTERO = {"Zotero-API-Version": "3"}
LONG = Reply([BOOK] * 100, headers={"Total-Results": "100"})


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(b"Local API is not enabled", 403, ZOTERO), "Zotero's local API is switched off: switch it on"),
        (Reply(b"", 302, {"Location": "http://example.org/"}), "sends elsewhere, where Carrel does not follow"),
        (Reply(b"Forbidden", 403), "does not speak as Zotero 7 or newer does"),
        (Reply(b"No endpoint found", 404), "does not speak as Zotero 7 or newer does"),
        (Reply(b"<html>A router</html>"), "does not speak as Zotero 7 or newer does"),
        (Reply(b"[{", headers={"Total-Results": "1"}), "does not speak as Zotero 7 or newer does"),
        (Reply(b"[" * 100_000, headers={"Total-Results": "1"}), "does not speak as Zotero 7 or newer does"),
        (Reply([1], headers={"Total-Results": "1"}), "does not speak as Zotero 7 or newer does"),
        (Reply([BOOK]), "does not speak as Zotero 7 or newer does"),
        (Reply([], headers={"Total-Results": "9" * 5000}), "does not speak as Zotero 7 or newer does"),
        (Reply([], headers={"Total-Results": "9999999"}), "lists 9,999,999 items, more than the 500,000"),
        (Reply([BOOK], headers={"Total-Results": "3"}), "lists other items each time"),
        (Reply(b"<b>Oops</b>", 500, ZOTERO), "answered 500: Oops"),
        (Reply([BOOK], headers={"Total-Results": "1", "Content-Length": "9999"}), "hung up in the middle"),
        (Reply(resets=True), "hung up before it had answered"),
        (Reply(b"x" * 40, headers={"Total-Results": "1"}, drip=0.02), r"did not answer within 0\.3 s"),
        (LONG, "sent more than 5,000 bytes in one answer"),
    ],
)  # fmt: skip
def test_a_server_that_fails_is_named_in_one_sentence(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, reply: Reply, reason: str
) -> None:
    monkeypatch.setattr(zotero_api, "SECONDS", 0.3)
    monkeypatch.setattr(zotero_api, "MOST_BYTES", 200_000 if reply is not LONG else 5_000)
    server = serve(lambda _path, _question: reply)
    with pytest.raises(SourceError, match=rf"{reason}.*; nothing was taken in from it$") as caught:
        formats.read(f"{server.url}/api/users/0/items")
    assert "\n" not in str(caught.value)


def test_zotero_that_does_not_run_is_named_with_what_to_do() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(SourceError, match=rf"does not run, or not at 127.0.0.1:{port}: start it, or add its zotero"):
        formats.read(f"zotero://127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("http://example.org/api/users/0/items", "'example.org' is not this machine"),
        ("https://api.zotero.org/users/1/items", "'api.zotero.org' is not this machine"),
        ("http://localhost:23119@example.org/api/", "'example.org' is not this machine"),
        ("http://10.0.0.1:23119/api/", "'10.0.0.1' is not this machine"),
        ("http://localhost.example.org/api/", "'localhost.example.org' is not this machine"),
        ("zotero://select/library/items/ABCD2345", "'select' is not this machine"),
        ("https://localhost:23119/api/", "no address of Zotero's"),
        ("http://localhost:23119/users/0/items", "no address of Zotero's"),
        ("http://localhost:99999999/api/", "no address of Zotero's"),
        ("zotero:groups/../users/0", "no address of Zotero's"),
        ("zotero:collections/short", "no address of Zotero's"),
        ("zotero:items?tag=read", "no address of Zotero's"),
    ],
)
def test_only_zotero_on_this_machine_is_asked(address: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        formats.read(address)


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("zotero:", ("localhost", 23119, "users/0", "")),
        ("zotero:groups/12", ("localhost", 23119, "groups/12", "")),
        ("zotero:collections/abcd2345", ("localhost", 23119, "users/0", "ABCD2345")),
        ("zotero:groups/12/collections/ABCD2345/items/top", ("localhost", 23119, "groups/12", "ABCD2345")),
        ("zotero://localhost:4000/", ("localhost", 4000, "users/0", "")),
        ("zotero://[::1]:4000/users/5", ("::1", 4000, "users/5", "")),
        ("http://127.0.0.2:23119/api/groups/1/items", ("127.0.0.2", 23119, "groups/1", "")),
    ],
)  # fmt: skip
def test_every_spelling_of_an_address_is_understood(address: str, place: tuple[str, int, str, str]) -> None:
    found = zotero_api.Place.of(address)
    assert (found.host, found.port, found.library, found.collection) == place


def test_where_a_file_lies_is_believed_only_if_it_is_where_zotero_keeps_it(serve: Serve) -> None:
    pdf = {"itemType": "attachment", "linkMode": "imported_file", "parentItem": "BOOK1111", "filename": "a.pdf"}
    for href in ("file:///etc/a.pdf", "file://share/z/storage/PDFA1111/a.pdf", "http://x/storage/PDFA1111/a.pdf", 5):
        item = {"key": "PDFA1111", "data": pdf, "links": {"enclosure": {"href": href}}}
        found = formats.read(f"{serve(speaking([BOOK, item])).url}/api/")
        assert (found.folder, found.references[0].pdf_path) == (None, "storage/PDFA1111/a.pdf")


def test_an_interrupted_reading_changes_nothing_and_the_rest_of_the_run_is_kept(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(zotero_api, "PAGE", 2)
    books = [BOOK | {"key": f"BOOK{number:04}"} for number in range(6)]
    whole = speaking(books)
    server = serve(whole)
    with Library.init(tmp_path, embedder=HashedWords()) as library:
        assert library.add(f"{server.url}/api/", tags=("mine",)).new == 6
        assert library.add(f"{server.url}/api/").unchanged == 6
        before = library.layout.refs.read_bytes()
        server.script = lambda path, asked: Reply(resets=True) if path.endswith("start=4") else whole(path, asked)
        books[0] = books[0] | {"data": {"itemType": "book", "title": "Changed"}}
        stopped = library.add(f"{server.url}/api/")
        assert [(problem.source, "hung up" in problem.reason) for problem in stopped.failed] == [
            (f"{server.url}/api/", True)
        ]
        assert library.layout.refs.read_bytes() == before
        server.script = whole
        report = library.add(f"{server.url}/api/", "http://example.org/refs.bib")
        assert (report.updated, report.unchanged, len(report.failed)) == (1, 5, 1)
        assert "mine" in library.list()[0].reference.tags
