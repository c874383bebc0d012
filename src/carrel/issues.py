"""What can be wrong with a library's own files."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    MISSING_FILE = "missing_file"
    CONFLICT_MARKERS = "conflict_markers"
    BROKEN_LINE = "broken_line"
    DUPLICATE_ID = "duplicate_id"
    DUPLICATE_DOI = "duplicate_doi"
    INCOMPLETE = "incomplete"
    INVALID_DOI = "invalid_doi"
    INVALID_SUPERSEDES = "invalid_supersedes"
    INVALID_ARXIV_ID = "invalid_arxiv_id"
    INVALID_PMID = "invalid_pmid"
    INVALID_PMCID = "invalid_pmcid"
    INVALID_ORCID = "invalid_orcid"
    PDF_ROOT = "pdf_root"
    MISSING_PDF = "missing_pdf"
    MISSING_SUPPLEMENT = "missing_supplement"
    INVALID_CONCEPT = "invalid_concept"
    DUPLICATE_CONCEPT = "duplicate_concept"
    ORPHANED_EDGE = "orphaned_edge"
    ORPHANED_CONCEPT_EDGE = "orphaned_concept_edge"
    ORPHANED_PROJECT_EDGE = "orphaned_project_edge"
    DUPLICATE_EDGE = "duplicate_edge"
    INVALID_EDGE = "invalid_edge"
    INVALID_REPO_EDGE = "invalid_repo_edge"
    INVALID_PAPER_PROJECT_EDGE = "invalid_paper_project_edge"


@dataclass(frozen=True, slots=True)
class Issue:
    kind: Kind
    message: str
    ids: tuple[str, ...] = ()
    """The papers it is about; of an edge or a concept, their ids."""
    lines: tuple[int, ...] = ()
    value: str = ""
    """What is wrong: the DOI, the path."""
    file: str = "refs.jsonl"

    def as_dict(self) -> dict[str, Any]:
        record = {"type": self.kind.value, "ids": list(self.ids), "message": self.message, "file": self.file}
        more = {"lines": list(self.lines), "value": self.value}
        return record | {key: value for key, value in more.items() if value}
