"""The words of a library on PostgreSQL: each chunk's, with their places; how many chunks have each; and the sums.

An author's name has a mark before it, so that one index serves both fields.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from carrel import words
from carrel.databases import facts
from carrel.databases.postgresql import Tables
from carrel.databases.sessions import marks
from carrel.keywords import analysis
from carrel.keywords.postgresql_queries import lexeme, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from carrel.databases.sessions import Session
    from carrel.types import Chunk

TABLES = Tables(
    "keywords",
    (
        # Whole in one page: what is asked for is read without another look.
        f"""
        CREATE TABLE keyword_chunks (
            id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, {facts.TYPES},
            word_count BIGINT NOT NULL,
            author_count BIGINT NOT NULL,
            word_length BIGINT NOT NULL,
            author_length BIGINT NOT NULL,
            words TSVECTOR NOT NULL
        ) WITH (toast_tuple_target = 8160);
        {facts.INDEXES.format(table="keyword_chunks")};
        CREATE INDEX ON keyword_chunks USING gin (words);
        CREATE TABLE keyword_words (word TEXT COLLATE "C" PRIMARY KEY, chunks BIGINT NOT NULL) WITH (fillfactor = 60);
        CREATE TABLE keyword_sums (chunks BIGINT NOT NULL, words BIGINT NOT NULL, authors BIGINT NOT NULL);
        INSERT INTO keyword_sums VALUES (0, 0, 0)""",
    ),
    instead="tantivy",
)
SUMS = "keyword_sums"
"""Who writes, locks it: the counts are of what all have written."""
_COLUMNS = (*facts.COLUMNS, "word_count", "author_count", "word_length", "author_length", "words")
_PUT = f"INSERT INTO keyword_chunks ({', '.join(_COLUMNS)}) VALUES ({marks(_COLUMNS)}::tsvector)"
_MORE = """
    INSERT INTO keyword_words SELECT * FROM unnest(?::text[], ?::bigint[]) ON CONFLICT (word)
    DO UPDATE SET chunks = keyword_words.chunks + excluded.chunks"""
_DROP = """
    WITH gone AS (
        DELETE FROM keyword_chunks WHERE paper_id = ANY(?::text[]) RETURNING words, word_count, author_count
    ), fewer AS (
        SELECT word, count(*) AS times FROM gone, unnest(tsvector_to_array(gone.words)) AS word GROUP BY word
    ), changed AS (
        UPDATE keyword_words SET chunks = chunks - times FROM fewer
        WHERE keyword_words.word = fewer.word AND chunks > times
    ), forgotten AS (
        DELETE FROM keyword_words USING fewer WHERE keyword_words.word = fewer.word AND chunks <= times
    )
    SELECT -count(*), coalesce(-sum(word_count), 0)::bigint, coalesce(-sum(author_count), 0)::bigint FROM gone"""
_ADD = "UPDATE keyword_sums SET chunks = chunks + ?, words = words + ?, authors = authors + ?"
_FREQUENCIES = "SELECT word, chunks FROM keyword_words WHERE word = ANY(?::text[])"
_LARGEST = 1_000_000
"""Bytes that the words of a chunk may take; the server takes few more."""
_EXACT = 24
"""Lengths from here on are told to four binary digits of what is above it, as in tantivy."""


class Sums(NamedTuple):
    chunks: int
    words: int
    authors: int


def put(session: Session, chunks: Sequence[Chunk]) -> None:
    """In the place of all that their papers had."""
    drop(session, {chunk.paper_id for chunk in chunks})
    rows, counts, sums = [], Counter[str](), Counter[str]()
    for chunk in chunks:
        stems = " ".join(analysis.indexed_words(chunk)).split()
        authors = words.plain().analyze(analysis.indexed_authors(chunk))
        places = _places(stems, authors)
        counts.update(places.keys())
        sums.update({"words": len(stems), "authors": len(authors)})
        lengths = (len(stems), len(authors), rounded(len(stems)), rounded(len(authors)))
        rows.append((*facts.values(chunk), *lengths, _vector(places)))
    session.write(_PUT, rows)
    session.write(_MORE, [(list(counts), list(counts.values()))])
    session.write(_ADD, [(len(chunks), sums["words"], sums["authors"])])


def drop(session: Session, paper_ids: Collection[str]) -> None:
    fewer = session.rows(_DROP, [facts.texts(sorted(paper_ids))])[0]
    session.write(_ADD, [fewer])


def sums(session: Session) -> Sums:
    return Sums(*session.rows("SELECT chunks, words, authors FROM keyword_sums")[0])


def frequencies(session: Session, lexemes: Collection[str]) -> dict[str, int]:
    found: dict[str, int] = dict(session.rows(_FREQUENCIES, [list(lexemes)]))
    return {one: found.get(one, 0) for one in lexemes}


def rounded(length: int) -> int:
    above = length - _EXACT
    blurred = max(0, above.bit_length() - 4) if above > 0 else 0
    return _EXACT + (above >> blurred << blurred) if blurred else length


def _places(stems: Sequence[str], authors: Sequence[str]) -> Mapping[str, list[int]]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(stems, start=1):
        places[word].append(place)
    for place, name in enumerate(authors, start=1):
        places[lexeme("authors", name)].append(place)
    size, kept = 0, dict[str, list[int]]()
    for one, at in places.items():
        size += len(one.encode()) + 2 * len(at) + 4
        if size > _LARGEST:
            break
        kept[one] = at
    return kept


def _vector(places: Mapping[str, Sequence[int]]) -> str:
    return " ".join(f"{quoted(one)}:{','.join(map(str, at))}" for one, at in places.items())
