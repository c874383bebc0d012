"""What a store keeps of a paper, as a contribution that would make the same graph again."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from carrel.graphs import said
from carrel.types import Concept, Contribution, Mention, Predicate, Role, Triple, Work

if TYPE_CHECKING:
    from collections.abc import Iterable

    from carrel.databases.sessions import Row
    from carrel.graphs.said import Named


@dataclass
class _Kept:
    """Of one paper, in the words of the stores' rows."""

    work: Work
    names: list[Named] = field(default_factory=list)
    mentions: list[Row] = field(default_factory=list)
    triples: list[Row] = field(default_factory=list)
    cites: list[Work] = field(default_factory=list)


def contributions(
    papers: Iterable[Row],
    names: Iterable[tuple[str, Named]],
    mentions: Iterable[Row],
    triples: Iterable[Row],
    cites: Iterable[Row],
) -> list[Contribution]:
    """By paper. Each row begins with its paper; names are keys, as the store has them."""
    kept = {paper: _Kept(Work(doi, title)) for paper, doi, title in sorted(papers)}
    for paper, named in names:
        kept[paper].names.append(named)
    for paper, *mention in mentions:
        kept[paper].mentions.append(tuple(mention))
    for paper, *triple in triples:
        kept[paper].triples.append(tuple(triple))
    for paper, doi, title in cites:
        kept[paper].cites.append(Work(doi, title))
    return [_contribution(paper, told) for paper, told in kept.items()]


def _contribution(paper: str, told: _Kept) -> Contribution:
    called = {row.concept: row.spelling for row in told.names if row.key == row.concept}
    return Contribution(
        paper,
        concepts=tuple(_concepts(told.names)),
        mentions=tuple(_mention(row, called) for row in sorted(told.mentions)),
        triples=tuple(_triple(row, called) for row in sorted(told.triples)),
        work=told.work,
        cites=tuple(sorted(told.cites, key=lambda work: (work.doi, work.title))),
    )


def _concepts(names: Iterable[Named]) -> Iterable[Concept]:
    aliases: dict[str, list[str]] = defaultdict(list)
    for row in sorted(names):
        if row.key != row.concept:
            aliases[row.concept].append(row.spelling)
    for row in sorted(names):
        if row.key == row.concept and row.stated:
            told = (row.definition, row.category, row.defined_at)
            yield Concept(row.spelling, tuple(aliases[row.concept]), *told)


def _mention(row: Row, called: dict[str, str]) -> Mention:
    key, address, count, relevance, role = row
    return Mention(called[key], address, count, relevance, Role(role))


def _triple(row: Row, called: dict[str, str]) -> Triple:
    subject, predicate, target, *rest = row
    return Triple(called[subject], Predicate(predicate), called[target], *rest)


def normal(contribution: Contribution) -> Contribution:
    """The same as it comes back from a store: without chunks, each name in one spelling, in the order of the keys."""
    paper, work = contribution.paper_id, contribution.work
    return contributions(
        [(paper, said.bounded(work.doi), said.bounded(work.title))],
        [(paper, row) for row in said.named(contribution)],
        [
            (paper, said.key(row.concept), row.address, row.count, row.relevance, str(row.role))
            for row in said.mentions(contribution)
        ],
        [(paper, *_told(row)) for row in said.triples(contribution)],
        [(paper, said.bounded(one.doi), said.bounded(one.title)) for one in contribution.cites],
    )[0]


def _told(row: Triple) -> Row:
    ends = (said.key(row.subject), str(row.predicate), said.key(row.object))
    return (*ends, row.confidence, row.address, row.evidence, row.start, row.end)
