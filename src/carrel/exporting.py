"""The verb `export`: references for LaTeX and for citation processors."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from carrel.errors import PaperNotFound
from carrel.files import write_atomically
from carrel.identifiers import normalise_doi
from carrel.references import bibtex_writer, csl_writer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from carrel.catalogs import Catalog
    from carrel.types import Reference


@dataclass(frozen=True, slots=True)
class Appended:
    exported: int
    skipped: int
    skipped_ids: tuple[str, ...]
    output_path: str

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "skipped_ids": list(self.skipped_ids)}


def chosen(paper_ids: Sequence[str], catalog: Catalog) -> list[Reference]:
    """These papers' records in the order asked, or all in order of id."""
    rows = catalog.papers(paper_ids or None)
    found = {row.reference.id: row.reference for row in rows}
    for paper_id in paper_ids:
        if paper_id not in found:
            raise PaperNotFound(f"Paper {paper_id!r} not found in database", hint="'carrel list' shows what there is.")
    return [found[paper_id] for paper_id in dict.fromkeys(paper_ids)] if paper_ids else list(found.values())


def as_bibtex(references: Sequence[Reference]) -> str:
    return "\n".join(map(bibtex_writer.dump, references))


def as_csl(references: Sequence[Reference]) -> str:
    return json.dumps([csl_writer.as_item(one) for one in references], ensure_ascii=False, indent=2) + "\n"


def append(references: Sequence[Reference], path: Path) -> Appended:
    """Add to a .bib file what it does not have yet, by DOI or by key; what is there stays as it is."""
    from carrel.references import bibtex

    there = bibtex.read(path).references if path.exists() else []
    keys = {one.id for one in there}
    dois = {doi for one in there if (doi := normalise_doi(one.doi))}
    new = [one for one in references if one.id not in keys and normalise_doi(one.doi) not in dois]
    skipped = tuple(one.id for one in references if one not in new)
    if new:
        before = path.read_bytes() if path.exists() else b""
        gap = b"" if not before else b"\n" if before.endswith(b"\n") else b"\n\n"
        write_atomically(path, before + gap + as_bibtex(new).encode())
    return Appended(len(new), len(skipped), skipped, str(path))
