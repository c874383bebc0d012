"""How papers' contributions are replaced by SQL, and what is worked out from all of them brought up to date.

Only what the changed papers touch is looked at again, so that the time it takes grows with the change.
"""

from __future__ import annotations

from collections import Counter
from itertools import starmap
from typing import TYPE_CHECKING

from carrel.databases.sessions import gather
from carrel.graphs import CURATED, said
from carrel.graphs.meaning import Spelling, meanings
from carrel.graphs.sql_spots import tag_line
from carrel.graphs.tables import CONTRIBUTED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from carrel.databases.sessions import Row, Session
    from carrel.graphs.said import Named
    from carrel.types import Chunk, Contribution, Mention, Triple

_SPELLING = """INSERT INTO spellings VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (concept, key, digest)
    DO UPDATE SET papers = spellings.papers + excluded.papers, curated = spellings.curated + excluded.curated"""
_UNUSED = "DELETE FROM spellings WHERE concept = ? AND key = ? AND digest = ? AND papers = 0"
_SPELLINGS = "SELECT concept, key, spelling, papers, curated FROM spellings WHERE {column} IN ({{marks}})"
_MEANING = "SELECT key, meant FROM same WHERE key IN ({marks})"
_MOVE = (
    "UPDATE mentions SET concept = ? WHERE concept = ? AND key = ?",
    "UPDATE triples SET subject = ? WHERE subject = ? AND subject_key = ?",
    "UPDATE triples SET object = ? WHERE object = ? AND object_key = ?",
)
_MEANT = "INSERT INTO same VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET meant = excluded.meant"
_SAID = """SELECT same.meant, count(DISTINCT paper_id),
    count(DISTINCT CASE WHEN paper_id <> '{curated}' THEN paper_id END) FROM names
    JOIN same ON same.key = names.concept WHERE {column} IN ({{marks}}) GROUP BY same.meant"""
_SPOKEN_OF = """SELECT concept, count(CASE WHEN paper_id <> '{curated}' THEN 1 END), sum(units) FROM (
        SELECT concept, paper_id, address, sum(units) AS units FROM mentions
        WHERE {column} IN ({{marks}}) GROUP BY concept, paper_id, address) AS chunks
    GROUP BY concept"""
_ADD = """INSERT INTO concepts VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET
    said = concepts.said + excluded.said, papers = concepts.papers + excluded.papers,
    chunks = concepts.chunks + excluded.chunks, units = concepts.units + excluded.units"""

_Counts = tuple[int, int, int, int]
"""Of a concept: how many say it, how many of them papers, in how many chunks, and its weight in units."""
_Tally = dict[str, _Counts]
_NOTHING = (0, 0, 0, 0)
_Spellings = Counter[tuple[str, str, str, bool]]
"""How many write this for a concept, by its key, the spelling's key, the spelling, and whether they are the curator."""


def replace(session: Session, paper_ids: Sequence[str], contributions: Sequence[Contribution]) -> None:
    before = _tally(session, paper_ids=paper_ids)
    spellings = _forget(session, paper_ids)
    for contribution in contributions:
        spellings.update(_insert(session, contribution))
    turned = _mean(session, _count(session, spellings))
    for contribution in contributions:
        _insert_claims(session, contribution)
    after = _tally(session, paper_ids=paper_ids)
    steady = {*before, *after} - turned
    _add(session, {key: _sum(after.get(key, _NOTHING), before.get(key, _NOTHING), sign=-1) for key in steady})
    # To these, or from them, comes what papers said that did not change.
    session.write("DELETE FROM concepts WHERE key = ?", [(key,) for key in turned])
    _add(session, _tally(session, concepts=turned))


def _forget(session: Session, paper_ids: Sequence[str]) -> _Spellings:
    """Take out what the papers contributed; how often each spelling was theirs, below zero."""
    spellings: _Spellings = Counter()
    old = "SELECT paper_id, concept, key, spelling, stated FROM names WHERE paper_id IN ({marks})"
    for paper_id, concept, key, spelling, stated in gather(session, old, paper_ids):
        spellings[concept, key, spelling, paper_id == CURATED and bool(stated)] -= 1
    for table in CONTRIBUTED:
        session.write(f"DELETE FROM {table} WHERE paper_id = ?", [(paper_id,) for paper_id in paper_ids])
    return spellings


