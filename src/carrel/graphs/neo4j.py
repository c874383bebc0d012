"""The graph in Neo4j, by its official driver."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import neo4j
from neo4j.exceptions import AuthError, ClientError, DriverError, Neo4jError

from carrel.databases.absence import Absence
from carrel.databases.sessions import text
from carrel.errors import StoreUnavailable, password_hint
from carrel.graphs import ALL_RELATIONS, CURATED, cypher, said
from carrel.graphs import cypher_reading as reading
from carrel.graphs.cypher_writing import Writer
from carrel.graphs.nearness import Near, nearest_first
from carrel.graphs.spots import best, spot
from carrel.telemetry import log
from carrel.types import EVERYTHING, ConceptRow, GraphSize, Spot

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from carrel.databases.sessions import Row
    from carrel.graphs.cypher_reading import Asking
    from carrel.types import Contribution, Filter, Predicate, Relation, Triple

Told = TypeVar("Told")
_PATIENCE = 10
"""Seconds that a server may take to answer the first time."""
_INSISTENCE = 3.0
"""Seconds for which a transaction that came in another's way, or lost its server, is tried again."""


_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)
_CROSSED = frozenset({"Neo.ClientError.Schema.ConstraintValidationFailed", "Neo.ClientError.Statement.EntityNotFound"})
"""Where nothing is locked, two may make the same node or delete it: the later is refused, and begins anew."""


