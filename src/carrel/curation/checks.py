"""What is wrong with the files of the curated graph. Nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.curation import sheets
from carrel.curation.notebook import CONCEPTS, EDGES, read
from carrel.curation.records import CONCEPT_ID, Edge, wrong_ends
from carrel.issues import Issue, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from carrel.curation.notebook import Curated
    from carrel.curation.records import Node

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


def check(
    folder: Path, papers: Collection[str], elsewhere: Callable[[Collection[str]], Collection[str]] = lambda _: ()
) -> Graph:
    """Compare the graph's files with each other and with the papers there are.

    `elsewhere` is asked which of the ids that are none of these papers' are a paper's nevertheless.
    """
    curated = read(folder)
    # A concept without a name is one all the same, to be named once.
    concepts = sheets.read(folder / CONCEPTS, ("id",))
    ids = {record["id"] for _, record in concepts.records}
    ends = {number: curated.ends(edge, papers) for number, edge in curated.numbered}
    strange = {end.id for pair in ends.values() for end in pair if end.kind == "paper"} - set(papers)
    known = {
        "paper": {*papers, *(elsewhere(strange) if strange else ())},
        "concept": ids,
        "project": curated.projects,
    }
    issues = [
        *_broken(concepts, curated.project_lines, curated.edge_lines),
        *_concept_faults(list(concepts.records)),
        *_repeated(curated),
        *(issue for number, edge in curated.numbered for issue in _faults(number, edge, ends[number], known)),
    ]
    return Graph(len(curated.numbered), len(ids), tuple(issues))


def _broken(*files: sheets.Sheet) -> Iterator[Issue]:
    for sheet in files:
        for line in sheet.lines:
            if line.fault:
                message = f"{sheet.path.name}, line {line.number}: {line.fault}"
                yield Issue(Kind.BROKEN_LINE, message, lines=(line.number,), file=sheet.path.name)


def _concept_faults(concepts: Sequence[tuple[int, Mapping[str, Any]]]) -> Iterator[Issue]:
    first: dict[str, int] = {}
    for line, record in concepts:
        concept = record["id"]
        if not CONCEPT_ID.fullmatch(concept):
            message = f"line {line}: {concept!r} is no concept's id: small letters, digits, '-' and '_'"
            yield Issue(Kind.INVALID_CONCEPT, message, (concept,), (line,), file=CONCEPTS)
        elif not sheets.is_text(record.get("name")):
            message = f"line {line}: {concept} has no name"
            yield Issue(Kind.INVALID_CONCEPT, message, (concept,), (line,), file=CONCEPTS)
        before = first.setdefault(concept, line)
        if before != line:
            message = f"{concept!r} is on lines {before} and {line}"
            yield Issue(Kind.DUPLICATE_CONCEPT, message, (concept,), (before, line), file=CONCEPTS)


def _repeated(curated: Curated) -> Iterator[Issue]:
    first: dict[tuple[str, str, str], int] = {}
    for line, edge in curated.numbered:
        before = first.setdefault(edge.key, line)
        if before != line:
            yield _issue(Kind.DUPLICATE_EDGE, line, edge, f"is on line {before} already")


def _faults(line: int, edge: Edge, ends: tuple[Node, Node], known: Mapping[str, Collection[str]]) -> Iterator[Issue]:
    if reason := wrong_ends(*ends):
        yield _issue(_invalid({end.kind for end in ends}), line, edge, reason)
    for kind, name in ends:
        if kind in known and name not in known[kind]:
            yield _issue(_ORPHANED[kind], line, edge, f"there is no {kind} {name!r}", name)


def _invalid(kinds: Iterable[str]) -> Kind:
    """What kind of mistake an edge between these is."""
    if "repo" in kinds:
        return Kind.INVALID_REPO_EDGE
    return Kind.INVALID_PAPER_PROJECT_EDGE if kinds == {"paper", "project"} else Kind.INVALID_EDGE


def _issue(kind: Kind, line: int, edge: Edge, reason: str, value: str = "") -> Issue:
    return Issue(kind, f"line {line}: {edge}: {reason}", (edge.source, edge.target), (line,), value, EDGES)
