"""The two files together, and what can be asked of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from carrel import naming
from carrel.curation import records, sheets
from carrel.curation.records import CONCEPT_KEYS, EDGE_KEYS, CuratedConcept, Edge, Node, concept_id
from carrel.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from carrel.curation.sheets import Sheet
    from carrel.types import Problem

CONCEPTS, EDGES, PROJECTS = "concepts.jsonl", "edges.jsonl", "projects.jsonl"
_SHOWN = 80


@dataclass(frozen=True)
class Curated:
    """The user's own concepts and edges, as they were read."""

    concept_lines: Sheet
    edge_lines: Sheet
    project_lines: Sheet

    @cached_property
    def concepts(self) -> Mapping[str, CuratedConcept]:
        """By id. Of several lines under one id the last counts."""
        return {record["id"]: records.concept(record) for _, record in self.concept_lines.records}

    @cached_property
    def numbered(self) -> list[tuple[int, Edge]]:
        """Every edge, with the number of its line."""
        return [(number, records.edge(record)) for number, record in self.edge_lines.records]

    @property
    def edges(self) -> list[Edge]:
        return [edge for _, edge in self.numbered]

    @cached_property
    def projects(self) -> frozenset[str]:
        return frozenset(record["id"] for _, record in self.project_lines.records)

    @property
    def problems(self) -> list[Problem]:
        """Lines that are neither a concept nor an edge."""
        return self.concept_lines.problems + self.edge_lines.problems

    @property
    def ids(self) -> set[str]:
        """Every id that a concept has or has had."""
        return {*self.concepts, *self._became}

    def current(self, concept: str) -> str:
        """The id under which a concept is found today; empty if there is none."""
        return concept if concept in self.concepts else self._became.get(concept, "")

    def concept(self, text: str) -> CuratedConcept:
        """The concept of an id, one that it had once included, of a name or of an alias."""
        found = self.named(text)
        if found is None:
            raise NotFound(f"there is no concept {short(text)}", hint="'carrel concept list' shows those there are.")
        return found

    def named(self, text: str) -> CuratedConcept | None:
        given = concept_id(text)
        found = self.current(given) or self._by_name.get(naming.key(given), "")
        return self.concepts.get(found)

    def ends(self, edge: Edge, papers: Collection[str] = ()) -> tuple[Node, Node]:
        """What an edge joins today. In old files of bip a target without a prefix may be a concept."""
        source, target = self._today(records.node(edge.source)), self._today(records.node(edge.target))
        if source.kind == target.kind == "paper" and target.id not in papers and (found := self.current(target.id)):
            return source, Node("concept", found)
        return source, target

    def of(self, node: Node) -> tuple[list[Edge], list[Edge]]:
        """The edges that begin there, and those that end there."""
        joined = [(edge, *self.ends(edge, _papers(node))) for edge in self.edges]
        begin = [edge for edge, source, _ in joined if source == node]
        return begin, [edge for edge, _, target in joined if target == node]

    def touching(self, papers: Iterable[str]) -> int:
        """How many edges begin or end at one of these papers."""
        named = set(papers)
        return sum(not named.isdisjoint((edge.source, edge.target)) for edge in self.edges)

    def linked(self, node: Node, kind: str, type_: str = "") -> list[tuple[str, Edge]]:
        """The papers of a concept or the concepts of a paper, each with its edge, by type, then id."""
        edges = (edge for some in self.of(node) for edge in some if type_ in ("", edge.type))
        pairs = ((end, edge) for edge in edges for end in self.ends(edge, _papers(node)))
        return sorted(((end.id, edge) for end, edge in pairs if end.kind == kind), key=_by_type)

    def _today(self, node: Node) -> Node:
        return Node("concept", self.current(node.id) or node.id) if node.kind == "concept" else node

    @cached_property
    def _became(self) -> Mapping[str, str]:
        return {merge.id: one.id for one in self.concepts.values() for merge in one.merged if merge.id}

    @cached_property
    def _by_name(self) -> Mapping[str, str]:
        """Ids by the keys of names and aliases; a name goes before an alias, and the first before the next."""
        concepts = list(self.concepts.values())
        aliases = {naming.key(text): one.id for one in reversed(concepts) for text in one.names[1:]}
        return aliases | {naming.key(one.name): one.id for one in reversed(concepts)}


def read(folder: Path) -> Curated:
    """What stands beside refs.jsonl; a file that is not there is empty."""
    return Curated(
        sheets.read(folder / CONCEPTS, CONCEPT_KEYS),
        sheets.read(folder / EDGES, EDGE_KEYS),
        sheets.read(folder / PROJECTS, ("id",)),
    )


def _papers(node: Node) -> set[str]:
    """What is known to be a paper's id when a node is asked about."""
    return {node.id} if node.kind == "paper" else set()


def _by_type(linked: tuple[str, Edge]) -> tuple[str, str]:
    return linked[1].type, linked[0]


def short(text: str) -> str:
    """A text as an error shows it."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
