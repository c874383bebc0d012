"""The verb `open`: papers in the user's own PDF reader."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel import attachments, readers, versions
from carrel.errors import InvalidInput
from carrel.references import jsonl

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from carrel.attachments import PdfRoot
    from carrel.catalogs import PaperRow
    from carrel.types import Reference

_MOST = 50
"""How many windows one command may open."""
_EXAMPLE = "As in 'carrel open smith2020' or 'carrel open --recent 3'."
_SUPPLEMENTS = frozenset(
    {
        ".pdf", ".ps", ".djvu", ".epub", ".txt", ".md", ".rtf", ".csv", ".tsv", ".docx", ".xlsx", ".pptx", ".odt",
        ".ods", ".odp", ".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".bmp", ".mp3", ".wav", ".mp4", ".mov",
        ".avi", ".webm", ".mpg", ".zip", ".gz", ".tgz", ".bz2", ".xz", ".7z",
    }
)  # fmt: skip
"""What is read or looked at. Other files may be programs, which a system's opener would run."""


@dataclass(frozen=True, slots=True)
class Opened:
    opened: tuple[tuple[str, Path], ...]
    errors: tuple[tuple[str, str], ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "opened": [{"id": paper_id, "path": str(path)} for paper_id, path in self.opened],
            "errors": [{"id": paper_id, "error": error} for paper_id, error in self.errors],
        }


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be opened: papers by their ids, the last ones added, or those added since a commit."""

    ids: tuple[str, ...] = ()
    recent: int | None = None
    since: str | None = None
    supplement: int | None = None
    """Counted from 1; the paper itself when None."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where papers and their files are looked for."""

    refs: Path
    references: Mapping[str, Reference]
    """What refs.jsonl says, in its order."""
    rows: Callable[[Sequence[str]], Sequence[PaperRow]]
    """What the catalog has of these papers."""
    folder: Path
    """The library's, from which on the catalog remembers files."""
    root: PdfRoot


def open_papers(wanted: Wanted, shelf: Shelf, *, reader: str) -> Opened:
    """Open each paper's PDF or supplement; one that cannot be opened does not keep the others."""
    ids = _chosen(wanted, shelf)
    if len(ids) > _MOST:
        raise InvalidInput(f"{len(ids)} papers are to be opened, more than {_MOST}", hint="Name the ones you want.")
    files: dict[str, Path] = {}
    errors: dict[str, str] = {}
    rows = {row.reference.id: row for row in shelf.rows(ids)}
    for paper_id in ids:
        try:
            files[paper_id] = _file(paper_id, rows.get(paper_id), shelf, wanted.supplement)
        except ValueError as error:
            errors[paper_id] = str(error)
    errors |= readers.show(files, reader)
    opened = tuple((paper_id, path) for paper_id, path in files.items() if paper_id not in errors)
    return Opened(opened, tuple((paper_id, errors[paper_id]) for paper_id in ids if paper_id in errors))


def _chosen(wanted: Wanted, shelf: Shelf) -> list[str]:
    if sum((bool(wanted.ids), wanted.recent is not None, wanted.since is not None)) != 1:
        raise InvalidInput("what to open is named by ids, by --recent or by --since, one of them", hint=_EXAMPLE)
    if wanted.supplement is not None and not wanted.ids:
        raise InvalidInput("--supplement needs the id of its paper", hint=_EXAMPLE)
    if wanted.since is not None:
        known = _ids(versions.before(shelf.refs, wanted.since))
        return [paper_id for paper_id in shelf.references if paper_id not in known]
    if wanted.recent is not None:
        # New records are written at the end, and git keeps their order.
        return list(shelf.references)[-wanted.recent :][::-1]
    return list(dict.fromkeys(wanted.ids))


def _ids(content: bytes) -> set[str]:
    """The ids in what once was refs.jsonl; lines that are broken have none."""
    ids: set[str] = set()
    for line in content.splitlines():
        with suppress(ValueError):
            ids.add(jsonl.load(line.decode()).id)
    return ids


def _file(paper_id: str, row: PaperRow | None, shelf: Shelf, supplement: int | None) -> Path:
    """The file to open; raises ValueError that says why there is none."""
    reference = shelf.references.get(paper_id) or (row.reference if row else None)
    if reference is None:
        raise ValueError(f"Paper {paper_id!r} not found in database")
    if supplement is not None:
        return _supplement(reference, supplement, shelf.root)
    read = (shelf.folder / source for source in (row.sources if row else ()) if source.lower().endswith(".pdf"))
    source = next((path for path in read if path.is_file()), None)
    if source is not None:
        return source.absolute()
    if not reference.pdf_path:
        raise ValueError("it has no PDF: the record names none, and its text was not read from one")
    return _only(frozenset({".pdf"}), _found(reference.pdf_path, shelf.root))


def _supplement(reference: Reference, number: int, root: PdfRoot) -> Path:
    count = len(reference.supplement_paths)
    if number > count:
        raise ValueError(f"it has no supplement {number}: the record names {count or 'none'}")
    return _only(_SUPPLEMENTS, _found(reference.supplement_paths[number - 1], root))


def _found(path: str, root: PdfRoot) -> Path:
    found = attachments.follow(path, root.folder)
    if found is None:
        remark = f" ({root.remark})" if root.remark else ""
        raise ValueError(f"there is no file {path!r} in {str(root.folder)!r}{remark}")
    return found


def _only(suffixes: Collection[str], path: Path) -> Path:
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"files like {path.name!r} are not opened, for they may be programs: see {str(path)!r}")
    return path
