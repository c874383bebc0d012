"""Which format a file of references has, and the reader for it."""

from __future__ import annotations

import re
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.errors import UnsupportedFormat
from carrel.references import texts, zotero_api
from carrel.references.json_items import BrokenJson, Items

if TYPE_CHECKING:
    from carrel.references import Found
    from carrel.references.texts import Tell
    from carrel.types import Progress

READERS = {
    "jsonl": "jsonl",
    "bibtex": "bibtex",
    "csl": "csl",
    "ris": "ris",
    "paperpile": "paperpile",
    "zotero": "zotero",
    "zotero_json": "zotero_items",
}
"""Each format and the module that reads it."""

_BY_SUFFIX = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".bib": "bibtex", ".bibtex": "bibtex", ".biblatex": "bibtex", ".ris": "ris",
    ".csljson": "csl",
}  # fmt: skip
_DATABASES = frozenset({".sqlite", ".sqlite3", ".db"})
_UNTOLD = frozenset({"", ".txt", ".text"})
SUFFIXES = frozenset({*_BY_SUFFIX, *_DATABASES, ".json"})
"""Of files that may hold references; a `.json` or a database is told by its content."""

_HEAD = 1_000_000
_SQLITE = b"SQLite format 3\0"
_ZOTERO_TABLE = b"itemDataValues"
_ENTRY = re.compile(r"\s*(?:%[^\n]*\n\s*)*@[A-Za-z]+\s*[{(]")
_RIS = re.compile(r"\s*TY {1,2}- ")
_PAPERPILE = frozenset({"_id", "citekey", "labelsNamed", "foldersNamed", "published", "pubtype"})
_CSL = frozenset({"issued", "container-title", "author", "title", "DOI", "citation-key", "URL", "editor"})


def sniff(path: Path) -> str | None:
    """The format of a file, by its name and what is in it; None when it is none of ours."""
    suffix = path.suffix.lower()
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    if suffix in _DATABASES:
        return "zotero" if _is_zotero(path) else None
    if suffix == ".json":
        return _json_format(texts.head(path, _HEAD)) or ("csl" if path.name.lower().endswith(".csl.json") else None)
    return _text_format(texts.head(path, 10_000)) if suffix in _UNTOLD else None


def read(source: Path | str, progress: Progress | None = None) -> Found:
    """The references of a file, whatever its format, or of Zotero at an address."""
    if isinstance(source, str):
        return zotero_api.read(source, _teller(progress, source))
    return _read_file(source, _teller(progress, "/".join(source.parts[-2:])))


def _teller(progress: Progress | None, name: str) -> Tell:
    return partial(progress, f"reading {name}") if progress else texts.untold


def _read_file(path: Path, tell: Tell) -> Found:
    kind = sniff(path)
    if kind is None:
        raise UnsupportedFormat(
            f"{str(path)!r} is no file of references that Carrel knows",
            hint="Export BibTeX, RIS or CSL-JSON from your reference manager and add that.",
        )
    found: Found = import_module(f"carrel.references.{READERS[kind]}").read(path, tell)
    return found


def _is_zotero(path: Path) -> bool:
    """Whether the tables of Zotero are in a database, or still in the log beside it."""
    try:
        with path.open("rb") as file:
            beginning = file.read(_HEAD)
        log = Path(f"{path}-wal")
        newest = log.read_bytes()[:_HEAD] if log.exists() else b""
    except OSError as error:
        raise texts.unreadable(path, error) from error
    return beginning.startswith(_SQLITE) and (_ZOTERO_TABLE in beginning or _ZOTERO_TABLE in newest)


def _text_format(text: str) -> str | None:
    if _RIS.match(text):
        return "ris"
    return "bibtex" if _ENTRY.match(text) else None


def _json_format(text: str) -> str | None:
    item = _first_item(text)
    data = item.get("data") if isinstance(item.get("data"), dict) else item
    keys = set(data or ())
    if "itemType" in keys:
        return "zotero_json"
    if len(keys & _PAPERPILE) >= 2:
        return "paperpile"
    return "csl" if "type" in keys and keys & _CSL else None


def _first_item(text: str) -> dict[str, Any]:
    try:
        return next((item for _line, item in Items(text) if isinstance(item, dict)), {})
    except BrokenJson:
        return {}
