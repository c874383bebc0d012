"""BM25 by a Milvus server, from 2.5 on.

It is given words that were analysed here, so that the same ones are the same as everywhere else; those of authors'
names begin with a mark. It ranks, filters and finds single words; what it cannot tell, such as whether words stand side
by side, is looked up in the words of the chunks that it finds.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from pymilvus import CollectionSchema, DataType, FieldSchema, Function, FunctionType
from pymilvus.milvus_client import IndexParams

from carrel.databases.milvus import LONGEST, MilvusServer, both, condition, fact_fields, facts_of, one_of
from carrel.databases.milvus_rows import AT_ONCE, MOST, Found, Rows, best, groups, in_order
from carrel.databases.milvus_versions import Columns, Versions
from carrel.errors import InvalidInput, StoreUnavailable
from carrel.keywords.milvus_asking import Asked, indexed, marked, matching, stands_in
from carrel.keywords.milvus_spelling import Spelling
from carrel.types import EVERYTHING, Filter, Hit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from carrel.databases.milvus_versions import Version
    from carrel.keywords.milvus_asking import Form
    from carrel.types import Chunk

_FIRST_WITH_BM25 = (2, 5)
_VERSION = "1"
"""Of the words and columns; a collection of another version is not read."""
_FIELDS = ["chunk_id", "words", "venue"]
_IN_A_REQUEST = 2000
_PAGE = 1000
_TIE = 1e-3
_POOL = 50
"""Chunks that are compared for another name beyond twice as many as are asked for."""


class MilvusKeywords:
    """`milvus://user@host:19530/collection`, or `milvus+s://…` for TLS; beside the vectors of the same address."""

    def __init__(self, kind: str, argument: str, *, namespace: str = "carrel", password: str = "") -> None:
        server = MilvusServer(kind, argument, password=password, setting="keywords", instead="tantivy")
        name = f"{server.name(namespace)}_words"
        self._versions = Versions(server, name, self._columns, marks=["words"])
        self._rows = Rows(self._versions, self._look)
        self._spelling = Spelling(server, f"{name}_spelling")
        self._has_bm25 = False

    def put(self, chunks: Sequence[Chunk]) -> None:
        if chunks:
            self._rows.insisting(lambda: self._put(chunks))

    def delete(self, paper_ids: Collection[str]) -> None:
        if paper_ids:
            self._rows.reading(lambda version: self._rows.forget(version, paper_ids), None)

    def search(
        self,
        text: str,
        *,
        limit: int,
        where: Filter = EVERYTHING,
        phrases: Sequence[str] = (),
        also: Sequence[tuple[str, str]] = (),
    ) -> list[Hit]:
        if limit < 1:
            raise InvalidInput(f"limit must be a positive integer, got {limit}")
        asked = Asked.of(text, phrases, also)
        if not asked:
            return []
        find = self._named if asked.others else self._best
        return self._rows.reading(lambda version: find(version, asked, limit, where), [])

    def matches(self, text: str, *, where: Filter = EVERYTHING, phrases: Sequence[str] = ()) -> int:
        asked = Asked.of(text, phrases, ())
        return self._rows.reading(lambda version: self._count(version, asked, where), 0) if asked else 0

    def frequencies(self, words: Sequence[str]) -> list[int]:
        def frequency(version: Version, terms: Sequence[str]) -> int:
            """Of the rarest of a word's terms: Chinese, Japanese and Korean words have several."""
            return min((self._rows.count(version, matching([term])) for term in dict.fromkeys(terms)), default=0)

        return self._rows.reading(
            lambda version: [max((frequency(version, form) for form in marked(word)), default=0) for word in words],
            [0] * len(words),
        )

    def near(self, word: str, *, distance: int, beside: str, limit: int) -> list[str]:
        return self._rows.reading(lambda version: self._near(version, word, distance, beside, limit), [])

    def count(self) -> int:
        return self._rows.reading(self._rows.count, 0)

    def addresses(self) -> set[str]:
        return self._rows.reading(self._rows.addresses, set())

    def clear(self) -> None:
        self._check_server()
        # Of whatever version of the words: this is how one gets rid of another's.
        if self._versions.current():
            self._versions.turn_to(self._versions.another({"words": _VERSION}))
            self._versions.sweep()
            self._spelling.clear()

    def close(self) -> None:
        self._rows.server.close()

    def _look(self) -> Version | None:
        self._check_server()
        version = self._versions.current()
        if version and version.facts.get("words") != _VERSION:
            raise StoreUnavailable(
                f"the collection {self._versions.name!r} in {self._rows.server.address!r} is of another version",
                hint="Run 'carrel index build --force', or set keywords_namespace to another name.",
            )
        return version

    def _check_server(self) -> None:
        server = self._rows.server
        if not self._has_bm25 and server.version < _FIRST_WITH_BM25:
            said = ".".join(map(str, server.version))
            raise StoreUnavailable(
                f"cannot use the keywords on {server.address!r}: Milvus {said} has no BM25",
                hint="Milvus has it from 2.5 on: use a newer server, or set keywords = 'tantivy'.",
            )
        self._has_bm25 = True

    def _columns(self, facts: Mapping[str, str]) -> Columns:
        # The small server knows no other; with words of letters alone it does the same.
        tokenizer = "standard" if self._rows.server.is_lite else "whitespace"
        words = FieldSchema(
            "words",
            DataType.VARCHAR,
            max_length=LONGEST,
            enable_analyzer=True,
            enable_match=True,
            analyzer_params={"tokenizer": tokenizer},
        )
        digest = FieldSchema("digest", DataType.VARCHAR, max_length=64)
        weights = FieldSchema("weights", DataType.SPARSE_FLOAT_VECTOR)
        bm25 = Function("bm25", FunctionType.BM25, input_field_names=["words"], output_field_names=["weights"])
        indexes = IndexParams()
        indexes.add_index("weights", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
        return Columns(CollectionSchema([*fact_fields(), words, digest, weights], functions=[bm25]), indexes)

    def _put(self, chunks: Sequence[Chunk]) -> None:
        rows = [_row(chunk) for chunk in chunks]
        version = self._look() or self._versions.first({"words": _VERSION})
        changed = self._changed(version, rows)
        if changed:
            self._spelling.learn({word for row in changed for word in row["words"].split()})
            self._rows.put(version, changed, _IN_A_REQUEST)

    def _changed(self, version: Version, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those of papers of which anything else is held.

        Replacing equals by equals would leave deleted copies behind, which BM25 counts until they are compacted away.
        """
        papers = {row["paper_id"] for row in rows}
        said = one_of("paper_id", papers)
        held = {(row["paper_id"], row["chunk_id"], row["digest"]) for row in self._held(version, said)}
        given = {(row["paper_id"], row["chunk_id"], row["digest"]) for row in rows}
        differing = {paper_id for paper_id, *_ in held ^ given}
        return [row for row in rows if row["paper_id"] in differing]

    def _held(self, version: Version, said: str) -> list[Any]:
        return self._rows.latest(version, said, ["paper_id", "chunk_id", "digest"])

    def _best(self, version: Version, asked: Asked, limit: int, where: Filter) -> list[Hit]:
        return [hit for hit, _ in self._found(version, asked.terms, asked.exact, limit, where)]

    def _found(
        self, version: Version, terms: Sequence[str], exact: Sequence[Sequence[Form]], limit: int, where: Filter
    ) -> list[tuple[Hit, str]]:
        """The best chunks that have all that is exact, each with its words."""
        said = self._said(where, exact)
        words: dict[str, str] = {}

        def judged(found: Sequence[Found]) -> list[Hit]:
            having = [one for one in found if _has(one.row, exact, where)]
            words.update((one.row["chunk_id"], one.row["words"]) for one in having)
            return in_order(Hit(one.row["chunk_id"], round(one.score, 4)) for one in having if one.score > 0)

        found = best(lambda count: self._ranked(version, terms, said, count), judged, limit=limit, most=MOST, tie=_TIE)
        if not found.is_all and len(found.hits) < limit:
            said = said if exact else both(said, matching(terms))
            return self._best_of_all(version, terms, exact, limit, where, said)
        return [(hit, words[hit.address]) for hit in found.hits]

    def _best_of_all(
        self,
        version: Version,
        terms: Sequence[str],
        exact: Sequence[Sequence[Form]],
        limit: int,
        where: Filter,
        said: str,
    ) -> list[tuple[Hit, str]]:
        """By looking at every chunk with these words: for what is not among those that the server ranks at a time."""
        pages = self._rows.pages(version, said, _FIELDS, _PAGE)
        words = {row["chunk_id"]: row["words"] for page in pages for row in page if _has(row, exact, where)}
        scores = (self._scores(version, terms, some) for some in groups(sorted(words), min(AT_ONCE, MOST)))
        hits = (Hit(address, round(score, 4)) for some in scores for address, score in some.items() if score > 0)
        return [(hit, words[hit.address]) for hit in in_order(hits)[:limit]]

    def _ranked(self, version: Version, terms: Sequence[str], said: str, count: int) -> list[Found]:
        if said and self._rows.server.is_lite:
            # It weighs words by the rows that a filter leaves: so it is asked for all, and those are picked here.
            allowed = {row["chunk_id"] for row in self._rows.query(version, said, ["chunk_id"])}
            return [one for one in self._ranked(version, terms, "", MOST) if one.row["chunk_id"] in allowed][:count]
        options = {"anns_field": "weights", "output_fields": _FIELDS, "search_params": {"metric_type": "BM25"}}
        (found,) = self._rows.search(version, [" ".join(terms)], said, count, **options)
        # The small server counts downwards.
        return [Found(one.row, abs(one.score)) for one in found]

    def _named(self, version: Version, asked: Asked, limit: int, where: Filter) -> list[Hit]:
        """With other names: what is found by each of the words and names, compared by what each of them is worth."""
        size = min(2 * limit + _POOL, MOST)
        pool = dict(self._pooled(version, asked, size, where))
        rest = self._scores(version, asked.rest, pool)
        total = {address: rest.get(address, 0.0) for address in pool}
        for other in asked.others:
            own = self._scores(version, other.replaced, pool)
            named = self._scores(version, other.terms, [a for a in pool if stands_in(pool[a], other.forms)])
            for address in pool:
                total[address] += max(own.get(address, 0.0), other.weight * named.get(address, 0.0))
        hits = (Hit(address, round(score, 4)) for address, score in total.items())
        return in_order(hit for hit in hits if hit.score > 0)[:limit]

    def _pooled(self, version: Version, asked: Asked, size: int, where: Filter) -> Iterable[tuple[str, str]]:
        wanted: list[tuple[Sequence[str], Sequence[Sequence[Form]]]] = [(asked.terms, asked.exact)]
        wanted += [(other.terms, [*asked.exact, other.forms]) for other in asked.others]
        for terms, exact in wanted:
            if terms:
                yield from ((hit.address, words) for hit, words in self._found(version, terms, exact, size, where))

    def _scores(self, version: Version, terms: Sequence[str], among: Collection[str]) -> dict[str, float]:
        if not terms or not among:
            return {}
        found = self._ranked(version, terms, one_of("chunk_id", among), min(len(among), MOST))
        return {one.row["chunk_id"]: one.score for one in found}

    def _count(self, version: Version, asked: Asked, where: Filter) -> int:
        if not asked.exact and not where.venue:
            return self._rows.count(version, both(self._said(where, []), matching(asked.terms)))
        said = self._said(where, asked.exact)
        said = said if asked.exact else both(said, matching(asked.terms))
        pages = self._rows.pages(version, said, _FIELDS, _PAGE)
        return sum(_has(row, asked.exact, where) for page in pages for row in page)

    def _near(self, version: Version, word: str, distance: int, beside: str, limit: int) -> list[str]:
        like = self._spelling.like(word, distance)
        if not like:
            return []
        terms = Asked.of(beside, (), ()).terms
        first = self._ranked(version, terms, matching(like), limit) if terms else []
        more = self._rows.query(version, matching(like), ["chunk_id"], limit=limit)
        return list(dict.fromkeys(row["chunk_id"] for row in (*(one.row for one in first), *more)))[:limit]

    def _said(self, where: Filter, exact: Sequence[Sequence[Form]]) -> str:
        """A filter and what must be in the words; that they stand side by side remains to be looked at."""
        said = condition(where, has_infix=True)
        for forms in exact:
            alternatives = (" and ".join(matching([term]) for term in dict.fromkeys(form)) for form in forms)
            said = both(said, " or ".join(f"({one})" for one in alternatives))
        return said


def _row(chunk: Chunk) -> dict[str, Any]:
    row: dict[str, Any] = {**facts_of(chunk), "words": indexed(chunk)}
    digest = hashlib.sha256(repr(sorted(row.items())).encode("utf-8", "replace")).hexdigest()
    return {**row, "digest": digest}


def _has(row: Mapping[str, str], exact: Sequence[Sequence[Form]], where: Filter) -> bool:
    return where.allows_venue(row["venue"]) and all(stands_in(row["words"], forms) for forms in exact)
