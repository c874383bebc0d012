"""Retraction Watch's file, 60 MB of CSV, as a small index in the cache: made anew when the file changes."""

from __future__ import annotations

import csv
import json
import re
import secrets
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from carrel.catalogs.citing import title_key
from carrel.errors import CarrelError
from carrel.files import writing
from carrel.identifiers import normalise_doi, normalise_pmid, normalise_title
from carrel.references import texts
from carrel.types import Flag, Notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from carrel.types import Reference

_VERSION = 1
"""Of the index; another one is made anew."""
_NATURES = {
    "retraction": Notice.RETRACTION,
    "correction": Notice.CORRECTION,
    "expression of concern": Notice.CONCERN,
    "reinstatement": Notice.REINSTATEMENT,
}
_NEEDED = ("OriginalPaperDOI", "OriginalPaperPubMedID", "Title", "RetractionNature", "RetractionDate")
_TABLES = """
    CREATE TABLE notices (id INTEGER PRIMARY KEY, nature TEXT, date TEXT, reason TEXT, doi TEXT, paper_doi TEXT,
        year INTEGER, authors TEXT);
    CREATE TABLE keys (key TEXT, notice INTEGER, PRIMARY KEY (key, notice)) WITHOUT ROWID;
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);"""
_FIND = "SELECT notices.* FROM keys JOIN notices ON notices.id = keys.notice WHERE keys.key = ?"
_DATE = re.compile(r"(?:(\d{1,2})/(\d{1,2})/(\d{4})|(\d{4})-(\d{2})-(\d{2}))")
_MARKED = re.compile(
    r"^\W*(?:retracted|withdrawn|removed|retraction)(?: (?:article|chapter|paper))?\s*[:\-–—]\s*", re.I
)
_SURE_TITLE = 40
"""Letters of a title that no two works share, whoever wrote them."""
_LONGEST_REASON = 300
_LARGEST_FIELD = 1_000_000


@dataclass(frozen=True, slots=True)
class _Row:
    nature: Notice
    date: str
    reason: str
    doi: str
    paper_doi: str
    pmid: str
    title: str
    year: int
    authors: tuple[str, ...]

    def keys(self) -> set[str]:
        named = {"doi": self.paper_doi, "pmid": self.pmid, "title": self.title}
        return {f"{kind}:{value}" for kind, value in named.items() if value}


class Index:
    """Looks papers up in a file of notices. What is wrong with the file is its `complaint`, and no reason to fail."""

    def __init__(self, named: str, file: Path | None, cache: Path) -> None:
        """Of the file that is `named`; of None where that may not be read."""
        self.named = named
        self.as_of = ""
        self._connection: sqlite3.Connection | None = None
        try:
            self.complaint = "" if file else self._unknown("lies outside of the library's folder")
            if file:
                self._open(file, cache / "retractions.db")
        except OSError as error:
            self.complaint = self._unknown(f"cannot be read ({error.strerror or error})")
        except (CarrelError, sqlite3.Error) as error:
            self.complaint = self._unknown(f"cannot be used ({error})")

    def _unknown(self, why: str) -> str:
        return f"{self.named!r} {why}; retractions are not known"

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def flags(self, reference: Reference) -> Iterator[Flag]:
        """By DOI, else by PubMed's id, else by a title whose year and authors do not speak against it."""
        source = f"Retraction Watch, as of {self.as_of}"
        for row in self._rows(reference):
            yield Flag(Notice(row["nature"]), source, row["date"], row["reason"], row["doi"])

    def _rows(self, reference: Reference) -> list[sqlite3.Row]:
        doi, pmid = normalise_doi(reference.doi), normalise_pmid(reference.pmid)
        for key in (f"doi:{doi}" if doi else "", f"pmid:{pmid}" if pmid else ""):
            if key and (rows := self._found(key)):
                return rows
        title = title_key(_MARKED.sub("", reference.title))
        return [row for row in self._found(f"title:{title}") if _is_of(row, reference, doi, title)] if title else []

    def _found(self, key: str) -> list[sqlite3.Row]:
        if self._connection is None:
            return []
        try:
            return self._connection.execute(_FIND, [key]).fetchall()
        except sqlite3.Error as error:
            self.complaint = self._unknown(f"has an index that cannot be read ({error})")
            return []

    def _open(self, file: Path, path: Path) -> None:
        status = file.stat()
        mark = json.dumps([_VERSION, str(file.resolve()), status.st_size, status.st_mtime_ns])
        if _mark_of(path) != mark:
            self._make(file, path, mark, datetime.fromtimestamp(status.st_mtime, UTC).date())
        if self._connection is None:
            uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
            self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        self._connection.row_factory = sqlite3.Row
        meta = dict(self._connection.execute("SELECT key, value FROM meta").fetchall())
        self.as_of, self.complaint = meta["as_of"], meta["complaint"]

    def _make(self, file: Path, path: Path, mark: str, today: date) -> None:
        """Beside the old one, then in its place; where nothing can be written, in memory."""
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
        try:
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
                    _fill(connection, file, mark, today)
                temporary.replace(path)
        except (CarrelError, sqlite3.OperationalError):
            self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            _fill(self._connection, file, mark, today)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def _mark_of(path: Path) -> str:
    """Which file an index was made of; empty where there is none that can be read."""
    if not path.is_file():
        return ""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = 'mark'").fetchone()
    except sqlite3.Error:
        return ""
    return str(row[0]) if row else ""


