"""Test collections: documents, queries, and which documents answer which query."""

from __future__ import annotations

import hashlib
import json
import random
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from carrel.errors import InvalidInput, NotFound, SourceError
from carrel.evaluate import lines
from carrel.references import jsonl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from carrel.types import Reference

TEST = "test"
_PART = re.compile(r"[\w-]+")
_HEADER = re.compile(r"\s[a-z]+\s*$", re.IGNORECASE)
_NAMED = 3
"""How many of a kind are named in a remark."""
UNTITLED = "—"
"""In the place of a title, without which no record is one. A search by words does not see it, a model hardly does."""
_COLUMNS = 3
_TREC_COLUMNS = 4
_LONGEST_ID = 500
_LONGEST_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about a collection that a reader of its figures should know."""

    what: str
    count: int
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        named = [*map(_shown, self.examples), *(["…"] if self.count > len(self.examples) else [])]
        return f"{self.what}: {self.count:,}" + (f" ({'; '.join(named)})" if self.examples else "")


@dataclass(frozen=True)
class Collection:
    name: str
    documents: Sequence[Reference]
    """A document's text is the abstract of its record."""
    queries: Mapping[str, str]
    """Only those with a relevant document."""
    relevant: Mapping[str, Mapping[str, int]]
    """Query → document → grade, above 0."""
    remarks: tuple[Remark, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Equal for those collections alone whose figures can be compared."""
        documents = [(one.id, one.title, one.abstract) for one in self.documents]
        content = json.dumps([sorted(documents), self.queries, self.relevant], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def sample(self, count: int, seed: int) -> Collection:
        """The same with so many of its queries, drawn by chance and left in their order."""
        if count < 1:
            raise InvalidInput(f"queries must be a positive integer, got {count}")
        drawn = set(random.Random(seed).sample(sorted(self.queries), min(count, len(self.queries))))  # noqa: S311
        return replace(
            self,
            queries={query: text for query, text in self.queries.items() if query in drawn},
            relevant={query: grades for query, grades in self.relevant.items() if query in drawn},
        )


def read(folder: Path, *, part: str = TEST) -> Collection:
    """A folder as BEIR lays it out: `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`, or `qrels/test.tsv`, plain or .gz.

    Another part than `test` has its judgements in `qrels_PART.tsv` or `qrels/PART.tsv`. What cannot be used is told in
    the collection's remarks.
    """
    if not _PART.fullmatch(part):
        raise InvalidInput(f"--part {part!r} is not a part's name", hint="As in --part train.")
    if not folder.is_dir():
        raise NotFound(f"no folder {str(folder)!r}", hint="Name the folder of a test collection.")
    corpus = _find(folder, "corpus.jsonl")
    queries = _find(folder, f"queries_{part}.jsonl", "queries.jsonl")
    qrels = _find(folder, *(["qrels.tsv"] if part == TEST else []), f"qrels_{part}.tsv", f"qrels/{part}.tsv")
    faults = _Faults()
    documents = _documents(corpus, faults)
    asked = _queries(queries, faults)
    relevant = _judgements(qrels, {one.id for one in documents}, asked, faults)
    if not relevant:
        raise SourceError(
            f"no query of {queries.name} has a relevant document in {qrels.name}",
            hint="; ".join(map(str, faults.remarks)) or "Judgements are lines of query, document and a grade above 0.",
        )
    name = folder.resolve().name
    return Collection(
        name if part == TEST else f"{name}-{part}",
        documents,
        {query: text for query, text in asked.items() if query in relevant},
        {query: relevant[query] for query in asked if query in relevant},
        (*faults.remarks, *_unjudged(len(asked) - len(relevant))),
    )


@dataclass
class _Faults:
    found: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, where: str) -> None:
        self.found.setdefault(what, []).append(where)

    @property
    def remarks(self) -> list[Remark]:
        return [Remark(what, len(where), tuple(where[:_NAMED])) for what, where in self.found.items()]


def _shown(text: str) -> str:
    """Without what a terminal would obey, and not endless."""
    plain = "".join(character if character.isprintable() else "\ufffd" for character in text[: _LONGEST_SHOWN + 1])
    return plain if len(plain) <= _LONGEST_SHOWN else f"{plain[:_LONGEST_SHOWN]}…"


def _unjudged(count: int) -> list[Remark]:
    return [Remark("queries without a relevant document, left out", count)] if count else []


def _find(folder: Path, *names: str) -> Path:
    for name in names:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    raise NotFound(
        f"{str(folder)!r} has no {' or '.join(names)}",
        hint="A test collection is a folder with corpus.jsonl, queries.jsonl and qrels.tsv, each plain or as .gz.",
    )


def _documents(path: Path, faults: _Faults) -> list[Reference]:
    documents: dict[str, Reference] = {}
    for number, line in lines.read(path):
        try:
            document = _document(_record(line))
        except ValueError as error:
            faults.add(f"lines of {path.name} that are no documents, left out", f"line {number}: {error}")
            continue
        if document.id in documents:
            faults.add(f"ids given twice in {path.name}, the first kept", document.id)
            continue
        if document.title == UNTITLED:
            faults.add(f"documents of {path.name} without a title, called {UNTITLED!r}", document.id)
        if not document.abstract.strip():
            faults.add(f"documents of {path.name} without text", document.id)
        documents[document.id] = document
    if not documents:
        raise SourceError(
            f"there is no document in {path.name}", hint="; ".join(map(str, faults.remarks)) or "The file is empty."
        )
    return list(documents.values())


def _document(record: Mapping[str, Any]) -> Reference:
    """A record in the words of refs.jsonl, so that texts are what a library would take in."""
    identity, title = _id(record), _text(record, "title").strip()
    reference = jsonl.from_record({"id": identity, "title": title or UNTITLED, "abstract": _text(record, "text")})
    if reference.id != identity:
        raise ValueError(f"'_id' {identity!r} has characters that no store can hold")
    return reference


def _queries(path: Path, faults: _Faults) -> dict[str, str]:
    queries: dict[str, str] = {}
    for number, line in lines.read(path):
        try:
            record = _record(line)
            query, text = _id(record), _text(record, "text")
        except ValueError as error:
            faults.add(f"lines of {path.name} that are no queries, left out", f"line {number}: {error}")
            continue
        if query in queries:
            faults.add(f"ids given twice in {path.name}, the first kept", query)
        elif not text.strip():
            faults.add(f"queries of {path.name} without text, left out", query)
        else:
            queries[query] = text.encode("utf-8", "replace").decode()
    return queries


def _judgements(
    path: Path, documents: set[str], queries: Mapping[str, str], faults: _Faults
) -> dict[str, dict[str, int]]:
    relevant: dict[str, dict[str, int]] = {}
    seen: set[tuple[str, str]] = set()
    for number, line in lines.read(path):
        try:
            query, document, grade = _judgement(line)
        except ValueError as error:
            if number > 1 or not _HEADER.search(line):
                faults.add(f"lines of {path.name} that are no judgements, left out", f"line {number}: {error}")
            continue
        if (query, document) in seen:
            faults.add(f"judgements given twice in {path.name}, the first kept", f"{query} {document}")
            continue
        seen.add((query, document))
        if query not in queries:
            faults.add(f"judgements of {path.name} for queries that are not there, left out", query)
            continue
        if document not in documents:
            faults.add(f"judgements of {path.name} for documents that are not there, never found", document)
        if grade > 0:
            relevant.setdefault(query, {})[document] = grade
    return relevant


def _judgement(line: str) -> tuple[str, str, int]:
    """BEIR's three columns, or the four of TREC, where the second says nothing."""
    columns = line.split("\t") if "\t" in line else line.split()
    if len(columns) == _TREC_COLUMNS:
        del columns[1]
    if len(columns) != _COLUMNS:
        raise ValueError(f"{len(columns)} columns, not query, document and grade")
    query, document, grade = (column.strip() for column in columns)
    try:
        return query, document, int(grade)
    except ValueError as error:
        raise ValueError(f"grade {grade!r} is no whole number") from error


def _record(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from error
    if not isinstance(record, dict):
        raise ValueError(f"a record is a JSON object, this is {type(record).__name__}")
    return record


def _id(record: Mapping[str, Any]) -> str:
    value = record.get("_id")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError("'_id' is missing" if value is None else f"'_id' is {type(value).__name__}, not text")
    if not str(value).strip():
        raise ValueError("'_id' is empty")
    if len(str(value)) > _LONGEST_ID:
        raise ValueError(f"'_id' has {len(str(value)):,} characters, more than {_LONGEST_ID}")
    return str(value)


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key!r} is {type(value).__name__}, not text")
    return value or ""
