"""Reading Zotero's database while Zotero has it open."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.errors import SourceError
from carrel.references import formats, zotero
from carrel.types import Author, Origin, Published, Reference

SCHEMA = """
CREATE TABLE libraries (libraryID INTEGER PRIMARY KEY, type TEXT);
CREATE TABLE itemTypesCombined (itemTypeID INT, typeName TEXT);
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT, libraryID INT, key TEXT);
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY);
CREATE TABLE fieldsCombined (fieldID INT, fieldName TEXT);
CREATE TABLE baseFieldMappingsCombined (itemTypeID INT, baseFieldID INT, fieldID INT);
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID INT);
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT);
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE itemCreators (itemID INT, creatorID INT, creatorTypeID INT, orderIndex INT);
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE itemTags (itemID INT, tagID INT, type INT);
CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT);
CREATE TABLE collectionItems (collectionID INT, itemID INT, orderIndex INT);
CREATE TABLE itemNotes (itemID INTEGER PRIMARY KEY, parentItemID INT, note TEXT);
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT, path TEXT);
INSERT INTO libraries VALUES (1, 'user'), (2, 'feed');
INSERT INTO itemTypesCombined VALUES (1, 'journalArticle'), (2, 'attachment'), (3, 'note'), (4, 'case');
INSERT INTO items VALUES (1, 1, 1, 'AAAA1111'), (2, 2, 1, 'PDFA1111'), (3, 3, 1, 'NOTE1111'), (4, 1, 1, 'GONE1111'),
  (5, 1, 2, 'FEED1111'), (6, 2, 1, 'LINK1111'), (7, 4, 1, 'CASE1111'), (8, 2, 1, 'BIN11111');
INSERT INTO deletedItems VALUES (4), (8);
INSERT INTO fieldsCombined VALUES (1, 'title'), (2, 'date'), (3, 'DOI'), (4, 'publicationTitle'),
  (5, 'extra'), (6, 'caseName');
INSERT INTO baseFieldMappingsCombined VALUES (4, 1, 6);
INSERT INTO itemDataValues VALUES (1, 'On <i>graphs</i>'), (2, '2019-05-00 May 2019'), (3, '10.1000/X'), (4, 'Nature'),
  (5, 'Citation Key: yu2019'), (6, 'Gone'), (7, 'A v. B');
INSERT INTO itemData VALUES (1, 1, 1), (1, 2, 2), (1, 3, 3), (1, 4, 4), (1, 5, 5), (4, 1, 6), (5, 1, 6), (7, 6, 7);
INSERT INTO creators VALUES (1, 'Tim', 'Yu', 0), (2, '', 'WHO', 1);
INSERT INTO creatorTypes VALUES (1, 'author'), (2, 'editor');
INSERT INTO itemCreators VALUES (1, 2, 1, 1), (1, 1, 1, 0);
INSERT INTO tags VALUES (1, 'read');
INSERT INTO itemTags VALUES (1, 1, 0);
INSERT INTO collections VALUES (1, 'Graphs');
INSERT INTO collectionItems VALUES (1, 1, 0);
INSERT INTO itemNotes VALUES (3, 1, '<p>Mine</p>');
INSERT INTO itemAttachments VALUES (2, 1, 0, 'application/pdf', 'storage:a.pdf'),
  (6, 1, 2, 'application/pdf', '/home/x.pdf'), (8, 1, 0, 'application/pdf', 'storage:bin.pdf');
"""

RUNNING = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA locking_mode = EXCLUSIVE")
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("PRAGMA wal_autocheckpoint = 0")
connection.execute("INSERT INTO items VALUES (9, 1, 1, 'NEW11111')")
connection.execute("INSERT INTO itemDataValues VALUES (9, 'Newest')")
connection.execute("INSERT INTO itemData VALUES (9, 1, 9)")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE itemDataValues SET value = 'Not yet' WHERE valueID = 9")
print("ready", flush=True)
sys.stdin.read()
"""

YU = Reference(
    id="yu2019",
    title="On graphs",
    doi="10.1000/x",
    authors=(Author("Yu", "Tim"), Author("WHO")),
    venue="Nature",
    note="Mine",
    published=Published(2019, 5),
    pdf_path="storage/PDFA1111/a.pdf",
    source=Origin("zotero", "AAAA1111"),
    tags=("read", "Graphs"),
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    folder = tmp_path / "Zotero"
    folder.mkdir()
    connection = sqlite3.connect(folder / "zotero.sqlite")
    connection.executescript(SCHEMA)
    connection.close()
    return folder / "zotero.sqlite"


def fingerprint(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) for path in folder.iterdir()
    }


def test_items_come_with_all_that_hangs_on_them_and_the_bin_and_feeds_stay_out(database: Path) -> None:
    found = zotero.read(database)
    assert found.references[0] == YU
    assert [(reference.id, reference.title) for reference in found.references[1:]] == [("CASE1111", "A v. B")]
    assert [remark.reason for remark in found.remarks] == [
        "the path '/home/x.pdf' is not in the folder of its file; the entry is kept without it"
    ]


def test_the_newest_items_are_seen_while_zotero_holds_the_database_and_nothing_of_it_changes(database: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", RUNNING, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            sqlite3.connect(database, timeout=0).execute("SELECT * FROM items").fetchall()
        before = fingerprint(database.parent)
        assert database.with_name("zotero.sqlite-wal").stat().st_size > 0
        assert formats.sniff(database) == "zotero"
        found = zotero.read(database)
        assert fingerprint(database.parent) == before
        running.communicate("")
    assert [reference.title for reference in found.references] == ["On graphs", "A v. B", "Newest"]


def test_a_change_that_zotero_had_not_finished_is_not_seen(database: Path, tmp_path: Path) -> None:
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("UPDATE itemDataValues SET value = 'Half done' WHERE valueID = 1")
    before = fingerprint(database.parent)
    assert zotero.read(database).references[0] == YU
    assert fingerprint(database.parent) == before
    connection.close()


def test_another_database_is_refused_with_its_reason(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "other.sqlite").executescript("CREATE TABLE a (b); INSERT INTO a VALUES (1);")
    (tmp_path / "text.sqlite").write_text("no database at all, only a longer text than a header " * 20)
    for name in ("other.sqlite", "text.sqlite"):
        assert formats.sniff(tmp_path / name) is None
        with pytest.raises(SourceError, match="is not a database of Zotero"):
            zotero.read(tmp_path / name)
    with pytest.raises(SourceError, match="cannot read"):
        zotero.read(tmp_path / "absent.sqlite")


def test_a_database_that_never_holds_still_is_given_up(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    states = iter(range(100))
    monkeypatch.setattr(zotero, "_state", lambda _path: next(states))
    with pytest.raises(SourceError, match="changes faster than it can be copied"):
        zotero.read(database)