def _fill(connection: sqlite3.Connection, file: Path, mark: str, today: date) -> None:
    reading = _Reading(file)
    connection.executescript(f"PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; {_TABLES}")
    connection.execute("BEGIN")
    newest = ""
    for number, row in enumerate(reading.rows(), start=1):
        connection.execute(
            "INSERT INTO notices VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [number, row.nature, row.date, row.reason, row.doi, row.paper_doi, row.year, json.dumps(row.authors)],
        )
        connection.executemany("INSERT INTO keys VALUES (?, ?)", [(key, number) for key in sorted(row.keys())])
        newest = max(newest, row.date if row.date <= today.isoformat() else "")
    meta = {"mark": mark, "as_of": newest or today.isoformat(), "complaint": reading.complaint}
    connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    connection.execute("COMMIT")


class _Reading:
    """The rows of a file, and what is wrong with it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.complaint = ""

    def rows(self) -> Iterator[_Row]:
        csv.field_size_limit(_LARGEST_FIELD)
        lines = csv.reader(texts.lines(self._file))
        count, broken, last_is_broken = 0, 0, False
        try:
            header = [name.strip().lstrip("\ufeff") for name in next(lines, [])]
            if lacking := [name for name in _NEEDED if name not in header]:
                self._complain(
                    f"is not Retraction Watch's: it has no column {lacking[0]!r}", "retractions are not known"
                )
                return
            for fields in lines:
                last_is_broken = bool(fields) and len(fields) < len(header)
                broken += last_is_broken
                if len(fields) >= len(header):
                    count += 1
                    yield from _row(dict(zip(header, fields, strict=False)))
        except csv.Error as error:
            self._complain(f"breaks off after {count:,} rows ({error})", "the notices behind are not known")
            return
        if last_is_broken:
            self._complain(f"ends in the middle of a row, after {count:,}", "the notices behind are not known")
        elif not count:
            self._complain("has no row", "retractions are not known")
        elif broken:
            self._complain(f"has {broken:,} rows that cannot be read", "their notices are not known")

    def _complain(self, what: str, so: str) -> None:
        self.complaint = f"{str(self._file)!r} {what}; {so}. Download it again"


def _row(said: dict[str, str]) -> Iterator[_Row]:
    """What a row says, if it says anything of a paper that can be told from others."""
    nature = _NATURES.get(said["RetractionNature"].strip().casefold())
    published = _iso(said.get("OriginalPaperDate", ""))
    row = _Row(
        nature or Notice.CORRECTION,
        _iso(said["RetractionDate"]),
        _reason(said.get("Reason", "")),
        normalise_doi(said.get("RetractionDOI", "")),
        normalise_doi(said["OriginalPaperDOI"]),
        normalise_pmid(said["OriginalPaperPubMedID"]),
        title_key(_MARKED.sub("", texts.line(said["Title"]))),
        int(published[:4]) if published else 0,
        tuple(_surnames(said.get("Author", "").split(";"))),
    )
    if nature and row.keys():
        yield row


def _iso(text: str) -> str:
    """`5/1/2020 0:00` → `2020-05-01`; empty when it is no date."""
    found = _DATE.match(text.strip())
    if not found:
        return ""
    month, day, year = found.groups()[:3] if found[3] else (found[5], found[6], found[4])
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""


def _reason(text: str) -> str:
    said = "; ".join(part for part in (one.strip(" +") for one in texts.line(text).split(";")) if part)
    return said if len(said) <= _LONGEST_REASON else f"{said[:_LONGEST_REASON].rsplit(' ', 1)[0]} …"


def _surnames(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        words = name.replace(".", " ").split()
        if words and (last := normalise_title(words[-1])):
            yield last


def _is_of(row: sqlite3.Row, reference: Reference, doi: str, title: str) -> bool:
    """Two DOIs that differ are two works. Years and authors may not disagree; of a short title one must agree."""
    if doi and row["paper_doi"]:
        return False
    authors = {name for author in reference.authors for name in _surnames([author.last])}
    theirs = set(json.loads(row["authors"]))
    if authors and theirs and not authors & theirs:
        return False
    year = reference.published.year
    if year and row["year"] and abs(year - row["year"]) > 1:
        return False
    return bool(authors & theirs) or bool(year and row["year"]) or len(title) >= _SURE_TITLE
