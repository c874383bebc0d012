"""Servers that are killed while they are asked: the other arms still answer, it is said, and all is well afterwards."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import httpx2
import pytest

from carrel import Library
from carrel.databases.milvus import MilvusServer
from carrel.errors import StoreUnavailable
from carrel.jobs import Ingestion
from carrel.types import SearchResult, Strategy
from carrel.types.service import DocumentStatus
from tests import servers
from tests.congruence import shelf
from tests.http.serving import running
from tests.jobs.documents import long_text, taken_in, until, upload

PAPERS = 12
QUESTION = "inhibition of cell growth by protein expression in cancer"
PATIENCE = 90.0
LONGEST = 25.0
"""Seconds that one answer may take while a server is away: an arm has 10, and is asked once more by feedback."""


class Killable(Protocol):
    address: str

    def start(self) -> object: ...

    def stop(self) -> None: ...


@dataclass
class Fleet:
    """The three servers, each of which can be killed."""

    postgresql: servers.Postgresql
    milvus: servers.Milvus
    bolt: servers.Bolt

    @contextmanager
    def without(self, name: str) -> Iterator[None]:
        """Killed while the block lasts."""
        server: Killable = getattr(self, name)
        server.stop()
        try:
            yield
        finally:
            server.start()


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    with ExitStack() as stack:
        try:
            yield Fleet(
                stack.enter_context(servers.postgresql_to_stop()),
                stack.enter_context(servers.milvus_to_stop()),
                stack.enter_context(servers.bolt_to_stop()),
            )
        except servers.CannotStart as reason:
            pytest.skip(str(reason))


@pytest.fixture(scope="module")
def library(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Each arm on a server of its own, the catalog in a file."""
    settings = {
        "vectors": f"{fleet.milvus.address}/killed",
        "keywords": fleet.postgresql.address,
        "graph": fleet.bolt.address,
    }
    with shelf.made(tmp_path_factory.mktemp("killed") / "library", settings, PAPERS) as made:
        yield made


@dataclass
class Told:
    """Of one question."""

    seconds: float
    strategy: str
    arms: frozenset[str]
    """That had no answer."""
    found: int


@dataclass
class Asker:
    """Asks all the time, in the background, and notes what it is told."""

    ask: Callable[[], Told]
    told: list[Told] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    _ending: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self._ending.is_set():
            try:
                self.told.append(self.ask())
            except Exception as error:
                self.failures.append(error)
            time.sleep(0.05)

    def stop(self) -> None:
        self._ending.set()

    def wait_for(self, true: Callable[[Told], bool]) -> Told:
        """The first from now on of which something is true."""
        start = len(self.told)
        until(lambda: any(map(true, self.told[start:])) or bool(self.failures), PATIENCE)
        assert not self.failures, self.failures
        return next(filter(true, self.told[start:]))


@contextmanager
def asking(ask: Callable[[], Told]) -> Iterator[Asker]:
    asker = Asker(ask)
    thread = threading.Thread(target=asker.run)
    thread.start()
    try:
        yield asker
    finally:
        asker.stop()
        thread.join(PATIENCE)


def served(url: str) -> Told:
    start = time.monotonic()
    answer = httpx2.get(f"{url}/api/search", params={"query": QUESTION, "limit": 5}, timeout=60)
    assert answer.status_code == 200, answer.text[:300]
    body: dict[str, Any] = answer.json()
    arms = frozenset(part["arm"] for part in body["degraded"])
    return Told(time.monotonic() - start, body["strategy"], arms, len(body["results"]))


def is_well(url: str) -> bool:
    return httpx2.get(f"{url}/api/health", timeout=60).status_code == 200


def lacks(arm: str, told: Told) -> bool:
    return arm in told.arms


def is_whole(told: Told) -> bool:
    return not told.arms and told.strategy == Strategy.HYBRID


ARMS = [("milvus", "vector"), ("bolt", "graph"), ("postgresql", "keyword")]


