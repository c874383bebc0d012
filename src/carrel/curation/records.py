"""What stands in concepts.jsonl and edges.jsonl."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from carrel.curation.sheets import is_text
from carrel.types import Predicate

if TYPE_CHECKING:
    from collections.abc import Mapping

CONCEPT_KEYS = ("id", "name")
EDGE_KEYS = ("source_id", "target_id", "relationship_type")
CONCEPT_ID = re.compile(r"[a-z0-9][a-z0-9_-]*")
_KINDS = ("concept", "project", "repo")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_STANDARD = {
    frozenset({"paper"}): ("cites", "extends", "contradicts", "implements", "applies-to", "builds-on"),
    frozenset({"paper", "concept"}): ("introduces", "applies", "models", "evaluates-with", "critiques", "extends"),
    frozenset({"concept", "project"}): ("implemented-in", "applied-in", "studied-by", "introduces", "refines"),
    frozenset({"concept"}): tuple(predicate.lower().replace("_", "-") for predicate in Predicate),
}
"""The usual types of the edges that there may be, by what they join."""


class Node(NamedTuple):
    """What an edge begins or ends at. Written, a bare id is a paper's."""

    kind: str
    id: str

    def __str__(self) -> str:
        return self.id if self.kind == "paper" else f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True)
class Merge:
    """A concept that has become another."""

    name: str
    at: str
    id: str = ""
    """Empty of one that only papers spoke of."""

    def as_record(self) -> dict[str, str]:
        record = {"name": self.name, "at": self.at}
        return {"id": self.id, **record} if self.id else record


@dataclass(frozen=True, slots=True)
class CuratedConcept:
    id: str
    name: str
    aliases: tuple[str, ...] = ()
    description: str = ""
    merged: tuple[Merge, ...] = ()
    """Carrel's own: what has become this concept, for those who know the old ids."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases, *(merge.name for merge in self.merged))

    def as_record(self) -> dict[str, Any]:
        """As the file has it: what is empty is left out."""
        merged = [merge.as_record() for merge in self.merged]
        rest = {"aliases": list(self.aliases), "description": self.description, "merged": merged}
        return {"id": self.id, "name": self.name, **{key: value for key, value in rest.items() if value}}


@dataclass(frozen=True, slots=True)
class Edge:
    source: str
    target: str
    type: str
    summary: str = ""
    created_at: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.source, self.target, self.type

    def __str__(self) -> str:
        return f"{self.source} —{self.type}→ {self.target}"

    def as_record(self) -> dict[str, str]:
        record = dict(zip(EDGE_KEYS, self.key, strict=True)) | {"summary": self.summary}
        return record | {"created_at": self.created_at} if self.created_at else record


def concept(record: Mapping[str, Any]) -> CuratedConcept:
    """The concept of a record that has an id and a name; whatever else is not as it should be is left out."""
    aliases, merged = (value if isinstance(value := record.get(key), list) else [] for key in ("aliases", "merged"))
    return CuratedConcept(
        id=record["id"],
        name=_whole(record["name"]).strip(),
        aliases=tuple(_whole(alias).strip() for alias in aliases if is_text(alias)),
        description=_text(record, "description"),
        merged=tuple(
            Merge(_text(one, "name"), _text(one, "at"), _text(one, "id")) for one in merged if isinstance(one, dict)
        ),
    )


def edge(record: Mapping[str, Any]) -> Edge:
    source, target, type_ = (record[key] for key in EDGE_KEYS)
    return Edge(source, target, type_, _text(record, "summary"), _text(record, "created_at"))


def node(text: str) -> Node:
    prefix, colon, own = text.partition(":")
    return Node(prefix, own) if colon and prefix in _KINDS else Node("paper", text)


def concept_id(text: str) -> str:
    """An id as it was given, with `concept:` before it or without."""
    return text.strip().removeprefix("concept:")


def name(text: str) -> str:
    """A name as it is kept: on one line, and without what a terminal would obey."""
    return prose(" ".join(text.split()))


def prose(text: str) -> str:
    """A text as it is kept: of several lines, if need be."""
    return _CONTROL.sub("\ufffd", _whole(text).replace("\r\n", "\n")).strip()


def wrong_ends(source: Node, target: Node) -> str:
    """Why there is no edge between these two; empty if there may be."""
    kinds = frozenset({source.kind, target.kind})
    if source == target:
        return "leads back to where it begins"
    if "repo" in kinds:
        return "a repository has no edges"
    if kinds == {"paper", "project"}:
        return "papers and projects are joined by concepts"
    return "" if kinds in _STANDARD else f"there are no edges between two {source.kind}s"


def usual_types(source: Node, target: Node) -> tuple[str, ...]:
    return _STANDARD[frozenset({source.kind, target.kind})]


def predicate(type_: str) -> Predicate:
    """What a relation of two concepts means to the graph."""
    word = type_.upper().replace("-", "_").replace(" ", "_")
    return Predicate.__members__.get(word, Predicate.RELATED_TO)


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return _whole(value) if isinstance(value, str) else ""


def _whole(text: str) -> str:
    """Without half characters, which no store can hold."""
    return text.encode("utf-8", "replace").decode()
