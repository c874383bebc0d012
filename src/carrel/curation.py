"""The curated graph beside refs.jsonl, as bip keeps it: edges.jsonl, concepts.jsonl and projects.jsonl.

An edge goes from a source to a target and has a type. A bare id is a paper's; the others begin with `concept:`,
`project:` or `repo:`. There are edges between two papers, a paper and a concept, a concept and a project.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.errors import SourceError
from carrel.issues import Issue, Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

_EDGES, _CONCEPTS, _PROJECTS = "edges.jsonl", "concepts.jsonl", "projects.jsonl"
_CONCEPT_ID = re.compile(r"[a-z0-9][a-z0-9_-]*")
_LEGAL = ({"paper"}, {"paper", "concept"}, {"concept", "project"})
_ORPHANED = {
    "paper": Kind.ORPHANED_EDGE,
    "concept": Kind.ORPHANED_CONCEPT_EDGE,
    "project": Kind.ORPHANED_PROJECT_EDGE,
}


@dataclass(frozen=True, slots=True)
class Graph:
    """What is in it, and what is wrong with it."""

    edges: int
    concepts: int
    issues: tuple[Issue, ...]


@dataclass(frozen=True, slots=True)
class _Edge:
    line: int
    source: str
    target: str
    type: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.source} —{self.type}→ {self.target}"


def check(folder: Path, papers: Collection[str]) -> Graph:
    """Compare the graph's files with each other and with the papers there are."""
    issues: list[Issue] = []
    concepts = list(_records(folder / _CONCEPTS, ("id",), issues))
    projects = {record["id"] for _, record in _records(folder / _PROJECTS, ("id",), issues)}
    known = {"paper": papers, "concept": {record["id"] for _, record in concepts}, "project": projects}
    keys = ("source_id", "target_id", "relationship_type")
    edges = [_Edge(line, *(record[key] for key in keys)) for line, record in _records(folder / _EDGES, keys, issues)]
    issues += _concept_faults(concepts)
    issues += _repeated(edges)
    issues += (issue for edge in edges for issue in _edge_faults(edge, known))
    return Graph(len(edges), len(known["concept"]), tuple(issues))


def lines(path: Path) -> Iterator[bytes]:
    """The lines of a file as they are."""
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        reason = error.strerror or str(error)
        raise SourceError(f"cannot read {str(path)!r}: {reason}", hint="Look at the file's permissions.") from error


def _records(path: Path, keys: Sequence[str], issues: list[Issue]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each record that has these keys, with its line; every other line is an issue."""
    for number, raw in enumerate(lines(path) if path.exists() else (), start=1):
        try:
            record: Any = json.loads(raw) if raw.strip() else None
        except (ValueError, RecursionError):
            record = raw
        lacking = [key for key in keys if not isinstance(record, dict) or not _is_text(record.get(key))]
        if not lacking:
            yield number, record
        elif record is not None:
            reason = f"it has no {', no '.join(lacking)}" if isinstance(record, dict) else "no JSON object"
            message = f"{path.name}, line {number}: {reason}"
            issues.append(Issue(Kind.BROKEN_LINE, message, lines=(number,), file=path.name))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _concept_faults(concepts: Sequence[tuple[int, Mapping[str, Any]]]) -> Iterator[Issue]:
    first: dict[str, int] = {}
    for line, record in concepts:
        concept = record["id"]
        if not _CONCEPT_ID.fullmatch(concept):
            message = f"line {line}: {concept!r} is no concept's id: small letters, digits, '-' and '_'"
            yield Issue(Kind.INVALID_CONCEPT, message, (concept,), (line,), file=_CONCEPTS)
        elif not _is_text(record.get("name")):
            message = f"line {line}: {concept} has no name"
            yield Issue(Kind.INVALID_CONCEPT, message, (concept,), (line,), file=_CONCEPTS)
        before = first.setdefault(concept, line)
        if before != line:
            message = f"{concept!r} is on lines {before} and {line}"
            yield Issue(Kind.DUPLICATE_CONCEPT, message, (concept,), (before, line), file=_CONCEPTS)


def _repeated(edges: Sequence[_Edge]) -> Iterator[Issue]:
    first: dict[tuple[str, str, str], int] = {}
    for edge in edges:
        before = first.setdefault((edge.source, edge.target, edge.type), edge.line)
        if before != edge.line:
            yield _issue(Kind.DUPLICATE_EDGE, edge, f"is on line {before} already")


def _edge_faults(edge: _Edge, known: Mapping[str, Collection[str]]) -> Iterator[Issue]:
    ends = [_end(edge.source), _end(edge.target)]
    kinds = {kind for kind, _ in ends}
    if edge.source == edge.target:
        yield _issue(Kind.INVALID_EDGE, edge, "leads back to where it begins")
    elif "repo" in kinds:
        yield _issue(Kind.INVALID_REPO_EDGE, edge, "a repository has no edges")
    elif kinds == {"paper", "project"}:
        yield _issue(Kind.INVALID_PAPER_PROJECT_EDGE, edge, "papers and projects are joined by concepts")
    elif kinds not in _LEGAL:
        yield _issue(Kind.INVALID_EDGE, edge, f"there are no edges between two {kinds.pop()}s")
    for kind, name in ends:
        if kind in known and name not in known[kind]:
            yield _issue(_ORPHANED[kind], edge, f"there is no {kind} {name!r}", name)


def _end(node: str) -> tuple[str, str]:
    prefix, colon, name = node.partition(":")
    return (prefix, name) if colon and prefix in ("concept", "project", "repo") else ("paper", node)


def _issue(kind: Kind, edge: _Edge, reason: str, value: str = "") -> Issue:
    return Issue(kind, f"{edge}: {reason}", (edge.source, edge.target), (edge.line,), value, _EDGES)
