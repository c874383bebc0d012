"""The files that references name: which of them could be taken in, and as which paper."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from carrel import attachments
from carrel.references.paths import RefusedPath
from carrel.types import Part, Problem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from carrel.catalogs import Catalog
    from carrel.types import Reference


class File(NamedTuple):
    """A document, and the paper it is known to belong to."""

    path: Path
    paper_id: str = ""


class Named(NamedTuple):
    """A reference, and where the files that it names may be, the likeliest first."""

    reference: Reference
    roots: tuple[Path, ...]


def find(named: Mapping[str, Named], suffixes: Collection[str]) -> tuple[list[File], list[Problem]]:
    """The file of each paper, by id, and why some have none. Only kinds that a parser reads count."""
    files: list[File] = []
    absent: list[Problem] = []
    for paper_id, (reference, roots) in named.items():
        if name := _main_file(reference, suffixes):
            try:
                files.append(File(_located(name, roots), paper_id))
            except RefusedPath as error:
                absent.append(Problem(paper_id, f"its file is not taken in: {error}"))
    return files, absent


def without_text(files: Iterable[File], catalog: Catalog) -> list[File]:
    """The files of papers whose text the library does not have."""
    offered = list(files)
    rows = catalog.papers([file.paper_id for file in offered]) if offered else ()
    with_text = {row.reference.id for row in rows if Part.BODY in row.parts}
    return [file for file in offered if file.paper_id not in with_text]


def _main_file(reference: Reference, suffixes: Collection[str]) -> str:
    """The paper itself; where no PDF is named, the first file that can be read."""
    names = (reference.pdf_path,) if reference.pdf_path else reference.supplement_paths
    return next((name for name in names if PurePath(name).suffix.lower() in suffixes), "")


def _located(name: str, roots: Iterable[Path]) -> Path:
    reason = RefusedPath(f"there is no file {name!r}")
    for root in roots:
        try:
            if path := attachments.follow(name, root):
                return path
        except RefusedPath as error:
            reason = error
    raise reason