@pytest.mark.parametrize(("server", "arm"), ARMS)
def test_a_service_goes_on_without_a_server_and_all_is_well_when_that_is_back(
    fleet: Fleet, library: Library, server: str, arm: str
) -> None:
    """Questions are asked all the time: the other arms answer. A document that comes meanwhile waits."""
    with running(library, requests_per_minute=0) as service, asking(lambda: served(service.url)) as asker:
        ingestion = service.service.ingestion
        assert asker.wait_for(is_whole).found == 5
        with fleet.without(server):
            told = asker.wait_for(lambda told: bool(told.arms))
            assert arm in told.arms <= {arm, "feedback", "understanding"}
            assert (told.strategy, told.found) == (Strategy.DEGRADED, 5)
            until(lambda: not is_well(service.url), PATIENCE)
            ticket = upload(ingestion, long_text(2, f"rocks without {server}"), f"{server}.md")
            until(lambda: ingestion.job(ticket.job.id).current_step == "wait", PATIENCE)
        assert asker.wait_for(is_whole).found == 5
        until(lambda: is_well(service.url), PATIENCE)
        assert taken_in(ingestion, ticket).attempts == 1
    assert asker.failures == []
    assert {told.found for told in asker.told} == {5}
    assert max(told.seconds for told in asker.told) < LONGEST
    assert library.verify().problems == ()


def test_a_server_that_dies_in_the_middle_of_a_write_comes_back_and_every_document_is_whole(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has taken a paper's vectors when it is killed, and nobody has been told so yet."""
    call, first, dead = MilvusServer.call, iter([True]), threading.Event()

    def killing(server: MilvusServer, verb: str, *values: object, **options: object) -> object:
        told = call(server, verb, *values, **options)
        if verb == "upsert" and next(first, False):
            fleet.milvus.stop()
            dead.set()
        return told

    settings = {"vectors": f"{fleet.milvus.address}/writing", "concepts.extractor": "none"}
    with shelf.made(tmp_path / "library", settings, PAPERS) as library:
        ingestion = Ingestion(library)
        tickets = [upload(ingestion, long_text(2, f"rock {number}"), f"rock{number}.md") for number in range(4)]
        monkeypatch.setattr(MilvusServer, "call", killing)
        ingestion.start()
        try:
            until(dead.is_set, PATIENCE)
            try:
                until(lambda: any(ingestion.job(one.job.id).current_step == "wait" for one in tickets), PATIENCE)
            finally:
                fleet.milvus.start()
            until(lambda: all(ingestion.job(one.job.id).status.is_over for one in tickets), PATIENCE)
        finally:
            ingestion.stop()
        assert [(ingestion.job(one.job.id).attempts, ingestion.job(one.job.id).error_message) for one in tickets] == [
            (1, "")
        ] * 4
        assert {ingestion.document(one.document.id).status for one in tickets} == {DocumentStatus.ACTIVE}
        assert library.stores.vectors.addresses() == library.stores.catalog.addresses()
        assert library.verify().problems == ()


def test_without_the_catalog_nothing_can_be_quoted_and_that_is_said(fleet: Fleet, tmp_path: Path) -> None:
    """The indexes know addresses; the texts are the catalog's alone."""
    settings = {"catalog": fleet.postgresql.address, "vectors": f"{fleet.milvus.address}/uncatalogued"}
    with shelf.made(tmp_path / "library", settings, PAPERS) as library:
        before = library.search(QUESTION, limit=5)
        with fleet.without("postgresql"):
            start = time.monotonic()
            for verb in (library.search, library.ask):
                with pytest.raises(StoreUnavailable, match=r"cannot use the catalog on .*refused"):
                    verb(QUESTION)
            assert time.monotonic() - start < LONGEST
            vector = library.embedder.embed_query(QUESTION)
            assert library.stores.vectors.search(vector, limit=5, where=before.where)
        assert addresses(library.search(QUESTION, limit=5)) == addresses(before)


def addresses(result: SearchResult) -> list[str]:
    return [one.chunk.address for one in result.passages]
