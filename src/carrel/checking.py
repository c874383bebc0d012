"""The verb `check`: what is wrong with refs.jsonl and with the curated graph beside it. Nothing is changed."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from carrel import attachments, curation
from carrel.identifiers import normalise_arxiv, normalise_doi, normalise_pmcid, normalise_pmid
from carrel.issues import Issue, Kind
from carrel.references import jsonl
from carrel.references.drafts import NO_TITLE
from carrel.references.paths import RefusedPath

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from carrel.attachments import PdfRoot
    from carrel.types import Reference

_OURS, _BASE, _SPLIT, _THEIRS = "<<<<<<<", "|||||||", "=======", ">>>>>>>"
_NAMED_ID = re.compile(r'"id"\s*:\s*"([^"\\]+)"')
_ORCID = re.compile(r"(?:\d{4}-){3}\d{3}[\dX]")
_UNKNOWN = "unknown"
_IDENTIFIERS = (
    (Kind.INVALID_DOI, "doi", normalise_doi),
    (Kind.INVALID_SUPERSEDES, "supersedes", normalise_doi),
    (Kind.INVALID_ARXIV_ID, "arxiv_id", normalise_arxiv),
    (Kind.INVALID_PMID, "pmid", normalise_pmid),
    (Kind.INVALID_PMCID, "pmcid", normalise_pmcid),
)


@dataclass(frozen=True, slots=True)
class Checked:
    references: int
    edges: int
    concepts: int
    issues: tuple[Issue, ...]

    @property
    def ok(self) -> bool:
        return not self.issues

    def as_dict(self) -> dict[str, Any]:
        return {
            "status": "ok" if self.ok else "issues",
            "references": self.references,
            "edges": self.edges,
            "concepts": self.concepts,
            "issues": [issue.as_dict() for issue in self.issues],
        }


@dataclass(frozen=True, slots=True)
class _Records:
    """What refs.jsonl says line by line. Of a conflict, only our side is looked at further."""

    numbered: list[tuple[int, Reference]] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    other_ids: set[str] = field(default_factory=set)
    """Ids on lines that are broken or of another side: papers that may well be there."""


def check(refs: Path, root: PdfRoot, elsewhere: Callable[[Collection[str]], Collection[str]] = lambda _: ()) -> Checked:
    """Look at every line of refs.jsonl, at every file it names, and at edges.jsonl and concepts.jsonl beside it.

    `elsewhere` is asked which papers that edges name the library has without a reference.
    """
    records = _read(refs)
    # Of several lines under one id the last counts, here as everywhere.
    papers = {reference.id: reference for _, reference in records.numbered}
    references = list(papers.values())
    graph = curation.check(refs.parent, papers.keys() | records.other_ids, elsewhere)
    issues = [
        *records.issues,
        *_duplicate_ids(records.numbered),
        *_duplicate_dois(references),
        *(issue for reference in references for issue in _faults(reference)),
        *_root_faults(root),
        *(issue for reference in references for issue in _missing_files(reference, root.folder)),
        *graph.issues,
    ]
    return Checked(len(papers), graph.edges, graph.concepts, tuple(issues))


# Lines


def _read(refs: Path) -> _Records:
    records = _Records()
    if not refs.exists():
        records.issues.append(Issue(Kind.MISSING_FILE, f"the library has no {refs.name}"))
        return records
    markers: list[int] = []
    side = _OURS
    for number, raw in enumerate(curation.lines(refs), start=1):
        marker = _marker(raw)
        if marker:
            markers.append(number)
            side = _OURS if marker == _THEIRS else marker
        elif side == _OURS:
            _take(raw, number, records)
        else:
            records.other_ids.update(_NAMED_ID.findall(raw.decode("utf-8", "replace"))[:1])
    if markers:
        lines = f"lines {markers[0]} to {markers[-1]}"
        message = f"git left a conflict in {lines}; 'carrel resolve' merges it"
        records.issues.append(Issue(Kind.CONFLICT_MARKERS, message, lines=tuple(markers)))
    return records


def _marker(raw: bytes) -> str:
    beginning = raw[:7].decode("ascii", "replace")
    return beginning if beginning in (_OURS, _BASE, _SPLIT, _THEIRS) else ""


def _take(raw: bytes, number: int, records: _Records) -> None:
    try:
        line = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        if line:
            records.numbered.append((number, jsonl.load(line)))
    except ValueError as error:
        message = f"line {number}: {_reason(error)}"
        records.issues.append(Issue(Kind.BROKEN_LINE, message, lines=(number,)))
        records.other_ids.update(_NAMED_ID.findall(raw.decode("utf-8", "replace"))[:1])


def _reason(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at column {error.colno}"
    return "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)


# Records


def _duplicate_ids(numbered: Sequence[tuple[int, Reference]]) -> Iterator[Issue]:
    lines: dict[str, list[int]] = {}
    for number, reference in numbered:
        lines.setdefault(reference.id, []).append(number)
    for paper_id, found in lines.items():
        if len(found) > 1:
            message = f"{paper_id!r} is on lines {', '.join(map(str, found))}; only the last counts"
            yield Issue(Kind.DUPLICATE_ID, message, (paper_id,), tuple(found))


def _duplicate_dois(references: Sequence[Reference]) -> Iterator[Issue]:
    papers: dict[str, dict[str, None]] = {}
    for reference in references:
        if doi := normalise_doi(reference.doi):
            papers.setdefault(doi, {})[reference.id] = None
    for doi, ids in papers.items():
        if len(ids) > 1:
            message = f"{doi} is the DOI of {', '.join(ids)}; 'carrel dedupe' merges them"
            yield Issue(Kind.DUPLICATE_DOI, message, tuple(ids), value=doi)


def _faults(reference: Reference) -> Iterator[Issue]:
    lacking = [name for name, there in _needed(reference).items() if not there]
    if lacking:
        yield Issue(Kind.INCOMPLETE, f"{reference.id} has no {', no '.join(lacking)}", (reference.id,))
    for kind, name, normalise in _IDENTIFIERS:
        value = getattr(reference, name)
        if value and not normalise(value):
            yield Issue(kind, f"{reference.id} has {name} {value[:80]!r}", (reference.id,), value=value)
    for author in reference.authors:
        if author.orcid and not _ORCID.fullmatch(author.orcid):
            message = f"{reference.id} has the ORCID {author.orcid[:80]!r} for {author}"
            yield Issue(Kind.INVALID_ORCID, message, (reference.id,), value=author.orcid)


def _needed(reference: Reference) -> Mapping[str, bool]:
    """What importers put where nothing is known does not count."""
    return {
        "title": reference.title != NO_TITLE,
        "authors": any(author.last.strip().casefold() not in ("", _UNKNOWN) for author in reference.authors),
        "year": bool(reference.published.year),
    }


# Files


def _root_faults(root: PdfRoot) -> Iterator[Issue]:
    if root.remark:
        yield Issue(Kind.PDF_ROOT, root.remark)
    if not root.folder.is_dir():
        yield Issue(Kind.PDF_ROOT, f"the PDF folder {str(root.folder)!r} is not there", value=str(root.folder))


def _missing_files(reference: Reference, folder: Path) -> Iterator[Issue]:
    named = [(Kind.MISSING_PDF, reference.pdf_path)] if reference.pdf_path else []
    named += [(Kind.MISSING_SUPPLEMENT, path) for path in reference.supplement_paths]
    for kind, path in named:
        if reason := _why_missing(path, folder):
            yield Issue(kind, f"{reference.id}: {reason}", (reference.id,), value=path)


def _why_missing(path: str, folder: Path) -> str:
    try:
        return "" if attachments.follow(path, folder) else f"there is no file {path!r} in {str(folder)!r}"
    except RefusedPath as error:
        return str(error)
