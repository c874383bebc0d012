"""refs.jsonl: one record a line, always in the same key order, the truth that git keeps."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from carrel.errors import SourceError
from carrel.files import write_atomically
from carrel.references import Found
from carrel.references.texts import untold
from carrel.types import Author, Origin, Problem, Published, Reference

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pydantic import TypeAdapter

    from carrel.references.texts import Tell

_MAX_LINE = 1_000_000
_LAST_YEAR = 9999
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LINES_BETWEEN = 1_000
"""Lines read between two words of progress."""
_KEYS = (
    "id", "doi", "title", "authors", "abstract", "venue", "note", "published", "pdf_path", "supplement_paths",
    "source", "tags", "supersedes", "pmid", "pmcid", "arxiv_id", "s2_id",
)  # fmt: skip
_ALWAYS = frozenset({"id", "doi", "title", "authors", "abstract", "venue", "published", "pdf_path", "source"})


def dump(reference: Reference) -> str:
    """The record as a line, without its end."""
    return json.dumps(_clean(as_record(reference)), ensure_ascii=False)


def as_record(reference: Reference) -> dict[str, Any]:
    """The record as JSON has it: keys in order, what is empty left out unless it is always there."""
    nested = {
        "authors": [_author(author) for author in reference.authors],
        "published": _date(reference.published),
        "source": {"type": reference.source.type, "id": reference.source.id},
    }
    values = ((key, nested.get(key, getattr(reference, key))) for key in _KEYS)
    return {key: value for key, value in values if value or key in _ALWAYS}


def _author(author: Author) -> dict[str, str]:
    record = {"first": author.first, "last": author.last}
    return {**record, "orcid": author.orcid} if author.orcid else record


def _date(published: Published) -> dict[str, int]:
    record = {"year": published.year, "month": published.month, "day": published.day}
    return {key: value for key, value in record.items() if value or key == "year"}


def load(line: str) -> Reference:
    """The record of a line; raises ValueError that says what is wrong with it."""
    if len(line) > _MAX_LINE:
        raise ValueError(f"the line has {len(line):,} characters, more than {_MAX_LINE:,}")
    try:
        record = json.loads(line)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(record, dict):
        raise ValueError(f"a record is a JSON object, this is {type(record).__name__}")
    return from_record(record)


def from_record(record: Mapping[str, Any]) -> Reference:
    from pydantic import ValidationError

    try:
        reference = _adapter().validate_python(_clean(record))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        raise ValueError(f"{place!r}: {first['msg'].lower()}") from error
    for name in ("id", "title"):
        if not getattr(reference, name).strip():
            raise ValueError(f"{name!r} is empty")
    if not 0 <= reference.published.year <= _LAST_YEAR:
        raise ValueError(f"'published.year' is {reference.published.year}, no year")
    return reference


def from_own(record: Mapping[str, Any]) -> Reference:
    """The reference of a line that `dump` wrote: it needs no second look."""
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in record.items()}
    nested: dict[str, Any] = {
        "authors": tuple(Author(**author) for author in record.get("authors", ())),
        "published": Published(**record.get("published", {})),
        "source": Origin(**record.get("source", {})),
    }
    return Reference(**{**values, **nested})


def read(path: Path, tell: Tell = untold) -> Found:
    """Every good record of a file, and every bad line with its number and reason."""
    references: list[Reference] = []
    problems: list[Problem] = []
    lines = _lines(path)
    for number, line in enumerate(lines, start=1):
        if not number % _LINES_BETWEEN:
            tell(number, len(lines))
        if not line.strip():
            continue
        try:
            references.append(load(line))
        except ValueError as error:
            problems.append(Problem(f"{path}:{number}", f"line {number}: {_plainly(error)}"))
    return Found(references, problems, folder=path.parent)


def write(path: Path, references: Mapping[str, Reference]) -> None:
    """Put these records into the file: the changed ones in place, the new ones at the end.

    Every line that is not of a changed record stays byte for byte as it is, a broken one too.
    """
    waiting = dict(references)
    lines = [_rewritten(line, waiting) for line in _lines(path)] if path.exists() else []
    lines += [dump(reference) for reference in waiting.values()]
    _replace(path, lines)


def drop(path: Path, ids: set[str]) -> None:
    """Take these records out of the file."""
    kept = [line for line in _lines(path) if _id_of(line) not in ids]
    _replace(path, kept)


def _replace(path: Path, lines: list[str]) -> None:
    # Joined as they are: a second copy of each line would be a hundred megabytes of a large library.
    write_atomically(path, "\n".join([*lines, ""]).encode())


def _rewritten(line: str, waiting: dict[str, Reference]) -> str:
    """The line of the same record after the change; keys that Carrel does not know are kept."""
    reference = waiting.pop(_id_of(line) or "", None)
    if reference is None or load(line) == reference:
        return line
    unknown = {key: value for key, value in json.loads(line).items() if key not in _KEYS}
    return json.dumps({**as_record(reference), **unknown}, ensure_ascii=False)


def _id_of(line: str) -> str | None:
    try:
        return load(line).id
    except ValueError:
        return None


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{str(path)!r} is not UTF-8 text", hint="Convert it to UTF-8 first.") from error
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _clean(value: Any) -> Any:  # noqa: ANN401
    """Without nulls, which mean "not known", without lone surrogates, which no store can hold, and without controls,
    which a terminal would obey."""
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, str):
        return _CONTROL.sub("\ufffd", value).encode("utf-8", "replace").decode()
    return value


def _plainly(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at column {error.colno}"
    return str(error)


@cache
def _adapter() -> TypeAdapter[Reference]:
    from pydantic import TypeAdapter

    return TypeAdapter(Reference)
