"""What is done to edges: each verb reads the files, writes them, and says what changed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from carrel.curation import records, sheets
from carrel.curation.notebook import Curated, read, short
from carrel.curation.records import EDGE_KEYS, Edge, Node, name, now, prose, usual_types, wrong_ends
from carrel.errors import CarrelError, InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Papers: TypeAlias = Callable[[Collection[str]], Collection[str]]
"""Which of these ids are papers'."""
_OWN = (*EDGE_KEYS, "summary", "created_at")
_JOINED = "Edges join two papers, a paper and a concept, two concepts, or a concept and a project."


@dataclass(frozen=True, slots=True)
class Kept:
    """An edge that was written."""

    action: str
    """`added` or `updated`."""
    edge: Edge
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {"action": self.action, "edge": self.edge.as_record()}


@dataclass(frozen=True, slots=True)
class Imported:
    added: int
    updated: int
    errors: tuple[tuple[int, str], ...]
    """The lines that were left out, and why."""
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        errors = [{"line": line, "error": error} for line, error in self.errors]
        return {"added": self.added, "updated": self.updated, "skipped": len(errors), "errors": errors}


class Moved(NamedTuple):
    updated: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Orphan:
    edge: Edge
    reason: str
    """`missing_source`, `missing_target` or `missing_both`."""


@dataclass(frozen=True, slots=True)
class Groomed:
    orphans: tuple[Orphan, ...]
    fixed: bool

    def as_dict(self) -> dict[str, Any]:
        status = "fixed" if self.fixed else "orphaned" if self.orphans else "clean"
        orphaned = [
            {**dict(zip(EDGE_KEYS, orphan.edge.key, strict=True)), "reason": orphan.reason} for orphan in self.orphans
        ]
        return {"status": status, "orphaned_edges": orphaned, "fixed": self.fixed}


@dataclass
class _Draft:
    """Edges on their way into the file. One that is there already gets the new summary."""

    curated: Curated
    papers: Collection[str]
    known: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """The line of each edge, by what it joins today; of one that is not in the file yet, its place among the new ones,
    counted down from -1."""
    changes: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    new: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for number, edge in self.curated.numbered:
            source, target = self.curated.ends(edge, self.papers)
            self.known[str(source), str(target), edge.type] = number

    def take(self, wanted: Edge, more: Mapping[str, Any]) -> Kept:
        edge, warnings = self._checked(wanted)
        number = self.known.get(edge.key)
        if number is None:
            edge = replace(edge, created_at=edge.created_at or now())
            self.new.append({**edge.as_record(), **more})
            self.known[edge.key] = -len(self.new)
            return Kept("added", edge, warnings)
        if number > 0:
            self.changes[number] = {key: edge.as_record()[key] for key in ("source_id", "target_id", "summary")}
        else:
            self.new[-number - 1]["summary"] = edge.summary
        return Kept("updated", replace(edge, created_at=self._created(number)), warnings)

    def write(self) -> None:
        if self.changes or self.new:
            self.curated.edge_lines.write(self.changes, self.new)

    def _created(self, number: int) -> str:
        record = self.new[-number - 1] if number < 0 else self.curated.edge_lines.lines[number - 1].record or {}
        return str(record.get("created_at", ""))

    def _checked(self, wanted: Edge) -> tuple[Edge, tuple[str, ...]]:
        """The edge as it is kept, and what is unusual about it."""
        type_, summary = name(wanted.type), prose(wanted.summary)
        for what, text in {"source": wanted.source, "target": wanted.target, "type": type_, "summary": summary}.items():
            if not text.strip():
                raise InvalidInput(f"the edge needs a {what}", hint="As in -s smith2020 -t lee2021 -r extends -m WHY.")
        source, target = self._end(wanted.source), self._end(wanted.target)
        edge = Edge(str(source), str(target), type_, summary, name(wanted.created_at))
        if reason := wrong_ends(source, target):
            raise InvalidInput(f"{short(str(edge))}: {reason}", hint=_JOINED)
        for node in (source, target):
            self._must_be_there(node)
        usual = usual_types(source, target)
        unusual = f"{short(type_)} is not one of the usual types here: {', '.join(usual)}"
        return edge, () if type_ in usual else (unusual,)

    def _end(self, text: str) -> Node:
        """A bare id is a paper's; if there is none, a concept's."""
        node = records.node(text.strip())
        found = self.curated.current(node.id) if node.kind == "concept" or node.id not in self.papers else ""
        return Node("concept", found) if found and node.kind in ("paper", "concept") else node

    def _must_be_there(self, node: Node) -> None:
        known = {"paper": self.papers, "concept": self.curated.concepts, "project": self.curated.projects}
        if node.id not in known[node.kind]:
            kinds = "paper and no concept" if node.kind == "paper" else node.kind
            raise NotFound(
                f"there is no {kinds} {short(node.id)}",
                hint="'carrel list' and 'carrel concept list' show those there are.",
            )