class Neo4jGraph:
    """`neo4j://user@host:7687/database`, or `bolt://…`; the nodes of each library bear its name."""

    def __init__(self, kind: str, argument: str, *, namespace: str, password: str = "") -> None:
        self._address = f"{kind}:{argument}"
        self._namespace = namespace
        self._password = password
        self._opened: neo4j.Driver | None = None
        self._lock = RLock()
        self._absence = Absence()

    def put(self, contributions: Sequence[Contribution]) -> None:
        latest = {contribution.paper_id: contribution for contribution in contributions}
        if latest:
            self._write(lambda ask: Writer(ask).replace(list(latest), list(latest.values())))

    def delete(self, paper_ids: Collection[str]) -> None:
        found = self._read(lambda ask: ask(cypher.SOME_PAPERS, papers=sorted(set(paper_ids))))
        if gone := sorted(paper for (paper,) in found):
            self._write(lambda ask: Writer(ask).replace(gone, []))

    def papers(self) -> set[str]:
        return {paper for (paper,) in self._read(lambda ask: ask(cypher.PAPERS))}

    def contributed(self, paper_ids: Collection[str]) -> list[Contribution]:
        return self._read(lambda ask: reading.contributed(ask, sorted(set(paper_ids))))

    def resolve(self, names: Collection[str]) -> dict[str, str]:
        keys = {name: said.key(name) for name in names}
        found: dict[str, str] = dict(self._read(lambda ask: ask(cypher.RESOLVE, keys=sorted({*keys.values()}))))
        return {name: found[key] for name, key in keys.items() if key in found}

    def near(self, name: str, *, edits: int, limit: int) -> list[str]:
        near = Near(said.key(name), edits)
        among = {"shortest": near.shortest, "longest": near.longest, "pieces": near.pieces or [""]}
        rows = self._read(lambda ask: [*ask(cypher.ALL_NAMES, **among), *ask(cypher.ALL_ALIASES, **among)])
        found = near.nearest((key, meant) for key, meant in set(rows))
        return nearest_first([(distance, meant) for meant, distance in found.items()], limit)

    def concepts(self, keys: Collection[str]) -> dict[str, ConceptRow]:
        bounded = {key: said.bounded(key) for key in keys}
        rows = self._read(lambda ask: reading.concepts(ask, bounded.values()))
        return {key: rows[own] for key, own in bounded.items() if own in rows}

    def find(self, text: str, *, limit: int) -> list[ConceptRow]:
        return self._read(lambda ask: reading.find(ask, said.key(text), limit))

    def relations(self, keys: Collection[str], *, predicates: Collection[Predicate] = ALL_RELATIONS) -> list[Relation]:
        asked = {said.bounded(key) for key in keys}
        kinds = "|".join(sorted(predicates))
        return self._read(lambda ask: reading.relations(ask, asked, kinds)) if kinds else []

    def triples(self, keys: Collection[str], *, predicates: Collection[Predicate] = ALL_RELATIONS) -> list[Triple]:
        kinds = "|".join(sorted(predicates))
        return self._read(lambda ask: reading.triples(ask, map(said.bounded, keys), kinds)) if kinds else []

    def spots(self, keys: Collection[str], *, limit: int, where: Filter = EVERYTHING) -> list[Spot]:
        return self._read(lambda ask: reading.spots(ask, map(said.bounded, keys), limit, where))

    def spoken(self, addresses: Collection[str], *, of: Collection[str] | None = None) -> list[Spot]:
        keys = None if of is None else sorted(map(said.bounded, of))
        rows = self._read(lambda ask: ask(cypher.SPOKEN, addresses=sorted(set(addresses)), keys=keys))
        spots = best(map(spot, rows))
        return sorted(spots, key=lambda found: (found.address, -found.relevance, found.key, found.role))

    def citations(self, paper_ids: Collection[str] | None = None) -> set[tuple[str, str]]:
        if paper_ids is None:
            rows = self._read(lambda ask: ask(cypher.CITATIONS))
        else:
            rows = self._read(lambda ask: ask(cypher.CITATIONS_OF, papers=sorted(set(paper_ids))))
        return {(citing, cited) for citing, cited in rows}

    def size(self) -> GraphSize:
        def size(ask: Asking) -> GraphSize:
            concepts = ask(cypher.CONCEPT_COUNT)[0]
            return GraphSize(*map(int, (*concepts, *(ask(cypher.SIZE, curated=CURATED) or [(0, 0, 0, 0)])[0])))

        return self._read(size)

    def clear(self) -> None:
        """In many steps: the memory of a server bounds what one of them may forget."""
        for label in cypher.LABELS:
            some = partial(_forget_some, label)
            while self._write(some):
                pass

    def close(self) -> None:
        with self._lock:
            if self._opened:
                self._opened.close()
            self._opened = None

    def index_texts(self, driver: neo4j.Driver, database: str | None) -> None:
        """For people that look around in the graph by themselves: a server with other words for it does without."""
        for statement in cypher.FULL_TEXT:
            try:
                driver.execute_query(statement, database_=database)
            except ClientError as error:
                log("graph", logging.WARNING, "no full-text index", address=self._address, reason=error.message)

    def _read(self, work: Callable[[Asking], Told]) -> Told:
        with self._reporting(), self._driver().session(database=self._database) as session:
            return session.execute_read(lambda transaction: work(_Transaction(transaction, self._namespace)))

    def _write(self, work: Callable[[Asking], Told]) -> Told:
        with self._reporting():
            for pause in _PAUSES:
                try:
                    return self._write_once(work)
                except ClientError as error:
                    if error.code not in _CROSSED:
                        raise
                time.sleep(pause)
            return self._write_once(work)

    def _write_once(self, work: Callable[[Asking], Told]) -> Told:
        with self._driver().session(database=self._database) as session:
            return session.execute_write(lambda transaction: work(_Transaction(transaction, self._namespace)))

    @property
    def _database(self) -> str | None:
        return urlsplit(self._address).path.strip("/") or None

    def _driver(self) -> neo4j.Driver:
        with self._lock:
            if self._opened is None:
                # Where nobody answers, those who wait for the lock do not then wait once more, one after the other.
                with self._absence.looked_for(_PATIENCE) as patience:
                    self._opened = self._connect(patience)
            return self._opened

    def _connect(self, patience: float) -> neo4j.Driver:
        parts = urlsplit(self._address)
        host = parts.netloc.rpartition("@")[2]
        driver = neo4j.GraphDatabase.driver(
            f"{parts.scheme}://{host}",
            auth=(parts.username or "neo4j", self._password),
            connection_timeout=patience,
            initial_retry_delay=_PAUSES[0],
            max_transaction_retry_time=_INSISTENCE,
            notifications_min_severity="OFF",
        )
        try:
            # At once, where a transaction would be tried again for a while.
            driver.verify_connectivity()
            for statement in cypher.CONSTRAINTS:
                driver.execute_query(statement, database_=self._database)
            self.index_texts(driver, self._database)
        except BaseException:
            driver.close()
            raise
        return driver

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except (DriverError, Neo4jError) as error:
            told = (getattr(error, "message", None) or str(error)).strip().splitlines()
            reason = told[0].rstrip(" :") if told else type(error).__name__
            raise StoreUnavailable(
                f"cannot use the graph on {self._address!r}: {reason}",
                hint=password_hint("graph")
                if isinstance(error, AuthError)
                else "See that the server runs and the setting graph names it; or set graph = 'sqlite'.",
            ) from error


class _Transaction:
    def __init__(self, transaction: neo4j.ManagedTransaction, library: str) -> None:
        self._transaction = transaction
        self._library = library

    def __call__(self, query: str, **values: object) -> list[Row]:
        result = self._transaction.run(query, library=self._library, **{k: _clean(v) for k, v in values.items()})
        return [tuple(record.values()) for record in result]


def _forget_some(label: str, ask: Asking) -> int:
    return int(ask(cypher.clear(label))[0][0])


def _clean(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {key: _clean(inner) for key, inner in value.items()}
    return [_clean(inner) for inner in value] if isinstance(value, list) else value
