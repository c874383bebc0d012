"""What is asked of an index, in tantivy's language. It is put together from terms: no text is ever parsed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import tantivy
from tantivy import Occur, Query

from carrel import words
from carrel.errors import InvalidInput
from carrel.keywords.analysis import SHORT_NAME, beginnings, forms, terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.types import Filter


def asking(
    schema: tantivy.Schema, text: str, where: Filter, phrases: Sequence[str] = (), also: Sequence[tuple[str, str]] = ()
) -> Query | None:
    """Chunks with any of the words and all of the phrases; None when there is nothing to ask for."""
    exact = [query for phrase in phrases if (query := _phrase(schema, phrase))]
    wanted = [*_named(schema, text, also)]
    if not wanted and not exact:
        return None
    # With a phrase, the other words only rank.
    asked = [(Occur.Should, query) for query in wanted] if exact else [(Occur.Must, _any(wanted))]
    allowed = [(Occur.Must, Query.const_score_query(query, 0.0)) for query in _conditions(schema, where)]
    return Query.boolean_query([*asked, *((Occur.Must, query) for query in exact), *allowed])


def spelled_like(schema: tantivy.Schema, word: str, distance: int, beside: str) -> Query | None:
    """Chunks with a word like this one, whatever of its ending the stem may lack."""
    found = beginnings(word)
    if found is None:
        return None
    whole, stems = found
    fuzzy = [Query.fuzzy_term_query(schema, "words", stem, distance) for stem in stems]
    like = _any([*fuzzy, Query.fuzzy_term_query(schema, "authors", whole, distance)])
    ranked = [(Occur.Should, Query.term_query(schema, *term)) for term in terms(beside)]
    return Query.boolean_query([(Occur.Must, Query.const_score_query(like, 1.0)), *ranked])


def _named(schema: tantivy.Schema, text: str, also: Sequence[tuple[str, str]]) -> Iterator[Query]:
    """One query a word and field, and one for each other name."""
    left = terms(text)
    for name, other in also:
        named, query, count = terms(name), _phrase(schema, other), len(words.stems(other)) or 1
        if query and len(words.stems(name)) == 1:
            # A text that defines an acronym has both; it is not twice as much about it.
            own = _any([Query.term_query(schema, *term) for term in named])
            yield Query.disjunction_max_query([own, Query.boost_query(query, 1 / count)])
            left = [term for term in left if term not in named]
        elif query:
            yield Query.boost_query(query, SHORT_NAME / count)
    yield from (Query.term_query(schema, *term) for term in left)


def _phrase(schema: tantivy.Schema, text: str) -> Query | None:
    """The words of a text side by side; it weighs as much as all of them together."""
    asked = {(field, tuple(terms)) for field, terms in forms(text) if terms}
    return _any([_in_order(schema, field, terms) for field, terms in sorted(asked)]) if asked else None


def _in_order(schema: tantivy.Schema, field: str, terms: Sequence[str]) -> Query:
    if len(terms) == 1:
        return Query.term_query(schema, field, terms[0])
    return Query.phrase_query(schema, field, list(terms))


def _any(queries: Sequence[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries])


def _conditions(schema: tantivy.Schema, where: Filter) -> Iterator[Query]:
    if where.paper_ids:
        yield Query.term_set_query(schema, "paper", sorted(where.paper_ids))
    if where.kinds:
        yield Query.term_set_query(schema, "kind", sorted(where.kinds))
    if where.tags:
        yield Query.term_set_query(schema, "tags", sorted(where.tags))
    if where.topic:
        yield Query.term_query(schema, "topic", where.topic)
    if where.venue:
        yield _containing(schema, "venue", where.venue.casefold())
    if where.year_max is not None:
        # A chunk without a year, which is 0, is not from before any year.
        yield _between(schema, "year", max(1, where.year_min or 1), where.year_max)
    elif where.year_min is not None:
        yield _between(schema, "year", where.year_min, None)
    if where.chapter is not None:
        yield _between(schema, "chapter", where.chapter, where.chapter)
    if where.section is not None:
        yield _between(schema, "section", where.section, where.section)


def _between(schema: tantivy.Schema, field: str, least: int, most: int | None) -> Query:
    return Query.range_query(schema, field, tantivy.FieldType.Integer, least, most)


def _containing(schema: tantivy.Schema, field: str, text: str) -> Query:
    try:
        return Query.regex_query(schema, field, f"(?s).*{re.escape(text)}.*")
    except ValueError as error:
        raise InvalidInput(f"{field} is too long to be searched for: {len(text)} characters") from error
