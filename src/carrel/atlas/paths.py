"""What to study before a concept, in which order, and why."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.atlas import concept_named, summary
from carrel.atlas.needs import all_needs, in_order, most_wanted, not_followed, without_circles
from carrel.atlas.statements import FORWARD, Evidence, Where, edges, place, readings
from carrel.errors import InvalidInput
from carrel.types import Relation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.atlas.needs import Need
    from carrel.atlas.speaking import Spoken
    from carrel.catalogs import Catalog
    from carrel.graphs import GraphStore
    from carrel.types import ConceptRow, Predicate

_SENTENCES = 2


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one concept comes before another."""

    before: str
    after: str
    """The names of both."""
    said: str
    """In words."""
    predicate: Predicate | None
    """None where nobody states it: the papers on the later speak of the earlier, and not the other way round."""
    worth: float
    """How far it is believed, in (0, 1)."""
    evidence: tuple[Evidence, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "before": self.before,
            "after": self.after,
            "said": self.said,
            "predicate": self.predicate.value if self.predicate else None,
            "worth": round(self.worth, 4),
            "evidence": [one.as_dict() for one in self.evidence],
        }


@dataclass(frozen=True, slots=True)
class Step:
    row: ConceptRow
    read: Where | None
    """Where the papers say what it is."""
    because: tuple[Reason, ...]
    """Why it comes before a later step, the surest first; none for the target."""

    def as_dict(self) -> dict[str, Any]:
        return {
            **summary(self.row),
            "read": self.read.as_dict() if self.read else None,
            "because": [reason.as_dict() for reason in self.because],
        }


@dataclass(frozen=True, slots=True)
class StudyPath:
    """Concepts in an order in which each comes after what it needs; the target is the last."""

    steps: tuple[Step, ...]
    set_aside: tuple[Reason, ...] = ()
    """What would have closed a circle; of each circle the weakest."""

    @property
    def target(self) -> ConceptRow:
        return self.steps[-1].row

    def as_dict(self) -> dict[str, Any]:
        return {
            "concept": self.target.concept.name,
            "steps": [{"step": number, **step.as_dict()} for number, step in enumerate(self.steps, start=1)],
            "set_aside": [reason.as_dict() for reason in self.set_aside],
        }


def path(name: str, graph: GraphStore, catalog: Catalog, *, limit: int) -> StudyPath:
    """The way to a concept: what it needs, what that needs, and so on; at most so many steps before it."""
    if limit < 1:
        raise InvalidInput(f"limit must be at least 1, got {limit}", hint="As in --limit 12.")
    target = concept_named(name, graph)
    needs = most_wanted(target.key, all_needs(target.key, graph, catalog), limit)
    needs += not_followed(needs, graph)
    rows = {target.key: target, **graph.concepts({end for need in needs for end in (need.before, need.after)})}
    kept, lost = without_circles([need for need in needs if need.before in rows and need.after in rows])
    order = in_order(target.key, kept)
    reasons = _reasons([need for need in kept if need.after in order], rows, graph, catalog)
    read = readings({key: rows[key] for key in order}, graph, catalog, most=1)
    steps = [Step(rows[key], next(iter(read[key]), None), tuple(reasons[key])) for key in order]
    aside = _reasons(lost, rows, graph, catalog)
    return StudyPath(tuple(steps), tuple(reason for need in lost for reason in aside.pop(need.before, ())))


def _reasons(
    needs: Sequence[Need], rows: Mapping[str, ConceptRow], graph: GraphStore, catalog: Catalog
) -> defaultdict[str, list[Reason]]:
    """By concept: why it comes before others, the surest first."""
    relations = [need.ground for need in needs if isinstance(need.ground, Relation)]
    stated = {edge.relation: edge for edge in edges(relations, rows, graph, catalog, most=_SENTENCES)}
    told: defaultdict[str, list[Reason]] = defaultdict(list)
    for need in sorted(needs, key=lambda one: (-one.worth, one.after)):
        ends = rows[need.before].concept.name, rows[need.after].concept.name
        if isinstance(need.ground, Relation):
            edge = stated[need.ground]
            said = f"{edge.subject} {FORWARD[edge.predicate]} {edge.object}"
            reason = Reason(*ends, said, edge.predicate, need.worth, edge.evidence)
        else:
            reason = _shown(need.ground, ends, need.worth)
        told[need.before].append(reason)
    return told


def _shown(spoken: Spoken, ends: tuple[str, str], worth: float) -> Reason:
    verb = "speaks" if spoken.count == 1 else "speak"
    said = f"{spoken.count} of {spoken.of} chunks on {ends[1]} {verb} of {ends[0]}"
    chunk = spoken.chunk
    start, end = chunk.start + spoken.span.start, chunk.start + spoken.span.end
    evidence = Evidence(chunk.text[spoken.span.start : spoken.span.end], worth, place(chunk, start), start, end)
    return Reason(*ends, said, None, worth, (evidence,))