def _insert(session: Session, contribution: Contribution) -> _Spellings:
    paper, named = contribution.paper_id, said.named(contribution)
    work = (said.bounded(contribution.work.doi), said.bounded(contribution.work.title))
    counts = (len(contribution.chunks), len(said.mentions(contribution)), len(said.triples(contribution)))
    session.write("INSERT INTO papers VALUES (?, ?, ?, ?, ?, ?)", [(paper, *work, *counts)])
    cites = [(paper, said.bounded(one.doi), said.bounded(one.title)) for one in contribution.cites]
    session.write("INSERT INTO cites VALUES (?, ?, ?)", cites)
    chunks = [(chunk.address, paper, place, *_facts(chunk)) for place, chunk in enumerate(contribution.chunks)]
    session.write("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", chunks)
    session.write("INSERT INTO names VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [(paper, *_named(row)) for row in named])
    return Counter((row.concept, row.key, row.spelling, paper == CURATED and row.stated) for row in named)


def _facts(chunk: Chunk) -> Row:
    facts = (str(chunk.kind), chunk.year, chunk.venue.casefold(), tag_line(chunk.tags), chunk.topic)
    return (*facts, chunk.chapter, chunk.section)


def _named(row: Named) -> Row:
    return (*row[:3], int(row.stated), row.definition, row.category, row.defined_at)


def _insert_claims(session: Session, contribution: Contribution) -> None:
    """What is said of concepts, when it is known which concepts those are."""
    mentions, triples = said.mentions(contribution), said.triples(contribution)
    names = {*(row.concept for row in mentions), *(name for row in triples for name in (row.subject, row.object))}
    keys = {name: said.key(name) for name in names}
    meaning: dict[str, str] = dict(gather(session, _MEANING, keys.values()))
    ends = {name: (meaning[key], key) for name, key in keys.items()}
    paper = contribution.paper_id
    session.write(
        "INSERT INTO mentions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(paper, *ends[row.concept], *_mention(row)) for row in mentions],
    )
    session.write(
        "INSERT INTO triples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(paper, *ends[row.subject], str(row.predicate), *ends[row.object], *_triple(row)) for row in triples],
    )


def _mention(row: Mention) -> Row:
    return (row.address, row.count, row.relevance, said.units(row.relevance), str(row.role))


def _triple(row: Triple) -> Row:
    return (row.confidence, row.address, row.evidence, row.start, row.end)


def _count(session: Session, spellings: _Spellings) -> set[str]:
    """Keep how many papers write each spelling; gives the keys of those of which that changed."""
    changed: dict[tuple[str, str, str, str], tuple[int, int]] = {}
    for (concept, key, spelling, curated), count in spellings.items():
        place = (concept, key, said.digest(spelling), spelling)
        papers, curators = changed.get(place, (0, 0))
        changed[place] = papers + count, curators + curated * count
    changed = {place: counts for place, counts in changed.items() if any(counts)}
    session.write(_SPELLING, [(*place, *counts) for place, counts in changed.items()])
    session.write(_UNUSED, [place[:3] for place in changed])
    return {key for place in changed for key in place[:2]}


def _mean(session: Session, keys: Collection[str]) -> set[str]:
    """Bring up to date which concepts these keys mean, and their aliases; gives the concepts before and after of
    those that now mean another."""
    touched = {*keys, *(row.key for row in _spellings(session, "concept", keys))}
    told = {*_spellings(session, "concept", touched), *_spellings(session, "key", touched)}
    told.update(_spellings(session, "key", {row.concept for row in told}))
    after = meanings(touched, told)
    before: dict[str, str] = dict(gather(session, _MEANING, touched))
    turned = {key for key in touched if before.get(key) != after.get(key)}
    session.write(_MEANT, [(key, after[key]) for key in turned if key in after])
    session.write("DELETE FROM same WHERE key = ?", [(key,) for key in turned if key not in after])
    # A key that meant nothing, or now does, is used by no paper that stays as it is.
    moved = {key: (before[key], after[key]) for key in turned if key in before and key in after}
    for sql in _MOVE:
        session.write(sql, [(to, of, key) for key, (of, to) in moved.items()])
    return {meant for ends in moved.values() for meant in ends}


def _spellings(session: Session, column: str, keys: Iterable[str]) -> list[Spelling]:
    rows = gather(session, _SPELLINGS.format(column=column), keys)
    return list(starmap(Spelling, rows))


def _tally(session: Session, *, paper_ids: Iterable[str] = (), concepts: Iterable[str] = ()) -> _Tally:
    """Of what these papers say, or of what is said of these concepts."""
    by_paper, among = bool(paper_ids), list(paper_ids or concepts)
    said_of = _SAID.format(column="paper_id" if by_paper else "same.meant", curated=CURATED)
    spoken_of = _SPOKEN_OF.format(column="paper_id" if by_paper else "concept", curated=CURATED)
    tallies: _Tally = {}
    for key, everyone, papers in gather(session, said_of, among):
        tallies[key] = _sum(tallies.get(key, _NOTHING), (int(everyone), int(papers), 0, 0))
    for key, chunks, units in gather(session, spoken_of, among):
        tallies[key] = _sum(tallies.get(key, _NOTHING), (0, 0, int(chunks), int(units)))
    return tallies


def _sum(one: _Counts, other: _Counts, *, sign: int = 1) -> _Counts:
    return (one[0] + sign * other[0], one[1] + sign * other[1], one[2] + sign * other[2], one[3] + sign * other[3])


def _add(session: Session, tallies: _Tally) -> None:
    changed = {key: tally for key, tally in tallies.items() if any(tally)}
    session.write(_ADD, [(key, *tally) for key, tally in changed.items()])
    session.write("DELETE FROM concepts WHERE key = ? AND said = 0", [(key,) for key in changed])