def add(folder: Path, wanted: Edge, papers: Papers) -> Kept:
    """Write an edge; one that joins the same two in the same way gets the new summary."""
    draft = _Draft(read(folder), papers([wanted.source.strip(), wanted.target.strip()]))
    kept = draft.take(wanted, {})
    draft.write()
    return kept


def take_from(file: Path, folder: Path, papers: Papers) -> Imported:
    """Write the edges of another file; a line that is none is left out and named."""
    if not file.is_file():
        hint = "Give a file with an edge, as JSON, on each line."
        raise InvalidInput(f"there is no file {str(file)!r}", hint=hint)
    given = sheets.read(file, (*EDGE_KEYS, "summary"))
    errors = {line.number: line.fault for line in given.lines if line.fault}
    wanted = {number: (records.edge(record), record) for number, record in given.records}
    draft = _Draft(read(folder), papers({end.strip() for edge, _ in wanted.values() for end in edge.key[:2]}))
    kept: list[Kept] = []
    for number, (edge, record) in wanted.items():
        more = {key: value for key, value in record.items() if key not in _OWN}
        try:
            kept.append(draft.take(edge, more))
        except CarrelError as error:
            errors[number] = error.message
    draft.write()
    return Imported(
        added=sum(one.action == "added" for one in kept),
        updated=sum(one.action == "updated" for one in kept),
        errors=tuple(sorted(errors.items())),
        warnings=tuple(dict.fromkeys(warning for one in kept for warning in one.warnings)),
    )


def of_concept(curated: Curated, concept: str, papers: Papers) -> list[int]:
    """The lines of a concept's edges. A bare id that is a paper's, too, is the paper's."""
    known = papers([concept])
    return [number for number, edge in curated.numbered if Node("concept", concept) in curated.ends(edge, known)]


def move(curated: Curated, nodes: Mapping[Node, Node], papers: Papers) -> Moved:
    """Let the edges of some nodes begin and end at others. Of two that become one, the older stays."""
    known = papers([node.id for node in nodes])
    moved: dict[int, Edge] = {}
    for number, edge in curated.numbered:
        ends = curated.ends(edge, known)
        if not nodes.keys().isdisjoint(ends):
            source, target = (str(nodes.get(end, end)) for end in ends)
            moved[number] = replace(edge, source=source, target=target)
    gone = _superfluous(curated, moved)
    changes: dict[int, Mapping[str, Any] | None] = {
        number: {"source_id": edge.source, "target_id": edge.target} for number, edge in moved.items()
    }
    if moved:
        curated.edge_lines.write(changes | dict.fromkeys(gone))
    return Moved(len(moved), len(gone))


def rename_papers(folder: Path, ids: Mapping[str, str]) -> Moved:
    """Let the edges of some papers be those of others."""
    nodes = {Node("paper", old): Node("paper", new) for old, new in ids.items()}
    return move(read(folder), nodes, papers=lambda named: named)


def groom(folder: Path, papers: Papers, *, fix: bool = False) -> Groomed:
    """Find edges one end of which is not there; `fix` takes them out."""
    curated = read(folder)
    known = papers({end for edge in curated.edges for end in edge.key[:2]})
    orphans = {number: orphan for number, edge in curated.numbered if (orphan := _orphan(edge, curated, known))}
    if fix and orphans:
        curated.edge_lines.write(dict.fromkeys(orphans))
    return Groomed(tuple(orphans.values()), fixed=fix and bool(orphans))


def _superfluous(curated: Curated, moved: Mapping[int, Edge]) -> set[int]:
    """The lines of moved edges that lead back to where they begin, and all but the oldest of equal ones."""
    alike: dict[tuple[str, str, str], list[tuple[str, int]]] = {}
    for number, edge in curated.numbered:
        alike.setdefault(moved.get(number, edge).key, []).append((edge.created_at, number))
    touched = {edge.key for edge in moved.values()}
    gone = {number for key in touched for _, number in sorted(alike[key])[1:]}
    return gone | {number for number, edge in moved.items() if edge.source == edge.target}


def _orphan(edge: Edge, curated: Curated, papers: Collection[str]) -> Orphan | None:
    known: dict[str, Collection[str]] = {"paper": papers, "concept": curated.concepts, "project": curated.projects}
    source, target = (node.kind not in known or node.id in known[node.kind] for node in curated.ends(edge, papers))
    if source and target:
        return None
    return Orphan(edge, "missing_target" if source else "missing_source" if target else "missing_both")
